//! The CEL rules of `x-kubernetes-validations`.
//!
//! Before a rule runs: `program.rs` compiles expressions when a schema is read. `syntax` parses them to a tree with places,
//! `declaration.rs` says what of the schema they see, `checker` finds the types of everything in them, and `cost` what they
//! cost at most. `shown.rs` puts errors in the words of a server, and `report.rs` is what all this says about a schema.
//!
//! When it runs: `value.rs` turns JSON into CEL values, `check.rs` walks an object and evaluates the rules it meets, and
//! `eval` is the evaluator, on the values of the `cel` crate and with the functions of `kube-cel`. `depth.rs` keeps
//! expressions from the end of the stack.
//!
//! Expressions that are no rules, such as the conditions of webhooks and policies, have a [`Scope`] of variables instead of a
//! schema; `scope.rs` compiles and evaluates them, `authorizer.rs` is what they ask whether a user may do something, and
//! `patches.rs` makes patches of the messages that they make. `admission.rs` is what they see of a request, and `openapi.rs`
//! lets them be checked against the kinds that they are about.
//!
//! Start at [`Schema::validate_rules`] and [`check_rules`].

mod admission;
mod authorizer;
mod check;
mod checker;
mod cost;
mod declaration;
mod depth;
mod eval;
mod expression;
mod openapi;
mod patches;
mod program;
mod report;
mod scope;
mod shown;
mod syntax;
mod value;

use serde_json::Value;

pub use {
    authorizer::{AccessDecision, AccessRequest, Authorize},
    cost::{MOST_PER_RULE, MOST_PER_SCHEMA},
    expression::check_expression,
    report::{
        CheckedExpression, CheckedRule, CheckedRules, ExpressionError, RulePart, RuleProblem, check_rules,
    },
    scope::{CompileError, EvaluationError, Expression, Scope, ValueType, Values},
};
pub(crate) use {
    declaration::Declarations,
    program::Compiled,
    report::{Cardinality, TotalCost, check_node, is_typed},
    shown::rule as shown_rule,
};

use crate::{
    error::{ErrorList, FieldError, FieldErrorKind, FieldPath},
    structural::Schema,
};

/// What a validation found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// What is wrong.
    pub errors: ErrorList,
    /// What is wrong, but was before and did not change. A server sends these as warnings.
    pub warnings: Vec<String>,
}

impl Schema {
    /// Evaluates the CEL rules of a value. Rules about `oldSelf` run on updates only, unless they say otherwise.
    ///
    /// `is_object` tells whether the value is a whole Kubernetes object, whose rules may also read `apiVersion`,
    /// `kind`, `metadata.name` and `metadata.generateName`.
    pub fn validate_rules(
        &self,
        value: &Value,
        old: Option<&Value>,
        path: &FieldPath,
        is_object: bool,
    ) -> Report {
        check::run(self, value, old, path, is_object, check::Unchanged::Tolerated)
    }

    /// [`Schema::validate_rules`] without mercy for what did not change.
    pub(crate) fn validate_rules_strictly(
        &self,
        value: &Value,
        old: Option<&Value>,
        path: &FieldPath,
        is_object: bool,
    ) -> ErrorList {
        check::run(self, value, old, path, is_object, check::Unchanged::Refused).errors
    }

    /// [`Schema::validate_rules`] after other checks. If those found errors that make the value unfit for rules, one
    /// more error says that the rules did not run.
    pub fn validate_rules_after(
        &self,
        mut errors: ErrorList,
        value: &Value,
        old: Option<&Value>,
        path: &FieldPath,
        is_object: bool,
    ) -> Report {
        if !self.subtree.rules {
            return Report { errors, warnings: Vec::new() };
        }
        if errors.iter().any(is_blocking) {
            errors.push(FieldError::invalid(
                &FieldPath::root(),
                Value::Null,
                "some validation rules were not checked because the object was invalid; correct the existing errors \
                 to complete validation",
            ));
            return Report { errors, warnings: Vec::new() };
        }
        let report = self.validate_rules(value, old, path, is_object);
        errors.extend(report.errors);
        Report { errors, warnings: report.warnings }
    }
}

fn is_blocking(error: &FieldError) -> bool {
    matches!(
        error.kind,
        FieldErrorKind::NotSupported
            | FieldErrorKind::Required
            | FieldErrorKind::TooLong
            | FieldErrorKind::TooMany
            | FieldErrorKind::TypeInvalid
    )
}

#[cfg(test)]
mod tests;
