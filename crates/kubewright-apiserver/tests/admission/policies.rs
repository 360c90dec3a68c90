//! Validating admission policies.

use serde_json::{Value, json};

use crate::cluster::{Answered, Cluster, MAPS, WIDGETS_V2, map, webhook};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

/// A policy about config maps, with some fields of its own.
fn policy(name: &str, own: &Value) -> Value {
    let rule =
        json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]});
    let mut spec = json!({
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.data.a == '2'"}],
    });
    let fields = spec.as_object_mut().expect("an object");
    fields.extend(own.as_object().expect("an object").clone());
    fields.retain(|_, value| !value.is_null());
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": spec,
    })
}

/// A binding of the policy `p` to namespaces with the label `hook: yes`, with some fields of its own.
fn binding(name: &str, own: &Value) -> Value {
    let mut spec = json!({
        "policyName": "p",
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": {"matchLabels": {"hook": "yes"}}},
    });
    let fields = spec.as_object_mut().expect("an object");
    fields.extend(own.as_object().expect("an object").clone());
    fields.retain(|_, value| !value.is_null());
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": spec,
    })
}

async fn install(cluster: &Cluster, object: Value) {
    let resource = match object["kind"].as_str() {
        Some("ValidatingAdmissionPolicy") => "validatingadmissionpolicies",
        _ => "validatingadmissionpolicybindings",
    };
    let answered = cluster.send("POST", &format!("{GROUP}/{resource}"), object).await;
    assert_eq!(answered.code, 201, "{answered:?}");
}

/// Creates a config map under a policy and a binding.
async fn create_under(own: &Value, bound: &Value) -> Answered {
    let cluster = Cluster::new();
    install(&cluster, policy("p", own)).await;
    install(&cluster, binding("b", bound)).await;
    cluster.send("POST", MAPS, map("v")).await
}

