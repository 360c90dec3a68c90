//! Webhook configurations, and what policies have in common with them: rules and match conditions.

use kubewright_schema::{
    ErrorList, FieldError, FieldPath,
    cel::{CompileError, Expression, Scope, ValueType},
    crd,
    error::go,
    names,
};
use serde_json::Value;

use super::{items, text};
use crate::admission::webhook_scope;

const MOST_CONDITIONS: usize = 64;

/// What webhooks are never asked about: the questions without whose answers nobody could do anything.
const NEVER_ASKED_ABOUT: [(&str, &str); 6] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

/// What is wrong with a webhook configuration.
pub(super) fn validate(configuration: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let mut seen: Vec<&str> = Vec::new();
    let is_mutating = text(configuration, "kind").starts_with("Mutating");
    for (index, webhook) in items(&configuration["webhooks"]).iter().enumerate() {
        let path = FieldPath::new("webhooks").index(index);
        errors.extend(validate_webhook(webhook, is_mutating, &path));
        errors.extend(review_versions(webhook, &path.child("admissionReviewVersions")));
        let name = text(webhook, "name");
        if !name.is_empty() && seen.contains(&name) {
            errors.push(FieldError::duplicate(&path.child("name"), name));
        }
        seen.push(name);
    }
    errors
}

/// Which rules name what webhooks are never asked about. Whether one with a wildcard means it is not known.
pub(super) fn warnings(configuration: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, webhook) in items(&configuration["webhooks"]).iter().enumerate() {
        let rules = FieldPath::new("webhooks").index(index).child("rules");
        for (index, rule) in items(&webhook["rules"]).iter().enumerate() {
            let texts =
                |field: &str| items(&rule[field]).iter().filter_map(Value::as_str).collect::<Vec<_>>();
            let (groups, resources) = (texts("apiGroups"), texts("resources"));
            if groups.contains(&"*") || resources.contains(&"*") {
                continue;
            }
            let mut named: Vec<(&str, &str)> = Vec::new();
            for group in groups {
                for resource in &resources {
                    let one = (group, *resource);
                    if NEVER_ASKED_ABOUT.contains(&one) && !named.contains(&one) {
                        named.push(one);
                    }
                }
            }
            warnings.extend(named.into_iter().map(|(group, resource)| {
                let rule = rules.index(index);
                format!(
                    "{rule}: {resource}.{group} is excluded from admission webhooks; this rule will have no effect"
                )
            }));
        }
    }
    warnings
}

fn validate_webhook(webhook: &Value, is_mutating: bool, path: &FieldPath) -> ErrorList {
    let mut errors = qualified_name(text(webhook, "name"), &path.child("name"));
    for (index, rule) in items(&webhook["rules"]).iter().enumerate() {
        errors.extend(validate_rule(rule, &path.child("rules").index(index)));
    }
    errors.extend(one_of(webhook, "failurePolicy", &["Fail", "Ignore"], path));
    errors.extend(one_of(webhook, "matchPolicy", &["Equivalent", "Exact"], path));
    let effects = path.child("sideEffects");
    match webhook["sideEffects"].as_str() {
        None => errors.push(FieldError::required(&effects, "must specify one of None, NoneOnDryRun")),
        Some("None" | "NoneOnDryRun") => {}
        Some(other) => errors.push(FieldError::not_supported(&effects, other, &["None", "NoneOnDryRun"])),
    }
    if is_mutating {
        errors.extend(one_of(webhook, "reinvocationPolicy", &["IfNeeded", "Never"], path));
    }
    let seconds = webhook["timeoutSeconds"].as_i64();
    if let Some(seconds) = seconds.filter(|seconds| !(1..=30).contains(seconds)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        errors.push(FieldError::invalid(&path.child("timeoutSeconds"), seconds, detail));
    }
    for field in ["namespaceSelector", "objectSelector"] {
        errors.extend(names::validate_label_selector(&webhook[field], &path.child(field)));
    }
    errors.extend(client_config(&webhook["clientConfig"], &path.child("clientConfig")));
    let conditions = path.child("matchConditions");
    errors.extend(match_conditions(&webhook["matchConditions"], webhook_scope(), &conditions));
    errors
}

