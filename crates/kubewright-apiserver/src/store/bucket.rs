use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    task::Waker,
};

use rpds::RedBlackTreeMapSync;

use super::Object;

/// The objects of a bucket by key. Keys are `namespace/name`, or `name` outside namespaces, compared by bytes.
pub(super) type Objects = RedBlackTreeMapSync<Arc<str>, Arc<Object>>;

/// How much JSON the history of a bucket holds at most. Thousands of changes of large objects would fill the memory.
const HISTORY_BYTES: usize = 64 * 1024 * 1024;

/// One commit to one bucket.
#[derive(Clone, Debug)]
pub struct Change {
    /// The revision of the commit.
    pub revision: u64,
    /// What happened.
    pub kind: ChangeKind,
    /// Where it happened.
    pub key: Arc<str>,
    /// The object after the commit. After a removal, its last state, at the revision of the removal.
    pub object: Arc<Object>,
    /// The object before the commit, `None` if it was added.
    pub previous: Option<Arc<Object>>,
}

/// What a commit did to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before.
    Added,
    /// It was there before and after.
    Modified,
    /// It is no longer there.
    Deleted,
}

/// The objects of one resource, and their recent past.
pub(super) struct Bucket {
    pub(super) objects: Objects,
    history: VecDeque<(Change, Objects)>,
    /// How much JSON the changes of the history hold.
    history_bytes: usize,
    /// The objects at `compacted`.
    base: Objects,
    /// The revision before which nothing is known.
    compacted: u64,
    /// Counts the demands that open watches expire.
    pub(super) epoch: u64,
    /// Who waits for the next change, in the order of their coming.
    pub(super) wakers: BTreeMap<u64, Waker>,
}

impl Bucket {
    /// An empty bucket whose past is known from `revision` on.
    pub(super) fn starting_at(revision: u64) -> Self {
        Self::with_objects(Objects::new_sync(), revision)
    }

    /// A bucket whose past before `revision` is forgotten.
    pub(super) fn with_objects(objects: Objects, revision: u64) -> Self {
        Self {
            base: objects.clone(),
            objects,
            history: VecDeque::new(),
            history_bytes: 0,
            compacted: revision,
            epoch: 0,
            wakers: BTreeMap::new(),
        }
    }

    /// Notes a change that `objects` already shows, and keeps `limit` changes, fewer if they are large.
    pub(super) fn record(&mut self, change: Change, limit: usize) {
        self.history_bytes += change.object.json().len();
        self.history.push_back((change, self.objects.clone()));
        while self.history.len() > limit || (self.history_bytes > HISTORY_BYTES && self.history.len() > 1) {
            if let Some((change, objects)) = self.history.pop_front() {
                self.history_bytes -= change.object.json().len();
                self.compacted = change.revision;
                self.base = objects;
            }
        }
    }

    /// Forgets the past and expires the open watches.
    pub(super) fn compact(&mut self, revision: u64) -> Vec<Waker> {
        self.history.clear();
        self.history_bytes = 0;
        self.base = self.objects.clone();
        self.compacted = revision;
        self.epoch += 1;
        self.take_wakers()
    }

    /// Takes those who wait for a change.
    pub(super) fn take_wakers(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.wakers).into_values().collect()
    }

    /// The revision before which nothing is known.
    pub(super) fn oldest(&self) -> u64 {
        self.compacted
    }

    /// The revision of the last change, or the oldest known one.
    pub(super) fn latest(&self) -> u64 {
        self.history.back().map_or(self.compacted, |(change, _)| change.revision)
    }

    /// The objects at `revision`, `None` if that is forgotten.
    pub(super) fn objects_at(&self, revision: u64) -> Option<&Objects> {
        if revision < self.compacted {
            return None;
        }
        let later = self.history.partition_point(|(change, _)| change.revision <= revision);
        match later.checked_sub(1).and_then(|index| self.history.get(index)) {
            Some((_, objects)) => Some(objects),
            None => Some(&self.base),
        }
    }

    /// The changes after `revision`, oldest first. The caller has checked that they are still known.
    pub(super) fn changes_after(&self, revision: u64) -> impl Iterator<Item = &Change> {
        let first = self.history.partition_point(|(change, _)| change.revision <= revision);
        self.history.range(first..).map(|(change, _)| change)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::object::Draft;

    #[test]
    fn large_changes_are_forgotten_sooner() {
        let mut bucket = Bucket::starting_at(0);
        let text = "x".repeat(HISTORY_BYTES / 4);
        for revision in 1..10 {
            let object = Arc::new(Draft::new(json!({"metadata": {}, "data": text})).at(revision));
            let change =
                Change { revision, kind: ChangeKind::Modified, key: "a".into(), object, previous: None };
            bucket.record(change, 100);
        }
        assert_eq!(bucket.changes_after(0).count(), 3);
        assert_eq!(bucket.oldest(), 6);
    }
}
