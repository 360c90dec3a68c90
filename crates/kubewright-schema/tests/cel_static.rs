//! What a real kube-apiserver 1.37.2 says about rules when a definition is created, recorded in `data/cel_static.json`.

use std::{collections::BTreeMap, fs};

use kubewright_schema::crd::{default_crd, validate_crd};
use serde::Deserialize;
use serde_json::{Value, json};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cel_static.json");

#[derive(Deserialize)]
struct Recorded {
    /// Schemas of `spec`.
    schemas: BTreeMap<String, Value>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    schema: String,
    /// Where the rules stand: names of fields, `@items` and `@values`, from `spec`; or `@root`.
    #[serde(default)]
    at: String,
    rules: Vec<Value>,
    /// The causes of the answer, as `field: message`. Empty if the definition is taken.
    answer: Vec<String>,
}

fn definition(recorded: &Recorded, case: &Case) -> Value {
    let mut root = json!({"type": "object", "properties": {
        "spec": recorded.schemas[&case.schema],
        "metadata": {"type": "object"},
    }});
    let mut node = &mut root;
    if case.at != "@root" {
        node = &mut node["properties"]["spec"];
        for segment in case.at.split('.').filter(|segment| !segment.is_empty()) {
            node = match segment {
                "@items" => &mut node["items"],
                "@values" => &mut node["additionalProperties"],
                name => &mut node["properties"][name],
            };
        }
    }
    node["x-kubernetes-validations"] = case.rules.clone().into();
    let mut crd = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root}}],
        },
    });
    default_crd(&mut crd);
    crd
}

/// An answer without the rule that it shows.
fn shortened(text: &str) -> String {
    const START: &str = "Invalid value: {\"Rule\":";
    const END: &str = ",\"OptionalOldSelf\":";
    let Some((before, rest)) = text.split_once(START) else { return text.to_owned() };
    let after =
        rest.split_once(END).and_then(|(_, after)| after.split_once("}: ")).map_or("", |(_, after)| after);
    format!("{before}Invalid value: {{rule}}: {after}")
}

#[test]
fn rules_are_judged_as_by_a_real_server() {
    let recorded: Recorded = serde_json::from_str(&fs::read_to_string(DATA).unwrap()).unwrap();
    assert!(recorded.cases.len() > 150, "{}", recorded.cases.len());
    let mut wrong = Vec::new();
    for case in &recorded.cases {
        let found: Vec<String> = validate_crd(&definition(&recorded, case))
            .iter()
            .map(|error| shortened(&error.to_string()))
            .collect();
        if found != case.answer {
            wrong.push(format!(
                "{} {} {}\n  real: {}\n  ours: {}",
                case.schema,
                case.at,
                Value::Array(case.rules.clone()),
                case.answer.join("\n        "),
                found.join("\n        "),
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), recorded.cases.len(), wrong.join("\n"));
}
