//! The API versions of a kind: a type for each, and how objects get from one to another.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::apply::typed::{Duplicates, ObjectType, TypeErrors, TypedValue};
use crate::apply::updater::{ConvertError, Converter};

/// Converts an object to the given `apiVersion`, or says why it cannot.
type Convert = dyn Fn(&Value, &str) -> Result<Value, String> + Send + Sync;

/// The types of a kind by `apiVersion`.
///
/// Managers may have written in any version. Entries of versions that are not here are dropped.
#[derive(Clone)]
pub struct Versions {
    types: BTreeMap<String, ObjectType>,
    convert: Option<Arc<Convert>>,
}

// === impl Versions ===

impl Versions {
    /// A kind with one version.
    pub fn one(api_version: &str, ty: ObjectType) -> Self {
        Self { types: BTreeMap::from([(api_version.to_owned(), ty)]), convert: None }
    }

    /// A kind with several versions of the same content: conversion only changes `apiVersion`.
    pub fn several(types: impl IntoIterator<Item = (String, ObjectType)>) -> Self {
        Self { types: types.into_iter().collect(), convert: None }
    }

    /// The same versions, with a conversion of content, such as a webhook's.
    #[must_use]
    pub fn with_conversion(
        mut self,
        convert: impl Fn(&Value, &str) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        self.convert = Some(Arc::new(convert));
        self
    }

    /// The versions.
    pub fn api_versions(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// The type of a version.
    pub(super) fn object_type(&self, api_version: &str) -> Option<&ObjectType> {
        self.types.get(api_version)
    }

    /// An object with the type of a version; a version that is not here has the deduced type.
    pub(super) fn typed<'v>(
        &self,
        api_version: &str,
        object: Cow<'v, Value>,
        duplicates: Duplicates,
    ) -> Result<TypedValue<'v>, TypeErrors> {
        match self.types.get(api_version) {
            Some(ty) => ty.check(object, duplicates),
            None => ObjectType::deduced().check(object, duplicates),
        }
    }
}

impl Converter for Versions {
    fn convert<'a>(
        &self,
        object: &'a TypedValue<'a>,
        api_version: &str,
    ) -> Result<Cow<'a, TypedValue<'a>>, ConvertError> {
        let current = object.value().get("apiVersion").and_then(Value::as_str);
        if current == Some(api_version) {
            return Ok(Cow::Borrowed(object));
        }
        let Some(ty) = self.types.get(api_version) else {
            return Err(ConvertError::UnknownVersion(api_version.to_owned()));
        };
        // An object that says nothing of its version is empty, and empty in every version.
        let converted = match (&self.convert, current) {
            (Some(convert), Some(_)) => convert(object.value(), api_version).map_err(ConvertError::Failed)?,
            _ => {
                let mut converted = object.value().clone();
                if let Some(fields) = converted.as_object_mut() {
                    fields.insert("apiVersion".to_owned(), Value::from(api_version));
                }
                converted
            }
        };
        Ok(Cow::Owned(ty.check(Cow::Owned(converted), Duplicates::Refuse)?))
    }
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Versions")
            .field("types", &self.types.keys())
            .field("converts", &self.convert.is_some())
            .finish()
    }
}
