//! A value together with its schema, and the operations of structured merge diff on it.
//!
//! Each operation is a walk of the value along its schema, one file each. All walks agree on what a
//! field is: a scalar, an atomic list or map, or an empty container.

mod atomics;
mod compare;
mod extract;
mod field_set;
mod item;
mod merge;
mod reconcile;
mod validate;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use compare::Comparison;

use super::schema::{Schema, TypeRef};
use super::set::Set;

/// A type of a schema, as the type of whole objects.
#[derive(Clone, Debug)]
pub struct ObjectType {
    schema: Arc<Schema>,
    root: TypeRef,
}

/// A value that fits a type.
#[derive(Clone, Debug)]
pub struct TypedValue<'v> {
    value: Cow<'v, Value>,
    ty: ObjectType,
}

/// Whether an associative list may hold several items with the same key. Stored objects may (the
/// type may have changed, or validation does not forbid it); applied configurations may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// They are accepted, and owned together.
    Allow,
    /// They are an error.
    Refuse,
}

/// Whether a null fits every type, as it does in JSON, or none. In Go the null of an expression is not that of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nulls {
    /// They fit.
    Allow,
    /// They are an error.
    Refuse,
}

/// Everything that does not fit between a value and its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeErrors(Vec<TypeError>);

/// One place where a value does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// The field, such as `.spec.ports[0]`; empty for the value itself.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

type Result<T> = std::result::Result<T, TypeErrors>;

// === impl ObjectType ===

impl ObjectType {
    /// A type of `schema`.
    pub fn new(schema: Arc<Schema>, root: TypeRef) -> Self {
        Self { schema, root }
    }

    /// The named type of `schema`, if there is one.
    pub fn named(schema: &Arc<Schema>, name: &str) -> Option<Self> {
        Some(Self::new(Arc::clone(schema), schema.type_named(name)?))
    }

    /// The type of objects about which nothing is known.
    pub fn deduced() -> Self {
        Self::new(Arc::clone(Schema::deduced()), Schema::deduced_type())
    }

    /// Checks that a value fits this type. A null fits every type.
    pub fn check<'v>(&self, value: Cow<'v, Value>, duplicates: Duplicates) -> Result<TypedValue<'v>> {
        validate::validate(&self.schema, &self.root, &value, duplicates, Nulls::Allow)?;
        Ok(self.unchecked(value))
    }

    /// Checks that what an expression makes fits this type, where no null does.
    pub(crate) fn check_made(&self, value: Value) -> Result<TypedValue<'static>> {
        validate::validate(&self.schema, &self.root, &value, Duplicates::Refuse, Nulls::Refuse)?;
        Ok(self.unchecked(Cow::Owned(value)))
    }

    fn unchecked<'v>(&self, value: Cow<'v, Value>) -> TypedValue<'v> {
        TypedValue { value, ty: self.clone() }
    }
}

/// Types are equal if they are the same type of the same schema.
impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.schema, &other.schema) && self.root.is_same(&other.root)
    }
}

// === impl TypedValue ===

impl<'v> TypedValue<'v> {
    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value, copied if it was borrowed.
    pub fn into_value(self) -> Value {
        self.value.into_owned()
    }

    /// The same value, copied if it was borrowed.
    pub(crate) fn into_static(self) -> TypedValue<'static> {
        TypedValue { value: Cow::Owned(self.value.into_owned()), ty: self.ty }
    }

    /// The type.
    pub fn ty(&self) -> &ObjectType {
        &self.ty
    }

    /// The same value with another type.
    pub fn with_type(&self, ty: &ObjectType) -> TypedValue<'v> {
        TypedValue { value: self.value.clone(), ty: ty.clone() }
    }

    /// The paths of the atomic lists and maps in the value, by the indices of items.
    pub(crate) fn atomics(&self) -> Vec<String> {
        atomics::paths(&self.ty.schema, &self.ty.root, &self.value)
    }

    /// The fields that the value mentions: what a manager owns who applies it.
    pub fn field_set(&self) -> Result<Set> {
        field_set::field_set(&self.ty.schema, &self.ty.root, &self.value)
    }

    /// What changes when this value becomes `new`.
    pub fn compare(&self, new: &TypedValue<'_>) -> Result<Comparison> {
        self.require_same_type(new)?;
        compare::compare(&self.ty.schema, &self.ty.root, &self.value, &new.value)
    }

    /// This value with everything set that `config` sets. Nothing is removed; lists follow the order
    /// of `config` where it mentions items.
    pub fn merge(&self, config: &TypedValue<'_>) -> Result<TypedValue<'static>> {
        self.require_same_type(config)?;
        let merged = merge::merge(&self.ty.schema, &self.ty.root, Some(&self.value), Some(&config.value))?;
        Ok(self.ty.unchecked(Cow::Owned(merged.unwrap_or(Value::Null))))
    }

    /// This value without the given fields and list items.
    #[must_use]
    pub fn without(&self, fields: &Set) -> TypedValue<'static> {
        let rest = extract::remove(&self.ty.schema, &self.ty.root, &self.value, fields);
        self.ty.unchecked(Cow::Owned(rest))
    }

    /// Only the given fields and list items of this value.
    #[must_use]
    pub fn extract(&self, fields: &Set) -> TypedValue<'static> {
        let part = extract::extract(&self.ty.schema, &self.ty.root, &self.value, fields);
        self.ty.unchecked(Cow::Owned(part))
    }

    /// As [`TypedValue::extract`], with the key fields of every list item on the way, so that the
    /// result can be applied.
    pub fn extract_with_keys(&self, fields: &Set) -> Result<TypedValue<'static>> {
        let keys = extract::key_fields(&self.field_set()?, fields);
        Ok(self.extract(&fields.union(&keys)))
    }

    /// Adapts a set that was written under an older schema in which some list or map was not atomic.
    /// `None` if there is nothing to adapt.
    pub fn reconcile(&self, fields: &Set) -> Option<Set> {
        reconcile::reconcile(&self.ty.schema, &self.ty.root, fields)
    }

    /// See [`Set::with_named_fields`].
    pub(crate) fn with_named_fields(&self, fields: &Set) -> Set {
        fields.with_named_fields(&self.ty.schema, Some(&self.ty.root))
    }

    fn require_same_type(&self, other: &TypedValue<'_>) -> Result<()> {
        if self.ty == other.ty { Ok(()) } else { Err(TypeErrors::one("expected objects of the same type")) }
    }
}

// === impl TypeErrors ===

impl TypeErrors {
    pub(crate) fn one(message: impl Into<String>) -> Self {
        Self(vec![TypeError { path: String::new(), message: message.into() }])
    }

    /// The errors in the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &TypeError> {
        self.0.iter()
    }

    fn push(&mut self, message: impl Into<String>) {
        self.0.push(TypeError { path: String::new(), message: message.into() });
    }

    /// Adds the errors of something inside, `element` away from here.
    fn extend_within(&mut self, element: &dyn fmt::Display, errors: TypeErrors) {
        for mut error in errors.0 {
            error.path.insert_str(0, &element.to_string());
            self.0.push(error);
        }
    }

    fn into_result<T>(self, value: T) -> Result<T> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

/// One error on its line, or `errors:` and one indented line each.
impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [error] = &self.0[..] {
            return write!(f, "{error}");
        }
        f.write_str("errors:")?;
        self.0.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl std::error::Error for TypeErrors {}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests;
