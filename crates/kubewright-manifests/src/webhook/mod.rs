//! Admission webhook configurations from `+kubebuilder:webhook` markers.
//!
//! [`documents`] makes a MutatingWebhookConfiguration and a ValidatingWebhookConfiguration from the markers of an operator.
//! They come from the source text, so nothing has to be compiled.
//!
//! # Differences from controller-gen
//!
//! | | controller-gen v0.23 | here |
//! |---|---|---|
//! | selectors, match conditions, scope | by `patch` alone | also the arguments `namespaceSelector`, `objectSelector`, `matchConditions`, `scope` |
//! | certificate authority | left to kustomize | `injectCAFrom` or `caBundle` of `webhookconfiguration`, or [`Options::inject_ca_from`] |
//! | unknown words for `failurePolicy`, `verbs`, `reinvocationPolicy` | written, or dropped | an error |
//! | fields that a patch adds and no webhook has, directives of patches other than `$patch` | dropped | an error |
//! | two `webhookconfiguration` of one kind | an error in one package, else the last wins | an error |
//! | a service beside `url`, `reinvocationPolicy` of a validating webhook | dropped | dropped, and a warning |
//! | what the API server refuses: names with fewer than three parts, names used twice, URLs without `https`, ports, wildcards beside others | written | an error, in controller-gen's style a warning |
//! | names and paths that the API server refuses, match conditions that are no CEL or use unknown names | written | the same (feature `check`) |
//!
//! The documents themselves are the same in both styles.

mod check;
mod configuration;
mod hook;
mod patch;
#[cfg(test)]
mod tests;

pub use configuration::{Options, documents};
