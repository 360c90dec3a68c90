//! Calling webhooks: what admission and the conversion of custom resources have in common.
//!
//! A webhook is a server that the API server asks by a POST of JSON. How it is reached is not decided here: a
//! [`WebhookClient`] is a tower service, so that a test or a simulation can answer in process, in virtual time.
//! [`WebhookClient::network`] is the one that connects to servers.
//!
//! `target.rs` reads `clientConfig`, `address.rs` finds the services it names, `call.rs` makes one call and words its
//! failures as kube-apiserver does, `network.rs` is the client of the network.

mod address;
mod call;
mod client;
mod network;
mod target;
mod trust;

pub(crate) use self::target::ClientConfig;
pub use self::{
    address::ServiceAddresses,
    client::{BoxError, WebhookClient},
    target::{ServiceReference, WebhookTarget},
};

use crate::store::Store;

/// All that is needed to call a webhook.
#[derive(Clone, Debug)]
pub(crate) struct Webhooks {
    pub(crate) client: WebhookClient,
    pub(crate) addresses: ServiceAddresses,
    pub(crate) store: Store,
}
