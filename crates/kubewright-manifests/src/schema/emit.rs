//! From the finished tree to JSON, and where each part of it comes from.

use serde_json::{Map, Value};

use super::{
    Origin,
    node::{Node, VALIDATIONS},
};

/// Writes schemas.
#[derive(Debug, Default)]
pub(super) struct Emitter {
    origins: Vec<Origin>,
}

// === impl Emitter ===

impl Emitter {
    pub(super) fn emit(mut self, node: Node) -> (Value, Vec<Origin>) {
        let value = self.node(node, "");
        self.origins.sort_by(|left, right| (&left.path, &left.keyword).cmp(&(&right.path, &right.keyword)));
        (value, self.origins)
    }

    fn node(&mut self, node: Node, path: &str) -> Value {
        self.origins(&node, path);
        let mut object: Map<String, Value> = node.keywords.into_iter().collect();
        let below =
            |keyword: &str| if path.is_empty() { keyword.to_owned() } else { format!("{path}.{keyword}") };
        if !node.properties.is_empty() {
            let path = below("properties");
            let properties: Map<String, Value> = node
                .properties
                .into_iter()
                .map(|(name, property)| {
                    let property = self.node(property, &format!("{path}[{name}]"));
                    (name, property)
                })
                .collect();
            object.insert("properties".to_owned(), properties.into());
        }
        if !node.required.is_empty() {
            object.insert("required".to_owned(), node.required.into_iter().collect());
        }
        for (keyword, child) in
            [("items", node.items), ("additionalProperties", node.additional), ("not", node.not)]
        {
            if let Some(child) = child {
                let child = self.node(*child, &below(keyword));
                object.insert(keyword.to_owned(), child);
            }
        }
        for (keyword, list) in [("allOf", node.all_of), ("anyOf", node.any_of), ("oneOf", node.one_of)] {
            if !list.is_empty() {
                let path = below(keyword);
                let list: Vec<Value> = list
                    .into_iter()
                    .enumerate()
                    .map(|(index, child)| self.node(child, &format!("{path}[{index}]")))
                    .collect();
                object.insert(keyword.to_owned(), list.into());
            }
        }
        if !node.rules.is_empty() {
            object.insert(VALIDATIONS.to_owned(), node.rules.into_iter().map(|rule| rule.value).collect());
        }
        object.into()
    }

    fn origins(&mut self, node: &Node, path: &str) {
        if let Some(site) = &node.site {
            self.origins.push(Origin {
                path: path.to_owned(),
                keyword: String::new(),
                type_name: site.type_name.clone(),
                field: site.field.clone(),
                marker: String::new(),
            });
        }
        let rules = node.rules.iter().enumerate().filter_map(|(index, rule)| {
            rule.source.as_ref().map(|source| (format!("{VALIDATIONS}[{index}]"), source))
        });
        let keywords = node.markers.iter().map(|(keyword, source)| (keyword.clone(), source));
        for (keyword, source) in keywords.chain(rules) {
            self.origins.push(Origin {
                path: path.to_owned(),
                keyword,
                type_name: source.site.type_name.clone(),
                field: source.site.field.clone(),
                marker: source.marker.clone(),
            });
        }
    }
}
