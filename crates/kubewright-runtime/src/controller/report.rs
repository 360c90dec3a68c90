use std::time::Duration;

use tokio::time::Instant;

use super::{ControllerConfig, worker::Worker};
use crate::{
    Request,
    diagnostics::{
        ControllerReport, Diagnostics, FailingReport, LastError, LastErrors, QueueReport, RunningReport,
    },
    handler::RequestQueue,
    queue::WeakWorkQueue,
};

/// A page of requests that fail. The metrics tell how many there are.
const SHOWN: usize = 50;

/// Lets `diagnostics` ask what the controller of `worker` is doing, as long as somebody has its queue.
pub(super) fn register(
    diagnostics: &Diagnostics,
    config: &ControllerConfig,
    worker: &Worker,
    queue: WeakWorkQueue<Request>,
) {
    let shape = ControllerReport {
        name: worker.controller.clone(),
        group: worker.group.clone(),
        kind: worker.kind.clone(),
        max_concurrent_reconciles: config.max_concurrent_reconciles,
        ..ControllerReport::default()
    };
    let errors = worker.errors.clone();
    diagnostics.register(move || Some(report(shape.clone(), &queue.upgrade()?, &errors)));
}

fn report(shape: ControllerReport, queue: &RequestQueue, errors: &LastErrors) -> ControllerReport {
    let stats = queue.stats();
    let mut held = queue.held();
    held.sort_by(|(one, one_for), (other, other_for)| other_for.cmp(one_for).then_with(|| one.cmp(other)));
    let running = held
        .into_iter()
        .map(|(request, since)| RunningReport { request: request.to_string(), seconds: since.as_secs_f64() });
    let failing = failing(queue, errors);
    ControllerReport {
        queue: QueueReport {
            ready: stats.ready,
            oldest_seconds: queue.oldest().map(|age| age.as_secs_f64()),
            delayed: stats.waiting,
        },
        running: running.collect(),
        failing_count: failing.len(),
        failing: failing.into_iter().take(SHOWN).collect(),
        ..shape
    }
}

/// The requests that failed last, most failures first: those with a backoff, and those that are not tried again.
fn failing(queue: &RequestQueue, errors: &LastErrors) -> Vec<FailingReport> {
    let now = Instant::now();
    let mut errors = errors.all();
    let mut failing: Vec<(Request, FailingReport)> = Vec::new();
    for key in queue.failing() {
        let error = errors.remove(&key.key);
        let report = FailingReport {
            request: key.key.to_string(),
            failures: key.failures,
            retry_in_seconds: key.due.as_ref().map(Duration::as_secs_f64),
            ..FailingReport::default()
        };
        failing.push((key.key, with_error(report, error.as_ref(), now)));
    }
    // The queue has forgotten these; the others failed once and succeeded just now.
    for (key, error) in errors.into_iter().filter(|(_, error)| error.is_terminal) {
        let report = FailingReport { request: key.to_string(), failures: 1, ..FailingReport::default() };
        failing.push((key, with_error(report, Some(&error), now)));
    }
    failing.sort_by(|(one, one_report), (other, other_report)| {
        other_report.failures.cmp(&one_report.failures).then_with(|| one.cmp(other))
    });
    failing.into_iter().map(|(_, report)| report).collect()
}

fn with_error(report: FailingReport, error: Option<&LastError>, now: Instant) -> FailingReport {
    let ago = |error: &LastError| now.saturating_duration_since(error.at).as_secs_f64();
    FailingReport {
        error: error.map(|error| error.message.clone()),
        failed_seconds_ago: error.map(ago),
        ..report
    }
}
