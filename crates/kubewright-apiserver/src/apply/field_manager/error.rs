//! Why an apply was refused.

use std::collections::BTreeMap;
use std::fmt;

use kubewright_schema::error::go;

use super::manager::{ManagerId, Operation};
use crate::apply::set::Set;
use crate::apply::updater::{Conflict, Conflicts};
use crate::status::{Cause, Status};

/// Why an apply was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// Other managers own fields that the configuration would change. Apply with force, change the
    /// configuration, or let the other manager give the fields up.
    #[error("{0}")]
    Conflicts(ApplyConflicts),
    /// The configuration is not one for this endpoint.
    #[error("{0}")]
    BadRequest(String),
    /// The configuration, or the stored object, does not fit its type. Kubernetes answers 500.
    #[error("{0}")]
    Internal(String),
}

/// The fields in conflict, with the managers that own them.
#[derive(Clone, Debug)]
pub struct ApplyConflicts(Conflicts);

// === impl ApplyConflicts ===

impl ApplyConflicts {
    pub(super) fn new(conflicts: Conflicts) -> Self {
        Self(conflicts)
    }

    /// The conflicts that are not about `fields`; `None` if all are.
    pub(super) fn outside(self, fields: &Set) -> Option<Self> {
        if self.0.fields().difference(fields).is_empty() {
            return None;
        }
        let outside = self.0.0.into_iter().filter(|conflict| !fields.contains(&conflict.path));
        Some(Self(Conflicts(outside.collect())))
    }

    /// Manager and field of each conflict: `"kubelet" using v1` and `.spec.replicas`.
    pub fn iter(&self) -> impl Iterator<Item = (String, String)> {
        self.0.0.iter().map(|conflict| (manager_text(&conflict.manager), conflict.path.to_string()))
    }
}

/// The message of the API server: one conflict on its line, several grouped by manager.
impl fmt::Display for ApplyConflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conflicts = &self.0.0;
        if let [Conflict { manager, path }] = conflicts.as_slice() {
            return write!(
                f,
                "Apply failed with 1 conflict: conflict with {}: {path}",
                manager_text(manager)
            );
        }
        let mut by_manager: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for conflict in conflicts {
            by_manager.entry(&conflict.manager).or_default().push(format!("- {}", conflict.path));
        }
        let groups: Vec<String> = by_manager
            .into_iter()
            .map(|(manager, paths)| {
                format!("conflicts with {}:\n{}", manager_text(manager), paths.join("\n"))
            })
            .collect();
        write!(f, "Apply failed with {} conflicts: {}", conflicts.len(), groups.join("\n"))
    }
}

/// A manager as conflicts name it: `"kubectl" with subresource "scale" using apps/v1`.
fn manager_text(id: &str) -> String {
    let Some(manager) = ManagerId::decode(id) else { return go::quote(id) };
    let mut text = go::quote(&manager.manager);
    if !manager.subresource.is_empty() {
        text.push_str(" with subresource ");
        text.push_str(&go::quote(&manager.subresource));
    }
    if manager.operation == Operation::Update {
        text.push_str(" using ");
        text.push_str(&manager.api_version);
    }
    text
}

/// 409 with a cause for each field, 400 or 500.
impl From<ApplyError> for Status {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Conflicts(conflicts) => {
                let causes = conflicts
                    .iter()
                    .map(|(manager, field)| Cause {
                        reason: "FieldManagerConflict".to_owned(),
                        message: format!("conflict with {manager}"),
                        field,
                    })
                    .collect();
                Status::apply_conflict(conflicts.to_string(), causes)
            }
            ApplyError::BadRequest(message) => Status::bad_request(message),
            ApplyError::Internal(message) => Status::untyped(message),
        }
    }
}
