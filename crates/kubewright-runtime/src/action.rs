use std::time::Duration;

/// What is to happen to a request after its reconciler has returned `Ok`.
///
/// An error is not an action: return it, and the request is retried with exponential backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an action does nothing until the reconciler returns it"]
pub struct Action {
    next: Next,
    priority: Option<i32>,
}

/// When a request is reconciled again without an event that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Not before an event.
    Event,
    /// After the request's current backoff, which grows with each such return.
    Backoff,
    /// After this duration, or at an earlier event. The backoff starts anew.
    After(Duration),
}

impl Action {
    /// The object is as it should be: wait for the next event. The request's backoff starts anew.
    pub const fn done() -> Self {
        Self { next: Next::Event, priority: None }
    }

    /// Try again after the request's backoff (5 ms, doubling up to 1000 s), as after an error but without
    /// counting one. Prefer an event to wait for, or [`Action::requeue_after`] where a time is known.
    pub const fn requeue() -> Self {
        Self { next: Next::Backoff, priority: None }
    }

    /// Reconcile again after `delay` at the latest. The request's backoff starts anew.
    ///
    /// A zero `delay` is the same as [`Action::done`], as in controller-runtime, where a requeue after
    /// zero is none.
    pub const fn requeue_after(delay: Duration) -> Self {
        if delay.is_zero() { Self::done() } else { Self { next: Next::After(delay), priority: None } }
    }

    /// Sets the priority with which the request is queued again; higher runs first, the default is that
    /// of the run which returned this action.
    pub const fn with_priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// When the request is reconciled again.
    #[must_use]
    pub const fn next(&self) -> Next {
        self.next
    }

    /// The priority of the next run, if this action sets one.
    #[must_use]
    pub const fn priority(&self) -> Option<i32> {
        self.priority
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requeue_after_zero_is_none() {
        assert_eq!(Action::requeue_after(Duration::ZERO), Action::done());
        assert_eq!(Action::requeue_after(Duration::from_secs(1)).next(), Next::After(Duration::from_secs(1)));
    }
}
