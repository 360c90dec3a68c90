//! The virtual kinds of `authorization.k8s.io`: they are answered, not stored.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Attributes, AuthorizationMode, Authorizer, Target, aggregate};
use crate::{
    selector::{FieldSelector, LabelSelector, label_key_errors, label_value_errors},
    status::{Cause, GroupKind, Status},
    user::User,
};

impl Authorizer {
    /// Answers a `SubjectAccessReview`: the object with its `status`.
    ///
    /// # Errors
    /// 422 when it does not say who or what it is about.
    pub fn review_access(&self, review: Value) -> Result<Value, Status> {
        let mut causes = check_spec(&review);
        causes.extend(check_subject(&review));
        causes.extend(check_metadata(&review, "must be empty"));
        self.review(review, None, causes)
    }

    /// Answers a `LocalSubjectAccessReview`, whose `metadata.namespace` is the namespace of the path.
    ///
    /// # Errors
    /// 422 as [`Authorizer::review_access`], or when it is about another namespace.
    pub fn review_local_access(&self, review: Value) -> Result<Value, Status> {
        let mut causes = check_spec(&review);
        causes.extend(check_subject(&review));
        causes.extend(check_metadata(&review, "must be empty except for namespace"));
        if let Some(resource) = given(&review, "/spec/resourceAttributes") {
            let namespace = text(resource, "namespace");
            if namespace != text(&review["metadata"], "namespace") {
                let detail = "must match metadata.namespace";
                causes.push(Cause::invalid("spec.resourceAttributes.namespace", &json!(namespace), detail));
            }
        }
        if let Some(path) = given(&review, "/spec/nonResourceAttributes") {
            let detail = "disallowed on this kind of request";
            causes.push(Cause::invalid("spec.nonResourceAttributes", &internal(path), detail));
        }
        self.review(review, None, causes)
    }

    /// Answers a `SelfSubjectAccessReview` of this user.
    ///
    /// # Errors
    /// 422 when it does not say what it is about.
    pub fn review_own_access(&self, user: &User, review: Value) -> Result<Value, Status> {
        let mut causes = check_spec(&review);
        causes.extend(check_metadata(&review, "must be empty"));
        self.review(review, Some(user), causes)
    }

