use std::sync::Arc;

use k8s_openapi::{
    api::{
        apps::v1::{ControllerRevision, StatefulSet},
        core::v1::PodTemplateSpec,
    },
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, runtime::RawExtension},
};
use kube::ResourceExt;
use serde_json::{Value, json};

use super::identity::REVISION;
use crate::{
    ownership,
    pod_template::{template_hash, templates_equal},
};

/// How many old revisions are kept unless the set says.
const HISTORY_LIMIT: i32 = 10;

/// The templates that a set's pods may be of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Revisions {
    /// The one that the rollout comes from.
    pub(super) current: Revision,
    /// The one of the spec.
    pub(super) update: Revision,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Revision {
    pub(super) name: String,
    pub(super) template: PodTemplateSpec,
}

/// What to write so that the history holds the template of the spec.
#[derive(Debug, PartialEq)]
pub(super) enum Change {
    None,
    Create(Box<ControllerRevision>),
    /// An old template is in use again: it becomes the newest.
    Renumber(Box<ControllerRevision>),
}

/// Finds the two revisions in the history, and what to write before they can be relied on.
pub(super) fn find(set: &StatefulSet, history: &[Arc<ControllerRevision>]) -> (Revisions, Change) {
    let newest = history.iter().map(|revision| number(revision)).max().unwrap_or(0);
    let same = |revision: &&Arc<ControllerRevision>| {
        template(revision).is_some_and(|template| templates_equal(&template, &set.spec.template))
    };
    // Of equal ones the newest.
    let known = history.iter().filter(same).max_by_key(|revision| number(revision));
    let (update_name, change) = match known {
        Some(known) if number(known) == newest => (known.name_any(), Change::None),
        Some(known) => {
            let renumbered = ControllerRevision { revision: Some(newest + 1), ..(**known).clone() };
            (known.name_any(), Change::Renumber(Box::new(renumbered)))
        }
        None => {
            let created = new_revision(set, newest + 1);
            (created.name_any(), Change::Create(Box::new(created)))
        }
    };
    let update = Revision { name: update_name, template: set.spec.template.clone() };
    let current = set
        .status
        .as_ref()
        .and_then(|status| status.current_revision.as_deref())
        .and_then(|name| history.iter().find(|revision| revision.name_any() == name))
        .and_then(|revision| Some(Revision { name: revision.name_any(), template: template(revision)? }))
        .unwrap_or_else(|| update.clone());
    (Revisions { current, update }, change)
}

/// The revisions to delete: the oldest ones that no pod is of, beyond the limit.
pub(super) fn surplus(
    set: &StatefulSet,
    history: &[Arc<ControllerRevision>],
    in_use: &[&str],
) -> Vec<Arc<ControllerRevision>> {
    let limit = set.spec.revision_history_limit.unwrap_or(HISTORY_LIMIT);
    let mut old: Vec<_> =
        history.iter().filter(|revision| !in_use.contains(&revision.name_any().as_str())).cloned().collect();
    old.sort_by_key(|revision| number(revision));
    let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    old.truncate(surplus);
    old
}

fn number(revision: &ControllerRevision) -> i64 {
    revision.revision.unwrap_or(0)
}

fn new_revision(set: &StatefulSet, number: i64) -> ControllerRevision {
    let hash = template_hash(&set.spec.template, set.status.as_ref().and_then(|s| s.collision_count));
    let mut labels = set.spec.selector.match_labels.clone().unwrap_or_default();
    labels.insert("controller.kubernetes.io/hash".into(), hash.clone());
    let mut template = serde_json::to_value(&set.spec.template).unwrap_or_default();
    if let Value::Object(template) = &mut template {
        // As a patch of the set it replaces the whole template.
        template.insert("$patch".into(), "replace".into());
    }
    ControllerRevision {
        metadata: ObjectMeta {
            name: Some(format!("{}-{hash}", set.name_any())),
            namespace: set.metadata.namespace.clone(),
            labels: Some(labels),
            owner_references: Some(vec![ownership::controller_reference(set)]),
            ..ObjectMeta::default()
        },
        data: RawExtension(json!({ "spec": { "template": template } })),
        revision: Some(number),
    }
}

fn template(revision: &ControllerRevision) -> Option<PodTemplateSpec> {
    let mut template = revision.data.0.pointer("/spec/template")?.clone();
    template.as_object_mut()?.remove("$patch");
    let mut template: PodTemplateSpec = serde_json::from_value(template).ok()?;
    if let Some(labels) = template.metadata.as_mut().and_then(|meta| meta.labels.as_mut()) {
        labels.remove(REVISION);
    }
    Some(template)
}
