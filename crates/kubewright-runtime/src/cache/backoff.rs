use std::time::Duration;

use kubewright_world::Random;
use tokio::time::Instant;

// The numbers of client-go's reflector.
const BASE: Duration = Duration::from_millis(800);
const MAX: Duration = Duration::from_secs(30);
const RESET: Duration = Duration::from_secs(120);

/// How long a watch waits after a failure: 0.8 s doubling up to 30 s, each up to doubled at random, and from
/// the start again after two minutes without a failure.
#[derive(Debug)]
pub(super) struct WatchBackoff {
    next: Duration,
    last_failure: Option<Instant>,
    random: Random,
}

impl WatchBackoff {
    pub(super) fn new(random: Random) -> Self {
        Self { next: BASE, last_failure: None, random }
    }

    /// The delay after a failure at `now`.
    pub(super) fn delay(&mut self, now: Instant) -> Duration {
        if self.last_failure.is_some_and(|last| now.saturating_duration_since(last) > RESET) {
            self.next = BASE;
        }
        self.last_failure = Some(now);
        let delay = self.next;
        self.next = (delay * 2).min(MAX);
        delay.mul_f64(1.0 + self.random.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_delay_grows_to_30_seconds_and_starts_anew_after_two_quiet_minutes() {
        let mut backoff = WatchBackoff::new(Random::seeded(1));
        let start = Instant::now();
        let mut expected = BASE;
        for _ in 0..10 {
            let delay = backoff.delay(start);
            assert!(
                delay >= expected && delay <= expected * 2,
                "{delay:?} is not in [{expected:?}, twice that]"
            );
            expected = (expected * 2).min(MAX);
        }
        let delay = backoff.delay(start + RESET + Duration::from_millis(1));
        assert!(delay <= BASE * 2, "{delay:?}");
    }
}
