//! The static cost estimator: what evaluating an expression costs at most, before there is anything to evaluate.
//!
//! A definition whose rules could cost too much is refused, so estimates are part of the API. They are those of cel-go
//! with the functions of Kubernetes, in units of about 50 nanoseconds. `range.rs` holds ranges of sizes and costs,
//! `path.rs` the way from a variable to a value, through which limits of the schema are found, `expression.rs` the walk,
//! `functions.rs` what the operators and functions of the language cost and `libraries.rs` what those of Kubernetes do.
//! Start at [`estimate`].

mod expression;
mod functions;
mod libraries;
mod path;
mod range;

use super::{checker::Checked, declaration::Declarations};

/// What one expression may cost by estimate, for all the values of an object that its rule is for.
pub const MOST_PER_RULE: u64 = 10_000_000;

/// What all expressions of a schema may cost by estimate.
pub const MOST_PER_SCHEMA: u64 = 100_000_000;

/// What one evaluation of an expression costs at most.
pub(super) fn estimate(checked: &Checked, declarations: &Declarations) -> u64 {
    expression::Coster::new(checked, declarations).cost_of_root()
}
