//! An embedded Kubernetes API server: a tower service over a versioned store.

pub mod apply;
pub mod discovery;
pub mod listener;
pub mod registry;
pub mod selector;
pub mod status;
pub mod types;
pub mod wire;
