use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::decode::Undecodable;
use crate::Request;

/// The objects of an informer by key, with its indexes.
pub(super) struct Store<K> {
    objects: BTreeMap<Request, Slot<K>>,
    indexes: BTreeMap<String, Index<K>>,
    /// Objects whose latest version does not fit the type.
    set_aside: BTreeMap<Request, SetAside>,
}

pub(super) type IndexFn<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// By which list an object was seen last. What the present list does not have is swept at its end, so that the
/// old objects and the new ones never are in memory at once.
pub(super) type Round = u32;

struct Slot<K> {
    object: Arc<K>,
    /// The size of its JSON.
    size: u32,
    round: Round,
}

struct SetAside {
    undecodable: Undecodable,
    round: Round,
}

struct Index<K> {
    function: IndexFn<K>,
    keys: BTreeMap<String, BTreeSet<Request>>,
}

impl<K> Store<K> {
    pub(super) fn get(&self, request: &Request) -> Option<&Arc<K>> {
        self.objects.get(request).map(|slot| &slot.object)
    }

    /// The objects of a namespace, or all, in the order of their keys.
    pub(super) fn list(&self, namespace: Option<&str>) -> impl Iterator<Item = (&Request, &Arc<K>)> {
        self.slots(namespace).map(|(request, slot)| (request, &slot.object))
    }

    fn slots(&self, namespace: Option<&str>) -> impl Iterator<Item = (&Request, &Slot<K>)> {
        let start = match namespace {
            Some(namespace) => Bound::Included(Request::namespaced(namespace, "")),
            None => Bound::Unbounded,
        };
        self.objects.range((start, Bound::Unbounded)).take_while(move |(request, _)| {
            namespace.is_none_or(|namespace| request.namespace() == namespace)
        })
    }

    /// The objects under a value of an index, in the order of their keys; `None` without such an index.
    pub(super) fn by_index(&self, index: &str, value: &str) -> Option<Vec<Arc<K>>> {
        let keys = self.indexes.get(index)?.keys.get(value);
        Some(keys.into_iter().flatten().filter_map(|request| self.get(request).cloned()).collect())
    }

    pub(super) fn add_index(&mut self, name: String, function: IndexFn<K>) {
        let mut index = Index { function, keys: BTreeMap::new() };
        for (request, slot) in &self.objects {
            index.insert(request, &slot.object);
        }
        self.indexes.insert(name, index);
    }

    /// Stores an object and returns the one that was there, with the size of its JSON.
    pub(super) fn insert(
        &mut self,
        request: &Request,
        object: &Arc<K>,
        size: u32,
        round: Round,
    ) -> Option<(Arc<K>, u32)> {
        self.set_aside.remove(request);
        let new = Slot { object: object.clone(), size, round };
        let old = match self.objects.get_mut(request) {
            Some(slot) => Some(std::mem::replace(slot, new)),
            None => self.objects.insert(request.clone(), new),
        };
        for index in self.indexes.values_mut() {
            if let Some(old) = &old {
                index.remove(request, &old.object);
            }
            index.insert(request, object);
        }
        old.map(|old| (old.object, old.size))
    }

    pub(super) fn remove(&mut self, request: &Request) -> Option<(Arc<K>, u32)> {
        self.set_aside.remove(request);
        let old = self.objects.remove(request)?;
        for index in self.indexes.values_mut() {
            index.remove(request, &old.object);
        }
        Some((old.object, old.size))
    }

    /// The list of this round has an object as it is stored.
    pub(super) fn mark(&mut self, request: &Request, round: Round) {
        self.set_aside.remove(request);
        if let Some(slot) = self.objects.get_mut(request) {
            slot.round = round;
        }
    }

    /// Remembers that an object does not fit, and returns what did not fit before. A version that fitted stays.
    pub(super) fn set_aside(&mut self, undecodable: Undecodable, round: Round) -> Option<Undecodable> {
        let request = undecodable.request.clone();
        if let Some(slot) = self.objects.get_mut(&request) {
            slot.round = round;
        }
        let old = self.set_aside.insert(request, SetAside { undecodable, round });
        old.map(|old| old.undecodable)
    }

    /// The objects that do not fit, in the order of their keys.
    pub(super) fn undecodable(&self) -> impl Iterator<Item = &Undecodable> {
        self.set_aside.values().map(|set_aside| &set_aside.undecodable)
    }

    /// The keys of a namespace, or all, that were not in the list of this round. What did not fit and is not in it is
    /// forgotten.
    pub(super) fn missed(&mut self, namespace: Option<&str>, round: Round) -> Vec<Request> {
        let here = |request: &Request| namespace.is_none_or(|namespace| request.namespace() == namespace);
        self.set_aside.retain(|request, set_aside| !here(request) || set_aside.round == round);
        let missed = self.slots(namespace).filter(|(_, slot)| slot.round != round);
        missed.map(|(request, _)| request.clone()).collect()
    }
}

impl<K> Default for Store<K> {
    fn default() -> Self {
        Self { objects: BTreeMap::new(), indexes: BTreeMap::new(), set_aside: BTreeMap::new() }
    }
}

impl<K> Index<K> {
    fn insert(&mut self, request: &Request, object: &K) {
        for value in self.values(request, object) {
            self.keys.entry(value).or_default().insert(request.clone());
        }
    }

    fn remove(&mut self, request: &Request, object: &K) {
        for value in self.values(request, object) {
            if let Some(keys) = self.keys.get_mut(&value) {
                keys.remove(request);
                if keys.is_empty() {
                    self.keys.remove(&value);
                }
            }
        }
    }

    /// Runs the user's function. A panic in it must not take the store down.
    fn values(&self, request: &Request, object: &K) -> Vec<String> {
        catch_unwind(AssertUnwindSafe(|| (self.function)(object))).unwrap_or_else(|_| {
            tracing::error!(%request, "an index function panicked; the object is not in that index");
            Vec::new()
        })
    }
}
