//! Roles from `+kubebuilder:rbac` markers.

mod controller_gen;
mod merge;
mod rule;

pub use controller_gen::merge_as_controller_gen;
pub use merge::merge;
pub use rule::Rule;
