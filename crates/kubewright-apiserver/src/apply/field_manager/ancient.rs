//! Keeping the number of update managers small.

use std::collections::BTreeMap;

use super::entries::Managed;
use super::manager::{ManagerId, Operation};

/// How many managers that wrote by other means than apply an object keeps apart.
const MAX_UPDATE_MANAGERS: usize = 10;

/// The manager that owns what the oldest of too many managers owned.
const ANCIENT_CHANGES: &str = "ancient-changes";

/// Merges the oldest update managers, version by version, until there are few enough.
pub(super) fn merge_oldest(managed: &mut Managed) {
    let mut updaters: Vec<String> =
        managed.fields.iter().filter(|(_, f)| !f.applied).map(|(id, _)| id.clone()).collect();
    let mut count = updaters.len();
    updaters.sort_by(|a, b| managed.seconds(a).cmp(&managed.seconds(b)).then_with(|| a.cmp(b)));
    // The first manager of a version becomes the bucket once there is a second one to put into it.
    let mut first_of: BTreeMap<String, String> = BTreeMap::new();
    for id in updaters {
        if count <= MAX_UPDATE_MANAGERS {
            return;
        }
        let Some(fields) = managed.fields.get(&id).cloned() else { continue };
        let bucket = ManagerId {
            manager: ANCIENT_CHANGES.to_owned(),
            operation: Operation::Update,
            api_version: fields.api_version.clone(),
            subresource: String::new(),
        }
        .encode();
        let Some(first) = first_of.get(&fields.api_version) else {
            first_of.insert(fields.api_version, id);
            continue;
        };
        if !managed.fields.contains_key(&bucket)
            && let Some(oldest) = managed.fields.remove(first)
        {
            managed.fields.insert(bucket.clone(), oldest);
        }
        managed.fields.remove(&id);
        if let Some(merged) = managed.fields.get_mut(&bucket) {
            merged.set = merged.set.union(&fields.set);
        }
        match managed.times.get(&id).copied() {
            Some(time) => managed.times.insert(bucket, time),
            None => managed.times.remove(&bucket),
        };
        count -= 1;
    }
}
