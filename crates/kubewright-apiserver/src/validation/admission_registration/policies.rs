//! Admission policies and their bindings.

use kubewright_schema::{ErrorList, FieldError, FieldPath, cel::ValueType, names};
use serde_json::Value;

use super::{
    items, text,
    webhooks::{does_not_compile, expression, match_conditions, one_of, validate_rule},
};
use crate::{
    admission::{Scopes, Variables},
    registry::metadata,
};

/// What mutating policies and their bindings may be about.
const MUTATING_OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];

/// What is wrong with a `ValidatingAdmissionPolicy`.
pub(super) fn validate(policy: &Value) -> ErrorList {
    let (spec, path) = (&policy["spec"], FieldPath::new("spec"));
    let mut errors = matching(spec, &[], &path);
    let (scopes, problems) = declarations(spec, Variables::IfAny, &path);
    errors.extend(problems);
    let (validations, annotations) = (items(&spec["validations"]), items(&spec["auditAnnotations"]));
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        for field in ["validations", "auditAnnotations"] {
            errors.push(FieldError::required(&path.child(field), detail));
        }
    }
    for (index, validation) in validations.iter().enumerate() {
        errors.extend(validate_validation(validation, &scopes, &path.child("validations").index(index)));
    }
    let mut keys: Vec<&str> = Vec::new();
    for (index, annotation) in annotations.iter().enumerate() {
        let path = path.child("auditAnnotations").index(index);
        errors.extend(validate_annotation(annotation, metadata::name(policy), &scopes, &path));
        let key = text(annotation, "key");
        if keys.contains(&key) {
            errors.push(FieldError::duplicate(&path.child("key"), key));
        }
        keys.push(key);
    }
    errors
}

/// What is wrong with a `MutatingAdmissionPolicy`.
pub(super) fn validate_mutating(policy: &Value) -> ErrorList {
    let (spec, path) = (&policy["spec"], FieldPath::new("spec"));
    let mut errors = matching(spec, &MUTATING_OPERATIONS, &path);
    let (scopes, problems) = declarations(spec, Variables::Always, &path);
    errors.extend(problems);
    let (mutations, place) = (items(&spec["mutations"]), path.child("mutations"));
    if mutations.is_empty() {
        errors.push(FieldError::required(&place, "mutations must contain at least one item"));
    }
    for (index, mutation) in mutations.iter().enumerate() {
        errors.extend(validate_mutation(mutation, &scopes, &place.index(index)));
    }
    if text(spec, "reinvocationPolicy").is_empty() {
        errors.push(FieldError::required(&path.child("reinvocationPolicy"), ""));
    }
    errors.extend(one_of(spec, "reinvocationPolicy", &["IfNeeded", "Never"], &path));
    errors
}

fn validate_mutation(mutation: &Value, scopes: &Scopes, path: &FieldPath) -> ErrorList {
    const KINDS: [(&str, &str); 2] =
        [("JSONPatch", "jsonPatch"), ("ApplyConfiguration", "applyConfiguration")];
    let mut errors = ErrorList::new();
    let kind = text(mutation, "patchType");
    if kind.is_empty() {
        errors.push(FieldError::required(&path.child("patchType"), ""));
        return errors;
    }
    errors.extend(one_of(mutation, "patchType", &["ApplyConfiguration", "JSONPatch"], path));
    let Some((_, own)) = KINDS.iter().find(|(known, _)| *known == kind) else { return errors };
    if mutation[*own].is_null() {
        let detail = format!("must be specified when patchType is {kind}");
        errors.push(FieldError::required(&path.child(own), detail));
    } else {
        let (source, place) =
            (text(&mutation[*own], "expression").trim(), path.child(own).child("expression"));
        if source.is_empty() {
            errors.push(FieldError::required(&place, ""));
        } else {
            let outputs = match kind {
                "JSONPatch" => Scopes::json_patch(),
                _ => Scopes::apply_configuration(),
            };
            errors.extend(expression(source, scopes.patches(), &outputs, &place));
        }
    }
    for (_, other) in KINDS.iter().filter(|(_, field)| field != own) {
        if !mutation[*other].is_null() {
            let detail = format!("must not be specified when patchType is {kind}");
            errors.push(FieldError::invalid(&path.child(other), format!("{{{other}}}"), detail));
        }
    }
    errors
}

