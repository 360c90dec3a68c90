//! Tests of whole kustomizations.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod builder;
mod cases;
mod robustness;
