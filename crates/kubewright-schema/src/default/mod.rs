//! Defaulting: filling absent fields from the schema.
//!
//! The API server drops nulls first ([`Schema::drop_nulls`]), then fills ([`Schema::apply_defaults`]), on
//! writes and on reads from storage alike.

use serde_json::Value;

use crate::structural::Schema;

impl Schema {
    /// Fills the absent fields that have a default, at every depth. A `null` that is not allowed counts as
    /// absent. Applying defaults twice is the same as once.
    ///
    /// ```
    /// use kubewright_schema::Structural;
    /// use serde_json::json;
    ///
    /// let schema = Structural::parse(&json!({
    ///     "type": "object",
    ///     "properties": {"spec": {
    ///         "type": "object",
    ///         "default": {},
    ///         "properties": {"size": {"type": "integer", "default": 1}},
    ///     }},
    /// }))
    /// .unwrap();
    /// let mut object = json!({"kind": "Memcached"});
    /// schema.apply_defaults(&mut object);
    /// assert_eq!(object, json!({"kind": "Memcached", "spec": {"size": 1}}));
    /// ```
    pub fn apply_defaults(&self, value: &mut Value) {
        if !self.subtree.defaults {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (name, property) in &self.properties {
                    let Some(default) = &property.default else { continue };
                    if fields.get(name).is_none_or(|field| property.forbids_null(field)) {
                        fields.insert(name.clone(), default.clone());
                    }
                }
                for (name, field) in fields {
                    if let Some(property) = self.properties.get(name) {
                        property.apply_defaults(field);
                    } else if let Some(schema) = self.additional_schema() {
                        schema.replace_null(field);
                        schema.apply_defaults(field);
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = &self.items else { return };
                for item in items {
                    schema.replace_null(item);
                    schema.apply_defaults(item);
                }
            }
            _ => {}
        }
    }

    /// Drops every `null` field that is neither allowed nor replaced by a default. Items of lists stay, because
    /// dropping them would move the others.
    pub fn drop_nulls(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => fields.retain(|name, field| match self.field(name) {
                Some(schema) if schema.forbids_null(field) && schema.default.is_none() => false,
                Some(schema) => {
                    schema.drop_nulls(field);
                    true
                }
                None => true,
            }),
            Value::Array(items) => {
                if let Some(schema) = &self.items {
                    for item in items {
                        schema.drop_nulls(item);
                    }
                }
            }
            _ => {}
        }
    }

    fn replace_null(&self, value: &mut Value) {
        if let Some(default) = &self.default
            && self.forbids_null(value)
        {
            *value = default.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Structural;

    #[test]
    fn nulls_and_defaults() {
        let schema = Structural::parse(&json!({"type": "object", "properties": {
            "plain": {"type": "string"},
            "nullable": {"type": "string", "nullable": true},
            "defaulted": {"type": "string", "default": "d"},
            "both": {"type": "string", "nullable": true, "default": "d"},
            "list": {"type": "array", "items": {"type": "string", "default": "i"}},
            "map": {"type": "object", "additionalProperties": {"type": "string", "default": "v"}},
            "objects": {"type": "array", "items": {"type": "object", "properties": {
                "protocol": {"type": "string", "default": "TCP"},
            }}},
        }}))
        .unwrap();
        let mut object = json!({
            "plain": null, "nullable": null, "defaulted": null, "both": null,
            "list": [null, "x"], "map": {"a": null, "b": "x"}, "objects": [{}, {"protocol": "UDP"}],
            "unknown": null,
        });
        schema.drop_nulls(&mut object);
        assert_eq!(
            object,
            json!({
                "nullable": null, "defaulted": null, "both": null,
                "list": [null, "x"], "map": {"a": null, "b": "x"}, "objects": [{}, {"protocol": "UDP"}],
                "unknown": null,
            })
        );
        schema.apply_defaults(&mut object);
        assert_eq!(
            object,
            json!({
                "nullable": null, "defaulted": "d", "both": null,
                "list": ["i", "x"], "map": {"a": "v", "b": "x"},
                "objects": [{"protocol": "TCP"}, {"protocol": "UDP"}],
                "unknown": null,
            })
        );
    }

    #[test]
    fn defaults_do_not_appear_below_absent_objects() {
        let schema = Structural::parse(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 1}}},
        }}))
        .unwrap();
        let mut object = json!({});
        schema.apply_defaults(&mut object);
        assert_eq!(object, json!({}));
    }
}
