//! Structs and maps.

use serde_json::{Map, Value};

use super::Dialect;
use crate::schema::node::{Node, PRESERVE, Site};

// === impl Dialect ===

impl Dialect<'_> {
    pub(super) fn objects(&mut self, object: &Map<String, Value>, node: &mut Node, site: &Site) {
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                let site = Site::of_field(&site.type_name, name);
                let property = self.structure(property, &site);
                node.properties.insert(name.clone(), property);
            }
        }
        let rest = object.get("additionalProperties").or_else(|| object.get("unevaluatedProperties"));
        match rest {
            None | Some(Value::Null) => {}
            Some(Value::Bool(false)) => node.closed = true,
            Some(schema) => node.additional = Some(Box::new(self.structure(schema, site))),
        }
        // Keys that are numbers, or match a pattern: all of a map's values have one type.
        if let Some(values) = object.get("patternProperties").and_then(Value::as_object)
            && let Some(value) = values.values().next()
        {
            node.additional = Some(Box::new(self.structure(value, site)));
            node.closed = false;
        }
        if node.properties.is_empty() || node.additional.is_none() {
            return;
        }
        // Both is a struct with a flattened map; a CRD has one or the other.
        if let Some(additional) = node.additional.take() {
            if !additional.is(PRESERVE) {
                self.faults.warning(
                    "flattened-map",
                    site,
                    format!(
                        "`{site}` has fields and a flattened map, of which a CRD can check only the fields: the API server will take any other field"
                    ),
                    "make the map a field of its own",
                );
            }
            node.set(PRESERVE, true);
        }
    }
}
