//! The store against a model that keeps everything forever.

use std::{
    collections::BTreeMap,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ChangeKind, CommitError, ReadError, Store, WatchEnd};

const START: u64 = 7;
const HISTORY: usize = 4;

#[derive(Clone, Debug)]
enum Operation {
    Create { bucket: usize, key: usize, data: u8 },
    Replace { bucket: usize, key: usize, data: u8, stale: bool },
    Remove { bucket: usize, key: usize, stale: bool },
    Watch { bucket: usize, back: u64 },
    Compact,
    Restart,
}

fn operation() -> impl Strategy<Value = Operation> {
    let place = (0..2_usize, 0..4_usize);
    prop_oneof![
        4 => (place.clone(), 0..3_u8).prop_map(|((bucket, key), data)| Operation::Create { bucket, key, data }),
        6 => (place.clone(), 0..3_u8, prop::bool::weighted(0.2))
            .prop_map(|((bucket, key), data, stale)| Operation::Replace { bucket, key, data, stale }),
        3 => (place, prop::bool::weighted(0.2))
            .prop_map(|((bucket, key), stale)| Operation::Remove { bucket, key, stale }),
        2 => (0..2_usize, 0..12_u64).prop_map(|(bucket, back)| Operation::Watch { bucket, back }),
        1 => Just(Operation::Compact),
        1 => Just(Operation::Restart),
    ]
}

type State = BTreeMap<String, (u64, u8)>;

#[derive(Clone, Debug, Default)]
struct Model {
    state: State,
    /// Revision, kind, key, data and the state after it.
    changes: Vec<(u64, ChangeKind, String, u8, State)>,
    compacted: u64,
    base: State,
}

impl Model {
    fn record(&mut self, revision: u64, kind: ChangeKind, key: &str, data: u8) {
        self.changes.push((revision, kind, key.to_owned(), data, self.state.clone()));
        if let Some(first_kept) = self.changes.len().checked_sub(HISTORY + 1) {
            let forgotten = &self.changes[first_kept];
            if forgotten.0 > self.compacted {
                self.compacted = forgotten.0;
                self.base = forgotten.4.clone();
            }
        }
    }

    fn at(&self, revision: u64) -> Option<&State> {
        if revision < self.compacted {
            return None;
        }
        let last = self.changes.iter().rev().find(|change| change.0 <= revision && change.0 > self.compacted);
        Some(last.map_or(&self.base, |change| &change.4))
    }

    fn latest(&self) -> u64 {
        self.changes.last().map_or(0, |change| change.0).max(self.compacted)
    }

    fn compact(&mut self, revision: u64) {
        self.compacted = revision;
        self.base = self.state.clone();
    }
}

fn object(data: u8) -> Value {
    json!({"metadata": {"name": "x"}, "data": data})
}

fn data(value: &Value) -> u8 {
    value["data"].as_u64().and_then(|data| u8::try_from(data).ok()).expect("the data of the test")
}

fn observed(listing: &super::Listing) -> State {
    listing
        .range("", "")
        .map(|(key, object)| {
            assert_eq!(object.value()["metadata"]["resourceVersion"], object.revision().to_string());
            (key.to_string(), (object.revision(), data(object.value())))
        })
        .collect()
}

