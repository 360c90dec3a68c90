use serde_json::{Value, json};

use super::{Options, documents};
use crate::{
    Manifests, Style,
    diagnostic::{Place, Severity},
    marker::{Marker, Target, parse},
};

const BASE: &str = "kubebuilder:webhook:failurePolicy=Ignore,sideEffects=None,versions=v1,admissionReviewVersions=v1,\
    groups=core,resources=pods,verbs=create";

/// A marker of these arguments, after others that are required and not among them.
fn hook(arguments: &str) -> String {
    let has = |name: &str| arguments.split([',', '=']).any(|part| part == name);
    let mut text = format!("+{BASE}");
    for (name, default) in [("mutating", "false"), ("name", "vpod.example.com")] {
        if !has(name) {
            text.push_str(&format!(",{name}={default}"));
        }
    }
    if !has("path") && !has("url") {
        text.push_str(",path=/validate");
    }
    for argument in
        ["groups=core", "resources=pods", "verbs=create", "versions=v1", "admissionReviewVersions=v1"]
    {
        let (name, _) = argument.split_once('=').unwrap();
        if has(name) {
            text = text.replacen(&format!(",{argument}"), "", 1);
        }
    }
    format!("{text},{arguments}").trim_end_matches(',').to_owned()
}

fn generate_as(texts: &[&str], options: &Options) -> Manifests {
    let markers: Vec<Marker> = texts
        .iter()
        .map(|text| parse(text, &[Target::Package]).unwrap_or_else(|error| panic!("{text}: {error}")))
        .collect();
    let place = |marker: &Marker| Place::File { file: "src/webhook.rs".into(), range: 0..marker.text.len() };
    documents(markers.iter().map(|marker| (marker, place(marker))), options)
}

fn generate(texts: &[&str]) -> Manifests {
    generate_as(texts, &Options::default())
}

/// The only webhook of a marker with these arguments.
fn one(arguments: &str) -> Value {
    let generated = generate(&[&hook(arguments)]);
    assert_eq!(generated.diagnostics, [], "{arguments}");
    generated.documents[0]["webhooks"][0].clone()
}

/// Code, severity and text at the place of what is found wrong.
fn found(arguments: &str, style: Style) -> Vec<(String, Severity, String)> {
    let text = hook(arguments);
    let generated = generate_as(&[&text], &Options::default().style(style));
    let tell = |found: crate::diagnostic::Diagnostic| {
        let Place::File { range, .. } = found.place else { panic!("{:?}", found.place) };
        (found.code, found.severity, text[range].to_owned())
    };
    generated.diagnostics.into_iter().map(tell).collect()
}

#[test]
fn selectors_conditions_and_scope_are_arguments() {
    let hook = one(
        "scope=Namespaced,namespaceSelector={matchExpressions: {{key: env, operator: In, values: {dev, prod}}}},\
         objectSelector={matchLabels: {app: \"true\"}},\
         matchConditions={{name: \"no-leases\", expression: \"request.resource.resource != 'leases'\"}}",
    );
    assert_eq!(hook["rules"][0]["scope"], "Namespaced");
    assert_eq!(
        hook["namespaceSelector"],
        json!({"matchExpressions": [{"key": "env", "operator": "In", "values": ["dev", "prod"]}]})
    );
    assert_eq!(hook["objectSelector"], json!({"matchLabels": {"app": "true"}}));
    assert_eq!(
        hook["matchConditions"],
        json!([{"name": "no-leases", "expression": "request.resource.resource != 'leases'"}])
    );
}

#[test]
fn a_patch_is_merged_last() {
    let conditions = "matchConditions={{name: a, expression: \"true\"}, {name: b, expression: \"true\"}}";
    let patch = r#"{"matchConditions":[{"name":"a","expression":"false"},{"name":"b","$patch":"delete"},
        {"name":"c","expression":"true"}],"matchPolicy":"Exact","sideEffects":"NoneOnDryRun",
        "objectSelector":{"matchLabels":{"a":null}},"rules":[{"apiGroups":["*"],"apiVersions":["*"],
        "operations":["*"],"resources":["*/*"]}],"clientConfig":{"service":{"port":9443}}}"#
        .replace('\n', "");
    let hook =
        one(&format!("objectSelector={{matchLabels: {{a: x, b: \"y\"}}}},{conditions},patch=`{patch}`"));
    assert_eq!(
        hook["matchConditions"],
        json!([
            {"name": "a", "expression": "false"},
            {"name": "c", "expression": "true"},
        ])
    );
    assert_eq!(hook["matchPolicy"], "Exact");
    assert_eq!(hook["sideEffects"], "NoneOnDryRun");
    assert_eq!(hook["objectSelector"], json!({"matchLabels": {"b": "y"}}));
    assert_eq!(hook["rules"].as_array().unwrap().len(), 1, "lists are replaced");
    assert_eq!(
        hook["clientConfig"]["service"],
        json!({
            "name": "webhook-service", "namespace": "system", "path": "/validate", "port": 9443,
        })
    );
}

