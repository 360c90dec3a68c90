use std::{collections::BTreeMap, fmt, sync::Arc};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Resource;
use kubewright_world::Clock;
use tokio::sync::mpsc;

use crate::metrics::EventMetrics;

/// Records events about objects. Clones are cheap.
///
/// ```
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # use kubewright_runtime::events::Recorder;
/// # fn example(recorder: &Recorder, config: &ConfigMap) {
/// recorder.normal(config, "Created", "CreateDeployment", "created deployment cart");
/// recorder.warning(config, "InvalidSize", "Validate", format!("size {} is too large", 9));
/// # }
/// ```
///
/// `reason` says in one CamelCase word why, `action` what the controller did, and `note` is a sentence for
/// people. Reason and action are cut after 128 bytes, the note after 1024: the limits of the API.
#[derive(Clone)]
pub struct Recorder {
    sender: mpsc::Sender<RecordedEvent>,
    controller: Arc<str>,
    instance: Arc<str>,
    clock: Clock,
    annotations: Arc<BTreeMap<String, String>>,
    metrics: EventMetrics,
}

/// Whether an event is as expected, or worth a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventType {
    /// As expected.
    Normal,
    /// Worth a look.
    Warning,
}

/// An event on its way to the API server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// The object that it is about.
    pub regarding: ObjectReference,
    /// Another object that played a part.
    pub related: Option<ObjectReference>,
    /// Whether it is as expected.
    pub type_: EventType,
    /// Why, in one word.
    pub reason: String,
    /// What was done, in one word.
    pub action: String,
    /// A sentence for people.
    pub note: String,
    /// When.
    pub time: Timestamp,
    /// The controller that reports it.
    pub controller: Arc<str>,
    /// The process that reports it.
    pub instance: Arc<str>,
    /// The annotations of the event itself.
    pub annotations: Arc<BTreeMap<String, String>>,
}

const WORD_LIMIT: usize = 128;
const NOTE_LIMIT: usize = 1024;

// === impl Recorder ===

impl Recorder {
    pub(super) fn new(
        sender: mpsc::Sender<RecordedEvent>,
        controller: &str,
        host: &str,
        clock: Clock,
        metrics: EventMetrics,
    ) -> Self {
        let instance = cut(&format!("{controller}-{host}"), WORD_LIMIT).to_owned();
        let annotations = Arc::default();
        Self { sender, controller: controller.into(), instance: instance.into(), clock, annotations, metrics }
    }

    /// A recorder for tests of a reconciler, and the events that it records. Beyond `capacity` they are
    /// dropped.
    #[must_use]
    pub fn for_tests(capacity: usize) -> (Self, mpsc::Receiver<RecordedEvent>) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        let metrics = crate::metrics::Metrics::new().events();
        (Self::new(sender, "test", "localhost", Clock::system(), metrics), receiver)
    }

    /// The same recorder, whose events have this annotation, for programs that read them. Of a series it is that of
    /// the first event.
    #[must_use]
    pub fn with_annotation(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.annotations).insert(name.into(), value.into());
        self
    }

    /// Records that something is as expected.
    pub fn normal<K: Resource<DynamicType = ()>>(
        &self,
        regarding: &K,
        reason: &str,
        action: &str,
        note: impl Into<String>,
    ) {
        self.record(EventType::Normal, regarding.object_ref(&()), None, reason, action, note.into());
    }

    /// Records that something is worth a look.
    pub fn warning<K: Resource<DynamicType = ()>>(
        &self,
        regarding: &K,
        reason: &str,
        action: &str,
        note: impl Into<String>,
    ) {
        self.record(EventType::Warning, regarding.object_ref(&()), None, reason, action, note.into());
    }

    /// Records an event about any object, given by its reference, in which another may have played a part.
    pub fn record(
        &self,
        type_: EventType,
        regarding: ObjectReference,
        related: Option<ObjectReference>,
        reason: &str,
        action: &str,
        note: String,
    ) {
        let event = RecordedEvent {
            regarding,
            related,
            type_,
            reason: cut(reason, WORD_LIMIT).to_owned(),
            action: cut(action, WORD_LIMIT).to_owned(),
            note: if note.len() > NOTE_LIMIT { cut(&note, NOTE_LIMIT).to_owned() } else { note },
            time: self.clock.now(),
            controller: self.controller.clone(),
            instance: self.instance.clone(),
            annotations: self.annotations.clone(),
        };
        if self.sender.try_send(event).is_err() {
            self.metrics.dropped();
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("controller", &self.controller).finish_non_exhaustive()
    }
}

// === impl EventType ===

impl EventType {
    /// As the API writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// The longest beginning of `text` that has at most `limit` bytes.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    #[test]
    fn texts_are_cut_to_what_the_api_takes() {
        let (recorder, mut events) = Recorder::for_tests(2);
        let long = "ü".repeat(2000);
        recorder.warning(&ConfigMap::default(), &long, &long, long.clone());
        let event = events.try_recv().expect("an event");
        assert_eq!((event.reason.len(), event.action.len(), event.note.len()), (128, 128, 1024));
    }

    #[test]
    fn a_full_queue_drops_and_does_not_wait() {
        let (recorder, mut events) = Recorder::for_tests(1);
        recorder.normal(&ConfigMap::default(), "First", "Test", "");
        recorder.normal(&ConfigMap::default(), "Second", "Test", "");
        assert_eq!(events.try_recv().expect("an event").reason, "First");
        assert!(events.try_recv().is_err());
    }
}
