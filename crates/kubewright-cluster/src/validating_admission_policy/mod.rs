//! The status of ValidatingAdmissionPolicies: what is wrong with their expressions, by the types of the objects that they
//! are about.
//!
//! A policy is in force whatever its status says, and the API server does not look at it. [`check`] finds the kinds and
//! checks the expressions, [`reconciler`] asks the server for their schemas and writes.

mod check;
mod reconciler;

pub(crate) use reconciler::run;
