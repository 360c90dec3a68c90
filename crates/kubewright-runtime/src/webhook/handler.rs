use futures::future::BoxFuture;

use super::{AdmissionRequest, AdmissionResponse};

/// Answers admission requests, whatever their objects are. For objects of one kind see
/// [`Defaulter`](super::Defaulter) and [`Validator`](super::Validator).
///
/// A closure is one:
///
/// ```
/// use kubewright_runtime::{
///     Result,
///     webhook::{AdmissionRequest, AdmissionResponse, WebhookHost},
/// };
///
/// fn add(manager: &impl WebhookHost) -> Result<()> {
///     manager.webhooks().handle("/validate-no-strangers", |request: AdmissionRequest| async move {
///         match request.user_info.username.as_deref() {
///             Some("stranger") => AdmissionResponse::denied("who are you?"),
///             _ => AdmissionResponse::allowed(),
///         }
///     })
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer admission requests",
    note = "it takes a closure `|request: AdmissionRequest| async move {{ AdmissionResponse::allowed() }}`, or a type that \
            implements `AdmissionHandler`"
)]
pub trait AdmissionHandler: Send + Sync + 'static {
    /// Answers a request. Requests are answered concurrently. One whose client has gone is dropped at an await point.
    fn handle(&self, request: AdmissionRequest) -> impl Future<Output = AdmissionResponse> + Send;
}

impl<F, Fut> AdmissionHandler for F
where
    F: Fn(AdmissionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = AdmissionResponse> + Send,
{
    fn handle(&self, request: AdmissionRequest) -> impl Future<Output = AdmissionResponse> + Send {
        self(request)
    }
}

/// A handler without its type.
pub(super) trait AnyHandler: Send + Sync {
    fn handle(&self, request: AdmissionRequest) -> BoxFuture<'_, AdmissionResponse>;
}

impl<H: AdmissionHandler> AnyHandler for H {
    fn handle(&self, request: AdmissionRequest) -> BoxFuture<'_, AdmissionResponse> {
        Box::pin(AdmissionHandler::handle(self, request))
    }
}
