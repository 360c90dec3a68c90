use std::{any::type_name, fmt, marker::PhantomData};

use serde_json::Value;

use super::{AdmissionHandler, AdmissionRequest, AdmissionResponse, Operation, patch};
use crate::{Result, client::Kind};

/// Fills in what the user left out of an object: the logic of a mutating webhook.
///
/// Constant defaults need no webhook: `+kubebuilder:default` makes the API server set them. A defaulter is for values
/// that depend on others, on the user, or on the cluster.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::{
///     Result,
///     webhook::{AdmissionRequest, Defaulter},
/// };
///
/// struct Owner;
///
/// // +kubebuilder:webhook:path=/mutate--v1-configmap,mutating=true,failurePolicy=fail,sideEffects=None,groups=core,resources=configmaps,verbs=create,versions=v1,name=mconfigmap-v1.kb.io,admissionReviewVersions=v1
/// impl Defaulter<ConfigMap> for Owner {
///     async fn default(&self, map: &mut ConfigMap, request: &AdmissionRequest) -> Result<()> {
///         let user = request.user_info.username.clone().unwrap_or_default();
///         map.metadata.annotations.get_or_insert_default().entry("example.com/owner".to_owned()).or_insert(user);
///         Ok(())
///     }
/// }
/// ```
///
/// # What is written
///
/// What [`default`](Self::default) changes, and nothing else. Fields that the Rust type does not know stay, and those that it
/// would write although they were not there are not added: a webhook that was built before a field came into being does not
/// remove it. The API server may ask again after other webhooks, so defaulting twice has to give the same as once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a defaulter of `{K}`",
    note = "implement `Defaulter<{K}>` with `async fn default(&self, object: &mut {K}, request: &AdmissionRequest) -> \
            Result<()>`"
)]
pub trait Defaulter<K: Kind>: Send + Sync + 'static {
    /// Sets defaults in an object that is to be created or changed. It is not asked about deletions.
    ///
    /// # Errors
    ///
    /// Refuses the request, as for [`Validator`](super::Validator).
    fn default(&self, object: &mut K, request: &AdmissionRequest) -> impl Future<Output = Result<()>> + Send;
}

/// A defaulter as a handler.
pub(super) struct Defaulting<K, D> {
    defaulter: D,
    kind: PhantomData<fn() -> K>,
}

// === impl Defaulting ===

impl<K: Kind, D: Defaulter<K>> Defaulting<K, D> {
    pub(super) fn new(defaulter: D) -> Self {
        Self { defaulter, kind: PhantomData }
    }

    /// The object with its defaults.
    async fn default(&self, request: &AdmissionRequest) -> Result<Value, AdmissionResponse> {
        let bad = |error: crate::Error| AdmissionResponse::errored(400, error.to_string());
        let internal = |error: serde_json::Error| {
            AdmissionResponse::errored(500, format!("cannot write a {}: {error}", type_name::<K>()))
        };
        let mut object: K = request.object_as().map_err(bad)?;
        let before = serde_json::to_value(&object).map_err(internal)?;
        let defaulted = self.defaulter.default(&mut object, request).await;
        defaulted.map_err(|error| AdmissionResponse::from_error(&error, request))?;
        let after = serde_json::to_value(&object).map_err(internal)?;
        Ok(patch::changed(request.object.as_ref().unwrap_or(&Value::Null), &before, &after))
    }
}

impl<K: Kind, D: Defaulter<K>> AdmissionHandler for Defaulting<K, D> {
    async fn handle(&self, request: AdmissionRequest) -> AdmissionResponse {
        if request.operation == Operation::Delete {
            return AdmissionResponse::allowed();
        }
        match (self.default(&request).await, &request.object) {
            (Ok(defaulted), Some(object)) => AdmissionResponse::patched(object, &defaulted),
            (Ok(_), None) => AdmissionResponse::allowed(),
            (Err(refusal), _) => refusal,
        }
    }
}

impl<K, D> fmt::Debug for Defaulting<K, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Defaulting").field("kind", &type_name::<K>()).finish_non_exhaustive()
    }
}
