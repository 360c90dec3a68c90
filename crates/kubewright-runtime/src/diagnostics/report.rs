use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{cache::WatchStatus, client::HotLoop};

/// What a manager and its controllers are doing at one moment. Its `Display` is a page of text.
///
/// Times that have passed are in seconds. More fields may come; readers ignore those that they do not know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// The name of the operator.
    pub name: String,
    /// The name of the process, as the pod's.
    pub instance: String,
    /// When the report was made.
    #[serde(default)]
    pub at: Timestamp,
    /// Whether the process is about to end.
    #[serde(default)]
    pub stopping: bool,
    /// Whether it acts.
    #[serde(default)]
    pub leadership: LeadershipReport,
    /// The controllers, by name.
    #[serde(default)]
    pub controllers: Vec<ControllerReport>,
    /// The watches, in the order in which they were declared.
    #[serde(default)]
    pub watches: Vec<WatchReport>,
    /// The objects that are written again and again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hot_loops: Vec<HotLoopReport>,
}

/// Whether a process acts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct LeadershipReport {
    /// Whether it stands for election at all. One that does not always acts.
    pub elected: bool,
    /// Whether it acts now.
    pub is_leader: bool,
    /// The number of its term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<u32>,
    /// How its work is shared, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shards: Option<ShardsReport>,
}

/// How the work is split over the replicas, by the table by which this process acts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ShardsReport {
    /// The number of the table; 0 as long as the process has no part.
    pub epoch: u32,
    /// How many replicas share the work.
    pub members: usize,
}

/// What a controller is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ControllerReport {
    /// Its name in logs and metrics.
    pub name: String,
    /// The group of the kind that it reconciles.
    pub group: String,
    /// The kind that it reconciles.
    pub kind: String,
    /// How many requests it reconciles at once, at most.
    pub max_concurrent_reconciles: usize,
    /// What waits for it.
    pub queue: QueueReport,
    /// What it reconciles now, longest first.
    pub running: Vec<RunningReport>,
    /// The requests whose last reconciliation failed, most failures first; no more than a page of them.
    pub failing: Vec<FailingReport>,
    /// How many requests fail, in all.
    pub failing_count: usize,
}

/// What waits for a controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct QueueReport {
    /// Requests that could be reconciled now.
    pub ready: usize,
    /// For how long the oldest of them has been ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_seconds: Option<f64>,
    /// Requests that wait for their time.
    pub delayed: usize,
}

/// A reconciliation that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct RunningReport {
    /// `namespace/name`.
    pub request: String,
    /// How long it has taken so far.
    pub seconds: f64,
}

/// A request whose last reconciliation failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct FailingReport {
    /// `namespace/name`.
    pub request: String,
    /// How often it failed one after the other.
    pub failures: u32,
    /// Why it failed last, if it was an error and not a wish to be called again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long ago that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_seconds_ago: Option<f64>,
    /// When it is tried again; without it, at the next event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_in_seconds: Option<f64>,
}

/// How a watch is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct WatchReport {
    /// `deployments.apps/v1`, as kubectl would name it, with its version.
    pub resource: String,
    /// The namespace; without it, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The label and field selectors.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selector: String,
    /// Whether the objects were listed at least once.
    pub synced: bool,
    /// Why the last attempt failed; without it, the watch is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Since when it has been open, or has been failing.
    pub since: Timestamp,
    /// The version up to which the cache has seen everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// Objects that do not fit the Rust type and are missing in the cache.
    pub undecodable: usize,
}

/// An object that is written again and again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct HotLoopReport {
    /// The resource with its group and subresource, as `memcacheds.cache.example.com/status`.
    pub resource: String,
    /// `namespace/name`.
    pub object: String,
    /// The fields that the last write changed, each with the field managers that had set it before.
    pub fields: BTreeMap<String, Vec<String>>,
    /// All of it in words.
    pub message: String,
}

impl From<HotLoop> for HotLoopReport {
    fn from(found: HotLoop) -> Self {
        let message = found.to_string();
        Self { resource: found.resource, object: found.object, fields: found.fields, message }
    }
}

impl From<WatchStatus> for WatchReport {
    fn from(status: WatchStatus) -> Self {
        let WatchStatus { resource, namespace, selector, synced, last_error, since, .. } = status;
        let group = if resource.group.is_empty() { String::new() } else { format!(".{}", resource.group) };
        Self {
            resource: format!("{}{group}/{}", resource.plural, resource.version),
            namespace,
            selector,
            synced,
            error: last_error,
            since,
            resource_version: status.resource_version,
            undecodable: status.undecodable,
        }
    }
}
