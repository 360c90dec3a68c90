//! Putting a schema together from named types that may refer to each other before they are defined.

use std::collections::BTreeMap;

use super::{Atom, List, Map, Scalar, Schema, TypeId, TypeRef, UNTYPED_ATOMIC, UNTYPED_DEDUCED};

/// Every schema defines these two types, always in these places.
const ATOMIC_ID: TypeId = TypeId(0);
pub(super) const DEDUCED_ID: TypeId = TypeId(1);

/// Collects named types and checks at the end that every name in use was defined.
#[derive(Debug)]
pub struct SchemaBuilder {
    names: BTreeMap<String, TypeId>,
    atoms: Vec<Option<Atom>>,
}

/// Why a schema could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A type is used but not defined.
    #[error("type {0:?} is used but not defined")]
    Undefined(String),
    /// The document form of a schema could not be read.
    #[error("schema document cannot be read: {0}")]
    Document(#[source] serde_json::Error),
    /// A scalar type has a name this version does not know.
    #[error("unknown scalar type {0:?}")]
    Scalar(String),
    /// A relationship between elements has a name this version does not know.
    #[error("unknown element relationship {0:?}")]
    Relationship(String),
    /// An OpenAPI schema cannot be expressed.
    #[error("{path}: {message}")]
    OpenApi {
        /// Where in the OpenAPI schema, such as `spec.ports`.
        path: String,
        /// What is wrong there.
        message: String,
    },
}

// === impl SchemaBuilder ===

impl SchemaBuilder {
    /// A builder that knows the two untyped types only.
    pub fn new() -> Self {
        let mut builder = Self { names: BTreeMap::new(), atoms: Vec::new() };
        let atomic = builder.id(UNTYPED_ATOMIC);
        let deduced = builder.id(UNTYPED_DEDUCED);
        debug_assert!(atomic == ATOMIC_ID && deduced == DEDUCED_ID);
        builder.define(UNTYPED_ATOMIC, Self::untyped_atom(true));
        builder.define(UNTYPED_DEDUCED, Self::untyped_atom(false));
        builder
    }

    /// What an untyped value may be. A map divides into its entries unless it is `atomic`.
    pub(super) fn untyped_atom(atomic: bool) -> Atom {
        let element = TypeRef::named(if atomic { ATOMIC_ID } else { DEDUCED_ID });
        Atom {
            scalar: Some(Scalar::Untyped),
            list: Some(List { element: Self::untyped_atomic(), atomic: true, keys: Vec::new() }),
            map: Some(Map { element: Some(element), atomic, ..Map::default() }),
        }
    }

    /// The type of values that are one field whatever they are.
    pub fn untyped_atomic() -> TypeRef {
        TypeRef::named(ATOMIC_ID)
    }

    /// The id of a named type, which may be defined later.
    pub fn id(&mut self, name: &str) -> TypeId {
        if let Some(id) = self.names.get(name) {
            return *id;
        }
        let id = TypeId(self.atoms.len());
        self.atoms.push(None);
        self.names.insert(name.to_owned(), id);
        id
    }

    /// Whether a named type has been defined.
    pub fn is_defined(&self, name: &str) -> bool {
        self.names.get(name).and_then(|id| self.atoms.get(id.0)).is_some_and(Option::is_some)
    }

    /// Defines a named type; a later definition replaces an earlier one.
    pub fn define(&mut self, name: &str, atom: Atom) -> TypeId {
        let id = self.id(name);
        if let Some(slot) = self.atoms.get_mut(id.0) {
            *slot = Some(atom);
        }
        id
    }

    /// The schema, if every type in use is defined.
    pub fn build(self) -> Result<Schema, SchemaError> {
        let undefined = self.names.iter().find(|(_, id)| self.atoms.get(id.0).is_none_or(Option::is_none));
        if let Some((name, _)) = undefined {
            return Err(SchemaError::Undefined(name.clone()));
        }
        Ok(Schema { names: self.names, atoms: self.atoms.into_iter().flatten().collect() })
    }
}

impl Default for SchemaBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl Schema {
    pub(super) fn deduced_only() -> Self {
        let SchemaBuilder { names, atoms } = SchemaBuilder::new();
        Self { names, atoms: atoms.into_iter().flatten().collect() }
    }
}
