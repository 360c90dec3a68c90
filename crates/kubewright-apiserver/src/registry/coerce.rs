use serde_json::{Number, Value};

use super::Served;
use crate::{
    defaults,
    types::{Type, Types, canonical, strict},
};

/// Writes whole numbers without a fraction, as Go does whatever they were written like.
fn write_integers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e15);
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
            if let Some(float) = whole {
                *number = Number::from(float as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_integers),
        Value::Object(fields) => fields.values_mut().for_each(write_integers),
        _ => {}
    }
}

impl Served {
    /// The Go type of a built-in kind.
    pub(crate) fn go_type(&self) -> Option<&'static Type> {
        if self.custom.is_some() {
            return None;
        }
        let definition = &self.definition;
        Types::get().kind(&definition.group, &definition.version, &definition.kind)
    }

    /// Reads the metadata of a custom resource strictly, as that of a built-in kind is when it is decoded. Gives a text
    /// about each field that was dropped.
    ///
    /// # Errors
    /// With the text of Go's JSON reader, if a field is of the wrong type.
    pub(crate) fn coerce_metadata(&self, object: &mut Value) -> Result<Vec<String>, String> {
        let ty = Types::get().named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
        if self.custom.is_none() {
            return Ok(Vec::new());
        }
        let Some(meta) = object.get_mut("metadata").filter(|meta| !meta.is_null()) else {
            return Ok(Vec::new());
        };
        let decoded = strict::decode(meta.to_string().as_bytes(), ty).map_err(|error| error.to_string())?;
        *meta = decoded.value;
        if let Some(ty) = ty {
            canonical::canonicalize(ty, meta);
        }
        let at_place = |fault: String| fault.replacen("field \"", "field \"metadata.", 1);
        Ok(decoded.strict_errors.into_iter().map(at_place).collect())
    }

    /// Reads the metadata of resources within a custom one as [`Served::coerce_metadata`] reads its own.
    ///
    /// # Errors
    /// With the text about a field that is of the wrong type.
    pub(crate) fn coerce_embedded(&self, object: &mut Value) -> Result<Vec<String>, String> {
        let Some(custom) = &self.custom else { return Ok(Vec::new()) };
        custom.coerce_embedded(object).map_err(|error| error.to_string())
    }

    /// Brings an object that a client sent into the state in which it is checked: without the fields that its kind
    /// does not have, and with defaults. Gives a text about each field of a custom resource that was dropped; those
    /// of a built-in kind are found when it is decoded.
    ///
    /// With `keep_nulls` nulls stay where they are not allowed, to be refused.
    pub(crate) fn coerce(&self, object: &mut Value, keep_nulls: bool) -> Vec<String> {
        match &self.custom {
            Some(custom) => {
                let unknown = custom.coerce(object, keep_nulls);
                unknown.iter().map(|path| format!("unknown field {path:?}")).collect()
            }
            None => {
                let definition = &self.definition;
                defaults::apply(&definition.group, &definition.version, &definition.kind, object);
                Vec::new()
            }
        }
    }

    /// Gives an object the form in which it comes back from where it is stored. What checks it sees it as the client
    /// wrote it: numbers of a custom resource, and empty lists of a built-in kind.
    pub(super) fn settle(&self, object: &mut Value) {
        match self.go_type() {
            Some(ty) => canonical::forget_empty(ty, object),
            None if self.custom.is_some() => write_integers(object),
            None => {}
        }
    }

    /// Writes out what Go writes of a built-in object when it is stored.
    pub(super) fn canonicalize(&self, object: &mut Value) {
        if let Some(ty) = self.go_type() {
            canonical::canonicalize(ty, object);
        }
    }
}
