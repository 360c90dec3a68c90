//! What a decision has to tell, before it becomes an Event.

use kubewright_runtime::events::EventType;

/// An event that a pure decision asks for; a reconciler records it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Note {
    pub(crate) kind: EventType,
    pub(crate) reason: &'static str,
    /// What was done, in the imperative: the `action` of the Event.
    pub(crate) action: &'static str,
    pub(crate) message: String,
    /// The container it is about, as `spec.containers{name}`.
    pub(crate) field_path: Option<String>,
}

impl Note {
    pub(crate) fn normal(reason: &'static str, action: &'static str, message: impl Into<String>) -> Self {
        Self { kind: EventType::Normal, reason, action, message: message.into(), field_path: None }
    }

    pub(crate) fn warning(reason: &'static str, action: &'static str, message: impl Into<String>) -> Self {
        Self { kind: EventType::Warning, ..Self::normal(reason, action, message) }
    }

    pub(crate) fn about(self, field_path: impl Into<String>) -> Self {
        Self { field_path: Some(field_path.into()), ..self }
    }
}
