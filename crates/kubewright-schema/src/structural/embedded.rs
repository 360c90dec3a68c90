//! Where the metadata of embedded resources stands in a value.

use serde_json::Value;

use super::Schema;
use crate::error::FieldPath;

impl Schema {
    /// Shows the metadata of each resource within a value, with its place, to somebody who may change it.
    ///
    /// # Errors
    /// The first of `visit`, after which it is not asked again.
    pub fn visit_embedded_metadata<E>(
        &self,
        value: &mut Value,
        visit: &mut impl FnMut(&FieldPath, &mut Value) -> Result<(), E>,
    ) -> Result<(), E> {
        walk(self, value, &mut FieldPath::root(), visit)
    }
}

fn walk<E>(
    schema: &Schema,
    value: &mut Value,
    path: &mut FieldPath,
    visit: &mut impl FnMut(&FieldPath, &mut Value) -> Result<(), E>,
) -> Result<(), E> {
    if !schema.subtree.embedded {
        return Ok(());
    }
    match value {
        Value::Object(fields) => {
            if schema.embedded_resource
                && let Some(metadata) = fields.get_mut("metadata")
            {
                visit(&path.child("metadata"), metadata)?;
            }
            for (name, field) in fields {
                let Some((below, length)) = schema.enter_field(name, path) else { continue };
                walk(below, field, path, visit)?;
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            let Some(below) = &schema.items else { return Ok(()) };
            for (index, item) in items.iter_mut().enumerate() {
                let length = path.push_index(index);
                walk(below, item, path, visit)?;
                path.truncate(length);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Structural;

    #[test]
    fn metadata_is_found_wherever_a_resource_may_be() {
        let resource = json!({
            "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
        });
        let schema = Structural::parse(&json!({"type": "object", "properties": {
            "one": resource,
            "list": {"type": "array", "items": resource},
            "map": {"type": "object", "additionalProperties": resource},
            "other": {"type": "object", "properties": {"metadata": {"type": "object"}}},
        }}))
        .unwrap();
        let mut value = json!({
            "metadata": {}, "one": {"metadata": {}}, "list": [{"metadata": {}}, {"metadata": null}, {}],
            "map": {"k": {"metadata": 5}}, "other": {"metadata": {}},
        });
        let mut places = Vec::new();
        let visited = schema.visit_embedded_metadata(&mut value, &mut |path, metadata| {
            places.push(path.to_string());
            *metadata = json!("seen");
            Ok::<_, ()>(())
        });
        assert_eq!(visited, Ok(()));
        assert_eq!(places, ["list[0].metadata", "list[1].metadata", "map[k].metadata", "one.metadata"]);
        assert_eq!(value["map"]["k"]["metadata"], "seen");
    }
}
