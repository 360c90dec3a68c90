use std::{fmt, sync::Arc};

use crate::{Action, Request, Result};

/// Brings one object to its desired state.
///
/// A controller calls it for every request: for each object when the operator starts, and after every event
/// that its watches map to the object's key. Never two calls for one key at the same time.
///
/// * It is level-triggered. Read the present state, compare, write the difference; what happened before
///   does not matter, and events may be merged or repeated.
/// * A deleted object is reconciled too: reading it gives `None`.
/// * An `Err` is retried with backoff, except a [terminal](crate::Error::terminal) one, which waits for the
///   next event. A panic counts as an error.
///
/// ```
/// use kubewright_runtime::{Action, Reconciler, Request, Result};
///
/// struct Greeter;
///
/// impl Reconciler for Greeter {
///     async fn reconcile(&self, request: Request) -> Result<Action> {
///         tracing::info!(%request, "hello");
///         Ok(Action::done())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reconciler",
    label = "the trait `Reconciler` is not implemented for `{Self}`",
    note = "write `impl Reconciler for {Self} {{ async fn reconcile(&self, request: Request) -> Result<Action> {{ .. }} }}`",
    note = "for a closure or a function, wrap it: `reconcile_fn(|request| async move {{ .. }})`"
)]
pub trait Reconciler: Send + Sync + 'static {
    /// Brings the object named by `request` to its desired state and says when to look again.
    fn reconcile(&self, request: Request) -> impl Future<Output = Result<Action>> + Send;
}

/// A [`Reconciler`] from a closure or a function, for the small ones and for tests.
///
/// ```
/// use kubewright_runtime::{Action, Request, reconcile_fn};
///
/// let reconciler = reconcile_fn(|request: Request| async move {
///     tracing::info!(%request, "hello");
///     Ok(Action::done())
/// });
/// # let _ = reconciler;
/// ```
pub fn reconcile_fn<F, Fut>(reconcile: F) -> ReconcileFn<F>
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action>> + Send,
{
    ReconcileFn { reconcile }
}

/// What [`reconcile_fn`] returns.
#[derive(Clone, Copy)]
pub struct ReconcileFn<F> {
    reconcile: F,
}

impl<F, Fut> Reconciler for ReconcileFn<F>
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action>> + Send,
{
    fn reconcile(&self, request: Request) -> impl Future<Output = Result<Action>> + Send {
        (self.reconcile)(request)
    }
}

impl<F> fmt::Debug for ReconcileFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReconcileFn").finish_non_exhaustive()
    }
}

impl<R: Reconciler> Reconciler for Arc<R> {
    fn reconcile(&self, request: Request) -> impl Future<Output = Result<Action>> + Send {
        R::reconcile(self, request)
    }
}
