use serde_json::{Value, json};

use super::*;

fn crd() -> Value {
    let mut crd = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version("v1", true)],
        },
    });
    default_crd(&mut crd);
    crd
}

fn version(name: &str, storage: bool) -> Value {
    json!({
        "name": name, "served": true, "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
        }}},
    })
}

fn with(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut crd = crd();
    change(&mut crd);
    texts(&validate_crd(&crd))
}

fn with_field(schema: Value) -> Vec<String> {
    with(|crd| {
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["x"] = schema;
    })
}

fn texts(errors: &ErrorList) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn defaults() {
    let crd = crd();
    assert_eq!(crd["spec"]["names"]["singular"], "widget");
    assert_eq!(crd["spec"]["names"]["listKind"], "WidgetList");
    assert_eq!(crd["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(crd["status"]["storedVersions"], json!(["v1"]));
    assert_eq!(texts(&validate_crd(&crd)), Vec::<String>::new());

    let mut hook = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"service": {"name": "a"}}}}}});
    default_crd(&mut hook);
    assert_eq!(hook["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"], 443);
    for mut odd in
        [json!(null), json!([]), json!({"spec": 1}), json!({"spec": {"names": [], "versions": {}}})]
    {
        default_crd(&mut odd);
        let _ = validate_crd(&odd);
    }
}

