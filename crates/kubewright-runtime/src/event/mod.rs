//! What happened to a watched object: the typed events that go from an informer through the predicates to a
//! handler.
//!
//! Start with [`Event`]. [`Object`] is what any watched object can be asked for, so that code which looks at
//! metadata alone works on every kind, also without knowing the type (`Event<dyn Object>`).

mod object;

use std::{fmt, sync::Arc};

pub use object::Object;

/// One change of one object, as an informer saw it.
///
/// Events of one object come in the order of its versions. After a gap in the watch, changes that happened
/// meanwhile are merged into one event, and an object that vanished meanwhile is reported as deleted with its
/// last known state.
pub enum Event<K: ?Sized> {
    /// The object is new to the informer.
    Create {
        /// The object.
        object: Arc<K>,
        /// Whether it was there before the informer, or before the handler that gets this event.
        initial: bool,
    },
    /// The object changed.
    Update {
        /// What it was.
        old: Arc<K>,
        /// What it is.
        new: Arc<K>,
    },
    /// The object is gone.
    Delete {
        /// Its last state.
        object: Arc<K>,
        /// Whether the watch missed the deletion, so that `object` may be older than the last state.
        state_unknown: bool,
    },
    /// Something outside the cluster concerns the object.
    Generic {
        /// The object.
        object: Arc<K>,
    },
}

impl<K: ?Sized> Event<K> {
    /// The object: the new one of an update, the last known one of a deletion.
    #[must_use]
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Update { new, .. } => new,
            Self::Create { object, .. } | Self::Delete { object, .. } | Self::Generic { object } => object,
        }
    }

    /// What an updated object was before.
    #[must_use]
    pub fn old(&self) -> Option<&Arc<K>> {
        match self {
            Self::Update { old, .. } => Some(old),
            _ => None,
        }
    }
}

impl<K: Object> Event<K> {
    /// The same event without the type of its object.
    #[must_use]
    pub fn erase(&self) -> Event<dyn Object> {
        match self {
            Self::Create { object, initial } => Event::Create { object: object.clone(), initial: *initial },
            Self::Update { old, new } => Event::Update { old: old.clone(), new: new.clone() },
            Self::Delete { object, state_unknown } => {
                Event::Delete { object: object.clone(), state_unknown: *state_unknown }
            }
            Self::Generic { object } => Event::Generic { object: object.clone() },
        }
    }
}

impl<K: ?Sized> Clone for Event<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Create { object, initial } => Self::Create { object: object.clone(), initial: *initial },
            Self::Update { old, new } => Self::Update { old: old.clone(), new: new.clone() },
            Self::Delete { object, state_unknown } => {
                Self::Delete { object: object.clone(), state_unknown: *state_unknown }
            }
            Self::Generic { object } => Self::Generic { object: object.clone() },
        }
    }
}

/// The kind of event and the object's key: events of whole objects would flood a log.
impl<K: Object + ?Sized> fmt::Debug for Event<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.object().request();
        match self {
            Self::Create { initial: true, .. } => write!(f, "Create({key}, initial)"),
            Self::Create { .. } => write!(f, "Create({key})"),
            Self::Update { .. } => write!(f, "Update({key})"),
            Self::Delete { state_unknown: true, .. } => write!(f, "Delete({key}, state unknown)"),
            Self::Delete { .. } => write!(f, "Delete({key})"),
            Self::Generic { .. } => write!(f, "Generic({key})"),
        }
    }
}
