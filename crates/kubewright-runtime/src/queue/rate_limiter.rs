use std::time::Duration;

use kubewright_world::Random;
use tokio::time::Instant;

/// How long a key waits after a failure: its own exponential backoff, and the share of all failures that the
/// [`Bucket`] lets through, whichever is longer.
///
/// The default is controller-runtime's: 5 ms doubling up to 1000 s for each key, and no bucket.
#[derive(Clone, Debug, Default)]
pub struct RateLimiter {
    backoff: Backoff,
    bucket: Option<Bucket>,
}

/// Exponential backoff with jitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    base: Duration,
    max: Duration,
    jitter: f64,
}

/// A token bucket: `burst` failures at once, then one per `interval`.
#[derive(Clone, Debug)]
pub struct Bucket {
    interval: Duration,
    burst: u32,
    /// When the bucket would be full again. Each reservation moves it one interval on.
    full_at: Option<Instant>,
}

// === impl RateLimiter ===

impl RateLimiter {
    /// A limiter with this backoff and no bucket.
    #[must_use]
    pub fn new(backoff: Backoff) -> Self {
        Self { backoff, bucket: None }
    }

    /// Limits the failures of all keys together, too.
    #[must_use]
    pub fn with_bucket(mut self, bucket: Bucket) -> Self {
        self.bucket = Some(bucket);
        self
    }

    /// The wait before the try that follows `failures` earlier failures and this one.
    pub(super) fn delay(&mut self, failures: u32, random: &Random, now: Instant) -> Duration {
        let own = self.backoff.delay(failures, random);
        match &mut self.bucket {
            Some(bucket) => own.max(bucket.reserve(now)),
            None => own,
        }
    }
}

// === impl Backoff ===

impl Backoff {
    /// Doubles from `base` with each failure up to `max`. Each delay is then shortened by a random part of up
    /// to a fifth, so that keys that failed together do not come back together.
    #[must_use]
    pub const fn new(base: Duration, max: Duration) -> Self {
        Self { base, max, jitter: 0.2 }
    }

    /// Sets the part of a delay, between 0 and 1, by which it may be shortened.
    #[must_use]
    pub const fn with_jitter(mut self, jitter: f64) -> Self {
        self.jitter = jitter.clamp(0.0, 1.0);
        self
    }

    /// The delay after `failures` earlier failures and this one.
    pub(super) fn delay(&self, failures: u32, random: &Random) -> Duration {
        let full = match 1_u32.checked_shl(failures) {
            Some(factor) => self.base.saturating_mul(factor).min(self.max),
            None => self.max,
        };
        if self.jitter == 0.0 { full } else { full.mul_f64(1.0 - self.jitter * random.unit()) }
    }
}

/// 5 ms doubling up to 1000 s, as in client-go.
impl Default for Backoff {
    fn default() -> Self {
        Self::new(Duration::from_millis(5), Duration::from_secs(1000))
    }
}

// === impl Bucket ===

impl Bucket {
    /// Lets `burst` failures through at once and then one every `interval`.
    ///
    /// client-go's bucket is `Bucket::new(Duration::from_millis(100), 100)`: ten a second after a burst of a
    /// hundred.
    #[must_use]
    pub const fn new(interval: Duration, burst: u32) -> Self {
        Self { interval, burst, full_at: None }
    }

    /// Takes a token and tells how long to wait for it.
    fn reserve(&mut self, now: Instant) -> Duration {
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now)) + self.interval;
        self.full_at = Some(full_at);
        full_at.saturating_duration_since(now).saturating_sub(self.interval.saturating_mul(self.burst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(failures: u32) -> Duration {
        Backoff::default().with_jitter(0.0).delay(failures, &Random::seeded(1))
    }

    #[test]
    fn backoff_doubles_from_5_milliseconds_to_1000_seconds() {
        assert_eq!(exact(0), Duration::from_millis(5));
        assert_eq!(exact(1), Duration::from_millis(10));
        assert_eq!(exact(17), Duration::from_millis(655_360));
        assert_eq!(exact(18), Duration::from_secs(1000));
        assert_eq!(exact(u32::MAX), Duration::from_secs(1000));
    }

    #[test]
    fn jitter_shortens_by_a_fifth_at_most_and_repeats_for_a_seed() {
        let (one, two) = (Random::seeded(4), Random::seeded(4));
        for failures in 0..40 {
            let delay = Backoff::default().delay(failures, &one);
            assert!(
                delay <= exact(failures) && delay >= exact(failures).mul_f64(0.8),
                "{failures}: {delay:?}"
            );
            assert_eq!(delay, Backoff::default().delay(failures, &two));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_bucket_lets_the_burst_through_and_then_one_per_interval() {
        let mut bucket = Bucket::new(Duration::from_millis(100), 100);
        let now = Instant::now();
        assert!((0..100).all(|_| bucket.reserve(now).is_zero()));
        assert_eq!(bucket.reserve(now), Duration::from_millis(100));
        assert_eq!(bucket.reserve(now), Duration::from_millis(200));
        assert!(bucket.reserve(now + Duration::from_secs(60)).is_zero());
    }
}