    /// Answers a `SelfSubjectRulesReview` of this user.
    ///
    /// # Errors
    /// 400 when it names no namespace.
    pub fn review_own_rules(&self, user: &User, review: &Value) -> Result<Value, Status> {
        let namespace = review.get("spec").map(|spec| text(spec, "namespace")).unwrap_or_default();
        if namespace.is_empty() {
            return Err(Status::bad_request("no namespace on request"));
        }
        let (mut resource_rules, mut path_rules, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for mode in &self.modes {
            match mode {
                AuthorizationMode::AlwaysDeny => {}
                AuthorizationMode::AlwaysAllow => {
                    resource_rules.push(json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
                    path_rules.push(json!({"verbs": ["*"], "nonResourceURLs": ["*"]}));
                }
                AuthorizationMode::Rbac => self.policy().visit_rules(user, namespace, &mut |rule| {
                    match rule {
                        Ok((_, rule)) => {
                            let (resource, path) = rule.describe();
                            resource_rules.extend(resource);
                            path_rules.extend(path);
                        }
                        Err(error) => errors.push(error),
                    }
                    true
                }),
            }
        }
        let mut status =
            json!({"resourceRules": resource_rules, "nonResourceRules": path_rules, "incomplete": false});
        if !errors.is_empty() {
            status["evaluationError"] = json!(aggregate(errors));
        }
        Ok(json!({
            "kind": "SelfSubjectRulesReview",
            "apiVersion": "authorization.k8s.io/v1",
            "metadata": {},
            "spec": {},
            "status": status,
        }))
    }

    /// The review with its answer, for its own subject unless it is about the user who asks.
    fn review(&self, mut review: Value, user: Option<&User>, causes: Vec<Cause>) -> Result<Value, Status> {
        if !causes.is_empty() {
            return Err(Status::invalid(&GroupKind::new("authorization.k8s.io", ""), "", causes));
        }
        let spec = &review["spec"];
        let user = user.cloned().unwrap_or_else(|| subject(spec));
        let decision = self.authorize(&attributes(spec, user));
        let mut status = json!({"allowed": decision.allowed});
        if !decision.reason.is_empty() {
            status["reason"] = json!(decision.reason);
        }
        let ignored = ignored_selectors(spec);
        if !ignored.is_empty() {
            status["evaluationError"] = json!(ignored.join("; "));
        }
        review["status"] = status;
        if !review["metadata"].is_object() {
            review["metadata"] = json!({});
        }
        Ok(review)
    }
}

/// What of the selectors of a review cannot be understood. It is as if it were not there, which asks for more.
fn ignored_selectors(spec: &Value) -> Vec<String> {
    let Some(resource) = given(spec, "/resourceAttributes") else { return Vec::new() };
    let mut ignored = Vec::new();
    for name in ["fieldSelector", "labelSelector"] {
        let Some(selector) = resource.get(name).filter(|own| !own.is_null()) else { continue };
        let is_label = name == "labelSelector";
        let raw = text(selector, "rawSelector");
        let requirements = selector.get("requirements").and_then(Value::as_array);
        let (all, known) = match requirements.filter(|all| !all.is_empty()) {
            Some(all) => (all.len(), all.iter().filter(|own| is_understood(own, is_label)).count()),
            None if is_label => (1, usize::from(LabelSelector::parse(raw).is_ok())),
            None => (1, usize::from(FieldSelector::parse(raw).is_ok())),
        };
        if known < all {
            let partially = if known > 0 { "partially " } else { "" };
            ignored.push(format!("spec.resourceAttributes.{name} {partially}ignored due to parse error"));
        }
    }
    ignored
}

/// Whether a requirement has an operator that there is, with as many values as a selector in a query could have.
fn is_understood(requirement: &Value, is_label: bool) -> bool {
    let values = requirement.get("values").and_then(Value::as_array).map_or(0, Vec::len);
    match text(requirement, "operator") {
        "In" | "NotIn" => is_label || values == 1,
        "Exists" | "DoesNotExist" => is_label,
        _ => false,
    }
}

fn subject(spec: &Value) -> User {
    let list = |value: &Value| -> Vec<String> {
        let values = value.as_array().into_iter().flatten();
        values.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let extra = spec.get("extra").and_then(Value::as_object).into_iter().flatten();
    User {
        name: text(spec, "user").to_owned(),
        uid: text(spec, "uid").to_owned(),
        groups: spec.get("groups").map(list).unwrap_or_default(),
        extra: extra.map(|(key, values)| (key.clone(), list(values))).collect::<BTreeMap<_, _>>(),
    }
}

fn attributes(spec: &Value, user: User) -> Attributes {
    let get = |attributes: &Value, key: &str| text(attributes, key).to_owned();
    match (given(spec, "/resourceAttributes"), given(spec, "/nonResourceAttributes")) {
        (Some(resource), _) => Attributes {
            user,
            verb: get(resource, "verb"),
            target: Target::Resource {
                group: get(resource, "group"),
                version: get(resource, "version"),
                resource: get(resource, "resource"),
                subresource: get(resource, "subresource"),
                namespace: get(resource, "namespace"),
                name: get(resource, "name"),
            },
        },
        (None, Some(path)) => {
            Attributes { user, verb: get(path, "verb"), target: Target::Path(get(path, "path")) }
        }
        (None, None) => Attributes { user, verb: String::new(), target: Target::Path(String::new()) },
    }
}

/// Exactly one of the two kinds of attributes, with selectors in one form.
fn check_spec(review: &Value) -> Vec<Cause> {
    let resource = given(review, "/spec/resourceAttributes");
    let path = given(review, "/spec/nonResourceAttributes");
    let mut causes = Vec::new();
    if resource.is_some() == path.is_some() {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        causes.push(Cause::invalid("spec", &path.map(internal).unwrap_or_default(), detail));
    }
    for selector in ["fieldSelector", "labelSelector"] {
        if let Some(given) = resource.and_then(|resource| resource.get(selector)).filter(|own| !own.is_null())
        {
            let path = format!("spec.resourceAttributes.{selector}");
            check_selector(given, &path, selector == "labelSelector", &mut causes);
        }
    }
    causes
}

/// A selector in one form: as text, or as requirements that make sense.
fn check_selector(selector: &Value, path: &str, is_label: bool, causes: &mut Vec<Cause>) {
    let raw = text(selector, "rawSelector");
    let requirements = selector.get("requirements").and_then(Value::as_array).map(Vec::as_slice);
    let requirements = requirements.unwrap_or_default();
    match (raw.is_empty(), requirements.is_empty()) {
        (false, false) => {
            let detail = "may not specified at the same time as requirements";
            causes.push(Cause::invalid(format!("{path}.rawSelector"), &json!(raw), detail));
        }
        (true, true) => {
            let detail = format!("when {path} is specified, requirements or rawSelector is required");
            causes.push(Cause::required(format!("{path}.requirements"), &detail));
        }
        _ => {}
    }
    for (index, requirement) in requirements.iter().enumerate() {
        let path = format!("{path}.requirements[{index}]");
        let key = text(requirement, "key");
        let values = requirement.get("values").and_then(Value::as_array).map(Vec::as_slice);
        let values = values.unwrap_or_default();
        if !is_label && key.is_empty() {
            causes.push(Cause::required(format!("{path}.key"), "must be specified"));
        }
        match text(requirement, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                causes.push(Cause::required(format!("{path}.values"), detail));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.push(Cause::forbidden(format!("{path}.values"), detail));
            }
            _ => {}
        }
        if is_label {
            let invalid = |field: String, value: &str, errors: Vec<String>| {
                let invalid = move |error: String| Cause::invalid(field.clone(), &json!(value), &error);
                errors.into_iter().map(invalid).collect::<Vec<_>>()
            };
            causes.extend(invalid(format!("{path}.key"), key, label_key_errors(key)));
            for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
                causes.extend(invalid(format!("{path}.values[{index}]"), value, label_value_errors(value)));
            }
        }
    }
}

fn check_subject(review: &Value) -> Option<Cause> {
    let spec = review.get("spec");
    let user = spec.map(|spec| text(spec, "user")).unwrap_or_default();
    let groups = review.pointer("/spec/groups").and_then(Value::as_array);
    let nobody = user.is_empty() && groups.is_none_or(Vec::is_empty);
    nobody.then(|| Cause::invalid("spec.user", &json!(""), "at least one of user or group must be specified"))
}

/// A review has no metadata but that of every request.
fn check_metadata(review: &Value, detail: &str) -> Option<Cause> {
    let metadata = review.get("metadata")?;
    let given = metadata
        .as_object()?
        .iter()
        .any(|(key, value)| !matches!(key.as_str(), "managedFields" | "namespace") && !value.is_null());
    given.then(|| Cause::invalid("metadata", metadata, detail))
}

/// The attributes of a path as kube-apiserver prints them.
fn internal(path: &Value) -> Value {
    json!({"Path": text(path, "path"), "Verb": text(path, "verb")})
}

fn given<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    value.pointer(pointer).filter(|value| !value.is_null())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{authorizer, user},
        *,
    };

    #[test]
    fn reviews_tell_whether_and_why() {
        let authorizer = authorizer(&[]);
        let status = |spec: Value| {
            authorizer.review_access(json!({"spec": spec})).expect("an answer")["status"].clone()
        };
        let pods = json!({"verb": "list", "resource": "pods", "namespace": "default"});
        assert_eq!(status(json!({"user": "u", "resourceAttributes": pods})), json!({"allowed": false}));
        assert_eq!(
            status(json!({"user": "u", "groups": ["system:masters"], "resourceAttributes": pods})),
            json!({"allowed": true})
        );
        assert_eq!(
            status(json!({
                "user": "u", "groups": ["system:authenticated"],
                "nonResourceAttributes": {"verb": "get", "path": "/api"},
            })),
            json!({
                "allowed": true,
                "reason": "RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \
                           \"system:discovery\" to Group \"system:authenticated\"",
            })
        );
        let own = json!({"spec": {"resourceAttributes": {"verb": "create", "group": "authorization.k8s.io",
            "resource": "selfsubjectaccessreviews"}}});
        let own = authorizer.review_own_access(&user("u", &["system:authenticated"]), own);
        assert_eq!(own.expect("an answer")["status"]["allowed"], true);
    }

    #[test]
    fn refusals_have_the_texts_of_kube_apiserver() {
        let authorizer = authorizer(&[]);
        let one_of = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        let cases = [
            (
                json!({}),
                format!(
                    "[spec: Invalid value: null: {one_of}, spec.user: Invalid value: \"\": at least one of user or \
                     group must be specified]"
                ),
            ),
            (json!({"user": "u"}), format!("spec: Invalid value: null: {one_of}")),
            (
                json!({"user": "u", "resourceAttributes": {}, "nonResourceAttributes": {}}),
                format!("spec: Invalid value: {{\"Path\":\"\",\"Verb\":\"\"}}: {one_of}"),
            ),
            (
                json!({"user": "u", "resourceAttributes": {"fieldSelector": {
                    "rawSelector": "a=b", "requirements": [{"key": "a"}],
                }}}),
                "spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: \"a=b\": may not specified at \
                 the same time as requirements"
                    .to_owned(),
            ),
        ];
        let selectors = [
            (
                json!({"fieldSelector": {}}),
                "fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is \
                 specified, requirements or rawSelector is required",
            ),
            (
                json!({"fieldSelector": {"requirements": [{"key": "a", "operator": "In"}]}}),
                "fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or \
                 'NotIn'",
            ),
            (
                json!({"labelSelector": {"requirements": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}),
                "labelSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' \
                 or 'DoesNotExist'",
            ),
            (
                json!({"labelSelector": {"requirements": [{"key": "/a", "operator": "Exists"}]}}),
                "labelSelector.requirements[0].key: Invalid value: \"/a\": prefix part must be non-empty",
            ),
        ];
        let cases = cases.into_iter().chain(selectors.map(|(attributes, text)| {
            let spec = json!({"user": "u", "resourceAttributes": attributes});
            (spec, format!("spec.resourceAttributes.{text}"))
        }));
        for (spec, text) in cases {
            let status = authorizer.review_access(json!({"spec": spec})).expect_err("invalid");
            assert_eq!(status.message, format!(".authorization.k8s.io \"\" is invalid: {text}"));
        }
        let named = json!({"metadata": {"name": "x"}, "spec": {"user": "u", "resourceAttributes": {}}});
        let status = authorizer.review_access(named).expect_err("invalid");
        assert_eq!(
            status.message,
            ".authorization.k8s.io \"\" is invalid: metadata: Invalid value: {\"name\":\"x\"}: must be empty"
        );
        let local = |spec: Value| {
            let review = json!({"metadata": {"namespace": "default"}, "spec": spec});
            authorizer.review_local_access(review)
        };
        let other = local(json!({"user": "u", "resourceAttributes": {"namespace": "other"}}));
        assert_eq!(
            other.expect_err("invalid").message,
            ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: \"other\": \
             must match metadata.namespace"
        );
        assert!(local(json!({"user": "u", "resourceAttributes": {"namespace": "default"}})).is_ok());
        assert!(local(json!({"user": "u", "nonResourceAttributes": {}})).is_err());
    }

    #[test]
    fn the_rules_of_a_user_are_listed() {
        let authorizer = authorizer(&[]);
        let user = user("u", &["system:authenticated"]);
        let review = json!({"spec": {"namespace": "default"}});
        let answer = authorizer.review_own_rules(&user, &review).expect("an answer");
        assert_eq!(
            answer["status"]["resourceRules"],
            json!([
                {
                    "verbs": ["create"], "apiGroups": ["authorization.k8s.io"],
                    "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
                },
                {
                    "verbs": ["create"], "apiGroups": ["authentication.k8s.io"],
                    "resources": ["selfsubjectreviews"],
                },
            ])
        );
        assert_eq!(answer["status"]["incomplete"], false);
        let nowhere = authorizer.review_own_rules(&user, &json!({"spec": {}}));
        assert_eq!(nowhere.expect_err("no namespace").message, "no namespace on request");
    }
}