#[tokio::test(start_paused = true)]
async fn what_a_policy_says_is_invalid_is_refused() {
    let no = |own: Value| {
        let mut validation = json!({"expression": "false"});
        validation.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
        json!({"validations": [validation]})
    };
    let variables = json!([
        {"name": "x", "expression": "object.data.a"}, {"name": "y", "expression": "variables.x + '!'"},
    ]);
    let cases = [
        (json!({}), 422, "Invalid", "failed expression: object.data.a == '2'"),
        (no(json!({"message": "my msg"})), 422, "Invalid", "my msg"),
        (no(json!({"message": "my msg", "reason": "Forbidden"})), 403, "Forbidden", "my msg"),
        (
            no(json!({"reason": "RequestEntityTooLarge"})),
            413,
            "RequestEntityTooLarge",
            "failed expression: false",
        ),
        (no(json!({"messageExpression": "'name is ' + object.metadata.name"})), 422, "Invalid", "name is v"),
        (no(json!({"messageExpression": "' '"})), 422, "Invalid", "failed expression: false"),
        (no(json!({"messageExpression": "'a\\nb'"})), 422, "Invalid", "failed expression: false"),
        (
            json!({"validations": [{"expression": "object.data.zz == '1'", "message": "m"}]}),
            422,
            "Invalid",
            "expression 'object.data.zz == '1'' resulted in error: no such key: zz",
        ),
        (
            json!({"validations": [{"expression": "false", "message": "one"}, {"expression": "false", "message": "two"}]}),
            422,
            "Invalid",
            "one",
        ),
        (
            json!({"variables": variables, "validations": [
                {"expression": "variables.y == '2!'", "messageExpression": "'y is ' + variables.y"},
            ]}),
            422,
            "Invalid",
            "y is 1!",
        ),
        (
            json!({
                "variables": [{"name": "x", "expression": "object.zz"}],
                "validations": [{"expression": "variables.x == 1"}],
            }),
            422,
            "Invalid",
            "expression 'variables.x == 1' resulted in error: composited variable \"x\" fails to evaluate: no such key: zz",
        ),
        (
            json!({"matchConditions": [{"name": "m", "expression": "object.zz == 1"}]}),
            422,
            "Invalid",
            "expression 'object.zz == 1' resulted in error: no such key: zz",
        ),
        (
            no(json!({
                "expression": "namespaceObject.metadata.labels['hook'] == 'no'",
                "messageExpression": "namespaceObject.metadata.name",
            })),
            422,
            "Invalid",
            "t",
        ),
        (
            no(json!({"messageExpression": "request.operation + request.name + request.userInfo.username"})),
            422,
            "Invalid",
            "CREATEvsystem:admin",
        ),
        (
            no(
                json!({"expression": "!authorizer.requestResource.check('delete').allowed()", "message": "can"}),
            ),
            422,
            "Invalid",
            "can",
        ),
    ];
    for (own, code, reason, why) in cases {
        let refused = create_under(&own, &json!({})).await;
        let message = format!("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: {why}");
        assert_eq!(
            refused.refusal(),
            (code, format!("configmaps \"v\" is forbidden: {message}").as_str()),
            "{own}"
        );
        assert_eq!(refused.body["reason"], reason, "{own}");
        assert_eq!(refused.body["details"]["causes"], json!([{"message": message}]), "{own}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_policy_is_about_goes_through() {
    let rule =
        json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]});
    let mut named = rule.clone();
    named["resourceNames"] = json!(["x"]);
    let mut creates = rule.clone();
    creates["operations"] = json!(["CREATE"]);
    let mut updates = rule.clone();
    updates["operations"] = json!(["UPDATE"]);
    for (own, bound) in [
        (json!({"validations": [{"expression": "object.data.a == '1'"}]}), json!({})),
        (
            json!({"validations": [{"expression": "object.data.zz == '1'"}], "failurePolicy": "Ignore"}),
            json!({}),
        ),
        (
            json!({
                "variables": [{"name": "x", "expression": "object.zz"}],
                "validations": [{"expression": "true || variables.x == 1"}],
            }),
            json!({}),
        ),
        (json!({"matchConditions": [{"name": "m", "expression": "false"}]}), json!({})),
        (json!({"matchConstraints": {"resourceRules": [named]}}), json!({})),
        (
            json!({"matchConstraints": {"resourceRules": [rule], "excludeResourceRules": [creates]}}),
            json!({}),
        ),
        (json!({}), json!({"matchResources": {"resourceRules": [updates]}})),
        (json!({}), json!({"matchResources": {"objectSelector": {"matchLabels": {"x": "y"}}}})),
        (json!({}), json!({"policyName": "other"})),
        (json!({}), json!({"validationActions": ["Audit"]})),
    ] {
        let created = create_under(&own, &bound).await;
        assert_eq!((created.code, created.warnings), (201, vec![]), "{own} {bound}: {:?}", created.body);
    }
}

#[tokio::test(start_paused = true)]
async fn a_binding_may_warn() {
    let own =
        json!({"validations": [{"expression": "false", "message": "w"}, {"expression": "object.zz == 1"}]});
    let warned = create_under(&own, &json!({"validationActions": ["Warn", "Audit"]})).await;
    let text = |why: &str| {
        format!("299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': {why}\"")
    };
    assert_eq!(warned.code, 201);
    assert_eq!(
        warned.warnings,
        [text("w"), text("expression 'object.zz == 1' resulted in error: no such key: zz")]
    );
}

#[tokio::test(start_paused = true)]
async fn policies_see_other_versions_and_old_objects() {
    let cluster = Cluster::new();
    let rule = json!({"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["widgets"]});
    let own = json!({
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{
            "expression": "false",
            "messageExpression": "object.apiVersion + request.kind.version + request.requestKind.version",
        }],
    });
    install(&cluster, policy("p", &own)).await;
    install(&cluster, binding("b", &json!({}))).await;
    let widget =
        json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "w"}, "spec": {}});
    let refused = cluster.send("POST", WIDGETS_V2, widget).await;
    assert!(refused.message().ends_with("denied request: example.com/v1v1v2"), "{refused:?}");

    let cluster = Cluster::new();
    cluster.send("POST", MAPS, map("a")).await;
    let own = json!({"validations": [
        {"expression": "object == null || object.data.a == oldObject.data.a", "message": "changed"},
        {"expression": "object != null || oldObject.data.a != '1'", "message": "deleted"},
    ]});
    install(&cluster, policy("p", &own)).await;
    install(&cluster, binding("b", &json!({}))).await;
    let path = format!("{MAPS}/a");
    let changed = cluster.send("PATCH", &path, json!({"data": {"a": "9"}})).await;
    assert!(changed.message().ends_with("denied request: changed"), "{changed:?}");
    assert_eq!(cluster.send("PATCH", &path, json!({"data": {"b": "9"}})).await.code, 200);
    let deleted = cluster.send("DELETE", &path, Value::Null).await;
    assert!(deleted.message().ends_with("denied request: deleted"), "{deleted:?}");
}