#[test]
fn names_groups_and_scopes() {
    let cases: [(&str, Value, &str); 9] = [
        ("/spec/group", json!("example"), "should be a domain with at least one dot"),
        ("/spec/group", json!(""), "spec.group: Required value"),
        (
            "/spec/scope",
            json!("Galaxy"),
            r#"spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced""#,
        ),
        ("/spec/scope", json!(""), "spec.scope: Required value"),
        ("/spec/names/kind", json!(""), "spec.names.kind: Required value"),
        (
            "/spec/names/kind",
            json!("9x"),
            r#"spec.names.kind: Invalid value: "9x": may have mixed case, but should otherwise match: a DNS-1035 label"#,
        ),
        (
            "/spec/names/listKind",
            json!("Widget"),
            r#"spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same"#,
        ),
        ("/spec/names/singular", json!("A"), r#"spec.names.singular: Invalid value: "A": a DNS-1035 label"#),
        (
            "/spec/preserveUnknownFields",
            json!(true),
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ),
    ];
    for (pointer, value, message) in cases {
        let errors = with(|crd| {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            crd.pointer_mut(parent).unwrap()[name] = value.clone();
        });
        assert!(errors.iter().any(|error| error.contains(message)), "{pointer} {value}: {errors:?}");
    }
}

#[test]
fn versions() {
    assert_eq!(
        with(|crd| crd["spec"]["versions"][0]["storage"] = json!(false)),
        [
            r#"spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version"#
        ]
    );
    let errors = with(|crd| {
        crd["spec"]["versions"] = json!([version("v1", true), version("v1", false)]);
    });
    assert_eq!(errors.len(), 1);
    assert!(errors[0].ends_with(": must contain unique version names"), "{errors:?}");
    assert_eq!(
        with(|crd| crd["spec"]["versions"][0]["schema"] = json!(null)),
        ["spec.versions[0].schema.openAPIV3Schema: Required value"]
    );
    assert_eq!(
        with(|crd| crd["spec"]["versions"][0]["deprecationWarning"] = json!("old")),
        [
            r#"spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions"#
        ]
    );
    assert_eq!(
        with(|crd| crd["status"]["storedVersions"] = json!(["v1", "v1alpha1"])),
        [
            r#"status.storedVersions[1]: Invalid value: "v1alpha1": missing from spec.versions; v1alpha1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1alpha1 and removes v1alpha1 from status.storedVersions"#
        ]
    );
}

#[test]
fn paths_follow_what_versions_share() {
    let broken = json!({"type": "object", "properties": {"x": {}}});
    let message = "properties[x].type: Required value: must not be empty for specified object fields";
    assert_eq!(
        with(|crd| crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = broken.clone()),
        [format!("spec.validation.openAPIV3Schema.{message}")]
    );
    let errors = with(|crd| {
        crd["spec"]["versions"] = json!([version("v1", true), version("v2", false)]);
        crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"] = broken.clone();
    });
    assert_eq!(errors, [format!("spec.versions[1].schema.openAPIV3Schema.{message}")]);
}

#[test]
fn schemas() {
    let root = "spec.validation.openAPIV3Schema.properties[x]";
    let list = |extra: Value| {
        let mut list = json!({
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        });
        for (name, value) in extra.as_object().unwrap() {
            list[name] = value.clone();
        }
        list
    };
    let cases = [
        (
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
            ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
            ".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            json!({"type": "string", "x-kubernetes-map-type": "atomic"}),
            ".type: Invalid value: \"string\": must be object if x-kubernetes-map-type is specified",
        ),
        (
            list(json!({"x-kubernetes-list-map-keys": []})),
            ".x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
        ),
        (
            list(json!({"x-kubernetes-list-map-keys": ["nope"]})),
            ".x-kubernetes-list-map-keys: Invalid value: [\"nope\"]: entries must all be names of item properties",
        ),
        (
            list(json!({"x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": null})),
            ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
        ),
        (
            list(json!({"items": {"type": "object", "properties": {"name": {"type": "string"}}}})),
            ".items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
        (
            json!({"type": "string", "default": 1}),
            ".default: Invalid value: \"integer\": .default in body must be of type string: \"integer\"",
        ),
        (
            json!({"type": "object", "default": {"a": 1}}),
            ".default: Invalid value: {\"a\":1}: must not have unknown fields",
        ),
        (
            json!({"type": "string", "x-kubernetes-validations": [{"rule": " "}]}),
            ".x-kubernetes-validations[0].rule: Required value: rule is not specified",
        ),
        (
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "true", "reason": "Bad"}]}),
            ".x-kubernetes-validations[0].reason: Unsupported value: \"Bad\": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\"",
        ),
        (
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self."}]}),
            ".x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"self.\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: ",
        ),
        (
            json!({"type": "array", "maxItems": 1, "items": {"type": "string", "maxLength": 1, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}),
            ".items.x-kubernetes-validations[0].rule: Invalid value: \"self == oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[x]",
        ),
        (
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == 'a'", "optionalOldSelf": true}]}),
            ".x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
        (
            json!({"type": "object", "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".a"}]}),
            ".x-kubernetes-validations[0].fieldPath: Invalid value: \".a\": must be a valid path",
        ),
    ];
    for (schema, message) in cases {
        // kube-openapi names the value relative to what is checked, and a default is checked by itself.
        let message = message.replace("\": .default in body", "\":  in body");
        let errors = with_field(schema.clone());
        assert_eq!(errors.len(), 1, "{schema}: {errors:?}");
        // The parser's own words follow the last colon.
        if message.ends_with("compilation failed: ") {
            assert!(errors[0].starts_with(&format!("{root}{message}")), "{schema}: {errors:?}");
        } else {
            assert_eq!(errors, [format!("{root}{message}")], "{schema}");
        }
    }
    assert_eq!(
        with(|crd| {
            crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["metadata"] =
                json!({"type": "object", "default": {}});
        }),
        [
            "spec.validation.openAPIV3Schema.properties[metadata].default: Forbidden: must not be set in top-level metadata"
        ]
    );
}

#[test]
fn status_limits_the_root() {
    let errors = with(|crd| {
        crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["maxProperties"] = json!(3);
    });
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("only [Description Type Format"), "{errors:?}");
}

#[test]
fn subresources_columns_and_selectable_fields() {
    let version = |name: &str, value: Value| with(|crd| crd["spec"]["versions"][0][name] = value);
    assert_eq!(
        version(
            "subresources",
            json!({"scale": {"specReplicasPath": ".status.r", "statusReplicasPath": "x"}})
        ),
        [
            "spec.subresources.scale.specReplicasPath: Invalid value: \".status.r\": should be a json path under .spec",
            "spec.subresources.scale.statusReplicasPath: Invalid value: \"x\": must be a simple json path starting with .",
        ]
    );
    assert_eq!(
        version(
            "additionalPrinterColumns",
            json!([{"name": "A", "type": "text", "jsonPath": "x", "format": "y"}])
        ),
        [
            "spec.additionalPrinterColumns[0].type: Invalid value: \"text\": must be one of boolean,date,integer,number,string",
            "spec.additionalPrinterColumns[0].format: Invalid value: \"y\": must be one of byte,date,date-time,double,float,int32,int64,password",
            "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"x\": must be a simple json path starting with .",
        ]
    );
    assert_eq!(
        version(
            "selectableFields",
            json!([{"jsonPath": ".spec.size"}, {"jsonPath": ".spec.size"}, {"jsonPath": ".spec"}, {"jsonPath": ".nope"}, {}])
        ),
        [
            "spec.selectableFields[1].jsonPath: Duplicate value: \".spec.size\"",
            "spec.selectableFields[2].jsonPath: Invalid value: \".spec\": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
            "spec.selectableFields[3].jsonPath: Invalid value: \".nope\": is an invalid path: does not refer to a valid field",
            "spec.selectableFields[4].jsonPath: Required value",
        ]
    );
}

#[test]
fn conversions() {
    let conversion = |value: Value| with(|crd| crd["spec"]["conversion"] = value);
    assert_eq!(
        conversion(json!({"strategy": "Webhook"})),
        [
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ]
    );
    let hook = |client: Value| {
        conversion(
            json!({"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}),
        )
    };
    assert_eq!(hook(json!({"url": "https://example.com/convert"})), Vec::<String>::new());
    assert_eq!(
        hook(json!({"url": "http://example.com"})),
        [
            "spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]"
        ]
    );
    assert_eq!(
        hook(json!({"service": {"name": "a", "namespace": "b", "port": 0, "path": "x"}})),
        [
            "spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
            "spec.conversion.webhookClientConfig.service.path: Invalid value: \"x\": must start with a '/'",
            "spec.conversion.webhookClientConfig.service.path: Invalid value: \"x\": segment[0] may not be empty",
        ]
    );
}

#[test]
fn updates() {
    let mut old = crd();
    old["metadata"]["resourceVersion"] = json!("1");
    let mut new = old.clone();
    new["spec"]["scope"] = json!("Cluster");
    assert_eq!(texts(&validate_crd_update(&new, &old)), Vec::<String>::new());
    old["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
    assert_eq!(
        texts(&validate_crd_update(&new, &old)),
        ["spec.scope: Invalid value: \"Cluster\": field is immutable"]
    );
    new["spec"]["scope"] = json!("Namespaced");
    new["spec"]["names"]["plural"] = json!("gadgets");
    assert_eq!(
        texts(&validate_crd_update(&new, &old)),
        ["spec.names.plural: Invalid value: \"gadgets\": field is immutable"]
    );
}

#[test]
fn community_groups_need_an_approval() {
    let approved = |annotation: &str| {
        with(|crd| {
            crd["spec"]["group"] = json!("x.k8s.io");
            crd["metadata"] = json!({"name": "widgets.x.k8s.io", "annotations": {APPROVED: annotation}});
        })
    };
    assert_eq!(approved("https://github.com/kubernetes/enhancements/pull/1"), Vec::<String>::new());
    assert_eq!(approved("unapproved, a test"), Vec::<String>::new());
    assert!(
        approved("")[0].starts_with(
            "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups"
        )
    );
    assert!(approved("yes")[0].contains("with either a URL or a reason starting with \"unapproved\""));
}

#[test]
fn warnings() {
    let mut old = crd();
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties";
    old.pointer_mut(properties).unwrap()["a"] = json!({"type": "string", "format": "odd"});
    assert_eq!(crd_warnings(&old, None), ["unrecognized format \"odd\""]);
    let mut new = old.clone();
    new.pointer_mut(properties).unwrap()["b"] = json!({"type": "integer", "format": "int33"});
    assert_eq!(crd_warnings(&new, Some(&old)), ["unrecognized format \"int33\""]);
}

#[test]
fn defaults_must_keep_the_rules() {
    let rule = json!([{"rule": "self > 1", "message": "too small"}]);
    assert_eq!(
        with_field(json!({"type": "integer", "default": 1, "x-kubernetes-validations": rule})),
        ["spec.validation.openAPIV3Schema.properties[x].default: Invalid value: 1: too small"]
    );
    assert_eq!(
        with_field(json!({"type": "integer", "default": 2, "x-kubernetes-validations": rule})),
        Vec::<String>::new()
    );
}

#[test]
fn a_stored_schema_may_have_expensive_rules() {
    let field = |rule: &str| json!({"type": "string", "x-kubernetes-validations": [{"rule": rule}]});
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties";
    // About 1.6 times what one rule may cost.
    let expensive = &format!("self.matches('{}')", "a".repeat(200));
    let mut old = crd();
    old["metadata"]["resourceVersion"] = json!("1");
    old.pointer_mut(properties).unwrap()["x"] = field(expensive);
    let found = texts(&validate_crd(&old));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget")
    );
    assert_eq!(texts(&validate_crd_update(&old, &old)), Vec::<String>::new());
    // A change anywhere in the schema counts, one elsewhere in the definition does not.
    let mut new = old.clone();
    new["spec"]["names"]["shortNames"] = json!(["w"]);
    assert_eq!(texts(&validate_crd_update(&new, &old)), Vec::<String>::new());
    new.pointer_mut(properties).unwrap()["y"] = json!({"type": "string"});
    assert_eq!(texts(&validate_crd_update(&new, &old)), found);
    // What all rules cost together always counts, and so does what is wrong with one.
    for (index, name) in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].iter().enumerate() {
        let rule = if index == 0 { "self.nope" } else { expensive };
        old.pointer_mut(properties).unwrap()[name] = field(rule);
    }
    let found = texts(&validate_crd_update(&old, &old));
    assert!(
        found[0].contains("properties[a].x-kubernetes-validations[0].rule: Invalid value: "),
        "{found:?}"
    );
    assert_eq!(found.iter().filter(|text| text.contains("contributed to estimated rule cost")).count(), 4);
    assert!(found.last().unwrap().starts_with(
        "spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire \
         OpenAPIv3 schema exceeds budget by factor of "
    ));
}

#[test]
fn an_error_hides_the_rules_of_its_own_part_only() {
    let broken = json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}});
    let errors = with(|crd| {
        let properties = "/spec/versions/0/schema/openAPIV3Schema/properties";
        let properties = crd.pointer_mut(properties).unwrap();
        properties["a"] = json!({
            "type": "object",
            "properties": {"list": broken},
            "x-kubernetes-validations": [{"rule": "self.nope"}],
        });
        properties["b"] = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self"}]});
    });
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].contains("properties[a].properties[list].uniqueItems: Forbidden"));
    assert!(errors[1].contains("properties[b].x-kubernetes-validations[0].rule"));
}

#[test]
fn a_generated_name_is_never_that_of_a_definition() {
    let errors = with(|crd| crd["metadata"]["generateName"] = json!("widgets-"));
    assert_eq!(
        errors,
        [r#"metadata.generateName: Invalid value: "widgets-": must be spec.names.plural+"."+spec.group"#]
    );
}