proptest! {
    #[test]
    fn the_store_behaves_like_its_model(operations in prop::collection::vec(operation(), 1..60)) {
        let names: [Arc<str>; 2] = ["a".into(), "b".into()];
        let keys = ["ns-a/x", "ns/x", "ns/y", "z"];
        let mut store = Store::new(START, HISTORY);
        let mut models = [Model::default(), Model::default()];
        let mut revision = START;
        let mut context = Context::from_waker(Waker::noop());
        // An open watch of each bucket, and what it must have seen.
        let mut open: Vec<_> = names.iter().map(|name| store.list_and_watch(name).1).collect();
        let mut seen = [START; 2];

        for operation in operations {
            match operation {
                Operation::Create { bucket, key, data } => {
                    let key = keys[key];
                    let model = &mut models[bucket];
                    let result = store.create(&names[bucket], key, object(data));
                    if let Some((there, _)) = model.state.get(key) {
                        prop_assert!(matches!(result, Err(CommitError::Exists(o)) if o.revision() == *there));
                    } else {
                        revision += 1;
                        prop_assert_eq!(result.expect("created").revision(), revision);
                        model.state.insert(key.to_owned(), (revision, data));
                        model.record(revision, ChangeKind::Added, key, data);
                    }
                }
                Operation::Replace { bucket, key, data, stale } => {
                    let key = keys[key];
                    let model = &mut models[bucket];
                    let there = model.state.get(key).copied();
                    let expected = there.map_or(1, |(at, _)| at) - u64::from(stale);
                    let result = store.replace(&names[bucket], key, expected, object(data));
                    match there {
                        None => prop_assert!(matches!(result, Err(CommitError::Missing))),
                        Some(_) if stale => prop_assert!(matches!(result, Err(CommitError::Modified(_)))),
                        Some((at, same)) if same == data => {
                            prop_assert_eq!(result.expect("unchanged").revision(), at);
                        }
                        Some(_) => {
                            revision += 1;
                            prop_assert_eq!(result.expect("replaced").revision(), revision);
                            model.state.insert(key.to_owned(), (revision, data));
                            model.record(revision, ChangeKind::Modified, key, data);
                        }
                    }
                }
                Operation::Remove { bucket, key, stale } => {
                    let key = keys[key];
                    let model = &mut models[bucket];
                    let there = model.state.get(key).copied();
                    let expected = there.map_or(1, |(at, _)| at) - u64::from(stale);
                    let result = store.remove(&names[bucket], key, expected);
                    match there {
                        None => prop_assert!(matches!(result, Err(CommitError::Missing))),
                        Some(_) if stale => prop_assert!(matches!(result, Err(CommitError::Modified(_)))),
                        Some((_, last)) => {
                            revision += 1;
                            prop_assert_eq!(result.expect("removed").revision(), revision);
                            model.state.remove(key);
                            model.record(revision, ChangeKind::Deleted, key, last);
                        }
                    }
                }
                Operation::Watch { bucket, back } => {
                    let from = (revision + 2).saturating_sub(back);
                    let model = &models[bucket];
                    match store.watch(&names[bucket], from) {
                        Err(error) => {
                            prop_assert!(from < model.compacted);
                            prop_assert_eq!(error, ReadError::Expired { oldest: model.compacted });
                        }
                        Ok(mut watch) => {
                            prop_assert!(from >= model.compacted);
                            let expected: Vec<_> = model
                                .changes
                                .iter()
                                .filter(|change| change.0 > from)
                                .map(|(revision, kind, key, data, _)| (*revision, *kind, key.clone(), *data))
                                .collect();
                            let mut got = Vec::new();
                            while let Poll::Ready(changes) = watch.poll_changes(&mut context, 3) {
                                got.extend(changes.expect("known changes").into_iter().map(|change| {
                                    (change.revision, change.kind, change.key.to_string(), data(change.object.value()))
                                }));
                            }
                            prop_assert_eq!(got, expected);
                            prop_assert!(watch.progress() >= from.max(revision).min(from + revision));
                        }
                    }
                }
                Operation::Compact => {
                    store.compact();
                    for (bucket, watch) in open.iter_mut().enumerate() {
                        models[bucket].compact(revision);
                        let end = watch.poll_changes(&mut context, 9);
                        let expired = matches!(end, Poll::Ready(Err(WatchEnd::Expired { .. })));
                        prop_assert!(expired);
                        *watch = store.list_and_watch(&names[bucket]).1;
                        seen[bucket] = revision;
                    }
                }
                Operation::Restart => {
                    let snapshot = store.snapshot();
                    store.close();
                    for watch in &mut open {
                        let end = watch.poll_changes(&mut context, 9);
                        let closed = matches!(end, Poll::Ready(Err(WatchEnd::Closed)));
                        prop_assert!(closed);
                    }
                    store = Store::restore(&snapshot, HISTORY);
                    for (bucket, model) in models.iter_mut().enumerate() {
                        model.compact(model.latest());
                        open[bucket] = store.list_and_watch(&names[bucket]).1;
                        seen[bucket] = revision;
                    }
                }
            }
            prop_assert_eq!(store.revision(), revision);
            for (bucket, model) in models.iter().enumerate() {
                prop_assert_eq!(&observed(&store.list(&names[bucket])), &model.state);
                for back in 0..10 {
                    let at = revision.saturating_sub(back);
                    let listing = store.list_at(&names[bucket], at);
                    match model.at(at) {
                        Some(state) => prop_assert_eq!(&observed(&listing.expect("known")), state),
                        None => prop_assert!(listing.is_err()),
                    }
                }
                let unread = model.changes.iter().filter(|change| change.0 > seen[bucket]).count();
                if let Poll::Ready(changes) = open[bucket].poll_changes(&mut context, 9) {
                    prop_assert_eq!(changes.expect("an open watch").len(), unread);
                    seen[bucket] = revision;
                } else {
                    prop_assert_eq!(unread, 0);
                }
            }
        }
    }
}
