//! What markers do.

use super::*;
use crate::diagnostic::{Place, Severity};

/// The codes of what is wrong, each with the text that is at fault.
fn faults<T: JsonSchema>() -> Vec<(String, String)> {
    let compiled = compile::<T>(&Options::default());
    let at_fault = compiled.diagnostics.iter().map(|diagnostic| match &diagnostic.place {
        Place::Doc { marker, range, .. } => (diagnostic.code.clone(), marker[range.clone()].to_owned()),
        other => panic!("{other:?}"),
    });
    at_fault.collect()
}

fn fault(code: &str, text: &str) -> (String, String) {
    (code.to_owned(), text.to_owned())
}

#[test]
fn bounds_of_numbers_and_sizes() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Bounds {
        /// How many.
        ///
        /// +kubebuilder:validation:Minimum=1
        /// +kubebuilder:validation:Maximum=3
        /// +kubebuilder:validation:ExclusiveMaximum=true
        /// +kubebuilder:validation:MultipleOf=1
        size: i32,
        /// +kubebuilder:validation:MinLength=1
        /// +kubebuilder:validation:MaxLength=63
        /// +kubebuilder:validation:Pattern=`^[a-z]+$`
        name: Option<String>,
        /// +kubebuilder:validation:MinItems=1
        /// +kubebuilder:validation:MaxItems=4
        /// +kubebuilder:validation:items:MaxLength=8
        tags: Vec<String>,
        /// +kubebuilder:validation:MinProperties=1
        labels: std::collections::BTreeMap<String, String>,
    }
    assert_eq!(
        ours::<Bounds>()["properties"],
        json!({
            "size": {
                "description": "How many.", "type": "integer", "format": "int32",
                "minimum": 1, "maximum": 3, "exclusiveMaximum": true, "multipleOf": 1,
            },
            "name": {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z]+$"},
            "tags": {"type": "array", "minItems": 1, "maxItems": 4, "items": {"type": "string", "maxLength": 8}},
            "labels": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}},
        })
    );
}

#[test]
fn a_marker_on_the_wrong_type_is_told_and_changes_nothing() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Wrong {
        /// +kubebuilder:validation:Minimum=1
        a: String,
        /// +kubebuilder:validation:MaxLength=1
        b: i32,
        /// +kubebuilder:validation:Maximum=1.5
        c: i32,
        /// +listType=set
        d: bool,
        /// +kubebuilder:validation:items:MinLength=1
        e: String,
        /// +kubebuilder:validation:Enum=1;2
        f: String,
        /// +kubebuilder:validation:UniqueItems=true
        g: Vec<String>,
        /// +listMapKey=name
        h: Vec<String>,
        /// +kubebuilder:title=12
        i: String,
        /// +kubebuilder:validation:Maxmium=1
        j: i32,
    }
    assert_eq!(
        faults::<Wrong>(),
        [
            fault("wrong-type", "1"),
            fault("wrong-type", "1"),
            fault("not-integral", "1.5"),
            fault("wrong-type", "set"),
            fault("wrong-type", "1"),
            fault("wrong-type", "1;2"),
            fault("unique-items", "true"),
            fault("key-without-map", "name"),
            fault("wrong-type", "12"),
            fault("unknown-marker", "kubebuilder:validation:Maxmium"),
        ]
    );
    let schema = compile::<Wrong>(&Options::default()).schema;
    assert_eq!(schema["properties"]["a"], json!({"type": "string"}));
    is_structural(&schema);
}

#[test]
fn the_tighter_of_two_bounds_counts() {
    /// +kubebuilder:validation:MinLength=2
    /// +kubebuilder:validation:MaxLength=20
    /// +kubebuilder:validation:Pattern=`^a`
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Limited(String);
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// +kubebuilder:validation:MinLength=3
        /// +kubebuilder:validation:MaxLength=30
        longer: Limited,
        /// +kubebuilder:validation:Pattern=`b$`
        other: Limited,
        /// +kubebuilder:validation:items:MinLength=5
        list: Vec<Limited>,
    }
    assert_eq!(
        ours::<Outer>()["properties"],
        json!({
            "longer": {"type": "string", "minLength": 3, "maxLength": 20, "pattern": "^a"},
            "other": {
                "type": "string", "minLength": 2, "maxLength": 20,
                "allOf": [{"pattern": "^a"}, {"pattern": "b$"}],
            },
            "list": {
                "type": "array",
                "items": {"type": "string", "minLength": 5, "maxLength": 20, "pattern": "^a"},
            },
        })
    );
    assert_eq!(
        go::<Outer>()["properties"]["longer"],
        json!({
            "type": "string", "pattern": "^a",
            "allOf": [{"maxLength": 20, "minLength": 2}, {"maxLength": 30, "minLength": 3}],
        })
    );
}

