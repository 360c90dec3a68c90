//! Roles from `+kubebuilder:rbac` markers.
//!
//! [`documents`] makes the roles of an operator from its markers. They come from the source text, so nothing has to be
//! compiled. What makes one role of many rules is [`merge`]. [`bindings`] gives the roles to a service account, and
//! [`UserRoles`] are the roles for the people who use an API of the operator.
//!
//! # Differences from controller-gen
//!
//! | | controller-gen v0.23 | [`Style::Kubewright`] | [`Style::ControllerGen`] |
//! |---|---|---|---|
//! | rules that others imply | stay | are dropped | stay |
//! | rules that differ only in their names | stay | are joined | stay |
//! | number of rules | what its steps give | the fewest | what its steps give |
//! | two rules become equal but for their verbs | the verbs of one are lost, at random | are joined | are joined |
//! | `*` among groups or resources | beside others | replaces what it covers | beside others |
//! | URLs and resources in one rule | one rule, which the API server refuses | two rules, and a warning | one rule, and a warning |
//! | URLs in a namespace, no groups, no resources, no verbs, empty items | written | an error | written, and a warning |
//! | misspelt verbs, versions in groups, `pods/*`, creation by name | written | written, and a warning | written, and a warning |
//! | names of roles and namespaces | written | an error (feature `check`) | written, and a warning (feature `check`) |
//! | bindings, roles for users | none | [`bindings`], [`UserRoles`] | [`bindings`], [`UserRoles`] |
//!
//! [`Style::Kubewright`]: crate::Style::Kubewright
//! [`Style::ControllerGen`]: crate::Style::ControllerGen

#[cfg(test)]
mod authorizer;
mod binding;
mod check;
mod controller_gen;
mod merge;
mod role;
mod rule;
mod user_role;

pub use binding::{ServiceAccount, bindings};
pub use controller_gen::merge_as_controller_gen;
pub use merge::merge;
pub use role::{Options, documents};
pub use rule::Rule;
pub use user_role::UserRoles;
