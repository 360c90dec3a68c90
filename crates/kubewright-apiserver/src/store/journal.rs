use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::Waker,
};

use super::{
    Change, ChangeKind, Object,
    versioned::{State, wake},
};

/// Where commits go so that they outlive the process.
///
/// A store with a journal shows a commit to nobody before the journal has reported it as kept: neither watches nor
/// answers tell of it. Writers do see it, so that they do not wait for each other.
pub(crate) trait Journal: Send {
    /// Takes what has happened, in the order of revisions. It is called under the lock of the store, so it may not wait;
    /// it reports through [`Kept`] when it is done.
    fn append(&mut self, entry: Entry);
}

/// What a journal keeps.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// An object is there as of its revision.
    Put { bucket: Arc<str>, key: Arc<str>, object: Arc<Object> },
    /// There is no object any more as of a revision.
    Removed { bucket: Arc<str>, key: Arc<str>, revision: u64 },
    /// What was before a revision is forgotten.
    Compacted { revision: u64 },
}

/// Tells a store what its journal has kept. It does not keep the store alive.
#[derive(Clone)]
pub(crate) struct Kept {
    state: Weak<Mutex<State>>,
}

/// Why a commit may not be told of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotKept {
    /// The journal failed.
    #[error("the change could not be kept: {0}")]
    Failed(Arc<str>),
    /// The store was closed before.
    #[error("the server was closed before the change was kept")]
    Closed,
}

impl Entry {
    /// What a change of a bucket leaves behind.
    pub(super) fn of(bucket: &Arc<str>, change: &Change) -> Self {
        let (bucket, key) = (bucket.clone(), change.key.clone());
        match change.kind {
            ChangeKind::Added | ChangeKind::Modified => {
                Self::Put { bucket, key, object: change.object.clone() }
            }
            ChangeKind::Deleted => Self::Removed { bucket, key, revision: change.revision },
        }
    }

    /// The revision as of which it holds.
    pub(crate) fn revision(&self) -> u64 {
        match self {
            Self::Put { object, .. } => object.revision(),
            Self::Removed { revision, .. } | Self::Compacted { revision } => *revision,
        }
    }
}

impl Kept {
    pub(super) fn new(state: &Arc<Mutex<State>>) -> Self {
        Self { state: Arc::downgrade(state) }
    }

    /// Everything up to `revision` is kept.
    pub(crate) fn up_to(&self, revision: u64) {
        self.change(|state| state.keep_up_to(revision));
    }

    /// Nothing more can be kept: the store is closed, and what was not kept is never told.
    pub(crate) fn failed(&self, reason: &str) {
        self.change(|state| {
            state.lost.get_or_insert_with(|| reason.into());
            state.close()
        });
    }

    fn change(&self, change: impl FnOnce(&mut State) -> Vec<Waker>) {
        let Some(state) = self.state.upgrade() else { return };
        let wakers = change(&mut lock(&state));
        // Who is woken may let go of the store, and rely on being the last who does.
        drop(state);
        wake(wakers);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll};

    use futures::FutureExt;
    use serde_json::{Value, json};

    use super::{
        super::{Snapshot, Store, WatchEnd},
        *,
    };

    /// A journal that keeps nothing unless it is told to.
    #[derive(Clone, Default)]
    struct Notes(Arc<Mutex<Vec<Entry>>>);

    impl Journal for Notes {
        fn append(&mut self, entry: Entry) {
            lock_notes(&self.0).push(entry);
        }
    }

    fn lock_notes(notes: &Mutex<Vec<Entry>>) -> MutexGuard<'_, Vec<Entry>> {
        notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store() -> (Store, Notes, Kept) {
        let notes = Notes::default();
        let mut kept = None;
        let store = Store::journaled(&Snapshot::empty(10), 16, |handle| {
            kept = Some(handle);
            Box::new(notes.clone())
        });
        (store, notes, kept.expect("a handle"))
    }

    fn object(name: &str) -> Value {
        json!({"metadata": {"name": name}})
    }

    #[test]
    fn what_is_not_kept_is_not_told() {
        let (store, notes, kept) = store();
        let bucket: Arc<str> = "/configmaps".into();
        let mut watch = store.watch(&bucket, 10).expect("a watch");
        let mut context = Context::from_waker(Waker::noop());
        let one = store.create(&bucket, "n/a", object("a")).expect("created");
        let two = store.replace(&bucket, "n/a", one.revision(), json!({"data": 1})).expect("replaced");
        assert!(watch.poll_changes(&mut context, 9).is_pending());
        assert_eq!(watch.progress(), 10);
        assert!(store.kept(one.revision()).now_or_never().is_none());
        assert!(store.reached(one.revision()).now_or_never().is_none());
        let (listing, _) = store.list_and_watch(&bucket);
        assert_eq!((listing.revision, listing.range("", "").count()), (10, 0));

        kept.up_to(one.revision());
        let Poll::Ready(Ok(changes)) = watch.poll_changes(&mut context, 9) else { panic!("no change") };
        assert_eq!(changes.iter().map(|change| change.revision).collect::<Vec<_>>(), [one.revision()]);
        assert_eq!(watch.progress(), one.revision());
        assert_eq!(store.kept(one.revision()).now_or_never(), Some(Ok(())));
        let (listing, mut later) = store.list_and_watch(&bucket);
        assert_eq!((listing.revision, listing.range("", "").count()), (one.revision(), 1));
        store.remove(&bucket, "n/a", two.revision()).expect("removed");
        kept.up_to(store.revision());
        let Poll::Ready(Ok(changes)) = later.poll_changes(&mut context, 9) else { panic!("no change") };
        assert_eq!(changes.len(), 2);
        store.compact();
        let revisions: Vec<u64> = lock_notes(&notes.0).iter().map(Entry::revision).collect();
        assert_eq!(revisions, [11, 12, 13, 13]);
    }

    #[test]
    fn a_failure_ends_the_store_and_is_told_to_who_waits() {
        let (store, _, kept) = store();
        let bucket: Arc<str> = "/configmaps".into();
        let mut watch = store.watch(&bucket, 10).expect("a watch");
        let mut context = Context::from_waker(Waker::noop());
        let one = store.create(&bucket, "n/a", object("a")).expect("created");
        kept.up_to(one.revision());
        let two = store.create(&bucket, "n/b", object("b")).expect("created");
        kept.failed("the disk is full");
        assert_eq!(store.kept(one.revision()).now_or_never(), Some(Ok(())));
        let failed = NotKept::Failed("the disk is full".into());
        assert_eq!(store.kept(two.revision()).now_or_never(), Some(Err(failed)));
        assert!(store.is_closed());
        assert!(matches!(watch.poll_changes(&mut context, 9), Poll::Ready(Err(WatchEnd::Closed))));
    }

    #[test]
    fn a_store_that_is_closed_does_not_pretend() {
        let (store, ..) = store();
        let one = store.create(&"/configmaps".into(), "n/a", object("a")).expect("created");
        store.close();
        assert_eq!(store.kept(one.revision()).now_or_never(), Some(Err(NotKept::Closed)));
    }
}
