use std::fmt;

use super::{ControllerReport, LeadershipReport, Report, WatchReport};

/// Columns, each as wide as its widest cell. The last one may be longer than a line.
struct Table {
    rows: Vec<Vec<String>>,
}

// === impl Report ===

/// The page at `/debug`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, instance, at, stopping, leadership, controllers, watches, hot_loops } = self;
        let stopping = if *stopping { ", stopping" } else { "" };
        writeln!(f, "{name} on {instance} at {at:.0}: {leadership}{stopping}")?;
        let mut table =
            Table::new(&["CONTROLLER", "KIND", "WORKERS", "READY", "OLDEST", "DELAYED", "FAILING"]);
        table.rows.extend(controllers.iter().map(controller_row));
        table.write(f)?;
        let mut table = Table::new(&["RUNNING", "REQUEST", "FOR"]);
        for controller in controllers {
            table.rows.extend(
                controller.running.iter().map(|running| {
                    vec![controller.name.clone(), running.request.clone(), age(running.seconds)]
                }),
            );
        }
        table.write(f)?;
        let mut table = Table::new(&["FAILING", "REQUEST", "FAILURES", "LAST", "NEXT", "ERROR"]);
        for controller in controllers {
            table.rows.extend(controller.failing.iter().map(|failing| {
                vec![
                    controller.name.clone(),
                    failing.request.clone(),
                    failing.failures.to_string(),
                    failing
                        .failed_seconds_ago
                        .map_or_else(|| "-".to_owned(), |ago| format!("{} ago", age(ago))),
                    failing
                        .retry_in_seconds
                        .map_or_else(|| "at an event".to_owned(), |due| format!("in {}", age(due))),
                    failing.error.as_deref().map_or_else(|| "-".to_owned(), one_line),
                ]
            }));
        }
        table.write(f)?;
        let mut table = Table::new(&["WATCH", "NAMESPACE", "SELECTOR", "VERSION", "SINCE", "STATE"]);
        table.rows.extend(watches.iter().map(|watch| watch_row(watch, *at)));
        table.write(f)?;
        let mut table = Table::new(&["HOT LOOP"]);
        table.rows.extend(hot_loops.iter().map(|found| vec![one_line(&found.message)]));
        table.write(f)
    }
}

impl fmt::Display for LeadershipReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shards {
            Some(shards) if shards.epoch == 0 => f.write_str("waits for its part of the work, ")?,
            Some(shards) => write!(f, "one of {} by table {}, ", shards.members, shards.epoch)?,
            None => {}
        }
        match (self.elected, self.is_leader, self.term) {
            (false, ..) => f.write_str("acts, without leader election"),
            (true, true, Some(term)) => write!(f, "leads, term {term}"),
            (true, true, None) => f.write_str("leads"),
            (true, false, _) => f.write_str("stands by"),
        }
    }
}

fn controller_row(controller: &ControllerReport) -> Vec<String> {
    let ControllerReport { name, group, kind, queue, .. } = controller;
    vec![
        name.clone(),
        if group.is_empty() { kind.clone() } else { format!("{kind}.{group}") },
        format!("{}/{}", controller.running.len(), controller.max_concurrent_reconciles),
        queue.ready.to_string(),
        queue.oldest_seconds.map_or_else(|| "-".to_owned(), age),
        queue.delayed.to_string(),
        controller.failing_count.to_string(),
    ]
}

fn watch_row(watch: &WatchReport, now: jiff::Timestamp) -> Vec<String> {
    let mut state = match (&watch.error, watch.synced) {
        (Some(error), true) => format!("failing: {}", one_line(error)),
        (Some(error), false) => format!("not listed yet: {}", one_line(error)),
        (None, true) => "open".to_owned(),
        (None, false) => "not listed yet".to_owned(),
    };
    if watch.undecodable > 0 {
        state.push_str(&format!(", {} not readable", watch.undecodable));
    }
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    vec![
        watch.resource.clone(),
        watch.namespace.as_deref().map_or_else(|| "-".to_owned(), or_dash),
        or_dash(&watch.selector),
        watch.resource_version.as_deref().map_or_else(|| "-".to_owned(), or_dash),
        age(now.duration_since(watch.since).as_secs_f64()),
        state,
    ]
}

