use std::collections::{BTreeMap, BTreeSet};

use kube::core::ObjectMeta;

use super::version::Version;
use crate::Request;

/// What the clients of a cache wrote and an informer has not shown yet.
///
/// A write is awaited by the version that the server answered with. A deletion is often answered without one, so
/// it is awaited by the uid of what was deleted. Its event may come before the answer: that is why a write is announced
/// before it is sent.
#[derive(Debug, Default)]
pub(super) struct OwnWrites {
    awaited: BTreeMap<Request, Awaited>,
    in_flight: BTreeMap<u64, InFlight>,
    /// Counts writes and lists, so that it is known which of two came first.
    ticks: u64,
}

#[derive(Debug, Default)]
struct Awaited {
    version: Option<(Version, u64)>,
    /// By uid.
    ends: BTreeMap<String, (End, u64)>,
}

/// A write that was sent and not answered.
#[derive(Debug)]
pub(super) struct InFlight {
    /// `None` for one that may concern any object.
    key: Option<Request>,
    /// The uid of what the informer has under the key.
    stored: Option<String>,
    /// The uids that the informer saw the end of meanwhile.
    ended: BTreeSet<String>,
}

/// Until what an object is awaited that was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Until it is gone.
    Gone,
    /// Until it is being deleted.
    Deleting,
}

/// What a write made of an object, as the server answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) key: Request,
    pub(crate) uid: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    /// `None` for an object that lives on.
    pub(crate) end: Option<End>,
}

/// A write that a reader waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unseen {
    pub(super) key: Request,
    pub(super) what: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    At(Version),
    /// The end of the object with this uid.
    EndOf(String),
}

/// What an informer knows of the object of a write.
pub(super) struct Known<'a> {
    pub(super) stored: Option<&'a ObjectMeta>,
    /// Up to where its watch has seen everything.
    pub(super) position: Option<&'a str>,
    /// Whether a selector may leave the object out.
    pub(super) filtered: bool,
    /// Whether the label selector takes the object.
    pub(super) selected: bool,
}

// === impl OwnWrites ===

impl OwnWrites {
    /// Announces a write of `key`, under which the informer has the object with the uid `stored`.
    pub(super) fn begin(&mut self, key: Option<Request>, stored: Option<String>) -> u64 {
        let id = self.tick();
        self.in_flight.insert(id, InFlight { key, stored, ended: BTreeSet::new() });
        id
    }

    /// The write was answered, or given up.
    pub(super) fn end(&mut self, id: u64) -> Option<InFlight> {
        self.in_flight.remove(&id)
    }

    /// Awaits what a write made of an object, unless the informer shows it already.
    pub(super) fn settle(&mut self, write: &InFlight, written: &Written, known: &Known<'_>) {
        let version = written.version.as_deref().and_then(Version::new);
        let tick = self.tick();
        let stored =
            |field: fn(&ObjectMeta) -> Option<&String>| known.stored.and_then(field).map(String::as_str);
        let Some(end) = written.end else {
            let Some(version) = version else { return };
            let seen = version.is_reached_by(stored(|meta| meta.resource_version.as_ref()))
                || version.is_reached_by(known.position);
            // An object that no selector takes is missing here already, unless the informer has yet to see it go.
            let awaits_older =
                self.awaited.get(&written.key).is_some_and(|awaited| awaited.version.is_some());
            if !seen && (known.selected || known.stored.is_some() || awaits_older) {
                self.awaited.entry(written.key.clone()).or_default().version = Some((version, tick));
            }
            return;
        };
        let Some(uid) = written.uid.as_ref().or(write.stored.as_ref()) else { return };
        let seen = if stored(|meta| meta.uid.as_ref()) == Some(uid) {
            end == End::Deleting && known.stored.is_some_and(|meta| meta.deletion_timestamp.is_some())
        } else {
            // It is not here: it went already, or it never was here, or it is yet to come and go.
            write.ended.contains(uid)
                || known.filtered
                || version.is_some_and(|version| version.is_reached_by(known.position))
        };
        if !seen {
            self.awaited.entry(written.key.clone()).or_default().ends.insert(uid.clone(), (end, tick));
        }
    }

