//! The outside world, injected.
//!
//! An operator and an API server that run in one thread under paused time must give equal histories for
//! equal seeds. That holds only if nothing in them reads the machine's clock or its entropy on the side,
//! so both take the two types of this crate instead:
//!
//! * [`Clock`] tells the wall-clock time that ends up in objects (`creationTimestamp`, a condition's
//!   `lastTransitionTime`). Durations and timers do not come from here: they are tokio's, which tests pause.
//! * [`Random`] is the one source of randomness: uids, generated name suffixes, jitter.
//!
//! This crate is the lowest of the workspace. It imports no other crate of ours, and every crate may import it.
//!
//! ```
//! use kubewright_world::{Clock, Random};
//!
//! let clock = Clock::system();
//! assert!(clock.now() <= clock.now());
//!
//! let one = Random::seeded(7);
//! let two = Random::seeded(7);
//! assert_eq!(one.uid(), two.uid());
//! ```

mod clock;
mod random;

pub use clock::Clock;
pub use random::Random;
