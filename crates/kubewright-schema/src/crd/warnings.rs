use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    schema,
    shared::{Part, Spec},
    text,
};
use crate::{
    error::go,
    structural::{Format, SchemaType},
};

/// What a real server warns about on create, or on update about what `old` did not have: formats it does not know,
/// and sets of values that cannot be set items.
pub fn crd_warnings(crd: &Value, old: Option<&Value>) -> Vec<String> {
    let known: BTreeSet<String> = old.map(all).unwrap_or_default().into_iter().collect();
    all(crd).into_iter().filter(|warning| !known.contains(warning)).collect()
}

fn all(crd: &Value) -> Vec<String> {
    let spec = Spec::new(&crd["spec"]);
    let shared = spec.part(Part::Schema);
    let own = spec.versions.iter().filter_map(|version| version.part(Part::Schema));
    let mut warnings = Vec::new();
    let mut sets = BTreeSet::new();
    for root in shared.into_iter().chain(own) {
        schema::visit(&root["openAPIV3Schema"], &mut |schema| {
            let format = text(&schema["format"]);
            if !format.is_empty() && !is_known_format(format, text(&schema["type"])) {
                warnings.push(format!("unrecognized format {}", go::quote(format)));
            }
            let item_type = text(&schema["items"]["type"]);
            if schema["x-kubernetes-list-type"] == "set" && matches!(item_type, "object" | "array") {
                sets.insert(format!(
                    "x-kubernetes-list-type: set for items of type {} is not supported by server-side apply or CEL \
                     validation rules",
                    go::quote(item_type)
                ));
            }
        });
    }
    warnings.extend(sets);
    warnings
}

fn is_known_format(format: &str, schema_type: &str) -> bool {
    match SchemaType::ALL.into_iter().find(|known| known.as_str() == schema_type) {
        Some(known) => Format::of(format, &[known]).is_some(),
        None => schema_type.is_empty() && Format::of(format, &[]).is_some(),
    }
}
