use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::fields::Fields;
use crate::types::Type;

/// The defaults that a type has wherever it occurs, by type and field.
static DEFAULTS: LazyLock<BTreeMap<String, BTreeMap<String, Value>>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../data/defaults.json"))
        .expect("the generated table of defaults is valid") // checked by a test, not by input
});

/// Sets the defaults of a type in fields that are absent, or zero where Go cannot tell zero from absent.
pub(super) fn set(kind: &Type, fields: &mut Fields) {
    for (name, value) in DEFAULTS.get(&kind.name).into_iter().flatten() {
        let pointer = kind.field(name).is_some_and(|field| field.pointer);
        let unset = match fields.get(name) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => !pointer && text.is_empty(),
            Some(Value::Number(number)) => !pointer && number.as_f64() == Some(0.0),
            Some(Value::Array(items)) => items.is_empty(),
            Some(Value::Bool(_) | Value::Object(_)) => false,
        };
        if unset {
            fields.insert(name.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Types;

    #[test]
    fn every_default_belongs_to_a_field() {
        assert!(DEFAULTS.len() > 50);
        for (name, fields) in &*DEFAULTS {
            let kind = Types::get().named(name).unwrap_or_else(|| panic!("{name}"));
            for field in fields.keys() {
                assert!(kind.field(field).is_some(), "{name}.{field}");
            }
        }
    }
}
