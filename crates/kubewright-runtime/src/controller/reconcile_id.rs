tokio::task_local! {
    static RECONCILE_ID: String;
}

/// The id of the reconciliation that runs in this task, as its log lines have it under `reconcileID`: for a header of
/// a call to somewhere else, or a row in an audit log. `None` outside of one, and in tasks that it spawned.
///
/// ```
/// use kubewright_runtime::{Action, Request, controller::reconcile_id, reconcile_fn};
///
/// let reconciler = reconcile_fn(|_: Request| async {
///     let trace = reconcile_id().unwrap_or_default();
///     // send it along: `request.header("x-request-id", trace)`
/// #   let _ = trace;
///     Ok(Action::done())
/// });
/// # let _ = reconciler;
/// ```
#[must_use]
pub fn reconcile_id() -> Option<String> {
    RECONCILE_ID.try_with(Clone::clone).ok()
}

/// Runs `future` as the reconciliation `id`.
pub(super) fn scope<F: Future>(id: String, future: F) -> impl Future<Output = F::Output> {
    RECONCILE_ID.scope(id, future)
}
