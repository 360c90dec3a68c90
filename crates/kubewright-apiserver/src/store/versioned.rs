use std::{
    collections::BTreeMap,
    fmt,
    ops::Bound,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use serde_json::Value;

use super::{
    Change, ChangeKind, Entry, Journal, Kept, NotKept, Object, Watch,
    bucket::{Bucket, Objects},
    object::Draft,
};

/// The objects of a server. Clones share them.
#[derive(Clone)]
pub struct Store {
    state: Arc<Mutex<State>>,
    /// Whether the store has a journal, for which answers have to wait.
    is_journaled: bool,
}

pub(super) struct State {
    pub(super) revision: u64,
    pub(super) buckets: BTreeMap<Arc<str>, Bucket>,
    pub(super) closed: bool,
    journal: Option<Box<dyn Journal>>,
    /// Up to which revision the journal has kept everything.
    kept: u64,
    /// Why the journal keeps nothing any more.
    pub(super) lost: Option<Arc<str>>,
    history_limit: usize,
    next_waiter: u64,
    /// Who waits for a revision that is not reached yet.
    revision_wakers: BTreeMap<u64, Waker>,
}

/// The state of a store at one moment. It is cheap to take and to keep: it shares structure with the store.
#[derive(Clone)]
pub struct Snapshot {
    revision: u64,
    /// The objects of each bucket, and the revision of its last change.
    buckets: BTreeMap<Arc<str>, (Objects, u64)>,
}

/// The objects of a bucket at one revision.
#[derive(Clone)]
pub struct Listing {
    objects: Objects,
    /// The revision that the objects are of.
    pub revision: u64,
}

/// Why a commit did not happen.
#[derive(Clone, Debug)]
pub enum CommitError {
    /// An object that should have been absent is there.
    Exists(Arc<Object>),
    /// The object is not at the expected revision any more.
    Modified(Arc<Object>),
    /// The object is not there any more.
    Missing,
}

/// Why a read at a revision is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The revision is older than the oldest known one.
    Expired {
        /// The oldest revision that can be read.
        oldest: u64,
    },
    /// The revision has not been reached.
    Future {
        /// The current revision.
        current: u64,
    },
}

// === impl Store ===

impl Store {
    /// An empty store at `revision` that keeps `history_limit` changes of each bucket.
    pub fn new(revision: u64, history_limit: usize) -> Self {
        Self::restore(&Snapshot::empty(revision), history_limit)
    }

    /// A store that goes on where the snapshot was taken. A watch may go on from the last change of its bucket;
    /// what was before is forgotten.
    pub fn restore(snapshot: &Snapshot, history_limit: usize) -> Self {
        let buckets = snapshot
            .buckets
            .iter()
            .map(|(name, (objects, latest))| (name.clone(), Bucket::with_objects(objects.clone(), *latest)))
            .collect();
        let state = State {
            revision: snapshot.revision,
            buckets,
            closed: false,
            journal: None,
            kept: u64::MAX,
            lost: None,
            history_limit,
            next_waiter: 0,
            revision_wakers: BTreeMap::new(),
        };
        Self { state: Arc::new(Mutex::new(state)), is_journaled: false }
    }

    /// The same with a journal, which has kept what the snapshot has.
    pub(crate) fn journaled(
        snapshot: &Snapshot,
        history_limit: usize,
        journal: impl FnOnce(Kept) -> Box<dyn Journal>,
    ) -> Self {
        let store = Self { is_journaled: true, ..Self::restore(snapshot, history_limit) };
        let journal = journal(Kept::new(&store.state));
        {
            let mut state = store.lock();
            state.journal = Some(journal);
            state.kept = snapshot.revision;
        }
        store
    }

    /// Whether answers have to wait until what they tell of is [kept](Self::kept).
    pub(crate) fn is_journaled(&self) -> bool {
        self.is_journaled
    }

    /// Waits until everything up to `revision` is kept; at once without a journal.
    ///
    /// # Errors
    /// If it is not and will never be, because the journal has failed or the store was closed.
    pub(crate) async fn kept(&self, revision: u64) -> Result<(), NotKept> {
        self.reached(revision).await;
        let state = self.lock();
        match &state.lost {
            _ if state.visible() >= revision => Ok(()),
            Some(reason) => Err(NotKept::Failed(reason.clone())),
            None => Err(NotKept::Closed),
        }
    }

