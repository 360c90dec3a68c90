//! At most one of three replicas leads, and one does soon after whatever happens.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{WatchEvent, WatchParams},
};
use kubewright_runtime::{client, election::FencingToken, manager::Manager};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    replica::{Acting, Work},
    scene::{Act as _, LEASE_DURATION, Reproduction, Scene, TICK, seeds},
};

/// The object that leaders write.
const LEDGER: &str = "ledger";
/// A renewal after the fault of which no answer comes, the retry period with all its jitter before a standby sees it,
/// and the ways of a few requests. client-go's candidates sleep through the end of the lease for another 4.4 s.
const RETRY: Duration = Duration::from_millis(2000 + 4400 + 400);

/// One thing that a leader did.
#[derive(Clone, Copy, Debug)]
struct Act {
    /// On the clock of the schedule.
    time: Duration,
    process: u64,
    token: FencingToken,
}

impl super::scene::Act for Act {
    fn process(&self) -> u64 {
        self.process
    }
}

#[derive(Default)]
struct Counts {
    faults: u64,
    terms: u64,
    acts: u64,
    writes: u64,
    simulated: Duration,
    longest: Duration,
}

/// The leader acts four times a second, and every other second writes to the server as well.
fn lead(manager: &Manager, acting: Acting<Act>) {
    let (leadership, client) = (manager.leadership().clone(), manager.client());
    let grace = Duration::from_millis(acting.random.below(3000));
    let work = move |stop: CancellationToken| async move {
        let mut ticks = tokio::time::interval(Duration::from_millis(250));
        let ended = async {
            stop.cancelled().await;
            tokio::time::sleep(grace).await;
        };
        let mut ended = std::pin::pin!(ended);
        for number in 0_u64.. {
            tokio::select! {
                biased;
                () = &mut ended => break,
                _ = ticks.tick() => {
                    let token = leadership.fencing_token().expect("who acts has a token");
                    acting.note(Act { time: acting.time(), process: acting.process, token });
                    if number.is_multiple_of(8) {
                        // Left to itself, as a write that is on its way when the term ends.
                        tokio::spawn(write(client.clone(), token));
                    }
                }
            }
        }
        Ok(())
    };
    manager.add("work", work).expect("added");
}

/// A write that does no harm when it comes late: it carries the token, and takes the place of the version that it read.
async fn write(client: client::Client, token: FencingToken) {
    let key = ("default", LEDGER);
    let Ok(Some(ledger)) = client.live().get::<ConfigMap>(key).await else { return };
    if FencingToken::of(&ledger.metadata) > Some(token) {
        return;
    }
    let mut ledger = ConfigMap::clone(&ledger);
    let count =
        ledger.data.iter().flatten().find_map(|(_, count)| count.parse::<u64>().ok()).unwrap_or_default();
    ledger.data = Some([("count".to_owned(), (count + 1).to_string())].into());
    token.stamp(&mut ledger.metadata);
    // A conflict if somebody else was faster, and no answer if the network is broken.
    let _ = client.update(&ledger).await;
}

/// One run of the replicas.
struct Schedule {
    scene: Scene<Act>,
}

impl Schedule {
    fn new(seed: u64) -> Self {
        let options =
            |options: &mut kubewright_runtime::manager::Options| options.leader_election.enabled = true;
        let scene = Scene::new(seed, Work { options, register: lead });
        let ledger = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": LEDGER, "namespace": "default"},
        });
        scene.server.create(ledger).expect("a valid object");
        Self { scene }
    }

    fn run(mut self) -> Counts {
        let mut counts = Counts::default();
        self.until_somebody_acts();
        for _ in 0..6 {
            self.scene.pass(self.scene.random.below(20_000));
            while self.scene.healthy().len() < 2 {
                self.scene.pass(1000);
            }
            self.until_somebody_acts();
            self.scene.fault();
            counts.faults += 1;
            counts.longest = counts.longest.max(self.until_somebody_acts());
        }
        self.scene.pass(60_000);
        self.check(&mut counts);
        counts.simulated = self.scene.now;
        counts
    }

    /// Runs until a replica acts that is able to go on, and returns how long that took.
    fn until_somebody_acts(&mut self) -> Duration {
        let (began, seen) = (self.scene.now, self.scene.acts_so_far());
        let limit = self.scene.at_most(LEASE_DURATION + RETRY, 1);
        loop {
            self.scene.tick();
            if self.scene.acts_since(seen).iter().any(|act| self.scene.is_able(act.process())) {
                return self.scene.now - began;
            }
            if self.scene.now - began > limit {
                panic!("nobody leads {limit:?} after {began:?}\n{}", self.scene.log.join("\n"));
            }
        }
    }

    /// No two acted at once, later terms have greater tokens, and no write of an earlier term came after one of a later.
    fn check(&self, counts: &mut Counts) {
        let acts = self.scene.acts_since(0);
        let mut terms: Vec<(Act, Act)> = Vec::new();
        for act in &acts {
            match terms.last_mut() {
                Some((_, last)) if last.process == act.process => *last = *act,
                _ => terms.push((*act, *act)),
            }
        }
        for (index, (first, _)) in terms.iter().enumerate() {
            let earlier = &terms[..index];
            let context = || format!("seed {}: {first:?}\n{}", self.scene.seed, self.scene.log.join("\n"));
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
        let writes = self.writes();
        if let Some(pair) = writes.windows(2).find(|pair| pair[1] < pair[0]) {
            panic!(
                "seed {}: a write of term {} came after one of term {}",
                self.scene.seed, pair[1], pair[0]
            );
        }
        let acted = |token: &FencingToken| acts.iter().any(|act| act.token == *token);
        assert!(
            writes.iter().all(acted),
            "seed {}: a write of a term in which nobody acted",
            self.scene.seed
        );
        counts.writes += writes.len() as u64;
        counts.terms += terms.len() as u64;
        counts.acts += acts.len() as u64;
    }

    /// The tokens of the fenced writes, in the order in which the server committed them.
    fn writes(&self) -> Vec<FencingToken> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let api: Api<ConfigMap> =
                Api::default_namespaced(Client::new(self.scene.server.service(), "default"));
            let everything = api.watch(&WatchParams::default(), "1").await.expect("a watch");
            let everything = everything.take_until(tokio::time::sleep(Duration::from_secs(1)));
            let events: Vec<WatchEvent<ConfigMap>> = everything.try_collect().await.expect("nothing is lost");
            let token = |event: WatchEvent<ConfigMap>| match event {
                WatchEvent::Modified(ledger) => FencingToken::of(&ledger.metadata),
                _ => None,
            };
            events.into_iter().filter_map(token).collect()
        })
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "the counts are what the test shows")]
fn no_two_lead_at_once_and_somebody_soon_does_after_every_fault() {
    let (seeds, mut total) = (seeds(40), Counts::default());
    let schedules = seeds.clone().count();
    for seed in seeds {
        let _reproduction = Reproduction(seed);
        let counts = Schedule::new(seed).run();
        total.faults += counts.faults;
        total.terms += counts.terms;
        total.acts += counts.acts;
        total.writes += counts.writes;
        total.simulated += counts.simulated;
        total.longest = total.longest.max(counts.longest);
    }
    println!(
        "{schedules} schedules, {} faults, {} terms, {} acts and {} fenced writes in {} simulated hours; no two at once; the longest time \
         without a leader after a fault was {:?}",
        total.faults,
        total.terms,
        total.acts,
        total.writes,
        total.simulated.as_secs() / 3600,
        total.longest
    );
}
