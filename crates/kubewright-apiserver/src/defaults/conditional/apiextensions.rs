use serde_json::{Value, json};

use super::fields::{Fields, always, default, default_non_empty, default_text, items, text};

pub(super) fn set(kind: &str, fields: &mut Fields) {
    match kind {
        "CustomResourceDefinition" => {
            let stored = always(fields, "spec").and_then(|spec| {
                let is_stored = |version: &&mut Fields| version.get("storage") == Some(&Value::Bool(true));
                items(spec, "versions").find(is_stored).map(|version| text(version, "name").to_owned())
            });
            if let (Some(stored), Some(status)) = (stored, always(fields, "status")) {
                default_non_empty(status, "storedVersions", json!([stored]));
            }
        }
        "CustomResourceDefinitionSpec" => {
            default(fields, "conversion", json!({"strategy": "None"}));
            if let Some(names) = always(fields, "names") {
                let kind = text(names, "kind").to_owned();
                default_text(names, "singular", &kind.to_lowercase());
                if !kind.is_empty() {
                    default_text(names, "listKind", &format!("{kind}List"));
                }
            }
        }
        _ => {}
    }
}
