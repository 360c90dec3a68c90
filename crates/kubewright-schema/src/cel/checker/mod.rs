//! The type checker: what an expression evaluates to, and what is wrong with it before it runs.
//!
//! It follows the checker of cel-go in everything that can be seen from outside: the order in which it goes through an
//! expression, the overloads it takes, what it says and where. `types.rs` and `unify.rs` hold types and which of them fit
//! each other, `standard.rs` and `libraries.rs` the functions, `environment.rs` the names, `expression.rs` and `calls.rs` the
//! walk, `literals.rs` and `format.rs` what is checked once the types are known, and `readiness.rs` what shows when a server
//! gets ready to run an expression. Start at [`check`].

mod calls;
mod environment;
mod expression;
mod format;
mod libraries;
mod literals;
mod readiness;
mod signature;
mod standard;
mod types;
mod unify;

pub(super) use {
    literals::{is_duration, is_time},
    readiness::check as check_readiness,
    types::{Constructor, JSON_PATCH, LibraryType, Shown, Type, is_object_type},
};

use super::{
    declaration::Declarations,
    syntax::{Located, NodeId, Tree},
};

/// What checking an expression found out about its nodes.
pub(super) struct Checked {
    pub(super) tree: Tree,
    /// The type of each node.
    types: Vec<Option<Type>>,
    /// The overloads that each call may mean.
    overloads: Vec<Vec<&'static str>>,
    /// The fields that have another name at run time.
    pub(super) renamed: Vec<(NodeId, String)>,
    /// Whether the expression speaks of the old value.
    pub(super) uses_old_self: bool,
}

/// Checks an expression about variables of these types.
///
/// # Errors
///
/// Everything that is wrong, in the order of the walk.
pub(super) fn check(
    tree: Tree,
    declarations: &Declarations,
    variables: Vec<(String, Type)>,
) -> Result<Checked, Vec<Located>> {
    let mut checker = expression::Checker::new(tree, declarations, variables);
    checker.check_root();
    let (checked, errors) = checker.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    let errors = literals::check(&checked, declarations);
    if errors.is_empty() { Ok(checked) } else { Err(errors) }
}

/// Whether every expression may use this name, which is that of a type.
pub(super) fn is_type(name: &str) -> bool {
    environment::type_named(name).is_some()
}

/// Whether every expression may call a function of this name.
pub(super) fn is_function(name: &str) -> bool {
    environment::function(name, false).is_some()
}

impl Checked {
    /// The type of a node.
    pub(super) fn type_of(&self, id: NodeId) -> &Type {
        self.types.get(id.index()).and_then(Option::as_ref).unwrap_or(&Type::Dyn)
    }

    /// The overloads that a call may mean.
    pub(super) fn overloads(&self, id: NodeId) -> &[&'static str] {
        self.overloads.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// What the whole expression evaluates to.
    pub(super) fn output(&self) -> &Type {
        self.type_of(self.tree.root)
    }
}
