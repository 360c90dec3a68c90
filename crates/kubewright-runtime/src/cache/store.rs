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
    objects: BTreeMap<Request, Arc<K>>,
    indexes: BTreeMap<String, Index<K>>,
    /// Objects whose latest version does not fit the type.
    pub(super) set_aside: BTreeMap<Request, Undecodable>,
}

pub(super) type IndexFn<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

struct Index<K> {
    function: IndexFn<K>,
    keys: BTreeMap<String, BTreeSet<Request>>,
}

impl<K> Store<K> {
    pub(super) fn get(&self, request: &Request) -> Option<&Arc<K>> {
        self.objects.get(request)
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The objects of a namespace, or all, in the order of their keys.
    pub(super) fn list(&self, namespace: Option<&str>) -> impl Iterator<Item = (&Request, &Arc<K>)> {
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
        Some(keys.into_iter().flatten().filter_map(|request| self.objects.get(request).cloned()).collect())
    }

    pub(super) fn add_index(&mut self, name: String, function: IndexFn<K>) {
        let mut index = Index { function, keys: BTreeMap::new() };
        for (request, object) in &self.objects {
            index.insert(request, object);
        }
        self.indexes.insert(name, index);
    }

    /// Stores an object and returns the one that was there.
    pub(super) fn insert(&mut self, request: &Request, object: &Arc<K>) -> Option<Arc<K>> {
        let old = self.objects.insert(request.clone(), object.clone());
        for index in self.indexes.values_mut() {
            if let Some(old) = &old {
                index.remove(request, old);
            }
            index.insert(request, object);
        }
        old
    }

    pub(super) fn remove(&mut self, request: &Request) -> Option<Arc<K>> {
        let old = self.objects.remove(request)?;
        for index in self.indexes.values_mut() {
            index.remove(request, &old);
        }
        Some(old)
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
