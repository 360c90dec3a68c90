use kubewright_schema::cel::{Expression, Scope, ValueType};
use serde_json::Value;

use crate::admission::condition::base_scope;

/// The variables that the expressions of a policy may use.
#[derive(Debug)]
pub(crate) struct Scopes {
    conditions: Scope,
    expressions: Scope,
    messages: Scope,
}

impl Scopes {
    /// The scopes of a policy with this `spec`, before its variables are declared.
    pub(crate) fn new(spec: &Value) -> Self {
        let scope = || {
            let scope = base_scope();
            if spec["paramKind"].is_object() { scope.with("params", &ValueType::Any) } else { scope }
        };
        let has_variables = spec["variables"].as_array().is_some_and(|variables| !variables.is_empty());
        let with_variables = |scope: Scope| if has_variables { scope.with_variables() } else { scope };
        Self {
            conditions: scope().with_authorizer(),
            expressions: with_variables(scope().with_authorizer()),
            messages: with_variables(scope()),
        }
    }

    /// That of match conditions, which do not see the variables of the policy.
    pub(crate) fn conditions(&self) -> &Scope {
        &self.conditions
    }

    /// That of validations, variables and audit annotations.
    pub(crate) fn expressions(&self) -> &Scope {
        &self.expressions
    }

    /// That of message expressions.
    pub(crate) fn messages(&self) -> &Scope {
        &self.messages
    }

    /// Compiles one of the policy's variables, which those after it and the other expressions may use.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn declare(&mut self, variable: &Value) -> Result<Expression, String> {
        let text = |field: &str| variable[field].as_str().unwrap_or_default();
        let expression = Expression::compile(text("expression"), &self.expressions, &[]);
        for scope in [&mut self.expressions, &mut self.messages] {
            scope.add_variable(text("name"), expression.as_ref().ok());
        }
        expression
    }
}
