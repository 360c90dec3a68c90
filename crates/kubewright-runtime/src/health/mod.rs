//! `/healthz` and `/readyz`, as controller-runtime serves them.
//!
//! A check is a named function that says whether something is well. [`HealthChecks`] holds those of one
//! endpoint and answers requests in Kubernetes' format: the endpoint itself, `?verbose`, `?exclude=name`,
//! and each check alone under `/readyz/name`, which tells the reason of a failure where the aggregate
//! withholds it.

mod checks;

pub use checks::{CheckResult, HealthChecks};
