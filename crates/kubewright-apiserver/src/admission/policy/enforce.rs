use std::sync::Arc;

use kubewright_schema::cel::{CompileError, Expression, Values};
use serde_json::{Map, Value};

use super::{BUDGET, Binding, Definition, ValidatingPolicy, validation::Validation};
use crate::{
    admission::{
        Attributes,
        condition::{Matched, describe},
    },
    registry::Registry,
    status::{Cause, GroupResource, Reason, Status},
};

/// The longest message that is taken from an expression, in bytes.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// What is wrong with a request.
struct Failure {
    message: String,
    reason: Reason,
}

impl Registry {
    /// Refuses a request that policies say is invalid.
    ///
    /// # Errors
    /// With the first failure, in the order of the names of policies and bindings.
    pub(in crate::admission) async fn enforce(
        &self,
        policies: &[(Arc<ValidatingPolicy>, Vec<Arc<Binding>>)],
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<(), Status> {
        let mut refusal = None;
        let mut refuse = |policy: &Definition, binding: Option<&Binding>, failure: Failure| {
            let by = binding.map(|binding| format!(" with binding '{}'", binding.name)).unwrap_or_default();
            let Failure { message, reason } = failure;
            let message =
                format!("ValidatingAdmissionPolicy '{}'{by} denied request: {message}", policy.name);
            refusal.get_or_insert_with(|| denial(attributes, object, message, reason));
        };
        for (validating, bindings) in policies {
            let policy = &validating.definition;
            let unclear = |what: &str, why: String| Failure {
                message: format!("failed to configure {what}: {why}"),
                reason: Reason::Invalid,
            };
            let matched = match self.matches(&policy.matching, attributes, object) {
                Ok(None) => continue,
                Ok(Some(invocation)) => self.parameter_kind(policy).map(|kind| (invocation, kind)),
                Err(status) => Err(status.message),
            };
            let (invocation, kind) = match matched {
                Ok(matched) => matched,
                Err(_) if policy.ignores_failures => continue,
                Err(why) => {
                    refuse(policy, None, unclear("policy", why));
                    continue;
                }
            };
            for binding in bindings {
                let parameters = match self.matches(&binding.matching, attributes, object) {
                    Ok(None) => continue,
                    Ok(Some(_)) => self.parameters(kind.as_deref(), binding, attributes, object).await,
                    Err(status) => Err(status.message),
                };
                let parameters = match parameters {
                    Ok(parameters) => parameters,
                    Err(_) if policy.ignores_failures => continue,
                    Err(why) => {
                        refuse(policy, Some(binding), unclear("binding", why));
                        continue;
                    }
                };
                let values = policy.with_variables(self.values(&invocation, attributes, object).await?);
                let namespace = self.namespace_shown(attributes, object)?;
                for parameter in &parameters {
                    let values = values.clone().with("params", parameter);
                    let failures = validating.evaluate(values, &namespace);
                    for failure in failures {
                        if binding.warns {
                            attributes.request.warnings.extend([format!(
                                "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}",
                                policy.name, binding.name, failure.message
                            )]);
                        }
                        if binding.denies {
                            refuse(policy, Some(binding), failure);
                        }
                    }
                }
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    /// The namespace of a request as expressions see it, null if it is not in one.
    ///
    /// # Errors
    /// 404 if it is not there.
    pub(super) fn namespace_shown(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<Value, Status> {
        let name = attributes.namespace(object);
        if name.is_empty() || attributes.is_namespace() {
            return Ok(Value::Null);
        }
        let Some(namespace) = self.store.get("/namespaces", name) else {
            return Err(Status::not_found(&GroupResource::new("", "namespaces"), name));
        };
        let fields = |value: &Value, names: &[&str]| -> Value {
            let field = |name: &&str| Some(((*name).to_owned(), value.get(*name)?.clone()));
            Value::Object(names.iter().filter_map(field).collect())
        };
        let namespace = namespace.value();
        let metadata =
            ["name", "labels", "annotations", "creationTimestamp", "deletionTimestamp", "resourceVersion"];
        let shown = [
            ("metadata", fields(&namespace["metadata"], &metadata)),
            ("spec", fields(&namespace["spec"], &["finalizers"])),
            ("status", fields(&namespace["status"], &["phase"])),
        ];
        Ok(Value::Object(Map::from_iter(shown.map(|(name, value)| (name.to_owned(), value)))))
    }
}

/// The refusal of a request with the reason that a validation gives.
fn denial(attributes: &Attributes<'_>, object: Option<&Value>, message: String, reason: Reason) -> Status {
    let resource = attributes.request.served.group_resource();
    let mut status = Status::forbidden(&resource, attributes.name(object), &message);
    status.code = match reason {
        Reason::Forbidden => 403,
        Reason::Unauthorized => 401,
        Reason::RequestEntityTooLarge => 413,
        _ => 422,
    };
    status.reason = reason;
    status.with_cause(Cause { message, ..Cause::default() })
}

impl ValidatingPolicy {
    /// What is wrong with a request. Match conditions do not see the namespace.
    fn evaluate(&self, values: Values, namespace: &Value) -> Vec<Failure> {
        let error = |message: String| {
            let failure = Failure { message, reason: Reason::Invalid };
            (!self.definition.ignores_failures).then_some(failure)
        };
        match self.definition.conditions.evaluate(&values) {
            Matched::Yes => {}
            Matched::No => return Vec::new(),
            Matched::Unknown(why) => return error(why).into_iter().collect(),
        }
        let values = values.with("namespaceObject", namespace);
        let mut budget = BUDGET;
        let mut failures = Vec::new();
        for validation in &self.validations {
            match evaluate(&validation.expression, &values, &mut budget) {
                Ok(Value::Bool(true)) => {}
                Ok(_) => failures.push(Failure {
                    message: validation.message(&values, &mut budget),
                    reason: validation.reason.clone(),
                }),
                Err(why) => failures.extend(error(why)),
            }
        }
        // There is an authorizer by their types, but none when they are evaluated.
        let values = values.without_authorizer();
        let mut budget = BUDGET;
        for annotation in &self.annotations {
            if let Err(why) = evaluate(annotation, &values, &mut budget) {
                failures.extend(error(why));
            }
        }
        failures
    }
}

fn evaluate(
    expression: &Result<Expression, CompileError>,
    values: &Values,
    budget: &mut u64,
) -> Result<Value, String> {
    match expression {
        Err(why) => Err(format!("compilation error: {why}")),
        Ok(expression) => expression.evaluate(values, budget).map_err(|error| describe(expression, &error)),
    }
}

impl Validation {
    /// What is said if it is false.
    fn message(&self, values: &Values, budget: &mut u64) -> String {
        let made = self.message_expression.as_ref().and_then(|expression| {
            let value = expression.evaluate(values, budget).ok()?;
            let text = value.as_str()?.trim();
            let fits = !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
            fits.then(|| text.to_owned())
        });
        match made {
            Some(text) => text,
            None if self.message.trim().is_empty() => format!("failed expression: {}", self.source.trim()),
            None => self.message.trim().to_owned(),
        }
    }
}
