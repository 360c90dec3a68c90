//! The names that rules may use: variables, types and functions.

use std::{collections::BTreeMap, sync::LazyLock};

use super::{
    libraries::LIBRARIES,
    signature::{Overload, functions},
    standard::STANDARD,
    types::{LibraryType, Type},
};
static FUNCTIONS: LazyLock<BTreeMap<&'static str, Vec<Overload>>> =
    LazyLock::new(|| functions(&[STANDARD, LIBRARIES]));

/// The variables in scope.
pub(super) struct Environment {
    /// What the expression may speak of.
    globals: Vec<(String, Type)>,
    /// What macros declare, the innermost last.
    locals: Vec<(String, Type)>,
}

impl Environment {
    pub(super) fn new(globals: Vec<(String, Type)>) -> Self {
        Self { globals, locals: Vec::new() }
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

    /// The type of a name without dots, save one in front that looks past the variables of macros.
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
        if !["authorizer", "google", "net"].contains(&plain.unwrap_or(first))
            || plain.is_none() && self.local(first).is_some()
        {
            return None;
        }
        let name = names.join(".");
        self.global(plain.map_or(name.as_str(), |_| name.trim_start_matches('.')))
    }

    fn global(&self, name: &str) -> Option<Type> {
        let global = self.globals.iter().find(|(known, _)| known == name).map(|(_, of)| of.clone());
        global.or_else(|| type_named(name))
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

/// The overloads of a function.
pub(super) fn function(name: &str) -> Option<(&'static str, &'static [Overload])> {
    let (name, overloads) = FUNCTIONS.get_key_value(name.strip_prefix('.').unwrap_or(name))?;
    Some((name, overloads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_declarations_can_be_read() {
        for (name, overloads) in STANDARD.iter().chain(LIBRARIES) {
            for text in *overloads {
                assert!(super::super::signature::overload(text).is_some(), "{name}: {text}");
            }
        }
        let count: usize = STANDARD.iter().chain(LIBRARIES).map(|(_, overloads)| overloads.len()).sum();
        assert_eq!(FUNCTIONS.values().map(Vec::len).sum::<usize>(), count);
    }
}
