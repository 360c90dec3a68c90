use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Tells the wall-clock time. Clones tell the same time.
#[derive(Clone)]
pub struct Clock {
    source: Arc<Source>,
}

enum Source {
    /// The machine's clock.
    System,
    /// Starts at `epoch` and advances as tokio's clock does, so it stands still while time is paused.
    Virtual { epoch: Mutex<Timestamp>, started: Instant },
}

impl Clock {
    /// The machine's wall clock.
    #[must_use]
    pub fn system() -> Self {
        Self { source: Arc::new(Source::System) }
    }

    /// A clock that tells `epoch` now and advances with tokio's clock.
    ///
    /// Under `tokio::time::pause` it advances exactly when tokio's timers do, which makes every timestamp
    /// of a run a function of its inputs.
    #[must_use]
    pub fn starting_at(epoch: Timestamp) -> Self {
        Self { source: Arc::new(Source::Virtual { epoch: Mutex::new(epoch), started: Instant::now() }) }
    }

    /// Moves a virtual clock by `offset`, as an administrator or a time server moves a machine's: it may go back. Clones
    /// follow, timers do not notice. The machine's own clock is left alone.
    pub fn shift(&self, offset: SignedDuration) {
        if let Source::Virtual { epoch, .. } = &*self.source {
            let mut epoch = epoch.lock().unwrap_or_else(PoisonError::into_inner);
            let end = if offset.is_negative() { Timestamp::MIN } else { Timestamp::MAX };
            *epoch = epoch.saturating_add(offset).unwrap_or(end);
        }
    }

    /// The current time, in full resolution. Kubernetes' `Time` keeps seconds, `MicroTime` microseconds:
    /// the writer of the field rounds.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match &*self.source {
            Source::System => Timestamp::now(),
            Source::Virtual { epoch, started } => {
                let epoch = *epoch.lock().unwrap_or_else(PoisonError::into_inner);
                // Saturates at the end of the representable time rather than panic in a year-long simulation.
                let elapsed = SignedDuration::try_from(started.elapsed()).unwrap_or(SignedDuration::MAX);
                epoch.saturating_add(elapsed).unwrap_or(Timestamp::MAX)
            }
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &*self.source {
            Source::System => "system",
            Source::Virtual { .. } => "virtual",
        };
        f.debug_struct("Clock").field("kind", &kind).field("now", &self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_virtual_clock_advances_with_tokio_time_alone() {
        let epoch: Timestamp = "2030-01-01T00:00:00Z".parse().expect("a valid timestamp");
        let clock = Clock::starting_at(epoch);
        assert_eq!(clock.now(), epoch);
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.clone().now().to_string(), "2030-01-01T00:01:30Z");
        clock.clone().shift(SignedDuration::from_hours(-2));
        assert_eq!(clock.now().to_string(), "2029-12-31T22:01:30Z");
    }
}