#[test]
fn bounds_that_leave_nothing_are_an_error() {
    /// +kubebuilder:validation:Maximum=3
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Few(i32);
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// +kubebuilder:validation:Minimum=4
        many: Few,
        /// +kubebuilder:validation:Enum=a;b
        #[schemars(extend("enum" = ["a"]))]
        two: String,
    }
    assert_eq!(
        faults::<Outer>(),
        [fault("contradiction", "a;b"), fault("nothing-allowed", "+kubebuilder:validation:Maximum=3")]
    );
}

#[test]
fn whether_a_field_may_be_left_out() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Fields {
        /// +required
        a: Option<String>,
        /// +optional
        #[serde(default)]
        b: String,
        /// +optional
        /// +kubebuilder:validation:Required
        c: Option<String>,
        /// +kubebuilder:validation:Optional
        /// +required
        d: Option<String>,
        /// +k8s:required
        e: String,
        /// +optional
        /// +kubebuilder:default="x"
        f: String,
        /// +nullable
        g: Option<String>,
    }
    // Two of the fields say both.
    let schema = compile::<Fields>(&Options::default()).schema;
    assert_eq!(schema["required"], json!(["a", "c", "e"]));
    assert_eq!(schema["properties"]["e"], json!({"type": "string", "minLength": 1}));
    assert_eq!(schema["properties"]["g"], json!({"type": "string", "nullable": true}));

    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Traps {
        /// +optional
        a: String,
        /// +nullable
        b: String,
    }
    assert_eq!(
        faults::<Traps>(),
        [fault("optional-without-default", "+optional"), fault("nullable-without-option", "+nullable")]
    );
    let compiled = compile::<Traps>(&Options::default());
    assert!(compiled.diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Warning));
}

#[test]
fn defaults() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Defaults {
        /// +kubebuilder:default=3
        number: Option<i32>,
        /// +kubebuilder:default={}
        list: Option<Vec<String>>,
        /// +default={"a": "b"}
        map: Option<std::collections::BTreeMap<String, String>>,
        /// +default="k8s"
        /// +kubebuilder:default=kubebuilder
        both: Option<String>,
        /// +default=ref(Elsewhere)
        referenced: Option<String>,
    }
    let schema = ours::<Defaults>();
    let default = |name: &str| schema["properties"][name]["default"].clone();
    assert_eq!(default("number"), json!(3));
    assert_eq!(default("list"), json!([]));
    assert_eq!(default("map"), json!({"a": "b"}));
    assert_eq!(default("both"), json!("kubebuilder"));
    assert_eq!(default("referenced"), Value::Null);
}

#[test]
fn lists_are_maps_by_keys_that_are_always_there() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Port {
        name: Option<String>,
        /// +kubebuilder:default=TCP
        protocol: Option<String>,
        port: i32,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Right {
        /// +listType=map
        /// +listMapKey=port
        /// +listMapKey=protocol
        /// +k8s:listMapKey=port
        ports: Vec<Port>,
    }
    assert_eq!(
        ours::<Right>()["properties"]["ports"]["x-kubernetes-list-map-keys"],
        json!(["port", "protocol"])
    );
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Wrong {
        /// +listType=map
        /// +listMapKey=name
        optional: Vec<Port>,
        /// +listType=map
        /// +listMapKey=prot
        unknown: Vec<Port>,
        /// +listType=map
        keyless: Vec<Port>,
        /// +listType=map
        /// +listMapKey=name
        scalars: Vec<String>,
    }
    assert_eq!(
        faults::<Wrong>(),
        [
            fault("map-without-key", "+listType=map"),
            fault("optional-key", "+listMapKey=name"),
            fault("items-without-keys", "+listType=map"),
            fault("unknown-key", "+listMapKey=prot"),
        ]
    );
}

