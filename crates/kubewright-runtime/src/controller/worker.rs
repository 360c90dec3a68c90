use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use kube::core::ApiResource;
use kubewright_world::Random;
use tokio::time::{Instant, timeout};
use tracing::Instrument;

use super::{
    ControllerConfig,
    backtrace::{self, Traced},
    reconcile_id,
};
use crate::{
    Action, Error, Next, Reconciler, Request, Result,
    diagnostics::LastErrors,
    handler::RequestQueue,
    metrics::{ControllerMetrics, Outcome},
    panics,
    queue::InFlight,
};

/// Reconciles one request at a time, any number of times at once.
pub(super) struct Worker {
    pub(super) controller: String,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) errors: Arc<LastErrors>,
    timeout: Option<Duration>,
    recover_panic: bool,
    reconciler: Box<dyn AnyReconciler>,
    metrics: ControllerMetrics,
    random: Random,
}

/// A [`Reconciler`] without its type, so that the loop around it is compiled once.
pub(super) trait AnyReconciler: Send + Sync {
    fn reconcile(&self, request: Request) -> BoxFuture<'_, Result<Action>>;
}

impl<R: Reconciler> AnyReconciler for R {
    fn reconcile(&self, request: Request) -> BoxFuture<'_, Result<Action>> {
        Reconciler::reconcile(self, request).boxed()
    }
}

/// The ways of a reconciliation to fail that are not an error of the reconciler's own.
#[derive(Debug, thiserror::Error)]
enum Abort {
    #[error("panic: {0} [recovered]")]
    Panic(String),
    #[error("the reconciliation did not end within {0:?} and was cancelled")]
    Timeout(Duration),
}

// === impl Worker ===

impl Worker {
    pub(super) fn new(
        controller: String,
        resource: &ApiResource,
        config: &ControllerConfig,
        reconciler: Box<dyn AnyReconciler>,
        metrics: ControllerMetrics,
        random: Random,
    ) -> Self {
        let (group, kind) = (resource.group.clone(), resource.kind.clone());
        let (timeout, recover_panic) = (config.reconcile_timeout, config.recover_panic);
        let errors = Arc::default();
        Self { controller, group, kind, errors, timeout, recover_panic, reconciler, metrics, random }
    }

    pub(super) fn metrics(&self) -> &ControllerMetrics {
        &self.metrics
    }

    /// Reconciles the request that `work` holds and decides what happens to it next. The log fields are those
    /// of controller-runtime.
    pub(super) async fn process(&self, work: InFlight<Request>, queue: &RequestQueue) {
        let request = work.key();
        let id = self.random.uid();
        let span = tracing::info_span!(
            "reconcile",
            controller = self.controller,
            controllerGroup = self.group,
            controllerKind = self.kind,
            namespace = request.namespace(),
            name = request.name,
            reconcileID = id,
        );
        let reconciliation = async {
            let _active = self.metrics.worker_active();
            let started = Instant::now();
            let result = self.reconcile(request.clone()).await;
            let outcome = self.settle(&work, result, queue);
            self.metrics.reconciled(outcome, started.elapsed());
        };
        reconcile_id::scope(id, reconciliation).instrument(span).await;
        // Last, so that a run that was asked for meanwhile starts after this one is settled.
        drop(work);
    }

    /// Calls the reconciler, so that it cannot take the worker down or keep it for ever.
    async fn reconcile(&self, request: Request) -> Result<Action> {
        // In an async block, so that a panic before the first await point is caught too.
        let reconcile = Traced::new(Box::pin(async { self.reconciler.reconcile(request).await }));
        let reconcile = AssertUnwindSafe(reconcile).catch_unwind();
        let result = match self.timeout {
            None => reconcile.await,
            Some(limit) => match timeout(limit, reconcile).await {
                Ok(result) => result,
                Err(_) => {
                    self.metrics.timed_out();
                    return Err(Error::other(Abort::Timeout(limit)));
                }
            },
        };
        result.unwrap_or_else(|panic| {
            self.metrics.panicked();
            let message = panics::message(panic.as_ref());
            let backtrace = backtrace::take().unwrap_or_default();
            tracing::error!(panic = message, backtrace, "Observed a panic in reconciler");
            if !self.recover_panic {
                resume_unwind(panic);
            }
            Err(Error::other(Abort::Panic(message)))
        })
    }

    fn settle(&self, work: &InFlight<Request>, result: Result<Action>, queue: &RequestQueue) -> Outcome {
        let request = work.key();
        match &result {
            Ok(_) => self.errors.succeeded(request),
            Err(error) => self.errors.failed(request, error),
        }
        match result {
            Ok(action) => {
                let priority = action.priority().unwrap_or(work.priority());
                match action.next() {
                    Next::Event => {
                        queue.forget(request);
                        Outcome::Success
                    }
                    Next::Backoff => {
                        queue.add_rate_limited(request.clone(), priority);
                        Outcome::Requeue
                    }
                    Next::After(delay) => {
                        queue.forget(request);
                        queue.add_after(request.clone(), delay, priority);
                        Outcome::RequeueAfter
                    }
                }
            }
            Err(error) if error.is_terminal() => {
                // The next event is a new start.
                queue.forget(request);
                tracing::error!(error = ?error, "Reconciler error, not retried");
                Outcome::TerminalError
            }
            Err(error) => {
                queue.add_rate_limited(request.clone(), work.priority());
                tracing::error!(error = ?error, failures = queue.failures(request), "Reconciler error");
                Outcome::Error
            }
        }
    }
}
