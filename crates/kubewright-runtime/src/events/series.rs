use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use tokio::time::Instant;

use super::recorder::{EventType, RecordedEvent};
use crate::Request;

/// A series ends when its event has not happened for this long, as in client-go.
const SERIES_END: Duration = Duration::from_secs(6 * 60);
/// How often a series that goes on is written. client-go takes 30 minutes, in which `kubectl events` shows an
/// old count.
const REFRESH: Duration = Duration::from_secs(60);
/// More series than this are not followed; the oldest goes first.
const MAX_SERIES: usize = 4096;

/// The events of the last minutes, to tell a new one from one that goes on.
#[derive(Default)]
pub(super) struct SeriesCache {
    series: BTreeMap<Key, Series>,
}

/// What makes two events the same one. The note is part of it, because the API does not let it change: an
/// event with another note under the same key would keep showing the old one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    controller: String,
    regarding: Vec<Option<String>>,
    related: Vec<Option<String>>,
    type_: EventType,
    reason: String,
    action: String,
    note: String,
}

struct Series {
    /// The event object.
    event: Request,
    count: i32,
    last: Timestamp,
    seen: Instant,
    written: Instant,
    /// The count that the API server knows.
    written_count: i32,
}

/// A write that brings a series up to date.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Update {
    pub(super) key: Key,
    pub(super) event: Request,
    pub(super) count: i32,
    pub(super) last: Timestamp,
}

/// What to do about an event.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Create an event object.
    Create,
    /// Write the count of the series.
    Update(Box<Update>),
    /// Nothing yet: the count is written later.
    Wait,
}

// === impl SeriesCache ===

impl SeriesCache {
    /// Counts an event and says what to do about it.
    pub(super) fn observe(&mut self, key: &Key, time: Timestamp, now: Instant) -> Step {
        let Some(series) = self.series.get_mut(key) else { return Step::Create };
        if now.duration_since(series.seen) >= SERIES_END {
            return Step::Create;
        }
        series.count = series.count.saturating_add(1);
        series.last = time;
        series.seen = now;
        // The second one is written at once, so that what repeats is seen to repeat.
        if series.count == 2 || now.duration_since(series.written) >= REFRESH {
            Step::Update(Box::new(series.update(key)))
        } else {
            Step::Wait
        }
    }

    /// Remembers an event object that was created. Returns the write for a series that had to make room.
    pub(super) fn created(
        &mut self,
        key: Key,
        event: Request,
        time: Timestamp,
        now: Instant,
    ) -> Option<Update> {
        let oldest = || {
            let (key, _) = self.series.iter().min_by_key(|(_, series)| series.seen)?;
            Some(key.clone())
        };
        let evicted = if self.series.len() >= MAX_SERIES { oldest() } else { None };
        let evicted = evicted.and_then(|key| self.series.remove(&key).map(|series| (key, series)));
        let series = Series { event, count: 1, last: time, seen: now, written: now, written_count: 1 };
        self.series.insert(key, series);
        evicted.filter(|(_, series)| series.is_behind()).map(|(key, series)| series.update(&key))
    }

    /// The count was written.
    pub(super) fn updated(&mut self, update: &Update, now: Instant) {
        if let Some(series) = self.series.get_mut(&update.key) {
            series.written = now;
            series.written_count = update.count;
        }
    }

    /// The event object is gone: the next event makes a new one.
    pub(super) fn forget(&mut self, key: &Key) {
        self.series.remove(key);
    }

    /// The writes that are due: of series that ended, which are forgotten, and of those that go on.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Update> {
        let mut updates = Vec::new();
        self.series.retain(|key, series| {
            let ended = now.duration_since(series.seen) >= SERIES_END;
            let late = now.duration_since(series.written) >= REFRESH;
            if series.is_behind() && (ended || late) {
                updates.push(series.update(key));
            }
            !ended
        });
        updates
    }

    /// The writes that are left when everything ends.
    pub(super) fn finish(&mut self) -> Vec<Update> {
        let series = std::mem::take(&mut self.series);
        series
            .iter()
            .filter(|(_, series)| series.is_behind())
            .map(|(key, series)| series.update(key))
            .collect()
    }

    /// How often to ask for what is due.
    pub(super) const fn period() -> Duration {
        REFRESH
    }
}

