use std::{any::type_name, fmt, marker::PhantomData};

use super::{AdmissionHandler, AdmissionRequest, AdmissionResponse, Operation};
use crate::{Result, client::Kind};

/// Says which objects may be created, changed and deleted: the logic of a validating webhook.
///
/// What a schema or a rule in CEL can say (`+kubebuilder:validation:..`) needs no webhook. A validator is for what takes
/// code, or a look at other objects.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::{
///     Result,
///     webhook::{AdmissionRequest, FieldErrors, Validator, Warnings},
/// };
///
/// struct NoPasswords;
///
/// // +kubebuilder:webhook:path=/validate--v1-configmap,mutating=false,failurePolicy=fail,sideEffects=None,groups=core,resources=configmaps,verbs=create;update,versions=v1,name=vconfigmap-v1.kb.io,admissionReviewVersions=v1
/// impl Validator<ConfigMap> for NoPasswords {
///     async fn validate_create(&self, map: &ConfigMap, _: &AdmissionRequest) -> Result<Warnings> {
///         let mut errors = FieldErrors::new();
///         if map.data.iter().flatten().any(|(key, _)| key == "password") {
///             errors.forbidden("data[password]", "put passwords into Secrets");
///         }
///         errors.into_result()?;
///         Ok(Warnings::none())
///     }
///
///     async fn validate_update(
///         &self,
///         _: &ConfigMap,
///         new: &ConfigMap,
///         request: &AdmissionRequest,
///     ) -> Result<Warnings> {
///         self.validate_create(new, request).await
///     }
/// }
/// ```
///
/// # Refusals
///
/// [`FieldErrors`](super::FieldErrors) become `422 Invalid` with a cause for each field, as of the API server's own
/// validation. An answer of the API server (a [`ClientError`](crate::client::ClientError), a `kube::core::Status` in
/// [`Error::other`](crate::Error::other)) keeps its code. Any other error is `403 Forbidden` with its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a validator of `{K}`",
    note = "implement `Validator<{K}>` with `async fn validate_create(&self, object: &{K}, request: &AdmissionRequest) -> \
            Result<Warnings>` and `validate_update`"
)]
pub trait Validator<K: Kind>: Send + Sync + 'static {
    /// Whether an object may be created.
    ///
    /// # Errors
    ///
    /// If not.
    fn validate_create(
        &self,
        object: &K,
        request: &AdmissionRequest,
    ) -> impl Future<Output = Result<Warnings>> + Send;

    /// Whether an object may be changed from `old` to `new`. Removing the last finalizer of an object that is being deleted
    /// is a change too: refuse it, and the object stays for ever.
    ///
    /// # Errors
    ///
    /// If not.
    fn validate_update(
        &self,
        old: &K,
        new: &K,
        request: &AdmissionRequest,
    ) -> impl Future<Output = Result<Warnings>> + Send;

    /// Whether an object may be deleted. It may, unless this is implemented, and `delete` is among the `verbs` of the
    /// webhook's marker.
    ///
    /// # Errors
    ///
    /// If not.
    fn validate_delete(
        &self,
        object: &K,
        request: &AdmissionRequest,
    ) -> impl Future<Output = Result<Warnings>> + Send {
        let _ = (object, request);
        std::future::ready(Ok(Warnings::none()))
    }
}

/// What a client is told although its request goes on. `kubectl` prints it in yellow. Keep each below 120 characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings(Vec<String>);

/// A validator as a handler.
pub(super) struct Validating<K, V> {
    validator: V,
    kind: PhantomData<fn() -> K>,
}

// === impl Warnings ===

impl Warnings {
    /// Nothing is worth a warning.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a warning.
    pub fn push(&mut self, warning: impl Into<String>) {
        self.0.push(warning.into());
    }
}

impl From<&str> for Warnings {
    fn from(warning: &str) -> Self {
        Self(vec![warning.to_owned()])
    }
}

impl From<String> for Warnings {
    fn from(warning: String) -> Self {
        Self(vec![warning])
    }
}

impl FromIterator<String> for Warnings {
    fn from_iter<I: IntoIterator<Item = String>>(warnings: I) -> Self {
        Self(warnings.into_iter().collect())
    }
}

impl IntoIterator for Warnings {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

// === impl Validating ===

impl<K: Kind, V: Validator<K>> Validating<K, V> {
    pub(super) fn new(validator: V) -> Self {
        Self { validator, kind: PhantomData }
    }
}

impl<K: Kind, V: Validator<K>> AdmissionHandler for Validating<K, V> {
    async fn handle(&self, request: AdmissionRequest) -> AdmissionResponse {
        let (validator, asked) = (&self.validator, &request);
        let verdict = match request.operation {
            Operation::Create => match request.object_as() {
                Ok(object) => validator.validate_create(&object, asked).await,
                Err(error) => return bad(&error),
            },
            Operation::Update => match (request.old_object_as(), request.object_as()) {
                (Ok(old), Ok(new)) => validator.validate_update(&old, &new, asked).await,
                (Err(error), _) | (_, Err(error)) => return bad(&error),
            },
            Operation::Delete => match request.old_object_as() {
                Ok(object) => validator.validate_delete(&object, asked).await,
                Err(error) => return bad(&error),
            },
            Operation::Connect => Ok(Warnings::none()),
        };
        match verdict {
            Ok(warnings) => AdmissionResponse::allowed().with_warnings(warnings),
            Err(error) => AdmissionResponse::from_error(&error, &request),
        }
    }
}

fn bad(error: &crate::Error) -> AdmissionResponse {
    AdmissionResponse::errored(400, error.to_string())
}

impl<K, V> fmt::Debug for Validating<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validating").field("kind", &type_name::<K>()).finish_non_exhaustive()
    }
}
