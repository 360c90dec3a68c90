use kubewright_schema::cel::{CompileError, Expression, Scope, ValueType};
use serde_json::Value;

use crate::admission::condition::base_scope;

/// The variables that the expressions of a policy may use.
#[derive(Debug)]
pub(crate) struct Scopes {
    conditions: Scope,
    expressions: Scope,
    messages: Scope,
    patches: Scope,
}

/// When there is a variable `variables`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variables {
    Always,
    /// If the policy has some.
    IfAny,
}

impl Scopes {
    /// The scopes of a policy with this `spec`, before its variables are declared.
    pub(crate) fn new(spec: &Value, variables: Variables) -> Self {
        let scope = || {
            let scope = base_scope();
            if spec["paramKind"].is_object() { scope.with("params", &ValueType::Any) } else { scope }
        };
        let has_some = spec["variables"].as_array().is_some_and(|variables| !variables.is_empty());
        let has_variables = has_some || variables == Variables::Always;
        let with_variables = |scope: Scope| if has_variables { scope.with_variables() } else { scope };
        Self {
            conditions: scope().with_authorizer(),
            expressions: with_variables(scope().with_authorizer()),
            messages: with_variables(scope()),
            patches: with_variables(scope().with_authorizer()).with_patches(),
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

    /// That of mutations.
    pub(crate) fn patches(&self) -> &Scope {
        &self.patches
    }

    /// What the expression of an apply configuration makes.
    pub(crate) fn apply_configuration() -> [ValueType; 1] {
        [ValueType::Message("Object")]
    }

    /// What the expression of a JSON patch makes.
    pub(crate) fn json_patch() -> [ValueType; 1] {
        [ValueType::List(Box::new(ValueType::Message("JSONPatch")))]
    }

    /// Compiles one of the policy's variables, which those after it and the other expressions may use.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn declare(&mut self, variable: &Value) -> Result<Expression, CompileError> {
        let text = |field: &str| variable[field].as_str().unwrap_or_default();
        let expression = Expression::compile(text("expression"), &self.expressions, &[]);
        for scope in [&mut self.expressions, &mut self.messages, &mut self.patches] {
            scope.add_variable(text("name"), expression.as_ref().ok());
        }
        expression
    }
}
