//! The expressions of CEL rules: they compile, and speak of the old value only where there is one.

use crate::{
    cel::{is_typed, shown_rule},
    error::{ErrorList, FieldError, FieldPath},
    structural::{Rule, Schema},
};

/// Checks the expressions of one node. `unrelated` is the highest list above whose items have no identity, so that none
/// of them has an old value.
pub(super) fn validate(schema: &Schema, path: &FieldPath, unrelated: Option<&FieldPath>) -> ErrorList {
    let mut errors = ErrorList::new();
    if schema.validations.is_empty() {
        return errors;
    }
    if !is_typed(schema) {
        let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to \
                      convert structural schema to CEL declarations";
        errors.push(FieldError::internal(&path.child("x-kubernetes-validations"), detail));
        return errors;
    }
    for (index, rule) in schema.validations.iter().enumerate() {
        expressions(rule, &path.child("x-kubernetes-validations").index(index), unrelated, &mut errors);
    }
    errors
}

fn expressions(rule: &Rule, path: &FieldPath, unrelated: Option<&FieldPath>, errors: &mut ErrorList) {
    let shown = |path: &FieldPath, problem: &str| {
        FieldError::invalid(path, rule.rule.as_str(), problem).shown_as(shown_rule(rule))
    };
    if let Some(problem) = rule.compiled.rule_problem() {
        errors.push(shown(&path.child("rule"), problem));
    }
    if let Some(problem) = rule.compiled.message_problem() {
        errors.push(shown(&path.child("messageExpression"), problem));
    }
    if rule.compiled.uses_old_self() {
        if let Some(unrelated) = unrelated {
            let detail = format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {unrelated}"
            );
            errors.push(FieldError::invalid(&path.child("rule"), rule.rule.as_str(), detail));
        }
    } else if let Some(optional) = rule.optional_old_self {
        let detail = "may not be set if oldSelf is not used in rule";
        errors.push(FieldError::invalid(&path.child("optionalOldSelf"), optional, detail));
    }
}
