//! How each field is patched.

use super::{PatchError, Result};
use crate::types::{Field, PatchStrategy, Shape, Special, Type, Types, ValueType};

/// The type of the value at hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum PatchSchema {
    /// A struct, whose fields are known.
    Struct(&'static Type),
    /// Something that is no struct, by the name Go has for its kind.
    Other(&'static str),
}

/// How a list is patched.
#[derive(Clone, Debug)]
pub(super) struct ListSchema {
    /// The type of the items.
    pub(super) item: PatchSchema,
    pub(super) strategy: PatchStrategy,
    /// Empty if the items have no key.
    pub(super) merge_key: String,
}

// === impl PatchSchema ===

impl PatchSchema {
    /// The type and strategy of a field that holds an object.
    pub(super) fn object_field(self, name: &str) -> Result<(PatchSchema, PatchStrategy)> {
        let field = self.field(name)?;
        let schema = match field.shape {
            Shape::One => Self::of_value(field.value),
            Shape::Map => Self::Other("map"),
            Shape::List => Self::Other("slice"),
        };
        Ok((schema, field.patch))
    }

    /// The type and strategy of a field that holds a list.
    pub(super) fn list_field(self, name: &str) -> Result<ListSchema> {
        let field = self.field(name)?;
        let item = match field.shape {
            Shape::List => Self::of_value(field.value),
            Shape::One if field.pointer => Self::of_value(field.value),
            Shape::One | Shape::Map => {
                let message = format!("expected slice or array type, but got: {}", self.kind());
                return Err(PatchError::Internal(message));
            }
        };
        let merge_key = field.merge_key.clone().unwrap_or_default();
        Ok(ListSchema { item, strategy: field.patch, merge_key })
    }

    /// The kind as Go names it.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Struct(_) => "struct",
            Self::Other(kind) => kind,
        }
    }

    fn field(self, name: &str) -> Result<&'static Field> {
        let ty = match self {
            Self::Struct(ty) => ty,
            Self::Other(kind) => {
                return Err(PatchError::Internal(format!(
                    "merging an object in json but data type is not struct, instead is: {kind}"
                )));
            }
        };
        let found = ty.field(name).or_else(|| {
            ty.fields().find(|(json, _)| json.eq_ignore_ascii_case(name)).map(|(_, field)| field)
        });
        found.ok_or_else(|| {
            let ty = ty.short_name();
            PatchError::Internal(format!(
                "unable to find api field in struct {ty} for the json field \"{name}\""
            ))
        })
    }

    fn of_value(value: ValueType) -> Self {
        match value {
            ValueType::Message(id) => match Types::get().by_id(id) {
                Some(ty) if ty.special == Some(Special::List) => Self::Other("slice"),
                Some(ty) => Self::Struct(ty),
                None => Self::Other("interface"),
            },
            ValueType::String => Self::Other("string"),
            ValueType::Bytes => Self::Other("slice"),
            ValueType::Bool => Self::Other("bool"),
            ValueType::Int32 => Self::Other("int32"),
            ValueType::Int64 => Self::Other("int64"),
            ValueType::Double => Self::Other("float64"),
            ValueType::Any => Self::Other("interface"),
        }
    }
}