#[tokio::test(start_paused = true)]
async fn bindings_give_parameters() {
    let labelled = |name: &str| {
        let mut map = map(name);
        map["metadata"]["labels"] = json!({"p": "1"});
        map
    };
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "1"}});
    let rule =
        json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"]});
    let own = |kind: Value| {
        json!({
            "paramKind": kind,
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{
                "expression": "object.data.size() < 0",
                "messageExpression": "'param ' + params.metadata.name",
            }],
        })
    };
    let maps = || own(json!({"apiVersion": "v1", "kind": "ConfigMap"}));
    let namespaces = || own(json!({"apiVersion": "v1", "kind": "Namespace"}));
    let none = "with binding 'b' denied request: failed to configure binding: no params found for policy binding with \
                `Deny` parameterNotFoundAction";
    let cases = [
        (maps(), json!({"name": "prm"}), "with binding 'b' denied request: param prm"),
        (
            maps(),
            json!({"name": "prmd", "namespace": "default"}),
            "with binding 'b' denied request: param prmd",
        ),
        (maps(), json!({"name": "nope"}), none),
        (
            maps(),
            json!({"selector": {"matchLabels": {"p": "1"}}}),
            "with binding 'b' denied request: param prm2",
        ),
        (maps(), json!({"selector": {"matchLabels": {"p": "9"}}}), none),
        (maps(), json!(null), "with binding 'b' denied request: failed expression: object.data.size() < 0"),
        (
            own(json!({"apiVersion": "foo.com/v1", "kind": "Foo"})),
            json!({"name": "prm"}),
            "denied request: failed to configure policy: failed to find resource referenced by paramKind: 'foo.com/v1, \
             Kind=Foo'",
        ),
        (namespaces(), json!({"name": "t"}), "with binding 'b' denied request: param t"),
        (
            namespaces(),
            json!({"name": "t", "namespace": "t"}),
            "with binding 'b' denied request: failed to configure binding: paramRef.namespace must not be provided for \
             a cluster-scoped `paramKind`",
        ),
    ];
    for (own, mut reference, why) in cases {
        let cluster = Cluster::new();
        for map in [map("prm"), labelled("prm2"), labelled("prm3")] {
            cluster.send("POST", MAPS, map).await;
        }
        cluster.send("POST", "/api/v1/namespaces/default/configmaps", map("prmd")).await;
        if let Some(reference) = reference.as_object_mut() {
            reference.insert("parameterNotFoundAction".to_owned(), json!("Deny"));
        }
        install(&cluster, policy("p", &own)).await;
        install(&cluster, binding("b", &json!({"paramRef": reference}))).await;
        let refused = cluster.send("POST", "/api/v1/namespaces/t/secrets", secret.clone()).await;
        let expected = format!("secrets \"s\" is forbidden: ValidatingAdmissionPolicy 'p' {why}");
        assert_eq!(refused.refusal(), (422, expected.as_str()), "{reference}");
    }
}

