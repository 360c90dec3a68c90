use std::sync::Arc;

use crate::{
    Action, Reconciler, Request, Result,
    client::{Client, Kind},
};

/// Brings one object to its desired state, where a deleted one needs nothing.
///
/// It is a [`Reconciler`] whose first step is always the same: [`as_reconciler`] reads the object from the cache, and
/// is done if there is none. What the object owns is garbage collected; what is outside the cluster needs a
/// [finalizer](crate::finalizers).
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::{
///     Action, ObjectReconciler, Result, as_reconciler, controller::Controller, manager::Manager,
/// };
///
/// struct Counting;
///
/// impl ObjectReconciler for Counting {
///     type Object = ConfigMap;
///
///     async fn reconcile(&self, config: Arc<ConfigMap>) -> Result<Action> {
///         tracing::info!(entries = config.data.iter().flatten().count(), "counted");
///         Ok(Action::done())
///     }
/// }
///
/// fn add(manager: &Manager) -> Result<()> {
///     Controller::for_kind::<ConfigMap>(manager).run(as_reconciler(manager.client(), Counting))
/// }
/// ```
pub trait ObjectReconciler: Send + Sync + 'static {
    /// The kind that it reconciles.
    type Object: Kind;

    /// Brings `object` to its desired state and says when to look again.
    fn reconcile(&self, object: Arc<Self::Object>) -> impl Future<Output = Result<Action>> + Send;
}

/// Makes a [`Reconciler`] of an [`ObjectReconciler`], which reads its objects with `client`.
pub fn as_reconciler<R: ObjectReconciler>(client: Client, reconciler: R) -> AsReconciler<R> {
    AsReconciler { client, reconciler }
}

/// What [`as_reconciler`] returns.
#[derive(Clone, Debug)]
pub struct AsReconciler<R> {
    client: Client,
    reconciler: R,
}

impl<R: ObjectReconciler> Reconciler for AsReconciler<R> {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        match self.client.get::<R::Object>(&request).await? {
            Some(object) => self.reconciler.reconcile(object).await,
            None => Ok(Action::done()),
        }
    }
}