    /// The informer has an object at another version now, in place of `old`.
    pub(super) fn applied(&mut self, key: &Request, new: &ObjectMeta, old: Option<&ObjectMeta>) {
        if let Some(uid) = old.and_then(|old| old.uid.as_deref())
            && Some(uid) != new.uid.as_deref()
        {
            self.ended(key, uid);
        }
        self.change(key, |awaited| {
            awaited.passes(new.resource_version.as_deref());
            if let (Some(uid), Some(_)) = (&new.uid, &new.deletion_timestamp)
                && awaited.ends.get(uid).is_some_and(|(end, _)| *end == End::Deleting)
            {
                awaited.ends.remove(uid);
            }
        });
    }

    /// The informer has seen the end of an object, at `version` if that is known.
    pub(super) fn removed(&mut self, key: &Request, uid: Option<&str>, version: Option<&str>) {
        if let Some(uid) = uid {
            self.ended(key, uid);
        }
        self.change(key, |awaited| awaited.passes(version));
    }

    fn ended(&mut self, key: &Request, uid: &str) {
        for write in self.in_flight.values_mut() {
            if write.key.as_ref().is_none_or(|written| written == key) {
                write.ended.insert(uid.to_owned());
            }
        }
        self.change(key, |awaited| {
            awaited.ends.remove(uid);
        });
    }

    /// The informer has seen everything up to `version` of the objects that are `here`.
    pub(super) fn reached(&mut self, version: &str, here: impl Fn(&Request) -> bool) {
        self.awaited.retain(|key, awaited| {
            if here(key) {
                awaited.passes(Some(version));
            }
            !awaited.is_empty()
        });
    }

    /// A list begins. Returns its tick, for [`Self::listed`].
    pub(super) fn list_begins(&mut self) -> u64 {
        self.tick()
    }

    /// The list that began at `tick` is complete. What was deleted before it began, and is not in it, is gone; so
    /// has every version passed that was written before, also one that cannot be compared.
    pub(super) fn listed<'a>(
        &mut self,
        tick: u64,
        here: impl Fn(&Request) -> bool,
        uid_of: impl Fn(&Request) -> Option<&'a str>,
    ) {
        self.awaited.retain(|key, awaited| {
            if here(key) {
                awaited.ends.retain(|uid, (_, since)| *since > tick || uid_of(key) == Some(uid));
                if awaited
                    .version
                    .as_ref()
                    .is_some_and(|(version, since)| *since < tick && version.is_incomparable())
                {
                    awaited.version = None;
                }
            }
            !awaited.is_empty()
        });
    }

    /// What is awaited of the objects that are `wanted`.
    pub(super) fn unseen(&self, wanted: impl Fn(&Request) -> bool) -> Vec<Unseen> {
        let of_key = |(key, awaited): (&Request, &Awaited)| {
            let version = awaited.version.iter().map(|(version, _)| Change::At(version.clone()));
            let ends = awaited.ends.keys().map(|uid| Change::EndOf(uid.clone()));
            version.chain(ends).map(|what| Unseen { key: key.clone(), what }).collect::<Vec<_>>()
        };
        self.awaited.iter().filter(|(key, _)| wanted(key)).flat_map(of_key).collect()
    }

    /// Whether something that was awaited is awaited still. A later write of the same key may have taken its place.
    pub(super) fn awaits(&self, unseen: &Unseen) -> bool {
        self.awaited.get(&unseen.key).is_some_and(|awaited| match &unseen.what {
            Change::At(_) => awaited.version.is_some(),
            Change::EndOf(uid) => awaited.ends.contains_key(uid),
        })
    }

    fn change(&mut self, key: &Request, change: impl FnOnce(&mut Awaited)) {
        if let Some(awaited) = self.awaited.get_mut(key) {
            change(awaited);
            if awaited.is_empty() {
                self.awaited.remove(key);
            }
        }
    }

    fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }
}

// === impl Awaited ===

impl Awaited {
    fn passes(&mut self, seen: Option<&str>) {
        self.version.take_if(|(version, _)| version.is_reached_by(seen));
    }

    fn is_empty(&self) -> bool {
        self.version.is_none() && self.ends.is_empty()
    }
}
