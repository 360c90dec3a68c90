//! Three replicas on one server that are killed, stopped, made to stand still, cut off and slowed, with clocks that are
//! wrong, jump and drift, as a seed decides.

use std::{
    ops::RangeInclusive,
    sync::{Arc, Mutex},
    time::Duration,
};

use jiff::SignedDuration;
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{Clock, Random};

use super::replica::{Condition, DRIFT, Replica, Work};

/// The step of the schedule's clock: within one, replicas run one after the other, in an order that is drawn.
pub(crate) const TICK: Duration = Duration::from_millis(200);
pub(crate) const LEASE_DURATION: Duration = Duration::from_secs(15);
/// The timeout of a request that hangs, and the pause after it.
const RECOVERY: Duration = Duration::from_millis(5000 + 4400 + 200);
/// How long a request may take on a slow network, both ways. A slow replica may be faster than one that is not.
const SLOW: Duration = Duration::from_secs(4);

/// One thing that a replica did.
pub(crate) trait Act: Clone + Send + 'static {
    /// Which process.
    fn process(&self) -> u64;
}

/// One place in the operator's Deployment.
enum Seat {
    Running {
        replica: Replica,
        /// Stands still until then.
        still: Option<Duration>,
        /// Its network is fine from then on. Counts as healthy when it has given up on requests from before.
        healed: Option<Duration>,
    },
    /// The process is gone; the kubelet starts the next one at this time.
    Empty(Duration),
}

pub(crate) struct Scene<A> {
    pub(crate) seed: u64,
    pub(crate) random: Random,
    pub(crate) server: ApiServer,
    seats: Vec<Seat>,
    pub(crate) now: Duration,
    processes: u64,
    work: Work<A>,
    acts: Arc<Mutex<Vec<A>>>,
    pub(crate) log: Vec<String>,
}

impl<A: Act> Scene<A> {
    pub(crate) fn new(seed: u64, work: Work<A>) -> Self {
        let random = Random::seeded(seed);
        let epoch = "2030-01-01T00:00:00Z".parse().expect("a timestamp");
        let server = ApiServer::builder().clock(Clock::starting_at(epoch)).random(random.fork());
        // Until the end, for the writes to be looked at.
        let server = server.watch_history(1_000_000).build();
        let seats = (0..3).map(|_| Seat::Empty(Duration::ZERO)).collect();
        let (now, acts, log) = (Duration::ZERO, Arc::default(), Vec::new());
        Self { seed, random, server, seats, now, processes: 0, work, acts, log }
    }

    /// One step of all replicas.
    pub(crate) fn tick(&mut self) {
        self.now += TICK;
        let first = usize::try_from(self.random.below(3)).expect("small");
        let step = 1 + usize::try_from(self.random.below(2)).expect("small");
        for index in [first, (first + step) % 3, (first + 2 * step) % 3] {
            let seat = &mut self.seats[index];
            match seat {
                Seat::Empty(until) if *until <= self.now => {
                    self.processes += 1;
                    let (number, random) = (self.processes, &self.random);
                    let replica =
                        Replica::start(number, self.now, &self.server, random, &self.acts, self.work);
                    *seat = Seat::Running { replica, still: None, healed: None };
                }
                Seat::Empty(_) => {}
                Seat::Running { still: Some(until), .. } if *until > self.now => {}
                Seat::Running { replica, still, healed } => {
                    if healed.is_some_and(|healed| healed <= self.now) {
                        replica.network.set(Condition::Fine);
                    }
                    healed.take_if(|healed| *healed + RECOVERY <= self.now);
                    if still.take().is_some() {
                        replica.wake_at(self.now);
                    }
                    replica.run_until(self.now);
                    if replica.has_ended() {
                        *seat = Seat::Empty(self.now + Duration::from_secs(1));
                    }
                }
            }
        }
    }

    pub(crate) fn pass(&mut self, milliseconds: u64) {
        let until = self.now + Duration::from_millis(milliseconds);
        while self.now < until {
            self.tick();
        }
    }

    /// The seats of replicas with which nothing is wrong.
    pub(crate) fn healthy(&self) -> Vec<usize> {
        let seats = self.seats.iter().enumerate();
        let healthy = |seat: &Seat| matches!(seat, Seat::Running { replica, still: None, healed: None } if !replica.is_stopping());
        seats.filter(|(_, seat)| healthy(seat)).map(|(index, _)| index).collect()
    }

