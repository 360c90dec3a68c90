use kubewright_schema::cel::{CompileError, Expression, ValueType};
use serde_json::Value;

use super::{Definition, Variables};
use crate::status::Reason;

/// A `ValidatingAdmissionPolicy`.
#[derive(Debug)]
pub(in crate::admission) struct ValidatingPolicy {
    pub(in crate::admission) definition: Definition,
    pub(super) validations: Vec<Validation>,
    /// They are evaluated because a failure counts. What they give goes into an audit log, which this server has none of.
    pub(super) annotations: Vec<Result<Expression, CompileError>>,
}

#[derive(Debug)]
pub(super) struct Validation {
    /// Why it does not compile, if it does not. That was refused, but may have been stored before.
    pub(super) expression: Result<Expression, CompileError>,
    pub(super) source: String,
    pub(super) message: String,
    pub(super) message_expression: Option<Expression>,
    pub(super) reason: Reason,
}

impl ValidatingPolicy {
    /// Reads a policy.
    pub(in crate::admission) fn read(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let list = |field: &str| spec[field].as_array().cloned().unwrap_or_default();
        let (definition, scopes) = Definition::read(policy, Variables::IfAny);
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
        let validations = validations.collect();
        let annotation = |annotation: &Value| {
            let source = text(annotation, "valueExpression");
            Expression::compile(&source, scopes.expressions(), &[ValueType::String, ValueType::Null])
        };
        let annotations = list("auditAnnotations").iter().map(annotation).collect();
        Self { definition, validations, annotations }
    }
}
