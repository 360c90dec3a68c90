//! Schemas as structured merge diff sees them: not what is valid, but how a value divides into
//! fields that can be owned one by one.
//!
//! A schema comes from one of three sources: the Kubernetes API types ([`builtin`]), the structural
//! schema of a custom resource ([`openapi`]), or its own document form ([`document`]). Types that say
//! nothing are *deduced*: maps divide into their entries, lists are one field.

pub mod builder;
pub mod builtin;
pub mod document;
pub mod openapi;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

pub use builder::{SchemaBuilder, SchemaError};

/// Named types that refer to each other.
#[derive(Debug)]
pub struct Schema {
    names: BTreeMap<String, TypeId>,
    atoms: Vec<Atom>,
}

/// Which named type of a [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypeId(usize);

/// The kinds of value a type allows. Several may be set; the value then decides.
#[derive(Clone, Debug, Default)]
pub struct Atom {
    /// A single value.
    pub scalar: Option<Scalar>,
    /// A list.
    pub list: Option<List>,
    /// A map or a struct.
    pub map: Option<Map>,
}

/// What a scalar may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// An integer or a float.
    Numeric,
    /// A string.
    String,
    /// A boolean.
    Boolean,
    /// Any of them.
    Untyped,
}

/// A list: one field as a whole (atomic), or a field for each item (associative).
#[derive(Clone, Debug)]
pub struct List {
    /// Type of the items.
    pub element: TypeRef,
    /// Whether the list is one field. Otherwise items are told apart by `keys`, or, without keys, by
    /// their value (a set).
    pub atomic: bool,
    /// Fields whose values tell the items of a map list apart.
    pub keys: Vec<Arc<str>>,
}

/// A struct, a map, or both: declared fields, and a type for all other keys.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// Declared fields.
    pub fields: BTreeMap<Arc<str>, Field>,
    /// Type of the values of undeclared keys; without it undeclared keys are errors.
    pub element: Option<TypeRef>,
    /// Whether the map is one field.
    pub atomic: bool,
}

/// A declared field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// Type of its value.
    pub ty: TypeRef,
    /// Value that an item has in this field when it is a list key and the item omits it.
    pub default: Option<Value>,
}

/// A use of a type.
#[derive(Clone, Debug)]
pub struct TypeRef {
    target: Target,
    /// Replaces whether the referred map or list is one field.
    atomic: Option<bool>,
}

#[derive(Clone, Debug)]
enum Target {
    Named(TypeId),
    Inlined(Arc<Atom>),
}

/// A type reference followed to what it allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resolved<'s> {
    /// The scalar, if one is allowed.
    pub scalar: Option<Scalar>,
    /// The list, if one is allowed.
    pub list: Option<ListType<'s>>,
    /// The map, if one is allowed.
    pub map: Option<MapType<'s>>,
}

/// A list type with the relationship of the place that uses it.
#[derive(Clone, Copy, Debug)]
pub struct ListType<'s> {
    list: &'s List,
    atomic: bool,
}

/// A map type with the relationship of the place that uses it.
#[derive(Clone, Copy, Debug)]
pub struct MapType<'s> {
    map: &'s Map,
    atomic: bool,
}

/// Name of the type of values that are one field whatever they are.
pub(crate) const UNTYPED_ATOMIC: &str = "__untyped_atomic_";
/// Name of the type of values that divide as their content suggests.
pub(crate) const UNTYPED_DEDUCED: &str = "__untyped_deduced_";

/// The schema of objects about which nothing is known.
static DEDUCED: LazyLock<Arc<Schema>> = LazyLock::new(|| Arc::new(Schema::deduced_only()));

// === impl Schema ===

impl Schema {
    /// The schema that knows only the deduced type.
    pub fn deduced() -> &'static Arc<Schema> {
        &DEDUCED
    }

    /// Finds a named type.
    pub fn type_named(&self, name: &str) -> Option<TypeRef> {
        self.names.get(name).map(|id| TypeRef::named(*id))
    }

    /// The type of values that divide as their content suggests.
    pub fn deduced_type() -> TypeRef {
        TypeRef::named(builder::DEDUCED_ID)
    }

    /// Follows a type reference.
    pub fn resolve<'s>(&'s self, ty: &'s TypeRef) -> Resolved<'s> {
        let atom = match &ty.target {
            Target::Inlined(atom) => Some(&**atom),
            Target::Named(id) => self.atoms.get(id.0),
        };
        let Some(atom) = atom else { return Resolved::default() };
        let map = atom.map.as_ref().map(|map| MapType { map, atomic: ty.atomic.unwrap_or(map.atomic) });
        let list = atom.list.as_ref().map(|list| {
            // The relationship of a place describes its map if it may hold one.
            let atomic = if map.is_none() { ty.atomic } else { None };
            ListType { list, atomic: atomic.unwrap_or(list.atomic) }
        });
        Resolved { scalar: atom.scalar, list, map }
    }
}

