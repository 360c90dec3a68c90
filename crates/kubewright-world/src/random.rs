use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

/// A shared source of randomness. Clones draw from the same sequence.
#[derive(Clone)]
pub struct Random {
    rng: Arc<Mutex<StdRng>>,
}

impl Random {
    /// A source whose sequence is a function of `seed`.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { rng: Arc::new(Mutex::new(StdRng::seed_from_u64(seed))) }
    }

    /// A source seeded from the operating system.
    #[must_use]
    pub fn from_entropy() -> Self {
        Self::seeded(rand::random())
    }

    /// A new, independent source whose sequence depends on this one's next number.
    ///
    /// A component that takes a fork at its construction draws the same numbers no matter how its draws
    /// interleave with those of others.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::seeded(self.next_u64())
    }

    /// The next 64 bits.
    #[must_use]
    pub fn next_u64(&self) -> u64 {
        self.with(Rng::next_u64)
    }

    /// A number in `0..bound`, each equally likely; 0 for a `bound` of 0.
    #[must_use]
    pub fn below(&self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.with(|rng| rng.random_range(0..bound)) }
    }

    /// A number in `0.0..1.0`.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.with(RngExt::random)
    }

    /// Fills `bytes`.
    pub fn fill(&self, bytes: &mut [u8]) {
        self.with(|rng| rng.fill_bytes(bytes));
    }

    /// A version 4 UUID in its usual form, as the `metadata.uid` of objects.
    #[must_use]
    pub fn uid(&self) -> String {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let mut uid = String::with_capacity(36);
        for (index, byte) in bytes.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                uid.push('-');
            }
            uid.push(char::from(HEX[usize::from(byte >> 4)]));
            uid.push(char::from(HEX[usize::from(byte & 0x0f)]));
        }
        uid
    }

    fn with<T>(&self, draw: impl FnOnce(&mut StdRng) -> T) -> T {
        // A panic while drawing cannot leave the generator half-updated in a way that matters.
        draw(&mut self.rng.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl Default for Random {
    fn default() -> Self {
        Self::from_entropy()
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Random").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_sequences_and_forks() {
        let (one, two) = (Random::seeded(1), Random::seeded(1));
        let (fork_one, fork_two) = (one.fork(), two.fork());
        assert_eq!(fork_one.next_u64(), fork_two.next_u64());
        assert_eq!(one.below(1000), two.below(1000));
        assert_ne!(one.uid(), one.uid());
    }

    #[test]
    fn a_uid_is_a_version_4_uuid() {
        let uid = Random::seeded(3).uid();
        let groups: Vec<_> = uid.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12]);
        assert_eq!(&uid[14..15], "4");
        assert!(matches!(&uid[19..20], "8" | "9" | "a" | "b"));
    }

    #[test]
    fn below_stays_below() {
        let random = Random::seeded(5);
        assert_eq!(random.below(0), 0);
        assert!((0..100).all(|_| random.below(3) < 3));
        assert!((0.0..1.0).contains(&random.unit()));
    }
}
