use kubewright_schema::cel::{Expression, Values};
use serde_json::Value;

use super::{Scopes, Variables};
use crate::{
    admission::{condition::Conditions, matching::Matching},
    registry::metadata,
};

/// What a policy says of itself, be it validating or mutating.
#[derive(Debug)]
pub(in crate::admission) struct Definition {
    pub(in crate::admission) name: String,
    pub(super) matching: Matching,
    pub(super) conditions: Conditions,
    /// The `apiVersion` and the kind of the objects that bindings give it.
    pub(super) parameters: Option<(String, String)>,
    variables: Vec<(String, Expression)>,
    /// Whether a request goes on if the policy cannot be evaluated.
    pub(super) ignores_failures: bool,
}

impl Definition {
    /// Reads a policy, and gives the scopes of its other expressions.
    pub(super) fn read(policy: &Value, of: Variables) -> (Self, Scopes) {
        let spec = &policy["spec"];
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let mut scopes = Scopes::new(spec, of);
        let conditions = Conditions::read(&spec["matchConditions"], scopes.conditions());
        let mut variables = Vec::new();
        for variable in spec["variables"].as_array().into_iter().flatten() {
            if let Ok(expression) = scopes.declare(variable) {
                variables.push((text(variable, "name"), expression));
            }
        }
        let definition = Self {
            name: metadata::name(policy).to_owned(),
            matching: Matching::of_policy(&spec["matchConstraints"]),
            conditions,
            parameters: spec["paramKind"]
                .is_object()
                .then(|| (text(&spec["paramKind"], "apiVersion"), text(&spec["paramKind"], "kind"))),
            variables,
            ignores_failures: spec["failurePolicy"].as_str() == Some("Ignore"),
        };
        (definition, scopes)
    }

    /// The values with the variables of the policy.
    pub(super) fn with_variables(&self, mut values: Values) -> Values {
        for (name, expression) in &self.variables {
            values.add_variable(name, expression);
        }
        values
    }
}
