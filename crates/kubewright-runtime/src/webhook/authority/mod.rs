//! The operator's own certificate authority, in the place of cert-manager.
//!
//! A Secret holds the authority, its key, and the certificate that webhooks show (`kept.rs`, with `certificate.rs`).
//! Every replica does what is due (`rotation.rs`): makes the Secret, shows its certificate, writes the authorities to trust into the
//! webhook configurations and CRDs that name the service (`injection.rs`), and renews what is two thirds through its life. Writes are
//! conditional on the version that was read, so replicas need not agree on who does it.
//!
//! # No call fails while certificates change
//!
//! What is trusted is a bundle. A new authority is added to it first. Only when every configuration has the new bundle, and
//! API servers had time to see it, is a certificate of the new authority made and shown. The old authority stays in
//! the bundle until it has expired, longer than any certificate of it is shown.

mod certificate;
mod injection;
mod kept;
mod rotation;
#[cfg(test)]
mod tests;

pub(crate) use rotation::{Authority, AuthorityCheck};
