//! The expressions of CEL rules: they compile, and speak of the old value only where there is one.

use crate::{
    cel::shown_rule,
    error::{ErrorList, FieldError, FieldPath},
    structural::{ListType, Rule, Schema},
};

/// Checks the expressions of a schema that is valid otherwise.
pub(super) fn validate(schema: &Schema, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    node(schema, path, None, &mut errors);
    errors
}

/// `unrelated` is the highest list above whose items have no identity, so that none of them has an old value.
fn node(schema: &Schema, path: &FieldPath, unrelated: Option<&FieldPath>, errors: &mut ErrorList) {
    if !schema.subtree.rules {
        return;
    }
    if let Some(additional) = schema.additional_schema() {
        node(additional, &path.child("additionalProperties"), unrelated, errors);
    }
    for (name, property) in &schema.properties {
        node(property, &path.child("properties").key(name), unrelated, errors);
    }
    if let Some(items) = &schema.items {
        let is_keyed = schema.list_type == Some(ListType::Map);
        let unrelated = if is_keyed { unrelated } else { unrelated.or(Some(path)) };
        node(items, &path.child("items"), unrelated, errors);
    }
    for (index, rule) in schema.validations.iter().enumerate() {
        expressions(rule, &path.child("x-kubernetes-validations").index(index), unrelated, errors);
    }
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
