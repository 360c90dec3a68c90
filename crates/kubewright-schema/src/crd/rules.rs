//! The expressions of CEL rules: they compile, do not cost too much, and speak of the old value only where there is one.

use crate::{
    cel::{Cardinality, CheckedRule, RulePart, TotalCost, check_node, is_typed, shown_rule},
    error::{ErrorList, FieldError, FieldPath},
    structural::{Rule, Schema},
};

/// What is known about the rules of a schema while it is walked.
pub(super) struct Rules {
    pub(super) costs: TotalCost,
    /// Whether the schema is stored already, so that single expressions may cost what they cost.
    pub(super) is_stored: bool,
}

impl Rules {
    pub(super) fn new(is_stored: bool) -> Self {
        Self { costs: TotalCost::default(), is_stored }
    }

    /// Checks the expressions of one node. `unrelated` is the highest list above whose items have no identity, so that
    /// none of them has an old value.
    pub(super) fn validate(
        &mut self,
        schema: &Schema,
        path: &FieldPath,
        cardinality: Cardinality,
        unrelated: Option<&FieldPath>,
    ) -> ErrorList {
        let mut errors = ErrorList::new();
        if schema.validations.is_empty() {
            return errors;
        }
        if !is_typed(schema) {
            let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: unable \
                          to convert structural schema to CEL declarations";
            errors.push(FieldError::internal(&path.child("x-kubernetes-validations"), detail));
            return errors;
        }
        let checked = check_node(schema, path, cardinality, unrelated, &mut self.costs);
        for (rule, checked) in schema.validations.iter().zip(checked) {
            self.problems(rule, checked, &mut errors);
        }
        errors
    }

    fn problems(&self, rule: &Rule, checked: CheckedRule, errors: &mut ErrorList) {
        for problem in checked.problems {
            let (name, shown) = match problem.part {
                RulePart::Rule => ("rule", Some(shown_rule(rule))),
                RulePart::OldSelf => ("rule", None),
                RulePart::MessageExpression => ("messageExpression", Some(shown_rule(rule))),
                RulePart::OptionalOldSelf => ("optionalOldSelf", None),
            };
            let path = checked.path.child(name);
            errors.extend(match (problem.is_cost, problem.part, shown) {
                (true, ..) if self.is_stored => None,
                (true, ..) => Some(FieldError::forbidden(&path, problem.text)),
                (false, RulePart::OptionalOldSelf, _) => {
                    Some(FieldError::invalid(&path, rule.optional_old_self == Some(true), problem.text))
                }
                (false, _, shown) => {
                    let error = FieldError::invalid(&path, rule.rule.as_str(), problem.text);
                    Some(shown.map_or(error.clone(), |shown| error.shown_as(shown)))
                }
            });
        }
    }

    /// What is wrong with all expressions together. `path` is that of the schema.
    pub(super) fn total(&self, path: &FieldPath) -> ErrorList {
        let mut errors: ErrorList =
            self.costs.contributions().map(|(path, text)| FieldError::forbidden(path, text)).collect();
        errors.extend(self.costs.error().map(|text| FieldError::forbidden(path, text)));
        errors
    }
}
