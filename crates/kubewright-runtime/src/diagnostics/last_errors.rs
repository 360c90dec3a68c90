use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::time::Instant;

use crate::{Error, Request};

/// Why the last reconciliation of a key failed, until one succeeds.
#[derive(Debug, Default)]
pub(crate) struct LastErrors {
    by_key: Mutex<BTreeMap<Request, LastError>>,
}

#[derive(Clone, Debug)]
pub(crate) struct LastError {
    pub(crate) message: String,
    pub(crate) at: Instant,
    /// Whether the key waits for an event instead of the end of a backoff.
    pub(crate) is_terminal: bool,
}

/// More failing keys than anybody reads. The log has the errors of the others.
const KEPT: usize = 1024;

// === impl LastErrors ===

impl LastErrors {
    pub(crate) fn failed(&self, key: &Request, error: &Error) {
        let error =
            LastError { message: error.to_string(), at: Instant::now(), is_terminal: error.is_terminal() };
        let mut by_key = self.lock();
        if by_key.len() < KEPT || by_key.contains_key(key) {
            by_key.insert(key.clone(), error);
        }
    }

    pub(crate) fn succeeded(&self, key: &Request) {
        self.lock().remove(key);
    }

    pub(crate) fn all(&self) -> BTreeMap<Request, LastError> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Request, LastError>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_last_error_stays_until_a_success_and_strangers_do_not_fill_the_memory() {
        let errors = LastErrors::default();
        let key = |number: usize| Request::namespaced("shop", format!("cart-{number}"));
        errors.failed(&key(1), &Error::other("first"));
        errors.failed(&key(1), &Error::terminal("second"));
        let all = errors.all();
        assert_eq!(all[&key(1)].message, "terminal error: second");
        assert!(all[&key(1)].is_terminal);
        errors.succeeded(&key(1));
        assert!(errors.all().is_empty());

        for number in 0..2 * KEPT {
            errors.failed(&key(number), &Error::other("full"));
        }
        assert_eq!(errors.all().len(), KEPT);
    }
}
