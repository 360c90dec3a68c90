//! Three replicas on one server that are killed, stopped, made to stand still, cut off and slowed, with wrong clocks,
//! as a seed decides.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use kubewright_apiserver::ApiServer;
use kubewright_runtime::{Clock, Random};

use super::replica::{Act, Condition, Replica};

/// The step of the schedule's clock: within one, replicas run one after the other, in an order that is drawn.
const TICK: Duration = Duration::from_millis(200);
const LEASE_DURATION: Duration = Duration::from_secs(15);
/// A renewal after the fault of which no answer comes, the retry period with all its jitter before a standby sees it,
/// and the ways of a few requests.
const RETRY: Duration = Duration::from_millis(2000 + 4400 + 400);
/// The timeout of a request that hangs, and the pause after it.
const RECOVERY: Duration = Duration::from_millis(5000 + 4400 + 200);
/// How long a request may take on a slow network, both ways. A slow replica may be faster than one that is not.
const SLOW: Duration = Duration::from_secs(4);

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

struct Schedule {
    seed: u64,
    random: Random,
    server: ApiServer,
    seats: Vec<Seat>,
    now: Duration,
    processes: u64,
    acts: Arc<Mutex<Vec<Act>>>,
    log: Vec<String>,
}

#[derive(Default)]
struct Counts {
    faults: u64,
    terms: u64,
    acts: u64,
    simulated: Duration,
    longest: Duration,
}

impl Schedule {
    fn new(seed: u64) -> Self {
        let random = Random::seeded(seed);
        let epoch = "2030-01-01T00:00:00Z".parse().expect("a timestamp");
        let server = ApiServer::builder().clock(Clock::starting_at(epoch)).random(random.fork()).build();
        let seats = (0..3).map(|_| Seat::Empty(Duration::ZERO)).collect();
        let (now, acts, log) = (Duration::ZERO, Arc::default(), Vec::new());
        Self { seed, random, server, seats, now, processes: 0, acts, log }
    }

    fn run(mut self) -> Counts {
        let mut counts = Counts::default();
        self.until_somebody_acts();
        for _ in 0..6 {
            self.pass(self.random.below(20_000));
            while self.healthy().len() < 2 {
                self.pass(1000);
            }
            self.until_somebody_acts();
            self.fault();
            counts.faults += 1;
            counts.longest = counts.longest.max(self.until_somebody_acts());
        }
        self.pass(60_000);
        self.check(&mut counts);
        counts.simulated = self.now;
        counts
    }

    /// One step of all replicas.
    fn tick(&mut self) {
        self.now += TICK;
        let first = usize::try_from(self.random.below(3)).expect("small");
        let step = 1 + usize::try_from(self.random.below(2)).expect("small");
        for index in [first, (first + step) % 3, (first + 2 * step) % 3] {
            let seat = &mut self.seats[index];
            match seat {
                Seat::Empty(until) if *until <= self.now => {
                    self.processes += 1;
                    let replica =
                        Replica::start(self.processes, self.now, &self.server, &self.random, &self.acts);
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

    fn pass(&mut self, milliseconds: u64) {
        let until = self.now + Duration::from_millis(milliseconds);
        while self.now < until {
            self.tick();
        }
    }

    /// The seats of replicas with which nothing is wrong.
    fn healthy(&self) -> Vec<usize> {
        let seats = self.seats.iter().enumerate();
        let healthy = |seat: &Seat| matches!(seat, Seat::Running { replica, still: None, healed: None } if !replica.is_stopping());
        seats.filter(|(_, seat)| healthy(seat)).map(|(index, _)| index).collect()
    }

    /// Whether this process is able to act on: not killed, not told to end, not standing still, not cut off.
    fn is_able(&self, process: u64) -> bool {
        self.seats.iter().any(|seat| match seat {
            Seat::Running { replica, still: None, .. } => {
                let connected = matches!(replica.network.condition(), Condition::Fine | Condition::Slow(_));
                replica.process == process && connected && !replica.is_stopping()
            }
            _ => false,
        })
    }

    /// Runs until a replica acts that is able to go on, and returns how long that took.
    fn until_somebody_acts(&mut self) -> Duration {
        let began = self.now;
        let seen = self.acts.lock().expect("no panic under the lock").len();
        let is_slow = |seat: &Seat| match seat {
            Seat::Running { replica, .. } => replica.network.condition() != Condition::Fine,
            Seat::Empty(_) => false,
        };
        let mut limit = LEASE_DURATION + RETRY;
        if self.seats.iter().any(is_slow) {
            limit += SLOW;
        }
        loop {
            self.tick();
            let acted: Vec<_> = self.acts.lock().expect("no panic under the lock")[seen..].to_vec();
            if acted.iter().any(|act| self.is_able(act.process)) {
                return self.now - began;
            }
            if self.now - began > limit {
                let (seed, log) = (self.seed, self.log.join("\n"));
                panic!("seed {seed}: nobody leads {limit:?} after {began:?}\n{log}");
            }
        }
    }

    /// Something happens to the leader, or to somebody else.
    fn fault(&mut self) {
        let leader = self.acts.lock().expect("no panic under the lock").last().map(|act| act.process);
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
        let what = match random.below(7) {
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
            _ => {
                let conditions = [Condition::Hangs, Condition::Refuses, Condition::LosesAnswers];
                let condition = conditions[usize::try_from(random.below(3)).expect("small")];
                replica.network.set(condition);
                *healed = Some(now + up_to(40));
                "is cut off"
            }
        };
        let role = if Some(process) == leader { "the leader" } else { "a standby" };
        self.log.push(format!("{now:?}: {role}, process {process}, {what}"));
    }

    /// No two acted at once, and later terms have greater tokens.
    fn check(&self, counts: &mut Counts) {
        let acts = self.acts.lock().expect("no panic under the lock");
        let mut terms: Vec<(Act, Act)> = Vec::new();
        for act in acts.iter() {
            match terms.last_mut() {
                Some((_, last)) if last.process == act.process => *last = *act,
                _ => terms.push((*act, *act)),
            }
        }
        for (index, (first, _)) in terms.iter().enumerate() {
            let earlier = &terms[..index];
            let context = || format!("seed {}: {first:?}\n{}", self.seed, self.log.join("\n"));
            assert!(
                earlier.iter().all(|(_, last)| last.process != first.process),
                "it acts again after another did: {}",
                context()
            );
            if let Some((_, last)) = earlier.last() {
                assert!(last.time <= first.time + TICK, "it acts while {last:?} does: {}", context());
                assert!(
                    last.token < first.token,
                    "its token is not greater than that of {last:?}: {}",
                    context()
                );
            }
        }
        counts.terms += terms.len() as u64;
        counts.acts += acts.len() as u64;
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "the counts are what the test shows")]
fn no_two_lead_at_once_and_somebody_soon_does_after_every_fault() {
    let schedules = std::env::var("KUBEWRIGHT_ELECTION_SCHEDULES");
    let schedules: u64 = schedules.map_or(100, |text| text.parse().expect("a number"));
    let mut total = Counts::default();
    for seed in 1..=schedules {
        let counts = Schedule::new(seed).run();
        total.faults += counts.faults;
        total.terms += counts.terms;
        total.acts += counts.acts;
        total.simulated += counts.simulated;
        total.longest = total.longest.max(counts.longest);
    }
    println!(
        "{schedules} schedules, {} faults, {} terms, {} acts in {} simulated hours; no two at once; the longest time \
         without a leader after a fault was {:?}",
        total.faults,
        total.terms,
        total.acts,
        total.simulated.as_secs() / 3600,
        total.longest
    );
}