/// As kubectl shows ages, with tenths below ten seconds.
fn age(seconds: f64) -> String {
    // A clock that was set back makes an age negative.
    let seconds = seconds.max(0.0);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and cut is meant"
    )]
    let whole = seconds as u64;
    match whole {
        0..10 => format!("{seconds:.1}s"),
        10..120 => format!("{whole}s"),
        120..7200 => format!("{}m", whole / 60),
        7200..172_800 => format!("{}h", whole / 3600),
        _ => format!("{}d", whole / 86400),
    }
}

/// A message that may have several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

// === impl Table ===

impl Table {
    fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    /// An empty line and the rows; nothing if there is only the header.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.len() < 2 {
            return Ok(());
        }
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
        writeln!(f)?;
        for row in &self.rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{FailingReport, HotLoopReport, QueueReport, RunningReport};

    #[test]
    fn the_page_shows_what_runs_what_fails_and_why() {
        let at: jiff::Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        let report = Report {
            name: "memcached-operator".into(),
            instance: "pod-1".into(),
            at,
            stopping: false,
            leadership: LeadershipReport { elected: true, is_leader: true, term: Some(3), shards: None },
            controllers: vec![ControllerReport {
                name: "memcached".into(),
                group: "cache.example.com".into(),
                kind: "Memcached".into(),
                max_concurrent_reconciles: 4,
                queue: QueueReport { ready: 12, oldest_seconds: Some(1.25), delayed: 2 },
                running: vec![RunningReport { request: "shop/cart".into(), seconds: 75.0 }],
                failing: vec![FailingReport {
                    request: "shop/till".into(),
                    failures: 7,
                    error: Some("cannot create\n  the deployment".into()),
                    failed_seconds_ago: Some(3.0),
                    retry_in_seconds: Some(130.0),
                }],
                failing_count: 1,
            }],
            hot_loops: vec![HotLoopReport {
                message: "deployments.apps shop/cart was written 5 times in 3s".into(),
                ..HotLoopReport::default()
            }],
            watches: vec![
                WatchReport {
                    resource: "memcacheds.cache.example.com/v1".into(),
                    synced: true,
                    since: at - jiff::SignedDuration::from_hours(3),
                    resource_version: Some("41".into()),
                    ..WatchReport::default()
                },
                WatchReport {
                    resource: "deployments.apps/v1".into(),
                    namespace: Some("shop".into()),
                    error: Some("forbidden".into()),
                    since: at,
                    ..WatchReport::default()
                },
            ],
        };
        let page = "\
memcached-operator on pod-1 at 2026-03-01T12:00:00Z: leads, term 3

CONTROLLER  KIND                         WORKERS  READY  OLDEST  DELAYED  FAILING
memcached   Memcached.cache.example.com  1/4      12     1.2s    2        1

RUNNING    REQUEST    FOR
memcached  shop/cart  75s

FAILING    REQUEST    FAILURES  LAST      NEXT   ERROR
memcached  shop/till  7         3.0s ago  in 2m  cannot create the deployment

WATCH                            NAMESPACE  SELECTOR  VERSION  SINCE  STATE
memcacheds.cache.example.com/v1  -          -         41       3h     open
deployments.apps/v1              shop       -         -        0.0s   not listed yet: forbidden

HOT LOOP
deployments.apps shop/cart was written 5 times in 3s
";
        assert_eq!(report.to_string(), page);
        let json = serde_json::to_string(&report).expect("JSON");
        assert_eq!(serde_json::from_str::<Report>(&json).expect("the same"), report);
    }
}