/// What is wrong with what a policy is about. It may be about some operations only, if there are any given.
fn matching(spec: &Value, operations: &[&str], path: &FieldPath) -> ErrorList {
    let mut errors = one_of(spec, "failurePolicy", &["Fail", "Ignore"], path);
    if spec["paramKind"].is_object() {
        errors.extend(parameter_kind(&spec["paramKind"], &path.child("paramKind")));
    }
    let constraints = path.child("matchConstraints");
    if spec["matchConstraints"].is_null() {
        errors.push(FieldError::required(&constraints, ""));
    } else {
        errors.extend(match_resources(&spec["matchConstraints"], &constraints));
        if items(&spec["matchConstraints"]["resourceRules"]).is_empty() {
            errors.push(FieldError::required(&constraints.child("resourceRules"), ""));
        }
    }
    errors.extend(supported_operations(&spec["matchConstraints"], operations, &constraints));
    errors
}

/// Refuses other operations than these, if there are any given.
fn supported_operations(resources: &Value, supported: &[&str], path: &FieldPath) -> ErrorList {
    let rules = items(&resources["resourceRules"]).iter();
    let operations = rules.flat_map(|rule| items(&rule["operations"]));
    let wrong = operations
        .filter_map(Value::as_str)
        .filter(|operation| !supported.is_empty() && !supported.contains(operation));
    let place = path.child("resourceRules").child("operations");
    wrong.map(|operation| FieldError::not_supported(&place, operation, supported)).collect()
}

/// The scopes of a policy with its variables, and what is wrong with them and the match conditions.
fn declarations(spec: &Value, variables: Variables, path: &FieldPath) -> (Scopes, ErrorList) {
    let mut scopes = Scopes::new(spec, variables);
    let conditions = path.child("matchConditions");
    let mut errors = match_conditions(&spec["matchConditions"], scopes.conditions(), &conditions);
    for (index, variable) in items(&spec["variables"]).iter().enumerate() {
        errors.extend(validate_variable(variable, &mut scopes, &path.child("variables").index(index)));
    }
    (scopes, errors)
}

fn parameter_kind(kind: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let (api_version, name) = (text(kind, "apiVersion"), text(kind, "kind"));
    let place = path.child("apiVersion");
    if api_version.is_empty() {
        errors.push(FieldError::required(&place, ""));
    } else if api_version.matches('/').count() > 1 {
        let detail = format!("unexpected GroupVersion string: {api_version}");
        errors.push(FieldError::invalid(&place, api_version, detail));
    } else {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let problems = if group.is_empty() { Vec::new() } else { names::dns1123_subdomain(group) };
        for problem in problems.into_iter().chain(names::dns1035_label(version)) {
            errors.push(FieldError::invalid(&place, api_version, problem));
        }
    }
    let place = path.child("kind");
    if name.is_empty() {
        errors.push(FieldError::required(&place, ""));
    } else {
        let problems = names::dns1035_label(&name.to_lowercase());
        if !problems.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", problems.join(","));
            errors.push(FieldError::invalid(&place, name, detail));
        }
    }
    errors
}

fn match_resources(resources: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = one_of(resources, "matchPolicy", &["Equivalent", "Exact"], path);
    for field in ["namespaceSelector", "objectSelector"] {
        errors.extend(names::validate_label_selector(&resources[field], &path.child(field)));
    }
    for field in ["resourceRules", "excludeResourceRules"] {
        for (index, rule) in items(&resources[field]).iter().enumerate() {
            let path = path.child(field).index(index);
            errors.extend(validate_rule(rule, &path));
            let mut seen: Vec<&Value> = Vec::new();
            for (index, name) in items(&rule["resourceNames"]).iter().enumerate() {
                let path = path.child("resourceNames").index(index);
                for problem in names::path_segment_name(name.as_str().unwrap_or_default()) {
                    errors.push(FieldError::invalid(&path, name.clone(), problem));
                }
                if seen.contains(&name) {
                    errors.push(FieldError::duplicate(&path, name.clone()));
                }
                seen.push(name);
            }
        }
    }
    errors
}

fn validate_variable(variable: &Value, scopes: &mut Scopes, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let (name, source) = (text(variable, "name"), text(variable, "expression"));
    if name.is_empty() {
        errors.push(FieldError::required(&path.child("name"), "name is not specified"));
    } else if !is_identifier(name) {
        errors.push(FieldError::invalid(&path.child("name"), name, "must be a valid CEL identifier"));
    }
    if source.trim().is_empty() {
        errors.push(FieldError::required(&path.child("expression"), "expression is not specified"));
    } else if let Err(error) = scopes.declare(variable) {
        errors.push(does_not_compile(source, &error, &path.child("expression")));
    }
    errors
}