#[test]
fn a_patch_may_replace_and_delete() {
    let selector = "objectSelector={matchLabels: {a: x}}";
    let hook = one(&format!(
        "{selector},patch=`{{\"objectSelector\":{{\"$patch\":\"replace\",\"matchLabels\":{{\"b\":\"y\"}}}}}}`"
    ));
    assert_eq!(hook["objectSelector"], json!({"matchLabels": {"b": "y"}}));
    let hook = one(&format!("{selector},patch=`{{\"objectSelector\":{{\"$patch\":\"delete\"}}}}`"));
    assert_eq!(hook.get("objectSelector"), None);
    let hook = one("matchConditions={{name: a, expression: \"true\"}},\
         patch=`{\"matchConditions\":[{\"$patch\":\"replace\"},{\"name\":\"b\",\"expression\":\"true\"}]}`");
    assert_eq!(hook["matchConditions"], json!([{"name": "b", "expression": "true"}]));
}

#[test]
fn a_patch_that_makes_no_webhook_is_an_error() {
    for (patch, code) in [
        ("{", "webhook-patch"),
        ("[]", "webhook-patch"),
        (r#"{"$retainKeys":[]}"#, "webhook-patch"),
        (r#"{"objectSelector":{"$patch":"what"}}"#, "webhook-patch"),
        (r#"{"timeoutSeconds":"5"}"#, "webhook-field"),
        (r#"{"namespaceSelektor":{}}"#, "webhook-field"),
        (r#"{"namespaceSelector":{"matchLabel":{"a":"b"}}}"#, "webhook-field"),
        // Only mutating webhooks have it.
        (r#"{"reinvocationPolicy":"Never"}"#, "webhook-field"),
    ] {
        let found = found(&format!("patch=`{patch}`"), Style::ControllerGen);
        assert_eq!(found, [(code.to_owned(), Severity::Error, format!("`{patch}`"))], "{patch}");
    }
}

#[test]
fn a_selector_that_is_none_is_an_error_at_its_argument() {
    let found = found("objectSelector={matchLabels: {a: true}}", Style::Kubewright);
    assert_eq!(found, [("webhook-field".to_owned(), Severity::Error, "{matchLabels: {a: true}}".to_owned())]);
}

#[test]
fn the_authority_comes_from_cert_manager_or_is_given() {
    let hooks = [hook(""), hook("mutating=true,name=mpod.example.com")];
    let configured = |marker: &str, options: &Options| {
        let mut texts: Vec<&str> = hooks.iter().map(String::as_str).collect();
        texts.push(marker);
        let generated = generate_as(&texts, options);
        assert_eq!(generated.diagnostics, []);
        generated.documents
    };
    let injected = json!({"cert-manager.io/inject-ca-from": "system/serving-cert"});
    let by_option = Options::default().inject_ca_from("system/serving-cert");

    let [mutating, validating] = configured(
        "+kubebuilder:webhookconfiguration:mutating=true,injectCAFrom=system/serving-cert",
        &Options::default(),
    )
    .try_into()
    .unwrap();
    assert_eq!(mutating["metadata"]["annotations"], injected);
    assert_eq!(validating["metadata"].get("annotations"), None);

    let [mutating, validating] =
        configured("+kubebuilder:webhookconfiguration:mutating=true,caBundle=Y2E=,name=m", &by_option)
            .try_into()
            .unwrap();
    assert_eq!(mutating["metadata"], json!({"name": "m"}), "what is given is not overwritten");
    assert_eq!(mutating["webhooks"][0]["clientConfig"]["caBundle"], "Y2E=");
    assert_eq!(validating["metadata"]["annotations"], injected);
    assert_eq!(validating["webhooks"][0]["clientConfig"].get("caBundle"), None);
}

#[test]
fn the_service_is_that_of_the_options_unless_named() {
    let options = Options::default().service("op-webhook-service", "op-system");
    let named = hook("serviceName=other,servicePort=8443");
    let generated = generate_as(&[&named], &options);
    assert_eq!(
        generated.documents[0]["webhooks"][0]["clientConfig"]["service"],
        json!({"name": "other", "namespace": "op-system", "path": "/validate", "port": 8443})
    );
}

#[test]
fn what_is_left_out_is_told() {
    let found = |arguments| found(arguments, Style::ControllerGen);
    let warning = |code: &str, text: &str| [(code.to_owned(), Severity::Warning, text.to_owned())];
    assert_eq!(found("reinvocationPolicy=Never"), warning("webhook-reinvocation", "Never"));
    assert_eq!(found("url=\"https://a.b\",serviceName=c"), warning("webhook-service-and-url", "c"));
}

#[test]
fn what_the_server_refuses_is_an_error_in_our_style_only() {
    for (arguments, code, text) in [
        ("name=vpod.example", "webhook-name", "vpod.example"),
        ("url=\"http://a.b/c\"", "webhook-url", "\"http://a.b/c\""),
        ("url=\"https://a.b/c?d\"", "webhook-url", "\"https://a.b/c?d\""),
        ("path=validate", "webhook-path", "validate"),
        ("path=/validate//pod", "webhook-path", "/validate//pod"),
        ("servicePort=0", "webhook-port", "0"),
        ("admissionReviewVersions=v2", "webhook-review-versions", "v2"),
        ("verbs=create;*", "webhook-wildcard", "create;*"),
        ("groups=*;apps", "webhook-wildcard", "*;apps"),
        ("resources=pods;pods/status;*/status", "webhook-wildcard", "pods/status"),
        ("resources=*;pods", "webhook-wildcard", "pods"),
        ("resources={}", "webhook-empty-list", "{}"),
        (
            "matchConditions={{name: a, expression: \"\"}}",
            "webhook-condition",
            "{{name: a, expression: \"\"}}",
        ),
        (
            "matchConditions={{name: a, expression: \"true\"}, {name: a, expression: \"true\"}}",
            "webhook-condition-name",
            "{{name: a, expression: \"true\"}, {name: a, expression: \"true\"}}",
        ),
    ] {
        for (style, severity) in
            [(Style::Kubewright, Severity::Error), (Style::ControllerGen, Severity::Warning)]
        {
            assert_eq!(
                found(arguments, style),
                [(code.to_owned(), severity, text.to_owned())],
                "{arguments}"
            );
        }
    }
    for arguments in ["resources=*;*/status;pods/log", "resources=pods/*;nodes", "resources=*/*", "path=/"] {
        assert_eq!(found(arguments, Style::Kubewright), [], "{arguments}");
    }
}

#[test]
fn what_cannot_be_written_is_an_error_in_both_styles() {
    for style in [Style::Kubewright, Style::ControllerGen] {
        assert_eq!(
            found("timeoutSeconds=31", style),
            [("webhook-timeout".to_owned(), Severity::Error, "31".to_owned())]
        );
        assert_eq!(found("timeoutSeconds=0", style), []);
        assert_eq!(found("path=a,url=b", style)[0].0, "webhook-address");
        let neither = hook("path=\"\"");
        assert_eq!(generate(&[&neither]).diagnostics[0].code, "webhook-address");
    }
}

#[test]
fn names_are_used_once_in_a_configuration() {
    let (validating, mutating) = (hook(""), hook("mutating=true"));
    assert_eq!(generate(&[&validating, &mutating]).diagnostics, [], "they are in different ones");
    let generated = generate(&[&validating, &validating]);
    assert_eq!(generated.diagnostics[0].code, "webhook-duplicate-name");
    assert_eq!(generated.documents[0]["webhooks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_configuration_without_webhooks_is_not_written() {
    let generated = generate(&["+kubebuilder:webhookconfiguration:mutating=true,name=a"]);
    assert_eq!(generated, Manifests::default());
    assert_eq!(generated.to_yaml(), "");
}

#[cfg(feature = "check")]
#[test]
fn names_and_paths_are_checked_as_the_server_does() {
    for (arguments, code) in [
        ("name=vPod.example.com", "webhook-name"),
        ("path=/Validate", "webhook-path"),
        ("matchConditions={{name: \"a b\", expression: \"true\"}}", "webhook-condition-name"),
        ("matchConditions={{name: a, expression: \"request.name ==\"}}", "webhook-condition"),
        ("matchConditions={{name: a, expression: \"self.metadata.name == 'a'\"}}", "webhook-condition"),
    ] {
        assert_eq!(found(arguments, Style::Kubewright)[0].0, code, "{arguments}");
    }
    let marker = "+kubebuilder:webhookconfiguration:mutating=true,name=A";
    assert_eq!(generate(&[marker]).diagnostics[0].code, "webhook-configuration-name");
}