    /// Waits until the store is closed, and says why if that was because its journal has failed.
    pub(crate) async fn ended(&self) -> Option<Arc<str>> {
        self.reached(u64::MAX).await;
        self.lock().lost.clone()
    }

    /// The state of this moment.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.lock();
        Snapshot {
            revision: state.revision,
            buckets: state
                .buckets
                .iter()
                .map(|(name, bucket)| (name.clone(), (bucket.objects.clone(), bucket.latest())))
                .collect(),
        }
    }

    /// The revision of the last commit.
    pub fn revision(&self) -> u64 {
        self.lock().revision
    }

    /// The object at `key`.
    pub fn get(&self, bucket: &str, key: &str) -> Option<Arc<Object>> {
        self.lock().buckets.get(bucket)?.objects.get(key).map(|object| object.undecoded())
    }

    /// The revision of the last change of a bucket, or the oldest one that is known of it.
    pub fn latest(&self, bucket: &str) -> u64 {
        self.lock().buckets.get(bucket).map_or(0, Bucket::latest)
    }

    /// The objects of a bucket as they are.
    pub fn list(&self, bucket: &str) -> Listing {
        let state = self.lock();
        Listing {
            objects: state
                .buckets
                .get(bucket)
                .map_or_else(Objects::new_sync, |bucket| bucket.objects.clone()),
            revision: state.revision,
        }
    }

    /// The objects of a bucket as they were at `revision`.
    ///
    /// # Errors
    /// If that is forgotten, or has not been yet.
    pub fn list_at(&self, bucket: &str, revision: u64) -> Result<Listing, ReadError> {
        let state = self.lock();
        if revision > state.revision {
            return Err(ReadError::Future { current: state.revision });
        }
        let objects = match state.buckets.get(bucket) {
            Some(bucket) => {
                bucket.objects_at(revision).cloned().ok_or(ReadError::Expired { oldest: bucket.oldest() })?
            }
            None => Objects::new_sync(),
        };
        Ok(Listing { objects, revision })
    }

    /// Adds an object where none is, and gives it as stored.
    ///
    /// # Errors
    /// [`CommitError::Exists`] with what is there.
    pub fn create(&self, bucket: &Arc<str>, key: &str, value: Value) -> Result<Arc<Object>, CommitError> {
        let draft = Draft::new(value);
        let mut state = self.lock();
        if let Some(there) = state.buckets.get(bucket).and_then(|bucket| bucket.objects.get(key)) {
            return Err(CommitError::Exists(there.undecoded()));
        }
        let object = Arc::new(draft.at(state.revision + 1));
        let wakers = state.commit(bucket, key.into(), ChangeKind::Added, &object, None);
        drop(state);
        wake(wakers);
        Ok(object)
    }

    /// Replaces the object at `key`, if it is still at revision `expected`, and gives it as stored.
    ///
    /// A value that differs in nothing but its `resourceVersion` commits nothing: the object stays as it is,
    /// at its revision, and no watch sees a change.
    ///
    /// # Errors
    /// If the object is at another revision or gone.
    pub fn replace(
        &self,
        bucket: &Arc<str>,
        key: &str,
        expected: u64,
        value: Value,
    ) -> Result<Arc<Object>, CommitError> {
        let draft = Draft::new(value);
        let mut state = self.lock();
        let previous = state.expect(bucket, key, expected)?;
        if previous.is_like(&draft) {
            return Ok(previous.undecoded());
        }
        let object = Arc::new(draft.at(state.revision + 1));
        let wakers = state.commit(bucket, key.into(), ChangeKind::Modified, &object, Some(previous));
        drop(state);
        wake(wakers);
        Ok(object)
    }

    /// Removes the object at `key`, if it is still at revision `expected`.
    ///
    /// Gives the object's last state, as watches see it: at the revision of the removal.
    ///
    /// # Errors
    /// If the object is at another revision or gone.
    pub fn remove(&self, bucket: &Arc<str>, key: &str, expected: u64) -> Result<Arc<Object>, CommitError> {
        let mut state = self.lock();
        let previous = state.expect(bucket, key, expected)?;
        let last = previous.undecoded().value().clone();
        let object = Arc::new(Draft::new(last).at(state.revision + 1));
        let wakers = state.commit(bucket, key.into(), ChangeKind::Deleted, &object, Some(previous));
        drop(state);
        wake(wakers);
        Ok(object)
    }

    /// The changes of a bucket after `revision`, which may lie in the future.
    ///
    /// # Errors
    /// If changes after `revision` are forgotten.
    pub fn watch(&self, bucket: &Arc<str>, revision: u64) -> Result<Watch, ReadError> {
        let mut state = self.lock();
        let oldest = state.bucket(bucket).oldest();
        if revision < oldest {
            return Err(ReadError::Expired { oldest });
        }
        Ok(state.open_watch(self.clone(), bucket, revision))
    }

    /// The objects of a bucket as watches see them, and the changes after that, without a gap.
    pub fn list_and_watch(&self, bucket: &Arc<str>) -> (Listing, Watch) {
        let mut state = self.lock();
        let (current, visible) = (state.revision, state.visible());
        let there = state.bucket(bucket);
        let (objects, revision) = match there.objects_at(visible) {
            Some(objects) => (objects.clone(), visible),
            None => (there.objects.clone(), current),
        };
        let watch = state.open_watch(self.clone(), bucket, revision);
        (Listing { objects, revision }, watch)
    }

    /// Forgets the past of every bucket and expires every open watch.
    pub fn compact(&self) {
        let mut wakers = Vec::new();
        {
            let mut state = self.lock();
            let revision = state.revision;
            for bucket in state.buckets.values_mut() {
                wakers.extend(bucket.compact(revision));
            }
            if let Some(journal) = &mut state.journal {
                journal.append(Entry::Compacted { revision });
            }
        }
        wake(wakers);
    }

    /// Ends every open watch, and every later one at once.
    pub fn close(&self) {
        let wakers = self.lock().close();
        wake(wakers);
    }

    /// Whether the store was closed.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Waits until `revision` is reached and kept, or the store is closed.
    pub fn reached(&self, revision: u64) -> impl Future<Output = ()> + Send + use<> {
        Reached { store: self.clone(), revision, id: None }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is complete before anything that could panic runs.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("revision", &self.revision()).finish_non_exhaustive()
    }
}