#[test]
fn rules_keep_their_order() {
    /// +kubebuilder:validation:XValidation:rule="self.size() > 1",message="of the type"
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Text(String);
    /// +kubebuilder:validation:AtMostOneOf=a;b
    /// +kubebuilder:validation:XValidation:rule="has(self.a) || has(self.b)"
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// +kubebuilder:validation:XValidation:rule="self != 'x'",reason=FieldValueForbidden,optionalOldSelf=true
        a: Option<Text>,
        /// +k8s:immutable
        b: Option<String>,
        /// +k8s:immutable
        c: String,
    }
    let schema = ours::<Outer>();
    assert_eq!(
        schema["properties"]["a"]["x-kubernetes-validations"],
        json!([
            {"rule": "self != 'x'", "reason": "FieldValueForbidden", "optionalOldSelf": true},
            {"rule": "self.size() > 1", "message": "of the type"},
        ])
    );
    assert_eq!(
        schema["x-kubernetes-validations"],
        json!([
            {"rule": "!has(oldSelf.b) || has(self.b)", "message": "field b is immutable once set"},
            {"rule": "has(self.a) || has(self.b)"},
            {
                "rule": "(has(self.a)?1:0)+(has(self.b)?1:0) <= 1",
                "message": "at most one of the fields in [a b] may be set",
            },
        ])
    );
    assert_eq!(
        schema["properties"]["c"]["x-kubernetes-validations"],
        json!([{"rule": "self == oldSelf", "message": "field is immutable"}])
    );
}

#[test]
fn only_optional_fields_can_be_chosen() {
    /// +kubebuilder:validation:ExactlyOneOf=bucket;fiel
    /// +kubebuilder:validation:AtLeastOneOf=name;bucket
    /// +kubebuilder:validation:AtMostOneOf=file.path;bucket
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Source {
        bucket: Option<String>,
        file: Option<String>,
        name: String,
    }
    assert_eq!(
        faults::<Source>(),
        [
            fault("nested-member", "file.path;bucket"),
            fault("unknown-member", "bucket;fiel"),
            fault("required-member", "name;bucket"),
        ]
    );
    let compiled = compile::<Source>(&Options::default());
    assert_eq!(compiled.diagnostics[1].help, ["write `file`"]);
}

#[test]
fn a_field_can_be_without_schema() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// Anything.
        ///
        /// +kubebuilder:validation:Schemaless
        /// +kubebuilder:validation:Type=string
        text: Vec<u8>,
        /// +kubebuilder:validation:Schemaless
        any: Vec<u8>,
        /// +kubebuilder:pruning:PreserveUnknownFields
        /// +kubebuilder:validation:EmbeddedResource
        object: std::collections::BTreeMap<String, Value>,
    }
    let schema = compile::<Outer>(&Options::default()).schema;
    assert_eq!(schema["properties"]["text"], json!({"type": "string", "description": "Anything."}));
    assert_eq!(schema["properties"]["any"], json!({"x-kubernetes-preserve-unknown-fields": true}));
    assert_eq!(schema["properties"]["object"]["x-kubernetes-embedded-resource"], true);
}

