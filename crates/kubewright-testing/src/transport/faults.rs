use std::{fmt, str::FromStr, time::Duration};

use kubewright_world::Random;

/// How a connection and the server behind it misbehave. Each number without a unit is a chance in a thousand.
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
    /// A watch is refused with 410: the server no longer knows what changed since its version.
    pub expired: u16,
    /// A watch breaks off, drawn at each of its events, which is then lost with it.
    pub cut_watches: u16,
    /// A watch falls behind, drawn at each of its events, by up to [`Faults::longest_lag`].
    pub lagging: u16,
    /// The longest time by which a watch falls behind.
    pub longest_lag: Duration,
    /// An event comes twice.
    pub repeated: u16,
    /// An event is left out, if a later one about the same object is already there.
    pub coalesced: u16,
    /// The server is restarted, drawn every second: watches end, and what changed before is unknown.
    pub restarts: u16,
    /// The server forgets what changed before, drawn every second: a watch that begins then gets 410.
    pub compactions: u16,
    /// The process of an operator dies when the server has acted on a write of it, before the answer. Nothing starts it
    /// again but a [`Simulation`](crate::sim::Simulation).
    pub crashes: u16,
}

/// One kind of thing that goes wrong. In text it is written as the field of [`Faults`], with dashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// See [`Faults::delayed`].
    Delayed,
    /// See [`Faults::expired`].
    Expired,
    /// See [`Faults::cut_watches`].
    CutWatch,
    /// See [`Faults::lagging`].
    Lagging,
    /// See [`Faults::repeated`].
    Repeated,
    /// See [`Faults::coalesced`].
    Coalesced,
    /// See [`Faults::restarts`].
    Restart,
    /// See [`Faults::compactions`].
    Compaction,
    /// See [`Faults::crashes`].
    Crash,
}

/// What goes wrong with one request, and how long it takes longer.
pub(super) struct Draw {
    pub(super) delay: Duration,
    pub(super) fault: Option<Fault>,
    pub(super) expired: bool,
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
            expired: 0,
            cut_watches: 0,
            lagging: 0,
            longest_lag: Duration::ZERO,
            repeated: 0,
            coalesced: 0,
            restarts: 0,
            compactions: 0,
            crashes: 0,
        }
    }

    /// A bad day: about one request in eight goes wrong, every fifth is late, watches lag, stutter and break off, and the
    /// server is restarted every other minute. Operators do not crash.
    #[must_use]
    pub const fn storm() -> Self {
        Self {
            lost_requests: 30,
            lost_answers: 30,
            server_errors: 30,
            throttled: 30,
            delayed: 200,
            longest_delay: Duration::from_millis(700),
            expired: 50,
            cut_watches: 40,
            lagging: 100,
            longest_lag: Duration::from_secs(3),
            repeated: 50,
            coalesced: 500,
            restarts: 8,
            compactions: 20,
            crashes: 0,
        }
    }

    /// The same without one kind of fault.
    #[must_use]
    pub fn without(mut self, fault: Fault) -> Self {
        *self.chance_mut(fault) = 0;
        self
    }

    /// The kinds of faults that may occur.
    pub fn kinds(mut self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(move |fault| *self.chance_mut(*fault) > 0)
    }

    fn chance_mut(&mut self, fault: Fault) -> &mut u16 {
        match fault {
            Fault::LostRequest => &mut self.lost_requests,
            Fault::LostAnswer => &mut self.lost_answers,
            Fault::ServerError => &mut self.server_errors,
            Fault::Throttled => &mut self.throttled,
            Fault::Delayed => &mut self.delayed,
            Fault::Expired => &mut self.expired,
            Fault::CutWatch => &mut self.cut_watches,
            Fault::Lagging => &mut self.lagging,
            Fault::Repeated => &mut self.repeated,
            Fault::Coalesced => &mut self.coalesced,
            Fault::Restart => &mut self.restarts,
            Fault::Compaction => &mut self.compactions,
            Fault::Crash => &mut self.crashes,
        }
    }

    /// What goes wrong with the next request. Draws the same number of times whatever it decides, so that one
    /// decision does not shift those that follow.
    pub(super) fn draw(&self, random: &Random) -> Draw {
        let (roll, late, delay) = (random.below(1000), random.below(1000), random.unit());
        let expired = happens(self.expired, random);
        let delay =
            if late < u64::from(self.delayed) { self.longest_delay.mul_f64(delay) } else { Duration::ZERO };
        let mut bound = 0;
        let mut fault = None;
        // Each has its own part of the range also when another is off.
        for (chance, kind) in [
            (self.lost_requests, Fault::LostRequest),
            (self.lost_answers, Fault::LostAnswer),
            (self.server_errors, Fault::ServerError),
            (self.throttled, Fault::Throttled),
        ] {
            bound += u64::from(chance);
            if fault.is_none() && roll < bound {
                fault = Some(kind);
            }
        }
        Draw { delay, fault, expired }
    }
}

/// Draws whether something happens whose chance is so many in a thousand.
pub(crate) fn happens(chance: u16, random: &Random) -> bool {
    random.below(1000) < u64::from(chance)
}

// === impl Fault ===

impl Fault {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::LostRequest,
        Self::LostAnswer,
        Self::ServerError,
        Self::Throttled,
        Self::Delayed,
        Self::Expired,
        Self::CutWatch,
        Self::Lagging,
        Self::Repeated,
        Self::Coalesced,
        Self::Restart,
        Self::Compaction,
        Self::Crash,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::LostRequest => "lost-requests",
            Self::LostAnswer => "lost-answers",
            Self::ServerError => "server-errors",
            Self::Throttled => "throttled",
            Self::Delayed => "delayed",
            Self::Expired => "expired",
            Self::CutWatch => "cut-watches",
            Self::Lagging => "lagging",
            Self::Repeated => "repeated",
            Self::Coalesced => "coalesced",
            Self::Restart => "restarts",
            Self::Compaction => "compactions",
            Self::Crash => "crashes",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|fault| fault.name() == text);
        known.ok_or_else(|| format!("{text:?} is no fault: write {}", Self::ALL.map(Self::name).join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_faults_nothing_goes_wrong() {
        let random = Random::seeded(1);
        assert_eq!(Faults::none().kinds().count(), 0);
        for _ in 0..1000 {
            let Draw { delay, fault, expired } = Faults::none().draw(&random);
            assert_eq!((delay, fault, expired), (Duration::ZERO, None, false));
        }
    }

    #[test]
    fn faults_come_as_often_as_asked() {
        let random = Random::seeded(1);
        let faults = Faults { lost_requests: 100, throttled: 100, ..Faults::none() };
        let drawn: Vec<_> = (0..10_000).filter_map(|_| faults.draw(&random).fault).collect();
        let lost = drawn.iter().filter(|fault| **fault == Fault::LostRequest).count();
        assert!((800..1200).contains(&lost), "{lost}");
        assert!((1600..2400).contains(&drawn.len()), "{}", drawn.len());
    }

    #[test]
    fn each_kind_has_a_name_and_can_be_left_out() {
        let all = Faults { crashes: 1, ..Faults::storm() };
        assert_eq!(all.kinds().collect::<Vec<_>>(), Fault::ALL);
        for fault in Fault::ALL {
            assert_eq!(fault.to_string().parse(), Ok(fault));
            assert!(!all.without(fault).kinds().any(|kind| kind == fault));
        }
    }
}