// === impl Series ===

impl Series {
    fn is_behind(&self) -> bool {
        self.count != self.written_count
    }

    fn update(&self, key: &Key) -> Update {
        Update { key: key.clone(), event: self.event.clone(), count: self.count, last: self.last }
    }
}

// === impl Key ===

impl Key {
    pub(super) fn of(event: &RecordedEvent) -> Self {
        let parts = |reference: &k8s_openapi::api::core::v1::ObjectReference| {
            vec![
                reference.api_version.clone(),
                reference.kind.clone(),
                reference.namespace.clone(),
                reference.name.clone(),
                reference.uid.clone(),
                reference.field_path.clone(),
            ]
        };
        Self {
            controller: event.controller.to_string(),
            regarding: parts(&event.regarding),
            related: event.related.as_ref().map(parts).unwrap_or_default(),
            type_: event.type_,
            reason: event.reason.clone(),
            action: event.action.clone(),
            note: event.note.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn event(note: &str) -> RecordedEvent {
        RecordedEvent {
            regarding: Default::default(),
            related: None,
            type_: EventType::Normal,
            reason: "Created".into(),
            action: "Create".into(),
            note: note.into(),
            time: Timestamp::UNIX_EPOCH,
            controller: Arc::from("memcached"),
            instance: Arc::from("memcached-0"),
            annotations: Default::default(),
        }
    }

    struct Model {
        cache: SeriesCache,
        start: Instant,
    }

    impl Model {
        /// Observes an event and does what is asked for. Returns the count that was written.
        fn at(&mut self, seconds: u64, note: &str) -> Option<i32> {
            let (key, now) = (Key::of(&event(note)), self.start + Duration::from_secs(seconds));
            match self.cache.observe(&key, Timestamp::UNIX_EPOCH, now) {
                Step::Create => {
                    let name = Request::namespaced("shop", note);
                    assert_eq!(self.cache.created(key, name, Timestamp::UNIX_EPOCH, now), None);
                    Some(1)
                }
                Step::Update(update) => {
                    self.cache.updated(&update, now);
                    Some(update.count)
                }
                Step::Wait => None,
            }
        }

        fn due(&mut self, seconds: u64) -> Vec<i32> {
            let now = self.start + Duration::from_secs(seconds);
            let due = self.cache.due(now);
            for update in &due {
                self.cache.updated(update, now);
            }
            due.iter().map(|update| update.count).collect()
        }
    }

    fn model() -> Model {
        Model { cache: SeriesCache::default(), start: Instant::now() }
    }

    #[test]
    fn a_repeated_event_is_counted_and_written_now_and_then() {
        let mut model = model();
        assert_eq!(model.at(0, "a"), Some(1));
        assert_eq!(model.at(1, "a"), Some(2));
        assert_eq!(model.at(2, "a"), None);
        assert_eq!(model.at(3, "a"), None);
        assert_eq!(model.at(4, "other"), Some(1));
        assert_eq!(model.due(30), [0; 0]);
        assert_eq!(model.due(61), [4]);
        assert_eq!(model.at(62, "a"), None);
        assert_eq!(model.at(130, "a"), Some(6));
    }

    #[test]
    fn a_series_ends_when_its_event_stops() {
        let mut model = model();
        for second in 0..4 {
            model.at(second, "a");
        }
        assert_eq!(model.due(3 + 360), [4], "the last count is written");
        assert_eq!(model.at(400, "a"), Some(1), "and the next event is a new one");
    }

    #[test]
    fn what_is_not_written_is_left_for_the_end() {
        let mut model = model();
        for second in 0..5 {
            model.at(second, "a");
        }
        model.at(5, "once");
        let left: Vec<_> = model.cache.finish().into_iter().map(|update| update.count).collect();
        assert_eq!(left, [5]);
    }
}
