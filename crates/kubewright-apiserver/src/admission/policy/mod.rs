//! Validating admission policies: expressions that must be true of a request, and the bindings that put them into force.
//!
//! `scopes.rs` says which variables the expressions have, `parameters.rs` finds the objects that bindings give to a policy,
//! `enforce.rs` evaluates and refuses.

mod enforce;
mod parameters;
mod scopes;

use kubewright_schema::cel::{Expression, ValueType};
use serde_json::Value;

pub(crate) use self::scopes::Scopes;
use super::{condition::Conditions, matching::Matching};
use crate::{registry::metadata, selector::LabelSelector, status::Reason};

/// A `ValidatingAdmissionPolicy`.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) name: String,
    matching: Matching,
    conditions: Conditions,
    /// The `apiVersion` and the kind of the objects that bindings give it.
    parameters: Option<(String, String)>,
    variables: Vec<(String, Expression)>,
    validations: Vec<Validation>,
    /// They are evaluated because a failure counts. What they give goes into an audit log, which this server has none of.
    annotations: Vec<Result<Expression, String>>,
    /// Whether a request goes on if it cannot be told whether it is valid.
    ignores_failures: bool,
}

#[derive(Debug)]
struct Validation {
    /// Why it does not compile, if it does not. That was refused, but may have been stored before.
    expression: Result<Expression, String>,
    source: String,
    message: String,
    message_expression: Option<Expression>,
    reason: Reason,
}

/// A `ValidatingAdmissionPolicyBinding`.
#[derive(Debug)]
pub(super) struct Binding {
    name: String,
    /// The name of the policy.
    pub(super) policy: String,
    matching: Matching,
    denies: bool,
    warns: bool,
    parameters: Option<ParameterReference>,
}

/// Which objects a binding gives to a policy.
#[derive(Debug)]
struct ParameterReference {
    /// One by its name, or all that are selected.
    name: String,
    selector: LabelSelector,
    /// Empty for the namespace of the request.
    namespace: String,
    /// Whether the request is refused if there are none.
    must_exist: bool,
}

impl Policy {
    /// Reads a policy.
    pub(super) fn read(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let list = |field: &str| spec[field].as_array().cloned().unwrap_or_default();
        let mut scopes = Scopes::new(spec);
        let conditions = Conditions::read(&spec["matchConditions"], scopes.conditions());
        let mut variables = Vec::new();
        for variable in list("variables") {
            if let Ok(expression) = scopes.declare(&variable) {
                variables.push((text(&variable, "name"), expression));
            }
        }
        let validations = list("validations").into_iter().map(|validation| {
            let source = text(&validation, "expression");
            let message = text(&validation, "messageExpression");
            let compiled = Expression::compile(&message, scopes.messages(), &[ValueType::String]);
            Validation {
                expression: Expression::compile(&source, scopes.expressions(), &[ValueType::Bool]),
                source,
                message: text(&validation, "message"),
                message_expression: compiled.ok().filter(|_| !message.is_empty()),
                reason: match validation["reason"].as_str() {
                    Some(reason) => Reason::from(reason),
                    None => Reason::Invalid,
                },
            }
        });
        let annotation = |annotation: &Value| {
            let source = text(annotation, "valueExpression");
            Expression::compile(&source, scopes.expressions(), &[ValueType::String, ValueType::Null])
        };
        Self {
            name: metadata::name(policy).to_owned(),
            matching: Matching::of_policy(&spec["matchConstraints"]),
            conditions,
            parameters: spec["paramKind"]
                .is_object()
                .then(|| (text(&spec["paramKind"], "apiVersion"), text(&spec["paramKind"], "kind"))),
            validations: validations.collect(),
            annotations: list("auditAnnotations").iter().map(annotation).collect(),
            variables,
            ignores_failures: spec["failurePolicy"].as_str() == Some("Ignore"),
        }
    }
}

impl Binding {
    /// Reads a binding.
    pub(super) fn read(binding: &Value) -> Self {
        let spec = &binding["spec"];
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let actions = spec["validationActions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let reference = &spec["paramRef"];
        Self {
            name: metadata::name(binding).to_owned(),
            policy: text(spec, "policyName"),
            matching: Matching::of_policy(&spec["matchResources"]),
            denies: actions.iter().any(|action| action == "Deny"),
            warns: actions.iter().any(|action| action == "Warn"),
            parameters: reference.is_object().then(|| ParameterReference {
                name: text(reference, "name"),
                selector: LabelSelector::from_object(Some(&reference["selector"]))
                    .unwrap_or_else(|_| LabelSelector::nothing()),
                namespace: text(reference, "namespace"),
                must_exist: reference["parameterNotFoundAction"].as_str() != Some("Allow"),
            }),
        }
    }
}
