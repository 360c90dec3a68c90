//! The cells of built-in kinds, as Kubernetes' own printers make them.

mod admission;
mod autoscaling;
mod certificates;
mod cluster;
mod configuration;
mod devices;
mod events;
mod flow_control;
mod network;
mod pods;
mod storage;
mod workloads;

use serde_json::Value;

use super::object::Object;

pub(super) use flow_control::sort_flow_schemas;
pub(super) use pods::pod_conditions;
pub(super) use storage::default_storage_class;

/// Makes the cells of an object.
pub(super) type Cells = fn(Object<'_>) -> Vec<Value>;

/// A row of values that have a JSON form.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$(serde_json::Value::from($cell)),*] };
}
use row;

/// The cells of a built-in kind. Every version of a kind has the same.
pub(super) fn cells(group: &str, kind: &str) -> Cells {
    let area = match group {
        "" => core(kind),
        "admissionregistration.k8s.io" => admission::cells(kind),
        "apiextensions.k8s.io" | "apiregistration.k8s.io" => cluster::extension_cells(kind),
        "apps" | "batch" => workloads::cells(kind),
        "autoscaling" => autoscaling::cells(kind),
        "certificates.k8s.io" => certificates::cells(kind),
        "discovery.k8s.io" | "networking.k8s.io" => network::cells(kind),
        "events.k8s.io" => events::cells(kind),
        "flowcontrol.apiserver.k8s.io" => flow_control::cells(kind),
        "coordination.k8s.io"
        | "node.k8s.io"
        | "policy"
        | "rbac.authorization.k8s.io"
        | "scheduling.k8s.io" => configuration::cells(kind),
        "resource.k8s.io" => devices::cells(kind),
        "storage.k8s.io" | "storagemigration.k8s.io" => storage::cells(kind),
        _ => None,
    };
    area.unwrap_or(|object| row![object.name(), object.text("/metadata/creationTimestamp")])
}

fn core(kind: &str) -> Option<Cells> {
    pods::cells(kind)
        .or_else(|| workloads::cells(kind))
        .or_else(|| network::cells(kind))
        .or_else(|| storage::cells(kind))
        .or_else(|| events::cells(kind))
        .or_else(|| cluster::cells(kind))
        .or_else(|| configuration::cells(kind))
}

/// The first items of a list, and how many more there are.
fn first_of(items: &[String], shown: usize, separator: &str) -> String {
    let text = items.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join(separator);
    match items.len().checked_sub(shown) {
        Some(more) if more > 0 => format!("{text} + {more} more..."),
        _ => text,
    }
}

/// The text, or another if it is empty.
fn non_empty(text: String, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text }
}