fn qualified_name(name: &str, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
        return errors;
    }
    let problems = names::dns1123_subdomain(name);
    if !problems.is_empty() {
        errors.push(FieldError::invalid(path, name, problems.join(",")));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.push(FieldError::invalid(path, name, detail));
    }
    errors
}

/// What is wrong with a field that has one of a few words, if it has any.
pub(super) fn one_of(value: &Value, field: &str, words: &[&str], path: &FieldPath) -> ErrorList {
    let word = text(value, field);
    let wrong = !word.is_empty() && !words.contains(&word);
    wrong.then(|| FieldError::not_supported(&path.child(field), word, words)).into_iter().collect()
}

fn review_versions(webhook: &Value, path: &FieldPath) -> ErrorList {
    let versions = items(&webhook["admissionReviewVersions"]);
    let mut errors = ErrorList::new();
    if versions.is_empty() {
        errors.push(FieldError::required(path, "must specify one of v1, v1beta1"));
        return errors;
    }
    for (index, version) in versions.iter().enumerate() {
        let name = version.as_str().unwrap_or_default();
        if versions.iter().take(index).any(|other| other == version) {
            errors.push(FieldError::invalid(&path.index(index), name, "duplicate version"));
            continue;
        }
        for problem in names::dns1035_label(name) {
            errors.push(FieldError::invalid(&path.index(index), name, problem));
        }
    }
    if errors.is_empty() && !versions.iter().any(|version| version == "v1" || version == "v1beta1") {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(path, versions.to_vec(), detail));
    }
    errors
}

/// What is wrong with a rule with operations.
pub(super) fn validate_rule(rule: &Value, path: &FieldPath) -> ErrorList {
    const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    let mut errors = ErrorList::new();
    errors.extend(words(rule, "operations", "operations", path));
    for (index, operation) in items(&rule["operations"]).iter().enumerate() {
        let word = operation.as_str().unwrap_or_default();
        if !OPERATIONS.contains(&word) {
            let path = path.child("operations").index(index);
            errors.push(FieldError::not_supported(&path, word, &OPERATIONS));
        }
    }
    errors.extend(words(rule, "apiGroups", "API groups", path));
    errors.extend(words(rule, "apiVersions", "API versions", path));
    for (index, version) in items(&rule["apiVersions"]).iter().enumerate() {
        if version == "" {
            errors.push(FieldError::required(&path.child("apiVersions").index(index), ""));
        }
    }
    errors.extend(resources(rule, &path.child("resources")));
    errors.extend(one_of(rule, "scope", &["*", "Cluster", "Namespaced"], path));
    errors
}

fn words(rule: &Value, field: &str, what: &str, path: &FieldPath) -> ErrorList {
    let (words, path) = (items(&rule[field]), path.child(field));
    let mut errors = ErrorList::new();
    if words.is_empty() {
        errors.push(FieldError::required(&path, ""));
    }
    if words.len() > 1 && words.iter().any(|word| word == "*") {
        let detail = format!("if '*' is present, must not specify other {what}");
        errors.push(FieldError::invalid(&path, words.to_vec(), detail));
    }
    errors
}

fn resources(rule: &Value, path: &FieldPath) -> ErrorList {
    let resources = items(&rule["resources"]);
    let mut errors = ErrorList::new();
    if resources.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    let (mut whole, mut below): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let (mut has_all, mut has_all_main, mut has_main) = (false, false, false);
    for (index, resource) in resources.iter().enumerate() {
        let path = path.index(index);
        let resource = resource.as_str().unwrap_or_default();
        match resource.split_once('/') {
            _ if resource.is_empty() => errors.push(FieldError::required(&path, "")),
            _ if resource == "*/*" => has_all = true,
            None if resource == "*" => has_all_main = true,
            None => has_main = true,
            Some((main, sub)) => {
                for (known, word) in [(&whole, main), (&below, sub)] {
                    if known.contains(&word) {
                        let all = if word == main { format!("{main}/*") } else { format!("*/{sub}") };
                        let detail = format!("if '{all}' is present, must not specify {resource}");
                        errors.push(FieldError::invalid(&path, resource, detail));
                    }
                }
                if sub == "*" {
                    whole.push(main);
                }
                if main == "*" {
                    below.push(sub);
                }
            }
        }
    }
    if resources.len() > 1 && has_all {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(path, resources.to_vec(), detail));
    }
    if has_all_main && has_main {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(path, resources.to_vec(), detail));
    }
    errors
}

