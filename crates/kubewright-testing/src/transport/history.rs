use std::{
    fmt::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::time::Instant;

/// What went over the wire, in the order in which it did: a line for each request, with its answer's status, and
/// one for each watch event. Clones share their lines.
///
/// Lines carry the virtual time since the start and the client's name, so equal histories mean that equal things
/// happened at equal times.
#[derive(Clone)]
pub struct History {
    started: Instant,
    /// `None` if nothing is kept.
    lines: Option<Arc<Mutex<String>>>,
}

impl History {
    /// An empty history that starts now.
    #[must_use]
    pub fn new() -> Self {
        Self { started: Instant::now(), lines: Some(Arc::default()) }
    }

    /// One that stays empty: for runs so long that nobody reads it.
    #[must_use]
    pub fn unkept() -> Self {
        Self { started: Instant::now(), lines: None }
    }

    /// All lines so far, each ended by a newline.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = self.lines.as_ref();
        lines.map(|lines| lines.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// The number of lines so far that contain `part`.
    #[must_use]
    pub fn count(&self, part: &str) -> usize {
        self.text().lines().filter(|line| line.contains(part)).count()
    }

    /// Adds a line.
    pub(super) fn record(&self, client: &str, what: fmt::Arguments<'_>) {
        let Some(lines) = &self.lines else { return };
        let elapsed = self.started.elapsed();
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{:>6}.{:06} {client} {what}", elapsed.as_secs(), elapsed.subsec_micros());
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("lines", &self.text().lines().count()).finish_non_exhaustive()
    }
}
