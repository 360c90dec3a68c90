use std::time::Duration;

use kubewright_world::Random;

/// How a connection misbehaves. Each number is a chance in a thousand.
///
/// All of it is what a real network and a real API server may do to a client at any time: a correct operator ends
/// in the same state with faults as without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A request does not reach the server; the client sees a broken connection.
    pub lost_requests: u16,
    /// The server acts on a request, but the answer does not reach the client.
    pub lost_answers: u16,
    /// The server refuses a request with 500, without acting on it.
    pub server_errors: u16,
    /// The server refuses a request with 429 and asks to come back after a second.
    pub throttled: u16,
    /// A request takes longer, by up to [`Faults::longest_delay`].
    pub delayed: u16,
    /// The longest delay of a delayed request.
    pub longest_delay: Duration,
    /// A watch breaks off, drawn at each of its events, which is then lost with it.
    pub cut_watches: u16,
}

/// One thing that goes wrong with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// See [`Faults::lost_requests`].
    LostRequest,
    /// See [`Faults::lost_answers`].
    LostAnswer,
    /// See [`Faults::server_errors`].
    ServerError,
    /// See [`Faults::throttled`].
    Throttled,
}

impl Faults {
    /// A connection on which nothing goes wrong.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            lost_requests: 0,
            lost_answers: 0,
            server_errors: 0,
            throttled: 0,
            delayed: 0,
            longest_delay: Duration::ZERO,
            cut_watches: 0,
        }
    }

    /// A bad day: about one request in eight goes wrong, every fifth is late, watches break off now and then.
    #[must_use]
    pub const fn storm() -> Self {
        Self {
            lost_requests: 30,
            lost_answers: 30,
            server_errors: 30,
            throttled: 30,
            delayed: 200,
            longest_delay: Duration::from_millis(700),
            cut_watches: 40,
        }
    }

    /// What goes wrong with the next request. Draws the same number of times whatever it decides, so that one
    /// decision does not shift those that follow.
    pub(super) fn draw(&self, random: &Random) -> (Duration, Option<Fault>) {
        let (roll, late, delay) = (random.below(1000), random.below(1000), random.unit());
        let delay =
            if late < u64::from(self.delayed) { self.longest_delay.mul_f64(delay) } else { Duration::ZERO };
        let mut bound = 0;
        for (chance, fault) in [
            (self.lost_requests, Fault::LostRequest),
            (self.lost_answers, Fault::LostAnswer),
            (self.server_errors, Fault::ServerError),
            (self.throttled, Fault::Throttled),
        ] {
            bound += u64::from(chance);
            if roll < bound {
                return (delay, Some(fault));
            }
        }
        (delay, None)
    }

    /// Whether the watch breaks off at this event.
    pub(super) fn cuts_watch(&self, random: &Random) -> bool {
        random.below(1000) < u64::from(self.cut_watches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_faults_nothing_goes_wrong() {
        let random = Random::seeded(1);
        for _ in 0..1000 {
            assert_eq!(Faults::none().draw(&random), (Duration::ZERO, None));
            assert!(!Faults::none().cuts_watch(&random));
        }
    }

    #[test]
    fn faults_come_as_often_as_asked() {
        let random = Random::seeded(1);
        let faults = Faults { lost_requests: 100, throttled: 100, ..Faults::none() };
        let drawn: Vec<_> = (0..10_000).filter_map(|_| faults.draw(&random).1).collect();
        let lost = drawn.iter().filter(|fault| **fault == Fault::LostRequest).count();
        assert!((800..1200).contains(&lost), "{lost}");
        assert!((1600..2400).contains(&drawn.len()), "{}", drawn.len());
    }
}
