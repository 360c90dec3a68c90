//! The names that rules may use: variables, types and functions.

use std::{collections::BTreeMap, sync::LazyLock};

use super::{
    libraries::{LIBRARIES, OF_PATCHES},
    signature::{Overload, functions},
    standard::STANDARD,
    types::{LibraryType, Type},
};
static FUNCTIONS: LazyLock<BTreeMap<&'static str, Vec<Overload>>> =
    LazyLock::new(|| functions(&[STANDARD, LIBRARIES, OF_PATCHES]));

/// The variables in scope.
pub(super) struct Environment {
    /// What the expression may speak of.
    globals: Vec<(String, Type)>,
    /// What macros declare, the innermost last.
    locals: Vec<(String, Type)>,
    /// Whether there are the types of patches.
    has_patches: bool,
}

impl Environment {
    pub(super) fn new(globals: Vec<(String, Type)>, has_patches: bool) -> Self {
        Self { globals, locals: Vec::new(), has_patches }
    }

    pub(super) fn declare(&mut self, name: &str, of: Type) {
        self.locals.push((name.to_owned(), of));
    }

    /// Forgets the latest variables until there are `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.locals.truncate(count);
    }

    pub(super) fn count(&self) -> usize {
        self.locals.len()
    }

    fn local(&self, name: &str) -> Option<&Type> {
        self.locals.iter().rev().find(|(known, _)| known == name).map(|(_, of)| of)
    }

    /// The type of a name. A dot in front looks past the variables of macros.
    pub(super) fn variable(&self, name: &str) -> Option<Type> {
        match name.strip_prefix('.') {
            Some(name) => self.global(name),
            None => self.local(name).cloned().or_else(|| self.global(name)),
        }
    }

    /// The type of a name with dots.
    pub(super) fn qualified(&self, names: &[&str]) -> Option<Type> {
        let [first, _, ..] = names else { return None };
        let plain = first.strip_prefix('.');
        // Nothing else has dots in its name.
        let has_dots = match plain.unwrap_or(first) {
            "authorizer" | "google" | "net" => true,
            "Object" => self.has_patches,
            _ => false,
        };
        if !has_dots || plain.is_none() && self.local(first).is_some() {
            return None;
        }
        let name = names.join(".");
        self.global(plain.map_or(name.as_str(), |_| name.trim_start_matches('.')))
    }

    fn global(&self, name: &str) -> Option<Type> {
        let global = self.globals.iter().find(|(known, _)| known == name).map(|(_, of)| of.clone());
        let message = || Type::message(name).filter(|_| self.has_patches).map(Type::type_of);
        global.or_else(|| type_named(name)).or_else(message)
    }

    /// The overloads of a function.
    pub(super) fn function(&self, name: &str) -> Option<(&'static str, &'static [Overload])> {
        function(name, self.has_patches)
    }
}

/// The type of the name of a type.
pub(super) fn type_named(name: &str) -> Option<Type> {
    let of = match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "duration" | "google.protobuf.Duration" => Type::Duration,
        "int" => Type::Int,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "optional_type" => Type::optional(Type::Dyn),
        "string" => Type::String,
        "timestamp" | "google.protobuf.Timestamp" => Type::Timestamp,
        "type" => Type::compound(super::Constructor::Type, Vec::new()),
        "uint" => Type::Uint,
        "net.CIDR" => Type::Library(LibraryType::Cidr),
        "net.IP" => Type::Library(LibraryType::Ip),
        _ => return None,
    };
    Some(Type::type_of(of))
}

/// The overloads of a function, which may be one of those for patches.
pub(super) fn function(name: &str, has_patches: bool) -> Option<(&'static str, &'static [Overload])> {
    let (name, overloads) = FUNCTIONS.get_key_value(name.strip_prefix('.').unwrap_or(name))?;
    let is_there = has_patches || !OF_PATCHES.iter().any(|(own, _)| own == name);
    is_there.then_some((*name, overloads.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_declarations_can_be_read() {
        for (name, overloads) in STANDARD.iter().chain(LIBRARIES).chain(OF_PATCHES) {
            for text in *overloads {
                assert!(super::super::signature::overload(text).is_some(), "{name}: {text}");
            }
        }
        let count: usize =
            STANDARD.iter().chain(LIBRARIES).chain(OF_PATCHES).map(|(_, overloads)| overloads.len()).sum();
        assert_eq!(FUNCTIONS.values().map(Vec::len).sum::<usize>(), count);
    }
}
