//! Events: short notes on objects, which `kubectl describe` and `kubectl events` show.
//!
//! A [`Recorder`] takes an event and returns at once; a task writes it to `events.k8s.io/v1`. The same event
//! again within six minutes raises the count of a series instead of making another object. Nothing waits for
//! events and no failure of theirs is an error of the operator: if the queue is full they are dropped, which a
//! metric counts. Start reading at `recorder.rs`; `broadcaster.rs` is the task, `series.rs` what it remembers.
//!
//! An operator that records needs
//!
//! ```text
//! // +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
//! ```

mod broadcaster;
mod recorder;
mod series;

pub(crate) use broadcaster::Broadcaster;
pub use recorder::{EventType, RecordedEvent, Recorder};
