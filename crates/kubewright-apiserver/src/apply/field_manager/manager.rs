//! Who a manager is: a name, how it writes, and where.

use serde::{Deserialize, Serialize};

/// What tells one entry of `managedFields` from another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ManagerId {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) manager: String,
    pub(super) operation: Operation,
    /// Part of the identity of updates only: an applier stays the same when it moves to another
    /// version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) api_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) subresource: String,
}

/// How a manager wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Operation {
    /// By server-side apply.
    Apply,
    /// In any other way.
    #[default]
    Update,
}

// === impl ManagerId ===

impl ManagerId {
    /// The text that stands for the manager in [`ManagedFields`](crate::apply::updater::ManagedFields).
    pub(super) fn encode(&self) -> String {
        let mut id = self.clone();
        if id.operation == Operation::Apply {
            id.api_version.clear();
        }
        serde_json::to_string(&id).unwrap_or_default()
    }

    /// Reads what [`ManagerId::encode`] wrote.
    pub(super) fn decode(id: &str) -> Option<Self> {
        serde_json::from_str(id).ok()
    }
}
