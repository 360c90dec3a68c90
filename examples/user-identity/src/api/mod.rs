//! What the users of the operator ask for, by version.

pub mod v1alpha1;