// Wakers run foreign code, so they are woken after the lock is released.
pub(super) fn wake(wakers: Vec<Waker>) {
    for waker in wakers {
        waker.wake();
    }
}

// === impl State ===

impl State {
    pub(super) fn bucket(&mut self, name: &Arc<str>) -> &mut Bucket {
        // A bucket that was never written to has no changes to forget, so its past is known from the start.
        self.buckets.entry(name.clone()).or_insert_with(|| Bucket::starting_at(0))
    }

    fn expect(&self, bucket: &str, key: &str, revision: u64) -> Result<Arc<Object>, CommitError> {
        let there = self
            .buckets
            .get(bucket)
            .and_then(|bucket| bucket.objects.get(key))
            .ok_or(CommitError::Missing)?;
        if there.revision() == revision {
            Ok(there.clone())
        } else {
            Err(CommitError::Modified(there.undecoded()))
        }
    }

    fn commit(
        &mut self,
        name: &Arc<str>,
        key: Arc<str>,
        kind: ChangeKind,
        object: &Object,
        previous: Option<Arc<Object>>,
    ) -> Vec<Waker> {
        self.revision = object.revision();
        let limit = self.history_limit;
        // A bucket that was never written to has no changes to forget, so its past is known from the start.
        let bucket = self.buckets.entry(name.clone()).or_insert_with(|| Bucket::starting_at(0));
        match kind {
            ChangeKind::Added | ChangeKind::Modified => {
                bucket.objects.insert_mut(key.clone(), object.undecoded());
            }
            ChangeKind::Deleted => {
                bucket.objects.remove_mut(&key);
            }
        }
        // Watchers decode a copy of their own, which they share and which is forgotten with the change.
        let object = object.undecoded();
        let change = Change { revision: object.revision(), kind, key, object, previous };
        if let Some(journal) = &mut self.journal {
            // There is nothing to see, and nobody to wake, before the journal has kept it.
            journal.append(Entry::of(name, &change));
            bucket.record(change, limit);
            return Vec::new();
        }
        bucket.record(change, limit);
        let mut wakers = bucket.take_wakers();
        wakers.extend(std::mem::take(&mut self.revision_wakers).into_values());
        wakers
    }

