//! Every way in which serde writes an enum.

use super::*;

#[test]
fn unit_variants_are_a_string() {
    /// How pods are replaced.
    #[derive(Deserialize, Serialize, JsonSchema)]
    enum Strategy {
        /// All at once.
        Recreate,
        /// One after
        /// the other.
        Rolling,
        Manual,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        strategy: Option<Strategy>,
    }
    let values = json!(["Manual", "Recreate", "Rolling"]);
    assert_eq!(
        ours::<Outer>()["properties"]["strategy"],
        json!({
            "description": "How pods are replaced.\n\nPossible enum values:\n - `\"Recreate\"` All at once.\n - `\"Rolling\"` One after the other.",
            "type": "string",
            "enum": values,
        })
    );
    assert_eq!(
        go::<Outer>()["properties"]["strategy"],
        json!({"description": "How pods are replaced.", "type": "string", "enum": values})
    );
}

#[test]
fn externally_tagged_variants_are_properties() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    enum Source {
        /// A bucket.
        Bucket {
            name: String,
        },
        File(String),
    }
    assert_eq!(
        ours::<Source>(),
        json!({
            "type": "object",
            "properties": {
                "bucket": {
                    "description": "A bucket.",
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                },
                "file": {"type": "string"},
            },
            "oneOf": [{"required": ["bucket"]}, {"required": ["file"]}],
        })
    );
}

#[test]
fn an_internal_tag_is_an_enum() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Disk {
        size: i32,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(tag = "type")]
    enum Storage {
        Memory,
        Disk(Disk),
        Cloud { bucket: String, size: Option<i32> },
    }
    assert_eq!(
        ours::<Storage>(),
        json!({
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": ["Memory", "Disk", "Cloud"]},
                "size": {"type": "integer", "format": "int32"},
                "bucket": {"type": "string"},
            },
            "required": ["type"],
            "oneOf": [
                {"properties": {"type": {"enum": ["Memory"]}}},
                {"properties": {"type": {"enum": ["Disk"]}}, "required": ["size"]},
                {"properties": {"type": {"enum": ["Cloud"]}}, "required": ["bucket"]},
            ],
        })
    );
}

#[test]
fn adjacent_content_is_one_property() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(tag = "kind", content = "with")]
    enum Action {
        Stop,
        Scale { replicas: i32 },
        Move { node: String },
    }
    assert_eq!(
        ours::<Action>(),
        json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["Stop", "Scale", "Move"]},
                "with": {
                    "type": "object",
                    "properties": {
                        "replicas": {"type": "integer", "format": "int32"},
                        "node": {"type": "string"},
                    },
                },
            },
            "required": ["kind"],
            "oneOf": [
                {"properties": {"kind": {"enum": ["Stop"]}}},
                {
                    "properties": {"kind": {"enum": ["Scale"]}, "with": {"required": ["replicas"]}},
                    "required": ["with"],
                },
                {
                    "properties": {"kind": {"enum": ["Move"]}, "with": {"required": ["node"]}},
                    "required": ["with"],
                },
            ],
        })
    );
}

#[test]
fn untagged_scalars() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(untagged)]
    enum Port {
        Number(i32),
        Name(String),
    }
    assert_eq!(
        ours::<Port>(),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]})
    );
    #[derive(Deserialize, Serialize, JsonSchema)]
    enum Level {
        Low,
        High,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(untagged)]
    enum Open {
        Known(Level),
        Other(String),
    }
    assert_eq!(ours::<Open>(), json!({"type": "string"}));
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(untagged)]
    enum Anything {
        Text(String),
        Other(Value),
    }
    assert_eq!(ours::<Anything>(), json!({"x-kubernetes-preserve-unknown-fields": true}));
}

#[test]
fn untagged_structs_are_any_of_them() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(untagged)]
    enum Target {
        ByName { name: String },
        ByLabel { label: String },
    }
    assert_eq!(
        ours::<Target>(),
        json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "label": {"type": "string"}},
            "anyOf": [{"required": ["name"]}, {"required": ["label"]}],
        })
    );
}