/// What is wrong with `matchConditions`.
pub(super) fn match_conditions(conditions: &Value, scope: &Scope, path: &FieldPath) -> ErrorList {
    let conditions = items(conditions);
    let mut errors = ErrorList::new();
    if conditions.len() > MOST_CONDITIONS {
        let count = i64::try_from(conditions.len()).unwrap_or(i64::MAX);
        errors.push(FieldError::too_many(path, count, 64));
        return errors;
    }
    let mut seen: Vec<&str> = Vec::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let (name, source) = (text(condition, "name"), text(condition, "expression").trim());
        if source.is_empty() {
            errors.push(FieldError::required(&path.child("expression"), ""));
        } else {
            errors.extend(expression(source, scope, &[ValueType::Bool], &path.child("expression")));
        }
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
            continue;
        }
        for problem in names::label_key(name) {
            errors.push(FieldError::invalid(&path.child("name"), name, problem));
        }
        if seen.contains(&name) {
            errors.push(FieldError::duplicate(&path.child("name"), name));
        }
        seen.push(name);
    }
    errors
}

/// What is wrong with an expression.
pub(super) fn expression(source: &str, scope: &Scope, outputs: &[ValueType], path: &FieldPath) -> ErrorList {
    let compiled = Expression::compile(source, scope, outputs);
    compiled.err().map(|error| does_not_compile(source, &error, path)).into_iter().collect()
}

/// That an expression does not compile.
pub(super) fn does_not_compile(source: &str, error: &CompileError, path: &FieldPath) -> FieldError {
    match error {
        CompileError::NotReady(_) => FieldError::internal(path, error.to_string()),
        _ => FieldError::invalid(path, source, error.to_string()),
    }
}

fn client_config(config: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let (url, service) = (&config["url"], &config["service"]);
    if url.is_string() == service.is_object() {
        errors.push(FieldError::required(path, "exactly one of url or service is required"));
    } else if let Some(url) = url.as_str() {
        errors.extend(validate_url(url, &path.child("url")));
    } else {
        errors.extend(crd::validate_service_reference(service, &path.child("service")));
    }
    errors
}

fn validate_url(url: &str, path: &FieldPath) -> ErrorList {
    let Some(escape) = invalid_escape(url) else { return crd::validate_webhook_url(url, path) };
    let detail = format!(
        "url must be a valid URL: parse {}: invalid URL escape {}; desired format: https://host[/path]",
        go::quote(url),
        go::quote(escape)
    );
    [FieldError::required(path, detail)].into_iter().collect()
}

