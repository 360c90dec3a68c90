//! What is true of Kubernetes' own types and OpenAPI documents do not say, which k8s-openapi is made from: how server-side
//! apply merges their lists and maps, defaults, and bounds of values, such as those of a condition.
//!
//! The table is what controller-gen says of the Go types; `conformance/` has the program that writes it.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Map, Value};

use super::node::{Node, Rule, VALIDATIONS};
use crate::Style;

/// Types, their fields, and the keywords of these; those of the type itself stand under an empty name.
type Table = BTreeMap<String, BTreeMap<String, Map<String, Value>>>;

static TABLE: LazyLock<Table> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../data/embedded.json")).unwrap_or_default());

/// Completes the definition of a type of Kubernetes.
///
/// The rules by which Kubernetes lets its own objects change are left out in our style: what is embedded is another object.
pub(super) fn complete(name: &str, node: &mut Node, style: Style) {
    let Some(fields) = TABLE.get(name) else { return };
    let mut required = std::mem::take(&mut node.required);
    for (field, keywords) in fields {
        let target = if field.is_empty() { Some(&mut *node) } else { node.properties.get_mut(field) };
        let Some(target) = target else { continue };
        // k8s-openapi decodes its types without the fields that it says are required, and the API server fills them in.
        if keywords.contains_key("default") {
            required.remove(field);
        }
        for (keyword, value) in keywords {
            if keyword != VALIDATIONS {
                target.keywords.entry(keyword.clone()).or_insert_with(|| value.clone());
            } else if style == Style::ControllerGen {
                let rules = value.as_array().into_iter().flatten();
                target.rules.extend(rules.map(|rule| Rule { value: rule.clone(), source: None }));
            }
        }
    }
    node.required = required;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_knows_what_operators_embed() {
        let keyword = |name: &str, field: &str, keyword: &str| TABLE[name][field][keyword].clone();
        assert_eq!(
            keyword("io.k8s.api.core.v1.PodSpec", "containers", "x-kubernetes-list-map-keys"),
            json!(["name"])
        );
        assert_eq!(keyword("io.k8s.api.core.v1.ContainerPort", "protocol", "default"), json!("TCP"));
        assert_eq!(
            keyword("io.k8s.apimachinery.pkg.apis.meta.v1.Condition", "status", "enum"),
            json!(["True", "False", "Unknown"])
        );
        assert_eq!(
            keyword("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector", "", "x-kubernetes-map-type"),
            json!("atomic")
        );
    }
}
