use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    panic::resume_unwind,
    sync::Arc,
};

use futures::{FutureExt, future::try_join_all};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{ControllerConfig, ControllerContext, report, worker::Worker};
use crate::{
    Error, Request, Result,
    election::Leadership,
    handler::RequestQueue,
    metrics::InProgress,
    queue::{NORMAL_PRIORITY, WorkQueue},
    sharding::Ownership,
    source::{Source, SourceGuard},
};

/// A controller that is ready to run.
pub struct ControllerRunnable {
    name: String,
    config: ControllerConfig,
    sources: Vec<Box<dyn Source>>,
    worker: Worker,
    queue: RequestQueue,
    leadership: Leadership,
    ownership: Ownership,
}

impl ControllerRunnable {
    pub(super) fn new(
        name: String,
        config: ControllerConfig,
        sources: Vec<Box<dyn Source>>,
        worker: Worker,
        context: &ControllerContext,
    ) -> Self {
        let queue_metrics = context.metrics.work_queue(&name);
        let measured = Arc::new(queue_metrics.clone());
        let queue = WorkQueue::with_metrics(config.rate_limiter.clone(), context.random.fork(), measured);
        let sampled = queue.downgrade();
        queue_metrics.sample_in_progress(move || {
            let stats = sampled.upgrade()?.stats();
            Some(InProgress { unfinished: stats.unfinished, longest: stats.longest })
        });
        worker.metrics().set_max_concurrent_reconciles(config.max_concurrent_reconciles);
        report::register(&context.diagnostics, &config, &worker, queue.downgrade());
        let (leadership, ownership) = match config.needs_leader_election {
            true => (context.leadership.clone(), context.ownership.clone()),
            false => (Leadership::without_election(), Ownership::whole()),
        };
        Self { name, config, sources, worker, queue, leadership, ownership }
    }

    /// The name in logs and metrics.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is to reconcile on the leader alone.
    #[must_use]
    pub fn needs_leader_election(&self) -> bool {
        self.config.needs_leader_election
    }

    /// Runs until `stop`, and then until the running reconciliations have ended. The cache must have been
    /// started.
    ///
    /// Nothing is reconciled before every source has delivered what was there at the start and, if the controller needs
    /// it, the process was elected: until then it stands by with a filled queue. After the stop,
    /// requests that wait are dropped: whoever runs next begins with everything anyway. Dropping the future
    /// cancels the running reconciliations.
    ///
    /// # Errors
    ///
    /// The error of a source that does not become ready, as a cache that does not sync in time, or
    /// [`Error::GracePeriod`] if a reconciliation did not end in time after the stop.
    pub async fn run(self, stop: CancellationToken) -> Result<()> {
        let Self { name, config, sources, worker, queue, leadership, ownership } = self;
        tracing::info!(controller = name, "Starting Controller");
        let timeout = config.cache_sync_timeout;
        let starts = sources.into_iter().map(|source| source.start(queue.clone(), timeout));
        // Held until the end of the run: they keep the sources going.
        let mut guards: Vec<SourceGuard> = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            guards = try_join_all(starts) => guards?,
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            () = leadership.elected() => {}
        }
        tracing::info!(controller = name, workers = config.max_concurrent_reconciles, "Starting workers");
        let (worker, tasks, keys) = (Arc::new(worker), JoinSet::new(), BTreeMap::new());
        let (others, recover_panic) = (BTreeSet::new(), config.recover_panic);
        let mut running =
            Running { worker, queue, leadership, ownership, others, recover_panic, tasks, keys };
        running.until(&stop, config.max_concurrent_reconciles, &mut guards).await;
        drop(guards);
        tracing::info!(controller = name, "Shutdown signal received, waiting for all workers to finish");
        running.drain(&config).await?;
        tracing::info!(controller = name, "All workers finished");
        Ok(())
    }
}

impl fmt::Debug for ControllerRunnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerRunnable")
            .field("name", &self.name)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// The reconciliations that run now. Dropping it cancels them.
struct Running {
    worker: Arc<Worker>,
    queue: RequestQueue,
    leadership: Leadership,
    ownership: Ownership,
    /// The requests that came and are not this replica's.
    others: BTreeSet<Request>,
    recover_panic: bool,
    tasks: JoinSet<()>,
    keys: BTreeMap<tokio::task::Id, Request>,
}

impl Running {
    /// Starts a reconciliation for each request while fewer than `limit` run.
    async fn until(&mut self, stop: &CancellationToken, limit: usize, sources: &mut [SourceGuard]) {
        let mut seen = 0;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                Some(ended) = self.tasks.join_next_with_id() => self.ended(ended),
                changes = self.ownership.gained(seen) => {
                    seen = changes;
                    // The replica that had a request may have left it undone.
                    sources.iter().for_each(SourceGuard::replay);
                    for request in std::mem::take(&mut self.others) {
                        self.queue.add(request, NORMAL_PRIORITY);
                    }
                }
                work = self.queue.get(), if self.tasks.len() < limit => {
                    let Some(work) = work else { return };
                    let Some(turn) = self.ownership.begin(work.key()) else {
                        self.queue.forget(work.key());
                        self.others.insert(work.key().clone());
                        continue;
                    };
                    let (worker, queue) = (self.worker.clone(), self.queue.clone());
                    let request = work.key().clone();
                    let reconciliation = turn.run(async move { worker.process(work, &queue).await });
                    let task = self.tasks.spawn(self.leadership.while_leading(reconciliation).map(drop));
                    self.keys.insert(task.id(), request);
                }
            }
        }
    }

    /// Waits for the running reconciliations.
    async fn drain(&mut self, config: &ControllerConfig) -> Result<()> {
        self.queue.shut_down();
        let deadline = Instant::now() + config.drain_timeout;
        while !self.tasks.is_empty() {
            tokio::select! {
                biased;
                Some(ended) = self.tasks.join_next_with_id() => self.ended(ended),
                () = sleep_until(deadline) => {
                    return Err(Error::GracePeriod {
                        grace: format!("{:?}", config.drain_timeout),
                        running: self.keys.values().map(ToString::to_string).collect(),
                    });
                }
            }
        }
        Ok(())
    }

    fn ended(&mut self, ended: Result<(tokio::task::Id, ()), tokio::task::JoinError>) {
        match ended {
            Ok((id, ())) => {
                self.keys.remove(&id);
            }
            // Goes on in the task of the controller, where the manager sees it and ends.
            Err(error) if error.is_panic() && !self.recover_panic => resume_unwind(error.into_panic()),
            Err(error) => {
                // The worker catches the panics of the reconciler, so this is one of its own.
                let request = self.keys.remove(&error.id());
                tracing::error!(%error, ?request, "a worker ended before its reconciliation was settled");
            }
        }
    }
}