/// The first percent sign of a URL that is not followed by two digits, with what follows.
fn invalid_escape(url: &str) -> Option<&str> {
    url.match_indices('%').find_map(|(at, _)| {
        let digits = url.get(at + 1..at + 3);
        let is_escape = digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        (!is_escape).then(|| url.get(at..at + 3).or_else(|| url.get(at..)).unwrap_or("%"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DESIRED_URL: &str = "desired format: https://host[/path]";

    fn errors(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut webhook = json!({
            "name": "v.example.com",
            "clientConfig": {"url": "https://127.0.0.1:1/v"},
            "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        });
        change(&mut webhook);
        let configuration = json!({"kind": "ValidatingWebhookConfiguration", "webhooks": [webhook]});
        validate(&configuration).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn resources_of_a_rule_do_not_say_a_thing_twice() {
        let resources = |names: &[&str]| errors(|webhook| webhook["rules"][0]["resources"] = json!(names));
        for allowed in [&["a/"][..], &["/b"], &["a/b/c"], &["a", "a"], &["a/*", "b/c"], &["*/*"]] {
            assert_eq!(resources(allowed), Vec::<String>::new(), "{allowed:?}");
        }
        for (refused, why) in [
            (
                &["*", "a"][..],
                "resources: Invalid value: [\"*\",\"a\"]: if '*' is present, must not specify other resources \
                 without subresources",
            ),
            (
                &["*/*", "a/b"],
                "resources: Invalid value: [\"*/*\",\"a/b\"]: if '*/*' is present, must not specify other resources",
            ),
            (
                &["a/*", "a/b"],
                "resources[1]: Invalid value: \"a/b\": if 'a/*' is present, must not specify a/b",
            ),
            (
                &["*/b", "a/b"],
                "resources[1]: Invalid value: \"a/b\": if '*/b' is present, must not specify a/b",
            ),
            (&["", "a"], "resources[0]: Required value"),
            (&[], "resources: Required value"),
        ] {
            assert_eq!(resources(refused), [format!("webhooks[0].rules[0].{why}")], "{refused:?}");
        }
    }

    #[test]
    fn a_client_is_reached_by_a_url_or_a_service() {
        let client = |config: Value| errors(|webhook| webhook["clientConfig"] = config);
        let url = |url: &str| client(json!({"url": url}));
        assert_eq!(url("https://x:0/a b"), Vec::<String>::new());
        let path = "webhooks[0].clientConfig.url";
        let scheme = format!("'https' is the only allowed URL scheme; {DESIRED_URL}");
        let host = format!("{path}: Invalid value: \"\": host must be specified; {DESIRED_URL}");
        assert_eq!(url("http://x"), [format!("{path}: Invalid value: \"http\": {scheme}")]);
        assert_eq!(url("x"), [format!("{path}: Invalid value: \"\": {scheme}"), host]);
        assert_eq!(
            url("https://u:p@x"),
            [format!("{path}: Invalid value: \"u:p\": user information is not permitted in the URL")]
        );
        assert_eq!(
            url("%%"),
            [format!(
                "{path}: Required value: url must be a valid URL: parse \"%%\": invalid URL escape \"%%\"; {DESIRED_URL}"
            )]
        );
        let service = |path: &str| {
            client(json!({"service": {"name": "a", "namespace": "b", "path": path, "port": 443}}))
        };
        for allowed in ["/", "/x", "/x/", "/x/y.z"] {
            assert_eq!(service(allowed), Vec::<String>::new(), "{allowed}");
        }
        let path = "webhooks[0].clientConfig.service.path: Invalid value";
        assert_eq!(
            service("x"),
            [
                format!("{path}: \"x\": must start with a '/'"),
                format!("{path}: \"x\": segment[0] may not be empty")
            ]
        );
        assert_eq!(service("//"), [format!("{path}: \"//\": segment[0] may not be empty")]);
        assert_eq!(service("/x//y"), [format!("{path}: \"/x//y\": segment[1] may not be empty")]);
        assert_eq!(
            client(json!({})),
            ["webhooks[0].clientConfig: Required value: exactly one of url or service is required"]
        );
    }

    #[test]
    fn conditions_compile() {
        let condition = |source: &str| {
            errors(|webhook| {
                webhook["matchConditions"] = json!([{"name": "a", "expression": source}]);
            })
        };
        assert_eq!(condition("object.data.a == '1' && request.namespace != ''"), Vec::<String>::new());
        let path = "webhooks[0].matchConditions[0].expression: Invalid value";
        assert_eq!(
            condition("object.data"),
            [format!("{path}: \"object.data\": must evaluate to bool but got dyn")]
        );
        assert_eq!(
            condition("foo"),
            [format!(
                "{path}: \"foo\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container \
                 '')\n | foo\n | ^"
            )]
        );
    }
}