#[test]
fn a_recursive_type_can_be_opened() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Tree {
        name: String,
        /// +kubewright:recursion=preserveUnknownFields
        branches: Vec<Tree>,
    }
    assert_eq!(
        ours::<Tree>()["properties"]["branches"],
        json!({"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}})
    );
}

#[test]
fn descriptions_can_be_limited_from_a_field_downward() {
    /// The inner one. It has a long text.
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Inner {
        /// The name. It is unique.
        name: String,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// +kubewright:description:maxLength=20
        short: Inner,
        /// +kubewright:description:maxLength=0
        none: Inner,
        whole: Inner,
    }
    let schema = ours::<Outer>();
    let text = |path: &str| schema.pointer(path).cloned();
    assert_eq!(text("/properties/short/description"), Some(json!("The inner one.")));
    assert_eq!(text("/properties/short/properties/name/description"), Some(json!("The name.")));
    assert_eq!(text("/properties/none/description"), None);
    assert_eq!(text("/properties/none/properties/name/description"), None);
    assert_eq!(text("/properties/whole/description"), Some(json!("The inner one. It has a long text.")));
}

#[test]
fn markers_about_the_kind_are_handed_on() {
    /// +kubebuilder:printcolumn:name=Nested,type=string,JSONPath=.x
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Status {
        x: String,
    }
    /// +kubebuilder:resource:shortName=mc
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Spec {
        size: i32,
    }
    /// +kubebuilder:storageversion
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Root {
        spec: Spec,
        status: Option<Status>,
    }
    let compiled = compile::<Root>(&Options::default());
    let found: Vec<(&str, &str)> =
        compiled.kind_markers.iter().map(|found| (found.type_name.as_str(), found.marker.name)).collect();
    assert_eq!(found, [("Root", "kubebuilder:storageversion"), ("Spec", "kubebuilder:resource")]);
    assert_eq!(compiled.diagnostics.len(), 1);
    assert_eq!(compiled.diagnostics[0].code, "marker-of-kind");
}

#[test]
fn origins_lead_from_the_schema_to_the_source() {
    /// +kubebuilder:validation:MaxLength=9
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Name(String);
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// +kubebuilder:validation:MinLength=1
        /// +kubebuilder:validation:XValidation:rule="self != ''"
        name: Name,
        names: Vec<Name>,
    }
    let compiled = compile::<Outer>(&Options::default());
    let origin = |path: &str, keyword: &str| {
        let found =
            compiled.origins.iter().find(|origin| origin.path == path && origin.keyword == keyword).unwrap();
        (found.type_name.as_str(), found.field.as_deref(), found.marker.as_str())
    };
    assert_eq!(origin("", ""), ("Outer", None, ""));
    assert_eq!(origin("properties[name]", ""), ("Outer", Some("name"), ""));
    assert_eq!(
        origin("properties[name]", "minLength"),
        ("Outer", Some("name"), "+kubebuilder:validation:MinLength=1")
    );
    assert_eq!(
        origin("properties[name]", "maxLength"),
        ("Name", None, "+kubebuilder:validation:MaxLength=9")
    );
    assert_eq!(
        origin("properties[name]", "x-kubernetes-validations[0]"),
        ("Outer", Some("name"), "+kubebuilder:validation:XValidation:rule=\"self != ''\"")
    );
    assert_eq!(origin("properties[names].items", ""), ("Outer", Some("names"), ""));
}

#[test]
fn another_type_forgets_the_form_of_the_rust_type() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// +kubebuilder:validation:Type=string
        /// +kubebuilder:validation:Pattern=`^[0-9]+$`
        text: u8,
        /// +kubebuilder:validation:XIntOrString
        /// +kubebuilder:validation:Pattern=`^[0-9]+%?$`
        either: String,
        /// +kubebuilder:validation:Format=semver
        version: String,
    }
    let compiled = compile::<Outer>(&Options::default());
    assert_eq!(
        compiled.schema["properties"],
        json!({
            "text": {"type": "string", "pattern": "^[0-9]+$"},
            "either": {
                "x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "pattern": "^[0-9]+%?$",
            },
            "version": {"type": "string", "format": "semver"},
        })
    );
    assert_eq!(faults::<Outer>(), [fault("unknown-format", "semver")]);
}

#[test]
fn the_items_of_a_set_are_whole() {
    /// +structType=atomic
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Whole {
        name: String,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Parts {
        name: String,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// +listType=set
        whole: Vec<Whole>,
        /// +listType=set
        parts: Vec<Parts>,
    }
    assert_eq!(faults::<Outer>(), [fault("set-of-parts", "+listType=set")]);
}

#[test]
fn a_title_is_said_once() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        /// +kubebuilder:title=Size
        #[schemars(title = "Length")]
        size: i32,
    }
    assert_eq!(faults::<Outer>(), [fault("contradiction", "Size")]);
}

#[test]
fn optional_and_required_at_once_is_told() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Both {
        /// +optional
        /// +required
        size: Option<i32>,
    }
    assert_eq!(faults::<Both>(), [fault("optional-and-required", "+required")]);
    let compiled = compile::<Both>(&Options::default());
    assert_eq!(compiled.diagnostics[0].severity, Severity::Warning);
    assert_eq!(compiled.schema.get("required"), None);
    assert_eq!(go::<Both>().get("required"), None);
}

#[test]
fn a_format_is_of_a_text_or_a_number() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Formats {
        /// +kubebuilder:validation:Format=date
        list: Vec<String>,
        /// +kubebuilder:validation:Format=int64
        size: i32,
    }
    assert_eq!(faults::<Formats>(), [fault("wrong-type", "date")]);
}