// === impl Resolved ===

impl<'s> Resolved<'s> {
    /// Narrows to the kind that `value` has. A null fits every kind, and a value of a kind that is
    /// not allowed leaves the choice open, so that the caller reports what is allowed.
    #[must_use]
    pub fn narrow(self, value: Option<&Value>) -> Self {
        match value {
            Some(Value::Number(_) | Value::String(_) | Value::Bool(_)) if self.scalar.is_some() => {
                Self { scalar: self.scalar, ..Self::default() }
            }
            Some(Value::Array(_)) if self.list.is_some() => Self { list: self.list, ..Self::default() },
            Some(Value::Object(_)) if self.map.is_some() => Self { map: self.map, ..Self::default() },
            _ => self,
        }
    }

    /// Whether both narrowings of one type allow the same kinds.
    pub(crate) fn same_kinds(&self, other: &Self) -> bool {
        self.scalar.is_some() == other.scalar.is_some()
            && self.list.is_some() == other.list.is_some()
            && self.map.is_some() == other.map.is_some()
    }
}

// === impl ListType ===

impl<'s> ListType<'s> {
    /// Type of the items.
    pub fn element(self) -> &'s TypeRef {
        &self.list.element
    }

    /// Whether the list is one field.
    pub fn is_atomic(self) -> bool {
        self.atomic
    }

    /// Fields whose values tell the items apart; none for a set.
    pub fn keys(self) -> &'s [Arc<str>] {
        &self.list.keys
    }
}

// === impl MapType ===

impl<'s> MapType<'s> {
    /// Finds a declared field.
    pub fn field(self, name: &str) -> Option<&'s Field> {
        self.map.fields.get(name)
    }

    /// Finds a declared field with the shared copy of its name.
    pub(crate) fn field_entry(self, name: &str) -> Option<(&'s Arc<str>, &'s Field)> {
        self.map.fields.get_key_value(name)
    }

    /// Type of the values of undeclared keys.
    pub fn element(self) -> Option<&'s TypeRef> {
        self.map.element.as_ref()
    }

    /// Type of the value of a key, declared or not.
    pub fn type_of(self, name: &str) -> Option<&'s TypeRef> {
        self.field(name).map(|field| &field.ty).or(self.element())
    }

    /// Whether the map is one field.
    pub fn is_atomic(self) -> bool {
        self.atomic
    }

    /// Whether the map declares nothing and its values are of any kind.
    pub(crate) fn is_untyped(self) -> bool {
        self.map.fields.is_empty()
            && self.map.element.as_ref().is_some_and(|element| match &element.target {
                Target::Named(id) => *id == builder::DEDUCED_ID,
                Target::Inlined(atom) => atom.scalar == Some(Scalar::Untyped),
            })
    }
}

// === impl TypeRef ===

impl TypeRef {
    /// Refers to a named type.
    pub fn named(id: TypeId) -> Self {
        Self { target: Target::Named(id), atomic: None }
    }

    /// Declares a type in place.
    pub fn inlined(atom: Atom) -> Self {
        Self { target: Target::Inlined(Arc::new(atom)), atomic: None }
    }

    /// A scalar in place.
    pub fn scalar(scalar: Scalar) -> Self {
        Self::inlined(Atom { scalar: Some(scalar), ..Atom::default() })
    }

    /// Whether both refer to the same type in the same way.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_target = match (&self.target, &other.target) {
            (Target::Named(l), Target::Named(r)) => l == r,
            (Target::Inlined(l), Target::Inlined(r)) => Arc::ptr_eq(l, r),
            (Target::Named(_), Target::Inlined(_)) | (Target::Inlined(_), Target::Named(_)) => false,
        };
        same_target && self.atomic == other.atomic
    }

    /// Replaces whether the referred map or list is one field.
    #[must_use]
    pub fn with_relationship(mut self, atomic: Option<bool>) -> Self {
        self.atomic = atomic;
        self
    }
}
