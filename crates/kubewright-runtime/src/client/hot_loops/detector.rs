use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::fields;

/// Looks for objects that are written again and again. Clones are the same.
#[derive(Clone, Default)]
pub struct HotLoops {
    objects: Arc<Mutex<BTreeMap<Object, Writes>>>,
}

/// An object that is written again and again.
///
/// Its `Display` names the object, the fields and those who set them:
/// `deployments.apps shop/cart was written 5 times in 3s with the same content: spec.replicas was set by "hpa" in between`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HotLoop {
    /// The resource with its group and subresource, as `deployments.apps` or `memcacheds.cache.example.com/status`.
    pub resource: String,
    /// `namespace/name`.
    pub object: String,
    /// How many writes there were,
    pub writes: usize,
    /// within this time.
    pub within: Duration,
    /// Whether all of them had the same content.
    pub same_content: bool,
    /// The fields that a write changed that was looked at, each with the field managers that had set it before.
    pub fields: BTreeMap<String, Vec<String>>,
    /// The name under which the writes were made.
    pub manager: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::client) struct Object {
    pub(in crate::client) resource: String,
    pub(in crate::client) key: String,
    pub(in crate::client) manager: String,
}

/// What is known of an object before a write of it.
pub(in crate::client) struct Attempt {
    /// The content without the version that it was based on.
    content: u64,
    /// Whether to read the object before.
    pub(in crate::client) is_watched: bool,
}

#[derive(Debug, Default)]
struct Writes {
    /// Of those after which the object had another version than after the one before: when, and the content.
    recent: VecDeque<(Instant, u64)>,
    /// The version of the last answer.
    version: String,
    /// What the write that was looked at changed, once one was and did change something.
    fields: Option<BTreeMap<String, Vec<String>>>,
    /// When a write was last looked at, whatever came of it.
    looked: Option<Instant>,
}

/// So many writes of the same content, each of which changed something, are no coincidence.
const SAME: usize = 5;
/// So many of any content: a rollout with a status for each pod is less.
const ANY: usize = 100;
/// Within this time.
const WINDOW: Duration = Duration::from_secs(60);
/// A loop is looked at and told of once within this time.
const SILENCE: Duration = Duration::from_secs(600);
/// More objects than are written in one window by most operators. Of the others nothing is known.
const KEPT: usize = 4096;

const VERSION: &[u8] = b"\"resourceVersion\"";

#[derive(Deserialize)]
struct Answer {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: String,
}

// === impl HotLoops ===

impl HotLoops {
    /// The objects that are written again and again now.
    #[must_use]
    pub fn now(&self) -> Vec<HotLoop> {
        let now = Instant::now();
        let mut objects = self.lock();
        let loops = objects.iter_mut().filter_map(|(object, writes)| {
            writes.forget(now);
            writes.hot(object, now)
        });
        loops.collect()
    }

    pub(in crate::client) fn begin(&self, object: &Object, body: &[u8]) -> Attempt {
        let content = digest(body);
        let now = Instant::now();
        let is_watched = self.lock().get_mut(object).is_some_and(|writes| {
            writes.forget(now);
            writes.is_suspect()
                && writes.looked.is_none_or(|looked| now.saturating_duration_since(looked) > SILENCE)
        });
        Attempt { content, is_watched }
    }