    /// Whether this process is able to act on: not killed, not told to end, not standing still, not cut off.
    pub(crate) fn is_able(&self, process: u64) -> bool {
        self.seats.iter().any(|seat| match seat {
            Seat::Running { replica, still: None, .. } => {
                let connected = matches!(replica.network.condition(), Condition::Fine | Condition::Slow(_));
                replica.process == process && connected && !replica.is_stopping()
            }
            _ => false,
        })
    }

    /// Something happens to the one that acted last, or to somebody else.
    pub(crate) fn fault(&mut self) {
        let leader = self.acts.lock().expect("no panic under the lock").last().map(Act::process);
        let is_leader =
            |seat: &Seat| matches!(seat, Seat::Running { replica, .. } if Some(replica.process) == leader);
        let healthy = self.healthy();
        let leading = healthy.iter().copied().find(|index| is_leader(&self.seats[*index]));
        let drawn = healthy[usize::try_from(self.random.below(healthy.len() as u64)).expect("small")];
        let index = leading.filter(|_| self.random.below(10) < 7).unwrap_or(drawn);
        let (now, random) = (self.now, &self.random);
        let up_to = |seconds: u64| Duration::from_millis(100 * (1 + random.below(10 * seconds)));
        let seat = &mut self.seats[index];
        let Seat::Running { replica, still, healed } = seat else { return };
        let process = replica.process;
        let what = match random.below(8) {
            0 => {
                *seat = Seat::Empty(now + up_to(20));
                "is killed"
            }
            1 => {
                replica.stop();
                "is stopped"
            }
            2 | 3 => {
                *still = Some(now + up_to(40));
                "stands still"
            }
            4 => {
                replica.network.set(Condition::Slow(SLOW / 2));
                *healed = Some(now + up_to(60));
                "is slowed"
            }
            5 => {
                let seconds = i64::try_from(random.below(126_000_000)).expect("small") - 63_000_000;
                replica.clock.shift(SignedDuration::from_secs(seconds));
                "has its clock set"
            }
            _ => {
                let conditions = [Condition::Hangs, Condition::Refuses, Condition::LosesAnswers];
                let condition = conditions[usize::try_from(random.below(3)).expect("small")];
                replica.network.set(condition);
                *healed = Some(now + up_to(40));
                "is cut off"
            }
        };
        let role = if Some(process) == leader { "who acted last" } else { "another" };
        self.log.push(format!("{now:?}: {role}, process {process}, {what}"));
    }

    /// What was done since the first `seen` acts.
    pub(crate) fn acts_since(&self, seen: usize) -> Vec<A> {
        self.acts.lock().expect("no panic under the lock")[seen..].to_vec()
    }

    pub(crate) fn acts_so_far(&self) -> usize {
        self.acts.lock().expect("no panic under the lock").len()
    }

    /// `limit` of healthy machines, on the machines there are: one that is slow is waited for `requests` times.
    pub(crate) fn at_most(&self, limit: Duration, requests: u32) -> Duration {
        let is_slow = |seat: &Seat| match seat {
            Seat::Running { replica, .. } => replica.network.condition() != Condition::Fine,
            Seat::Empty(_) => false,
        };
        let slow = if self.seats.iter().any(is_slow) { SLOW * requests } else { Duration::ZERO };
        (limit + slow).mul_f64(1.0 + 2.0 * DRIFT)
    }
}

/// Says how to see a failure again, whoever it is that panics.
pub(crate) struct Reproduction(pub(crate) u64);

impl Drop for Reproduction {
    #[allow(clippy::print_stdout, reason = "it is for the reader of a failed test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let test = std::thread::current().name().unwrap_or_default().to_owned();
            println!(
                "reproduce with: KUBEWRIGHT_ELECTION_SEED={} cargo test -p kubewright-runtime --test election {test}",
                self.0
            );
        }
    }
}

/// The seeds to try: one that is asked for, or as many as are asked for, or `default`.
pub(crate) fn seeds(default: u64) -> RangeInclusive<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    match number("KUBEWRIGHT_ELECTION_SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("KUBEWRIGHT_ELECTION_SCHEDULES").unwrap_or(default),
    }
}
