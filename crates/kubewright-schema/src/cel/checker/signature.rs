//! How functions are declared: `id: target.(argument, ..) -> result`, where a function that is no method has no target.
//! Single capital letters are types that a call decides.

use std::collections::BTreeMap;

use super::types::{Constructor, LibraryType, Parameter, Type};

/// One way to call a function.
#[derive(Debug)]
pub(in crate::cel) struct Overload {
    pub(in crate::cel) id: &'static str,
    pub(super) is_method: bool,
    /// The types of the operands, the target of a method first.
    pub(super) operands: Vec<Type>,
    pub(super) result: Type,
    /// How many types a call decides.
    pub(super) open: usize,
}

/// The functions of a table, by name. A function that stands in several places has the overloads of all of them, in
/// that order.
pub(super) fn functions(
    tables: &[&[(&'static str, &'static [&'static str])]],
) -> BTreeMap<&'static str, Vec<Overload>> {
    let mut functions: BTreeMap<_, Vec<Overload>> = BTreeMap::new();
    for (name, overloads) in tables.iter().copied().flatten() {
        functions.entry(*name).or_default().extend(overloads.iter().filter_map(|text| overload(text)));
    }
    functions
}

/// Reads a declaration.
pub(super) fn overload(text: &'static str) -> Option<Overload> {
    let (id, signature) = text.split_once(": ")?;
    let (operands, result) = signature.split_once(" -> ")?;
    let mut reader = Reader { rest: operands, open: Vec::new() };
    let mut types = Vec::new();
    let is_method = !operands.starts_with('(');
    if is_method {
        types.push(reader.read()?);
        reader.expect(".")?;
    }
    reader.expect("(")?;
    while !reader.rest.starts_with(')') {
        types.push(reader.read()?);
        reader.rest = reader.rest.trim_start_matches([',', ' ']);
    }
    reader.rest = result;
    let result = reader.read()?;
    reader.rest.is_empty().then_some(Overload {
        id,
        is_method,
        operands: types,
        result,
        open: reader.open.len(),
    })
}

struct Reader {
    rest: &'static str,
    open: Vec<char>,
}

impl Reader {
    fn expect(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn read(&mut self) -> Option<Type> {
        let end = self.rest.find(['(', ')', ',']).unwrap_or(self.rest.len());
        // A dot belongs to the name of a library type, and ends a target.
        let end = self.rest.find(".(").map_or(end, |dot| dot.min(end));
        let (name, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        let constructor = match name {
            "list" => Constructor::List,
            "map" => Constructor::Map,
            "optional" => Constructor::Optional,
            "type" => Constructor::Type,
            _ => return self.named(name),
        };
        self.expect("(")?;
        let mut parameters = vec![self.read()?];
        while self.rest.starts_with(", ") {
            self.expect(", ")?;
            parameters.push(self.read()?);
        }
        self.expect(")")?;
        Some(Type::compound(constructor, parameters))
    }

    fn named(&mut self, name: &str) -> Option<Type> {
        Some(match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "duration" => Type::Duration,
            "dyn" => Type::Dyn,
            "int" => Type::Int,
            "string" => Type::String,
            "timestamp" => Type::Timestamp,
            "uint" => Type::Uint,
            _ => match LibraryType::named(name) {
                Some(library) => Type::Library(library),
                None => {
                    let letter = name
                        .chars()
                        .next()
                        .filter(|letter| name.len() == 1 && letter.is_ascii_uppercase())?;
                    let number = self.open.iter().position(|known| *known == letter).unwrap_or_else(|| {
                        self.open.push(letter);
                        self.open.len() - 1
                    });
                    Type::Parameter(Parameter::Declared(number))
                }
            },
        })
    }
}