    /// The write was answered. Tells of a loop, if there is one that was not told of.
    pub(in crate::client) fn wrote(
        &self,
        object: &Object,
        attempt: &Attempt,
        before: Option<&Value>,
        answer: &[u8],
    ) {
        let Ok(Answer { metadata }) = serde_json::from_slice(answer) else { return };
        let now = Instant::now();
        let mut objects = self.lock();
        if objects.len() >= KEPT && !objects.contains_key(object) {
            objects.retain(|_, writes| {
                writes.forget(now);
                !writes.recent.is_empty()
            });
            if objects.len() >= KEPT {
                return;
            }
        }
        let writes = objects.entry(object.clone()).or_default();
        if writes.version == metadata.resource_version {
            return;
        }
        writes.version = metadata.resource_version;
        writes.forget(now);
        writes.recent.push_back((now, attempt.content));
        if writes.recent.len() > ANY {
            writes.recent.pop_front();
        }
        if attempt.is_watched {
            // Also if it could not be read: it will not be in a moment.
            writes.looked = Some(now);
        }
        if let Some(before) = before {
            let after: Value = serde_json::from_slice(answer).unwrap_or_default();
            let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
            if version(before) == version(&after) {
                // It changed nothing: the versions in between are of writes of others.
                writes.recent.clear();
                return;
            }
            writes.fields = Some(fields::changed(before, &after));
            if let Some(found) = writes.hot(object, now) {
                drop(objects);
                tracing::warn!(
                    resource = found.resource,
                    object = found.object,
                    "hot loop: {found}; compare before you write, and leave fields to one owner"
                );
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Object, Writes>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for HotLoops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HotLoops").finish_non_exhaustive()
    }
}

// === impl Writes ===

impl Writes {
    fn forget(&mut self, now: Instant) {
        while self.recent.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) > WINDOW) {
            self.recent.pop_front();
        }
        if self.recent.is_empty() {
            self.fields = None;
        }
    }

    /// Whether there are that many writes. Each may have changed nothing, if others changed the object before it.
    fn is_suspect(&self) -> bool {
        self.recent.len() >= ANY || self.same() >= SAME
    }

    /// How many of the writes have the content of the last one.
    fn same(&self) -> usize {
        let last = self.recent.back().map(|(_, content)| *content);
        self.recent.iter().filter(|(_, content)| Some(*content) == last).count()
    }

    fn hot(&self, object: &Object, now: Instant) -> Option<HotLoop> {
        let fields = self.fields.as_ref().filter(|_| self.is_suspect())?;
        let same = self.same();
        let same_content = same >= SAME;
        let first = self.recent.front().map(|(at, _)| *at)?;
        Some(HotLoop {
            resource: object.resource.clone(),
            object: object.key.clone(),
            writes: if same_content { same } else { self.recent.len() },
            within: now.saturating_duration_since(first),
            same_content,
            fields: fields.clone(),
            manager: object.manager.clone(),
        })
    }
}

// === impl HotLoop ===

impl HotLoop {
    /// The field managers that undo what is written, each time.
    #[must_use]
    pub fn opponents(&self) -> Vec<&str> {
        let mut opponents: Vec<_> = self
            .fields
            .values()
            .flatten()
            .map(String::as_str)
            .filter(|manager| *manager != self.manager)
            .collect();
        opponents.sort_unstable();
        opponents.dedup();
        opponents
    }
}

impl fmt::Display for HotLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, object, writes, within, same_content, fields, manager } = self;
        write!(f, "{resource} {object} was written {writes} times in {}s", within.as_secs().max(1))?;
        if *same_content {
            f.write_str(" with the same content")?;
        }
        for (at, (field, managers)) in fields.iter().enumerate() {
            f.write_str(if at == 0 { ": " } else { ", " })?;
            let others: Vec<_> = managers.iter().filter(|other| *other != manager).collect();
            match &others[..] {
                [] => write!(f, "{field} changes each time")?,
                others => write!(f, "{field} was set by {others:?} in between")?,
            }
        }
        Ok(())
    }
}

/// Of a body, without the version that it was based on: that is another one each time.
fn digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Most bodies have none, and are not read.
    let has_version = body.windows(VERSION.len()).any(|part| part == VERSION);
    match has_version.then(|| serde_json::from_slice::<Value>(body)) {
        Some(Ok(mut object)) => {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                for changing in ["resourceVersion", "managedFields", "generation"] {
                    metadata.remove(changing);
                }
            }
            object.to_string().hash(&mut hasher);
        }
        _ => body.hash(&mut hasher),
    }
    hasher.finish()
}
