//! JSON whose fields stand in the order of the Go struct, as messages show it that print a whole value.

use kubewright_schema::error::go;
use serde_json::Value;

use super::{Field, Shape, Type, Types, ValueType};

/// A value of a type as Go writes it.
pub(crate) fn written(ty: &Type, value: &Value) -> String {
    let mut out = String::new();
    write(ty, value, &mut out);
    out
}

fn write(ty: &Type, value: &Value, out: &mut String) {
    let Some(object) = value.as_object().filter(|_| ty.special.is_none()) else {
        return go::write_json(value, out);
    };
    let mut fields: Vec<(&Field, &Value)> =
        object.iter().filter_map(|(name, value)| Some((ty.field(name)?, value))).collect();
    fields.sort_by_key(|(field, _)| field.position);
    out.push('{');
    for (index, (field, value)) in fields.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        go::write_json(&Value::from(field.json.as_str()), out);
        out.push(':');
        write_field(field, value, out);
    }
    out.push('}');
}

fn write_field(field: &Field, value: &Value, out: &mut String) {
    let ty = match field.value {
        ValueType::Message(id) => Types::get().by_id(id),
        _ => None,
    };
    match (ty, field.shape, value) {
        (Some(ty), Shape::One, value) => write(ty, value, out),
        (Some(ty), Shape::List, Value::Array(items)) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(ty, item, out);
            }
            out.push(']');
        }
        (_, _, value) => go::write_json(value, out),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_come_in_the_order_of_their_declaration() {
        let container = Types::get().named("io.k8s.api.core.v1.Container").unwrap();
        let value = json!({"env": [{"value": "v", "name": "n"}], "image": "i", "name": "c", "unknown": 1});
        assert_eq!(
            written(container, &value),
            r#"{"name":"c","image":"i","env":[{"name":"n","value":"v"}]}"#
        );
    }
}
