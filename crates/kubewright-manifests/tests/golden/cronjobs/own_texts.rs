//! What Kubernetes' types say in their own words.
//!
//! Their descriptions come from the OpenAPI document of Kubernetes, by way of k8s-openapi. There, the lines of a comment are joined
//! to one, and types that are strings of another name have no definition, so that bytes cannot be equal. The words are.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{IN_FULL, cronjobs};
use crate::comparison::read;

/// The fields that have other words in another version of Kubernetes.
const REWORDED: [&str; 7] = [
    "dataSource",
    "dataSourceRef",
    "hostnameOverride",
    "key",
    "mountPath",
    "preemptionPolicy",
    "seLinuxChangePolicy",
];

/// The lists whose items are of a type that is a string.
const WITHOUT_DEFINITION: [&str; 2] = ["add.items", "drop.items"];

/// How many descriptions are equal.
#[derive(Debug, Default, PartialEq)]
struct Count {
    to_the_byte: usize,
    but_for_lines: usize,
}

struct Comparison {
    count: Count,
    reworded: BTreeSet<String>,
    only_in_golden: BTreeSet<String>,
}

#[test]
fn kubernetes_types_have_the_words_of_their_comments() {
    let Some(text) = read(IN_FULL) else { return };
    let golden: Value = serde_saphyr::from_str(&text).expect("the golden is YAML");
    let ours = cronjobs(IN_FULL).plain();
    let schema = "/spec/versions/0/schema/openAPIV3Schema/properties";
    let mut comparison =
        Comparison { count: Count::default(), reworded: BTreeSet::new(), only_in_golden: BTreeSet::new() };
    for place in ["spec/properties/jobTemplate/properties/spec", "status/properties/active/items"] {
        let pointer = format!("{schema}/{place}");
        let at = |document: &Value| document.pointer(&pointer).cloned().expect("a type of Kubernetes");
        comparison.compare(&at(&ours), &at(&golden), "");
    }
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(comparison.reworded, names(&REWORDED));
    assert_eq!(comparison.only_in_golden, names(&WITHOUT_DEFINITION));
    assert_eq!(comparison.count, Count { to_the_byte: 407, but_for_lines: 780 });
}

// === impl Comparison ===

impl Comparison {
    /// Compares two schemas and all below them. `name` is that of the field.
    fn compare(&mut self, ours: &Value, golden: &Value, name: &str) {
        match (ours["description"].as_str(), golden["description"].as_str()) {
            (Some(ours), Some(golden)) if ours == golden => self.count.to_the_byte += 1,
            (Some(ours), Some(golden)) if ours.split_whitespace().eq(golden.split_whitespace()) => {
                self.count.but_for_lines += 1;
            }
            (Some(_), _) => {
                self.reworded.insert(name.to_owned());
            }
            (None, Some(_)) => {
                self.only_in_golden.insert(name.to_owned());
            }
            (None, None) => {}
        }
        for (name, ours) in ours["properties"].as_object().into_iter().flatten() {
            // What later versions have more is not in the golden.
            if let Some(golden) = golden["properties"].get(name) {
                self.compare(ours, golden, name);
            }
        }
        for keyword in ["items", "additionalProperties"] {
            if golden[keyword].is_object() {
                self.compare(&ours[keyword], &golden[keyword], &format!("{name}.{keyword}"));
            }
        }
    }
}