#[tokio::test(start_paused = true)]
async fn policies_decide_before_webhooks_are_asked() {
    let cluster = Cluster::new();
    cluster.configure("Validating", "v", vec![webhook("v", "/v", &json!({}))]).await;
    install(&cluster, policy("p", &json!({}))).await;
    install(&cluster, binding("b", &json!({}))).await;
    assert_eq!(cluster.send("POST", MAPS, map("a")).await.code, 422);
    assert_eq!(cluster.asked_paths(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn policies_that_cannot_be_right_are_refused() {
    let cluster = Cluster::new();
    let validation = |own: Value| json!({"validations": [own]});
    let cases = [
        (json!({"matchConstraints": null}), "spec.matchConstraints: Required value"),
        (json!({"matchConstraints": {}}), "spec.matchConstraints.resourceRules: Required value"),
        (
            json!({"validations": null}),
            "[spec.validations: Required value: validations or auditAnnotations must contain at least one item, \
             spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]",
        ),
        (
            validation(json!({"expression": "foo"})),
            "spec.validations[0].expression: Invalid value: \"foo\": compilation failed: ERROR: <input>:1:1: undeclared \
             reference to 'foo' (in container '')\n | foo\n | ^",
        ),
        (
            validation(json!({"expression": "object.a"})),
            "spec.validations[0].expression: Invalid value: \"object.a\": must evaluate to bool but got dyn",
        ),
        (
            validation(json!({"expression": "true", "messageExpression": "1"})),
            "spec.validations[0].messageExpression: Invalid value: \"1\": must evaluate to string but got int",
        ),
        (
            validation(json!({"expression": "true", "message": "a\nb"})),
            "spec.validations[0].message: Invalid value: \"a\\nb\": must not contain line breaks",
        ),
        (
            validation(json!({"expression": "true", "reason": "Foo"})),
            "spec.validations[0].reason: Unsupported value: \"Foo\": supported values: \"Forbidden\", \"Invalid\", \
             \"RequestEntityTooLarge\"",
        ),
        (
            json!({"variables": [{"name": "1x", "expression": "1"}]}),
            "spec.variables[0].name: Invalid value: \"1x\": must be a valid CEL identifier",
        ),
        (
            json!({"variables": [{"name": "x", "expression": "variables.y"}, {"name": "y", "expression": "1"}]}),
            "spec.variables[0].expression: Invalid value: \"variables.y\": compilation failed: ERROR: <input>:1:10: \
             undefined field 'y'\n | variables.y\n | .........^",
        ),
        (
            validation(json!({"expression": "params.a == 1"})),
            "spec.validations[0].expression: Invalid value: \"params.a == 1\": compilation failed: ERROR: <input>:1:1: \
             undeclared reference to 'params' (in container '')\n | params.a == 1\n | ^",
        ),
        (
            json!({"auditAnnotations": [{"key": "k", "valueExpression": "object.zz"}]}),
            "spec.auditAnnotations[0].valueExpression: Invalid value: \"object.zz\": must evaluate to one of [string \
             null_type] but got dyn",
        ),
        (
            json!({"paramKind": {"apiVersion": "a/b/c", "kind": ""}}),
            "[spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c, \
             spec.paramKind.kind: Required value]",
        ),
    ];
    for (own, why) in cases {
        let path = format!("{GROUP}/validatingadmissionpolicies");
        let refused = cluster.send("POST", &path, policy("p", &own)).await;
        let expected =
            format!("ValidatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: {why}");
        assert_eq!(refused.refusal(), (422, expected.as_str()), "{own}");
    }
    let cases = [
        (json!({"policyName": null}), "spec.policyName: Required value"),
        (json!({"validationActions": []}), "spec.validationActions: Required value"),
        (
            json!({"validationActions": ["x"]}),
            "spec.validationActions[0]: Unsupported value: \"x\": supported values: \"Audit\", \"Deny\", \"Warn\"",
        ),
        (
            json!({"validationActions": ["Deny", "Warn"]}),
            "spec.validationActions: Invalid value: [\"Deny\",\"Warn\"]: must not contain both Deny and Warn (repeating \
             the same validation failure information in the API response and headers serves no purpose)",
        ),
        (
            json!({"paramRef": {}}),
            "[spec.paramRef: Required value: one of name or selector must be specified, \
             spec.paramRef.parameterNotFoundAction: Required value]",
        ),
        (
            json!({"paramRef": {"name": "a/b", "parameterNotFoundAction": "x"}}),
            "[spec.paramRef.name: Invalid value: \"a/b\": may not contain '/', spec.paramRef.parameterNotFoundAction: \
             Unsupported value: \"x\": supported values: \"Deny\", \"Allow\"]",
        ),
    ];
    for (own, why) in cases {
        let path = format!("{GROUP}/validatingadmissionpolicybindings");
        let refused = cluster.send("POST", &path, binding("b", &own)).await;
        let expected =
            format!("ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io \"b\" is invalid: {why}");
        assert_eq!(refused.refusal(), (422, expected.as_str()), "{own}");
    }
}
