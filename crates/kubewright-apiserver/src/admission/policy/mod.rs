//! Admission policies: expressions that must be true of a request or that change its object, and the bindings that put
//! them into force.
//!
//! `definition.rs` is what all policies have in common, `scopes.rs` says which variables their expressions have, and
//! `parameters.rs` finds the objects that bindings give to a policy. `validation.rs` is what a validating policy says, and
//! `enforce.rs` evaluates it and refuses. `mutation.rs` is what a mutating one says, and `mutate.rs` evaluates it.

mod binding;
mod definition;
mod enforce;
mod mutate;
mod mutation;
mod parameters;
mod scopes;
mod validation;

pub(crate) use self::scopes::{Scopes, Variables};
pub(super) use self::{
    binding::Binding, definition::Definition, mutation::MutatingPolicy, validation::ValidatingPolicy,
};

/// What all expressions of one policy may cost together.
const BUDGET: u64 = 10_000_000;
