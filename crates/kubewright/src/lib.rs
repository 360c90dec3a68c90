//! The operator framework for Rust: the crate that an operator depends on.
//!
//! An operator is a type for its custom resource, a [`Reconciler`] that brings one object of it to its desired
//! state, and a `main` that connects the two:
//!
//! ```no_run
//! use kubewright::{k8s_openapi::api::apps::v1::Deployment, prelude::*};
//!
//! /// MemcachedSpec defines the desired state of Memcached.
//! ///
//! /// +kubebuilder:resource:shortName=mc
//! /// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
//! #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
//! #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
//! #[serde(rename_all = "camelCase")]
//! pub struct MemcachedSpec {
//!     /// Size is the number of Memcached instances.
//!     ///
//!     /// +kubebuilder:validation:Minimum=1
//!     pub size: i32,
//! }
//!
//! pub struct MemcachedReconciler {
//!     client: Client,
//! }
//!
//! impl Reconciler for MemcachedReconciler {
//!     async fn reconcile(&self, request: Request) -> Result<Action> {
//!         let Some(memcached) = self.client.get::<Memcached>(&request).await? else {
//!             return Ok(Action::done()); // deleted: owned objects are garbage collected
//!         };
//!         let mut deployment = Deployment::default();
//!         deployment.metadata.namespace = memcached.metadata.namespace.clone();
//!         deployment.metadata.name = memcached.metadata.name.clone();
//!         // fill in the rest of it
//!         set_controller_reference(&*memcached, &mut deployment)?;
//!         self.client.apply(&deployment).await?;
//!         Ok(Action::done())
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     let manager = Manager::new(Options::parse()).await?;
//!     Controller::new::<Memcached>(&manager)
//!         .owns::<Deployment>()
//!         .with_event_filter(generation_changed())
//!         .run(MemcachedReconciler { client: manager.client() })?;
//!     manager.start().await
//! }
//! ```
//!
//! Start with the [`prelude`], then [`Reconciler`], [`Controller`](controller::Controller),
//! [`Client`](client::Client) and [`Manager`](manager::Manager). The crate has nothing of its own: it is
//! `kubewright-runtime`, with the crates that an operator shares with it. What may be said of a custom resource in
//! markers and how it becomes a CRD is told in [`manifests`].
//!
//! # Versions
//!
//! [`kube`], [`k8s_openapi`] and [`schemars`] are re-exported at the versions that fit each other: name their types
//! through this crate (`kubewright::k8s_openapi::api::apps::v1::Deployment`). An operator's `Cargo.toml` needs
//! `kubewright` and `tokio`, and `serde`, `serde_json` and `schemars` for their derives.
//!
//! `#[derive(CustomResource)]` writes out paths that begin with `::kube` and `::k8s_openapi`. So that they lead
//! here, the crate root (`main.rs`, `lib.rs`) says [`extern_crates!`] once:
//!
//! ```text
//! kubewright::extern_crates!();
//! ```
//!
//! An operator that depends on kube and k8s-openapi itself does not need that, but has to keep their versions in
//! step.

pub use k8s_openapi;
pub use kube;
pub use kubewright_manifests as manifests;
pub use kubewright_runtime::*;
pub use schemars;

// What the derives of kube look for under `::kube` and `::k8s_openapi`: see `extern_crates!`.
#[doc(hidden)]
pub use k8s_openapi::{api, apiextensions_apiserver, apimachinery};
#[doc(hidden)]
pub use kube::{KubeSchema, core};

pub mod prelude;

/// Lets the derives of kube find it through this crate. Say it once, in the crate root of the operator.
///
/// It makes `::kube` and `::k8s_openapi` names for this crate, which has in its root what the derived code refers to.
/// In a crate that depends on kube or k8s-openapi it is an error, and not needed.
#[macro_export]
macro_rules! extern_crates {
    () => {
        #[allow(unused_extern_crates, reason = "they are for derived code alone")]
        extern crate kubewright as k8s_openapi;
        #[allow(unused_extern_crates, reason = "they are for derived code alone")]
        extern crate kubewright as kube;
    };
}
