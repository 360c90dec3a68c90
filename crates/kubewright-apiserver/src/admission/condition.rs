//! Match conditions: expressions that must all be true for a webhook or a policy to be asked.

use std::sync::{Arc, LazyLock};

use kubewright_schema::cel::{
    AccessDecision, AccessRequest, Authorize, EvaluationError, Expression, Scope, ValueType, Values,
};
use serde_json::Value;

use crate::{
    authz::{self, Target},
    registry::Registry,
    user::User,
};

/// What all conditions of one webhook or policy may cost.
const BUDGET: u64 = 2_500_000;

/// The match conditions of a webhook or a policy.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    expressions: Vec<Expression>,
    /// Why one does not compile. Those that do not are refused, but may have been stored before.
    broken: Option<String>,
}

/// What conditions come to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Matched {
    Yes,
    No,
    /// It is not known, as some could not be evaluated and none was false.
    Unknown(String),
}

impl Conditions {
    /// Reads `matchConditions`.
    pub(super) fn read(conditions: &Value, scope: &Scope) -> Self {
        let mut read = Self::default();
        for condition in conditions.as_array().into_iter().flatten() {
            let source = condition["expression"].as_str().unwrap_or_default();
            match Expression::compile(source, scope, &[ValueType::Bool]) {
                Ok(expression) => read.expressions.push(expression),
                Err(why) => read.broken = Some(format!("compilation error: {why}")),
            }
        }
        read
    }

    pub(super) fn is_empty(&self) -> bool {
        self.expressions.is_empty() && self.broken.is_none()
    }

    /// Evaluates the conditions.
    pub(super) fn evaluate(&self, values: &Values) -> Matched {
        let mut budget = BUDGET;
        let mut errors: Vec<String> = self.broken.iter().cloned().collect();
        for expression in &self.expressions {
            match expression.evaluate(values, &mut budget) {
                Ok(Value::Bool(false)) => return Matched::No,
                Ok(_) => {}
                Err(error) => errors.push(describe(expression, &error)),
            }
        }
        match errors.as_slice() {
            [] => Matched::Yes,
            [one] => Matched::Unknown(one.clone()),
            several => Matched::Unknown(format!("[{}]", several.join(", "))),
        }
    }
}

/// What is said of an expression that has no value.
pub(super) fn describe(expression: &Expression, error: &EvaluationError) -> String {
    match error {
        EvaluationError::Failed(why) => {
            format!("expression '{}' resulted in error: {why}", expression.source())
        }
        other => other.to_string(),
    }
}

/// The variables that the conditions of webhooks may use.
pub(crate) fn webhook_scope() -> &'static Scope {
    static SCOPE: LazyLock<Scope> = LazyLock::new(|| base_scope().with_authorizer());
    &SCOPE
}

/// The variables that all expressions of admission may use.
pub(super) fn base_scope() -> Scope {
    Scope::of_admission().with("object", &ValueType::Any).with("oldObject", &ValueType::Any)
}

/// What `authorizer` asks: whether a user may do something by the roles of the cluster.
pub(super) struct Access {
    registry: Arc<authz::Authorizer>,
    user: User,
}

impl Registry {
    /// What `authorizer` asks for the user of a request.
    pub(super) fn access_of(&self, user: &User) -> Arc<dyn Authorize> {
        Arc::new(Access { registry: self.authorizer.clone(), user: user.clone() })
    }
}

impl Authorize for Access {
    fn authorize(&self, request: &AccessRequest) -> AccessDecision {
        let user = match &request.service_account {
            None => self.user.clone(),
            Some((namespace, name)) => User {
                name: format!("system:serviceaccount:{namespace}:{name}"),
                groups: vec![
                    "system:serviceaccounts".to_owned(),
                    format!("system:serviceaccounts:{namespace}"),
                    "system:authenticated".to_owned(),
                ],
                ..User::default()
            },
        };
        let target = if request.path.is_empty() {
            Target::Resource {
                group: request.group.clone(),
                version: "*".to_owned(),
                resource: request.resource.clone(),
                subresource: request.subresource.clone(),
                namespace: request.namespace.clone(),
                name: request.name.clone(),
            }
        } else {
            Target::Path(request.path.clone())
        };
        let attributes = authz::Attributes { user, verb: request.verb.clone(), target };
        let decision = self.registry.authorize(&attributes);
        AccessDecision { allowed: decision.allowed, reason: decision.reason }
    }
}
