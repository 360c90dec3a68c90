//! Webhooks: what the API server asks an operator before it stores an object, and when it converts one.
//!
//! * [`Webhook`] is the builder: the [`Defaulter`], the [`Validator`] and the [`Spoke`]s of one kind.
//! * [`AdmissionHandler`] answers requests whatever they are about ([`Webhooks::handle`]).
//! * [`round_trip`] finds what conversions lose.
//!
//! The way of a request: `registry.rs` finds who answers at its path, within its limits, `review.rs` reads and writes
//! the reviews, `handler.rs` is who is asked. [`Defaulter`] and [`Validator`] are handlers that know their kind
//! (`defaulter.rs`, with `patch.rs`, and `validator.rs`, with `field_errors.rs`), `conversion.rs` goes through the hub.
//!
//! `authority/` makes the certificates, where cert-manager does not.
//!
//! The manager serves them by HTTPS on port 9443, from before its caches start until all its other work has ended. In
//! tests, the embedded API server calls them in the test's own thread ([`Webhooks::service`]).
//!
//! # Certificates
//!
//! come from files (`--webhook-cert-path`), which cert-manager or anybody else may write and replace, or from the operator itself: with
//! `--webhook-service=NAME` it keeps an authority in the Secret `NAME-cert`, and writes it into whatever names that service of its namespace:
//! webhook configurations, and the definitions of the kinds that it converts. No call fails while it renews them. It needs these rights:
//!
//! ```text
//! // +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;update,namespace=system
//! // +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations;validatingwebhookconfigurations,verbs=list;patch
//! // +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;patch
//! ```

pub(crate) mod authority;
mod builder;
mod configuration;
mod conversion;
mod defaulter;
mod field_errors;
mod handler;
mod patch;
mod registry;
mod request;
mod response;
mod review;
pub mod round_trip;
mod service;
#[cfg(test)]
mod tests;
mod validator;

pub use builder::{Webhook, WebhookHost};
pub use conversion::Spoke;
pub use defaulter::Defaulter;
pub use field_errors::FieldErrors;
pub use handler::AdmissionHandler;
pub use registry::Webhooks;
pub use request::{AdmissionRequest, Operation};
pub use response::AdmissionResponse;
pub use service::WebhookService;
pub use validator::{Validator, Warnings};
