//! Pruning: dropping the fields that a schema does not declare.
//!
//! Used by the API server on every write of a custom resource and by the checks of defaults. Start at
//! [`Schema::prune`].

use serde_json::Value;

use crate::{error::FieldPath, structural::Schema};

/// The fields that every Kubernetes object has. They are never pruned from an object.
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Schema {
    /// Drops the undeclared fields of an object and returns their paths, sorted. `apiVersion`, `kind` and
    /// `metadata` are kept, at the root and in embedded resources.
    ///
    /// A path reads as in Kubernetes' warnings: `unknown field "spec.foo"`.
    ///
    /// ```
    /// use kubewright_schema::Structural;
    /// use serde_json::json;
    ///
    /// let schema = Structural::parse(&json!({
    ///     "type": "object",
    ///     "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    /// }))
    /// .unwrap();
    /// let mut object = json!({"kind": "Memcached", "spec": {"size": 1, "sise": 2}});
    /// assert_eq!(schema.prune(&mut object), ["spec.sise"]);
    /// assert_eq!(object, json!({"kind": "Memcached", "spec": {"size": 1}}));
    /// ```
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        self.prune_value(object, true)
    }

    /// [`Schema::prune`] for any value: a whole object only if `is_object`.
    pub fn prune_value(&self, value: &mut Value, is_object: bool) -> Vec<String> {
        let mut pruner = Pruner { path: FieldPath::root(), pruned: Vec::new() };
        pruner.node(value, Some(self), is_object);
        pruner.pruned.sort_unstable();
        pruner.pruned
    }
}

struct Pruner {
    path: FieldPath,
    pruned: Vec<String>,
}

impl Pruner {
    fn node(&mut self, value: &mut Value, schema: Option<&Schema>, is_object: bool) {
        match value {
            Value::Object(fields) => {
                let is_object = is_object || schema.is_some_and(|schema| schema.embedded_resource);
                let keeps_unknown = schema.is_some_and(|schema| schema.preserve_unknown_fields);
                fields.retain(|name, field| {
                    if is_object && OBJECT_FIELDS.contains(&name.as_str()) {
                        return true;
                    }
                    let length = self.path.push_child(name);
                    let keep = match schema {
                        Some(schema) if schema.properties.contains_key(name) => {
                            self.node(field, schema.field(name).map(|field| &**field), false);
                            true
                        }
                        Some(schema) if schema.additional_properties.is_some() => {
                            self.node(field, schema.additional_schema().map(|field| &**field), false);
                            true
                        }
                        _ => keeps_unknown,
                    };
                    if !keep {
                        self.pruned.push(self.path.as_str().to_owned());
                    }
                    self.path.truncate(length);
                    keep
                });
            }
            Value::Array(items) => {
                let keeps_unknown = schema.is_some_and(|schema| schema.preserve_unknown_fields);
                let schema = schema.and_then(|schema| schema.items.as_deref());
                if keeps_unknown && schema.is_none() {
                    return;
                }
                for (index, item) in items.iter_mut().enumerate() {
                    let length = self.path.push_index(index);
                    if keeps_unknown {
                        self.preserve(item, schema);
                    } else {
                        self.node(item, schema, false);
                    }
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// A list that preserves unknown fields preserves them in its items as well.
    fn preserve(&mut self, value: &mut Value, schema: Option<&Schema>) {
        let Some(schema) = schema else { return };
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    if schema.embedded_resource && OBJECT_FIELDS.contains(&name.as_str()) {
                        continue;
                    }
                    let declared = schema.properties.contains_key(name);
                    if declared || schema.additional_properties.is_some() {
                        let length = self.path.push_child(name);
                        self.node(field, schema.field(name).map(|field| &**field), false);
                        self.path.truncate(length);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let length = self.path.push_index(index);
                    self.preserve(item, schema.items.as_deref());
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Structural;

    fn prune(schema: &Value, mut object: Value) -> (Value, Vec<String>) {
        let pruned = Structural::parse(schema).unwrap().prune(&mut object);
        (object, pruned)
    }

    #[test]
    fn prunes_at_every_depth() {
        let (object, pruned) = prune(
            &json!({"type": "object", "properties": {
                "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
                "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                    "strict": {"type": "object"},
                }},
                "anything": {"type": "object", "additionalProperties": true},
            }}),
            json!({
                "apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "odd": 1},
                "list": [{"a": "x", "b": 1}, {"b": 2}],
                "map": {"k": {"a": "x", "b": 1}},
                "free": {"b": {"c": 1}, "strict": {"c": 1}},
                "anything": {"b": 1, "c": {"d": 1}},
                "gone": {"b": 1},
            }),
        );
        assert_eq!(
            object,
            json!({
                "apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "odd": 1},
                "list": [{"a": "x"}, {}],
                "map": {"k": {"a": "x"}},
                "free": {"b": {"c": 1}, "strict": {}},
                "anything": {"b": 1, "c": {}},
            })
        );
        assert_eq!(pruned, ["anything.c.d", "free.strict.c", "gone", "list[0].b", "list[1].b", "map.k.b"]);
    }

    #[test]
    fn keeps_the_meta_of_embedded_resources() {
        let (object, pruned) = prune(
            &json!({"type": "object", "properties": {"template": {
                "type": "object",
                "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object"}},
            }}}),
            json!({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"a": 1}, "spec": {"b": 1}, "c": 1}}),
        );
        assert_eq!(
            object,
            json!({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"a": 1}, "spec": {}}})
        );
        assert_eq!(pruned, ["template.c", "template.spec.b"]);
    }
}