    /// Up to which revision changes may be told.
    pub(super) fn visible(&self) -> u64 {
        self.revision.min(self.kept)
    }

    /// Notes what the journal has kept. Gives who waits for that.
    pub(super) fn keep_up_to(&mut self, revision: u64) -> Vec<Waker> {
        let before = self.kept;
        self.kept = before.max(revision);
        let changed = self.buckets.values_mut().filter(|bucket| bucket.latest() > before);
        let mut wakers: Vec<Waker> = changed.flat_map(Bucket::take_wakers).collect();
        wakers.extend(std::mem::take(&mut self.revision_wakers).into_values());
        wakers
    }

    /// Closes the store. Gives all who wait.
    pub(super) fn close(&mut self) -> Vec<Waker> {
        self.closed = true;
        let mut wakers: Vec<Waker> = self.buckets.values_mut().flat_map(Bucket::take_wakers).collect();
        wakers.extend(std::mem::take(&mut self.revision_wakers).into_values());
        wakers
    }

    fn open_watch(&mut self, store: Store, name: &Arc<str>, revision: u64) -> Watch {
        let id = self.waiter_id();
        let epoch = self.bucket(name).epoch;
        Watch::new(store, name.clone(), revision, epoch, id)
    }

    fn waiter_id(&mut self) -> u64 {
        self.next_waiter += 1;
        self.next_waiter
    }
}

// === impl Snapshot ===

impl Snapshot {
    /// A snapshot without objects.
    pub(crate) fn empty(revision: u64) -> Self {
        Self { revision, buckets: BTreeMap::new() }
    }

    /// Notes that a bucket has last changed at `revision`, or that its past up to then is forgotten.
    pub(crate) fn note_bucket(&mut self, bucket: &str, revision: u64) {
        self.bucket(bucket).1 = revision;
    }

    /// Adds an object as a journal has kept it. Says whether it has a revision that fits into the snapshot.
    pub(crate) fn add(&mut self, bucket: &str, key: &str, value: Value) -> bool {
        let Some(object) = Object::restored(value) else { return false };
        let fits = object.revision() <= self.revision;
        self.bucket(bucket).0.insert_mut(key.into(), object);
        fits
    }

    fn bucket(&mut self, name: &str) -> &mut (Objects, u64) {
        self.buckets.entry(name.into()).or_insert_with(|| (Objects::new_sync(), 0))
    }

    /// The revision at which it was taken.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("revision", &self.revision).finish_non_exhaustive()
    }
}

// === impl Listing ===

impl Listing {
    /// The objects whose keys start with `prefix` and are not less than `start`, in key order.
    pub fn range<'a>(
        &'a self,
        prefix: &'a str,
        start: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<Object>)> {
        let from = if start > prefix { start } else { prefix };
        self.objects
            .range::<str, _>((Bound::Included(from), Bound::Unbounded))
            .take_while(move |(key, _)| key.starts_with(prefix))
    }
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("revision", &self.revision)
            .field("objects", &self.objects.size())
            .finish()
    }
}

// === impl Reached ===

struct Reached {
    store: Store,
    revision: u64,
    id: Option<u64>,
}

impl Future for Reached {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let store = self.store.clone();
        let mut state = store.lock();
        if state.closed || state.visible() >= self.revision {
            return Poll::Ready(());
        }
        let id = *self.id.get_or_insert_with(|| state.waiter_id());
        state.revision_wakers.insert(id, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Reached {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.store.lock().revision_wakers.remove(&id);
        }
    }
}