fn is_identifier(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

fn validate_validation(validation: &Value, scopes: &Scopes, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let source = text(validation, "expression");
    if source.trim().is_empty() {
        errors.push(FieldError::required(&path.child("expression"), "expression is not specified"));
    } else {
        let place = path.child("expression");
        errors.extend(expression(source, scopes.expressions(), &[ValueType::Bool], &place));
    }
    let (source, place) = (text(validation, "messageExpression"), path.child("messageExpression"));
    if !source.is_empty() && source.trim().is_empty() {
        errors.push(FieldError::invalid(&place, source, "must be non-empty if specified"));
    } else if !source.is_empty() {
        errors.extend(expression(source, scopes.messages(), &[ValueType::String], &place));
    }
    let (message, place) = (text(validation, "message"), path.child("message"));
    if !message.is_empty() && message.trim().is_empty() {
        errors.push(FieldError::invalid(&place, message, "must be non-empty if specified"));
    } else if message.trim().contains('\n') {
        errors.push(FieldError::invalid(&place, message, "must not contain line breaks"));
    }
    errors.extend(one_of(validation, "reason", &["Forbidden", "Invalid", "RequestEntityTooLarge"], path));
    errors
}

fn validate_annotation(annotation: &Value, policy: &str, scopes: &Scopes, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let key = format!("{policy}/{}", text(annotation, "key"));
    for problem in names::label_key(&key) {
        errors.push(FieldError::invalid(&path.child("key"), key.as_str(), problem));
    }
    let (source, place) = (text(annotation, "valueExpression"), path.child("valueExpression"));
    if source.trim().is_empty() {
        errors.push(FieldError::required(&place, "valueExpression is not specified"));
    } else {
        let outputs = [ValueType::String, ValueType::Null];
        errors.extend(expression(source, scopes.expressions(), &outputs, &place));
    }
    errors
}

/// What is wrong with a `ValidatingAdmissionPolicyBinding`.
pub(super) fn validate_binding(binding: &Value) -> ErrorList {
    let (spec, path) = (&binding["spec"], FieldPath::new("spec"));
    let mut errors = bound(spec, &[], &path);
    errors.extend(validation_actions(&spec["validationActions"], &path.child("validationActions")));
    errors
}

/// What is wrong with a `MutatingAdmissionPolicyBinding`.
pub(super) fn validate_mutating_binding(binding: &Value) -> ErrorList {
    bound(&binding["spec"], &MUTATING_OPERATIONS, &FieldPath::new("spec"))
}

/// What is wrong with what is bound to what.
fn bound(spec: &Value, operations: &[&str], path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let name = text(spec, "policyName");
    if name.is_empty() {
        errors.push(FieldError::required(&path.child("policyName"), ""));
    } else {
        for problem in names::dns1123_subdomain(name) {
            errors.push(FieldError::invalid(&path.child("policyName"), name, problem));
        }
    }
    if spec["paramRef"].is_object() {
        errors.extend(parameter_reference(&spec["paramRef"], &path.child("paramRef")));
    }
    let (resources, place) = (&spec["matchResources"], path.child("matchResources"));
    if resources.is_object() {
        errors.extend(match_resources(resources, &place));
        errors.extend(supported_operations(resources, operations, &place));
    }
    errors
}

fn parameter_reference(reference: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let name = text(reference, "name");
    match (name.is_empty(), reference["selector"].is_object()) {
        (true, false) => {
            errors.push(FieldError::required(path, "one of name or selector must be specified"));
        }
        (false, true) => {
            for field in ["name", "selector"] {
                let detail = "name and selector are mutually exclusive";
                errors.push(FieldError::forbidden(&path.child(field), detail));
            }
        }
        (false, false) => {
            for problem in names::path_segment_name(name) {
                errors.push(FieldError::invalid(&path.child("name"), name, problem));
            }
        }
        (true, true) => {
            let place = path.child("selector");
            errors.extend(names::validate_label_selector(&reference["selector"], &place));
        }
    }
    if text(reference, "parameterNotFoundAction").is_empty() {
        errors.push(FieldError::required(&path.child("parameterNotFoundAction"), ""));
    } else {
        errors.extend(one_of(reference, "parameterNotFoundAction", &["Deny", "Allow"], path));
    }
    errors
}

fn validation_actions(actions: &Value, path: &FieldPath) -> ErrorList {
    const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
    let actions = items(actions);
    let mut errors = ErrorList::new();
    for (index, action) in actions.iter().enumerate() {
        if actions.iter().take(index).any(|other| other == action) {
            errors.push(FieldError::duplicate(&path.index(index), action.clone()));
        } else if !ACTIONS.iter().any(|known| action == known) {
            errors.push(FieldError::not_supported(&path.index(index), action.clone(), &ACTIONS));
        }
    }
    let has = |wanted: &str| actions.iter().any(|action| action == wanted);
    if has("Deny") && has("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
                      response and headers serves no purpose)";
        errors.push(FieldError::invalid(path, actions.to_vec(), detail));
    }
    if actions.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    errors
}