#[test]
fn flattened_enums_add_to_the_struct() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    enum Source {
        Bucket(String),
        File(String),
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(tag = "mode")]
    enum Mode {
        Fast { threads: i32 },
        Slow,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        name: String,
        #[serde(flatten)]
        source: Source,
        #[serde(flatten)]
        mode: Option<Mode>,
    }
    assert_eq!(
        ours::<Outer>(),
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "bucket": {"type": "string"},
                "file": {"type": "string"},
                "mode": {"type": "string", "enum": ["Fast", "Slow"]},
                "threads": {"type": "integer", "format": "int32"},
            },
            "required": ["name"],
            "oneOf": [{"required": ["bucket"]}, {"required": ["file"]}],
        })
    );
}

#[test]
fn a_string_beside_an_object_has_no_structure() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    enum Mixed {
        Plain,
        Rich { size: i32 },
    }
    let compiled = compile::<Mixed>(&Options::default());
    assert_eq!(compiled.diagnostics.len(), 1);
    assert_eq!(
        compiled.diagnostics[0].message,
        "`Mixed` is written as an object or a string depending on the variant, but a field of a CRD has one type"
    );
    is_structural(&compiled.schema);
}

#[test]
fn rules_and_defaults_of_variants() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(tag = "type-of")]
    enum Limit {
        /// +kubebuilder:validation:XValidation:rule="self.min <= self.max"
        Between {
            min: i32,
            max: i32,
            #[serde(default)]
            step: i32,
        },
        None {
            /// +kubebuilder:default=x
            text: Option<String>,
        },
    }
    let compiled = compile::<Limit>(&Options::default());
    let told: Vec<&str> = compiled.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "the default of `Limit.step` is not written: the API server would set it in every variant",
            "the default of `Limit.text` is not written: the API server would set it in every variant",
        ]
    );
    assert_eq!(
        compiled.schema["x-kubernetes-validations"],
        json!([{"rule": "self.type__dash__of != \"Between\" || (self.min <= self.max)"}])
    );
    assert_eq!(compiled.schema["properties"]["text"], json!({"type": "string"}));
    is_structural(&compiled.schema);

    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(untagged)]
    enum Untold {
        /// +kubebuilder:validation:XValidation:rule="self.a != ''"
        A {
            a: String,
        },
        B {
            b: String,
        },
    }
    let compiled = compile::<Untold>(&Options::default());
    assert_eq!(compiled.diagnostics[0].code, "rule-of-variant");
}

#[test]
fn fields_of_one_name_in_several_variants() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(tag = "type")]
    enum Probe {
        Http {
            /// +kubebuilder:validation:Minimum=1
            port: i32,
            metadata: Option<String>,
        },
        Exec {
            /// +kubebuilder:validation:Minimum=5
            port: i32,
            metadata: Option<String>,
        },
    }
    assert_eq!(
        ours::<Probe>(),
        json!({
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": ["Http", "Exec"]},
                "port": {"type": "integer", "format": "int32"},
                "metadata": {"type": "string"},
            },
            "required": ["port", "type"],
            "oneOf": [
                {"properties": {"type": {"enum": ["Http"]}, "port": {"minimum": 1}}},
                {"properties": {"type": {"enum": ["Exec"]}, "port": {"minimum": 5}}},
            ],
        })
    );
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(tag = "type", content = "value")]
    enum Value {
        Text(String),
        Flag(bool),
    }
    let compiled = compile::<Value>(&Options::default());
    assert_eq!(
        compiled.diagnostics[0].message,
        "`Value.value` is written as a boolean or a string depending on the variant, but a field of a CRD has one type"
    );
    is_structural(&compiled.schema);
}

#[test]
fn numbers_for_variants() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(untagged)]
    enum Amount {
        Whole(i64),
        Part(f64),
    }
    assert_eq!(ours::<Amount>()["type"], "number");
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[schemars(extend("type" = "integer", "enum" = [0, 1]))]
    struct Bit(i32);
    assert_eq!(ours::<Bit>()["enum"], json!([0, 1]));
}
