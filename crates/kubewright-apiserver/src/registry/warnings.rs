use std::sync::{Arc, Mutex, PoisonError};

/// What a client should know about a request that is not refused for it. Clones collect into the same list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings {
    texts: Arc<Mutex<Vec<String>>>,
}

impl Warnings {
    /// Adds warnings.
    pub(crate) fn extend(&self, texts: impl IntoIterator<Item = String>) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).extend(texts);
    }

    /// What was collected.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
