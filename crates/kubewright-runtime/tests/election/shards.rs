//! Three replicas share the work: no object has two owners at once, and each has one soon after whatever happens.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{Api, Client, api::ListParams};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Action, Clock, Random, Request, Result,
    controller::Controller,
    election::FencingToken,
    manager::{Manager, Options},
    reconcile_fn,
    sharding::ShardBy,
};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    replica::{Acting, Work},
    scene::{LEASE_DURATION, Reproduction, Scene, TICK, seeds},
};

/// So many objects.
const OBJECTS: u64 = 6;
/// Longer than a retry period after its lease has ended, a replica is out of the table; the next one is seen, noted and
/// seen to be noted by all within four looks, of which each may wait for a request that hangs for the retry period; and
/// the object waits for its turn.
const RETRY: Duration = Duration::from_millis(3 * 2400 + 4 * 2600 + 3000);

/// One step of one reconciliation.
#[derive(Clone, Debug)]
struct Step {
    /// On the clock of the schedule.
    time: Duration,
    process: u64,
    object: String,
    /// Which of the process's reconciliations.
    turn: u64,
    token: Option<FencingToken>,
}

impl super::scene::Act for Step {
    fn process(&self) -> u64 {
        self.process
    }
}

/// From the first to the last step of a reconciliation.
#[derive(Debug)]
struct Turn {
    first: Step,
    last: Step,
}

fn options(options: &mut Options) {
    options.shard_by = ShardBy::Object;
}

/// Reconciles each object again and again, for up to two seconds in steps.
fn reconcile(manager: &Manager, acting: Acting<Step>) {
    let ownership = manager.ownership().clone();
    let acting = Arc::new((acting, AtomicU64::new(0)));
    let reconciler = reconcile_fn(move |request: Request| {
        let (ownership, acting) = (ownership.clone(), acting.clone());
        async move {
            let (acting, turns) = &*acting;
            let turn = turns.fetch_add(1, Ordering::Relaxed);
            for _ in 0..=acting.random.below(5) {
                let token = ownership.fencing_token();
                let object = request.name.clone();
                acting.note(Step { time: acting.time(), process: acting.process, object, turn, token });
                tokio::time::sleep(Duration::from_millis(400)).await;
            }
            Ok(Action::requeue_after(Duration::from_millis(500)))
        }
    });
    Controller::for_kind::<ConfigMap>(manager).max_concurrent_reconciles(8).run(reconciler).expect("added");
}

struct Schedule {
    scene: Scene<Step>,
}

#[derive(Default)]
struct Counts {
    faults: u64,
    turns: u64,
    moves: u64,
    simulated: Duration,
    longest: Duration,
}

impl Schedule {
    fn new(seed: u64) -> Self {
        let scene = Scene::new(seed, Work { options, register: reconcile });
        for number in 0..OBJECTS {
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("object-{number}"), "namespace": "default"},
            });
            scene.server.create(object).expect("a valid object");
        }
        Self { scene }
    }

    fn run(mut self) -> Counts {
        let mut counts = Counts::default();
        self.until_all_are_cared_for();
        for _ in 0..5 {
            self.scene.pass(self.scene.random.below(20_000));
            while self.scene.healthy().len() < 2 {
                self.scene.pass(1000);
            }
            self.until_all_are_cared_for();
            self.scene.fault();
            counts.faults += 1;
            counts.longest = counts.longest.max(self.until_all_are_cared_for());
        }
        self.scene.pass(40_000);
        self.check(&mut counts);
        counts.simulated = self.scene.now;
        counts
    }

    /// Runs until each object is reconciled by a replica that is able to go on, and returns how long that took.
    fn until_all_are_cared_for(&mut self) -> Duration {
        let (began, seen) = (self.scene.now, self.scene.acts_so_far());
        // A member that is slow reads, notes and sees to hold two tables: one goes, and another comes.
        let limit = self.scene.at_most(LEASE_DURATION + RETRY, 6);
        loop {
            self.scene.tick();
            let mut objects: Vec<_> = self.scene.acts_since(seen);
            objects.retain(|step| self.scene.is_able(step.process));
            let mut objects: Vec<_> = objects.into_iter().map(|step| step.object).collect();
            objects.sort_unstable();
            objects.dedup();
            if objects.len() as u64 == OBJECTS {
                return self.scene.now - began;
            }
            if self.scene.now - began > limit {
                let (seed, log) = (self.scene.seed, self.scene.log.join("\n"));
                panic!("seed {seed}: {limit:?} after {began:?} only {objects:?} are reconciled\n{log}");
            }
        }
    }

    /// No object was reconciled by two replicas at once, and whenever one moved, the token was greater.
    fn check(&self, counts: &mut Counts) {
        let mut turns = BTreeMap::<(String, u64, u64), Turn>::new();
        for step in self.scene.acts_since(0) {
            let key = (step.object.clone(), step.process, step.turn);
            let turn = turns.entry(key).or_insert_with(|| Turn { first: step.clone(), last: step.clone() });
            turn.last = step;
        }
        let mut by_object = BTreeMap::<String, Vec<Turn>>::new();
        for ((object, _, _), turn) in turns {
            by_object.entry(object).or_default().push(turn);
        }
        for turns in by_object.values_mut() {
            turns.sort_by_key(|turn| turn.first.time);
            counts.turns += turns.len() as u64;
            for pair in turns.windows(2) {
                let [before, after] = pair else { unreachable!("windows of two") };
                if before.first.process == after.first.process {
                    continue;
                }
                counts.moves += 1;
                let context = || {
                    format!("seed {}: {before:?}\n{after:?}\n{}", self.scene.seed, self.scene.log.join("\n"))
                };
                assert!(before.last.time <= after.first.time + TICK, "two at once: {}", context());
                assert!(before.last.token < after.first.token, "the token is not greater: {}", context());
            }
        }
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "the counts are what the test shows")]
fn no_object_has_two_owners_and_each_has_one_soon_after_every_fault() {
    let (seeds, mut total) = (seeds(12), Counts::default());
    let schedules = seeds.clone().count();
    for seed in seeds {
        let _reproduction = Reproduction(seed);
        let counts = Schedule::new(seed).run();
        total.faults += counts.faults;
        total.turns += counts.turns;
        total.moves += counts.moves;
        total.simulated += counts.simulated;
        total.longest = total.longest.max(counts.longest);
    }
    println!(
        "{schedules} schedules, {} faults, {} reconciliations and {} moves in {} simulated hours; no two at once; the \
         longest time until everything was cared for after a fault was {:?}",
        total.faults,
        total.turns,
        total.moves,
        total.simulated.as_secs() / 3600,
        total.longest
    );
}

/// Who has reconciled which object last.
type Owners = Arc<Mutex<BTreeMap<String, &'static str>>>;

fn replica(name: &'static str, server: &ApiServer, owners: &Owners) -> Manager {
    let mut options = Options::default();
    options.shard_by = ShardBy::Object;
    name.clone_into(&mut options.instance);
    let client = Client::new(server.service(), "default");
    let seed = name.bytes().map(u64::from).sum();
    let manager =
        Manager::builder(options).client(client).random(Random::seeded(seed)).build().expect("a manager");
    let owners = owners.clone();
    let reconciler = reconcile_fn(move |request: Request| {
        owners.lock().expect("no panic under the lock").insert(request.name, name);
        async { Ok(Action::done()) }
    });
    Controller::for_kind::<ConfigMap>(&manager).run(reconciler).expect("added");
    manager
}

fn run(manager: &Manager) -> (CancellationToken, JoinHandle<Result<()>>) {
    let (manager, stop) = (manager.clone(), CancellationToken::new());
    let stopped = stop.clone();
    (stop, tokio::spawn(async move { manager.start_until(stopped).await }))
}

#[tokio::test(start_paused = true)]
async fn replicas_that_come_and_go_take_and_leave_their_part() {
    let epoch = "2030-01-01T00:00:00Z".parse().expect("a timestamp");
    let server = ApiServer::builder().clock(Clock::starting_at(epoch)).random(Random::seeded(7)).build();
    for number in 0..60 {
        let metadata = json!({"name": format!("map-{number}"), "namespace": "default"});
        server
            .create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}))
            .expect("a valid object");
    }
    let owners = Owners::default();
    let parts = || {
        let mut parts = BTreeMap::<&str, usize>::new();
        owners
            .lock()
            .expect("no panic under the lock")
            .values()
            .for_each(|name| *parts.entry(name).or_default() += 1);
        parts
    };
    let managers = ["one", "two", "three"].map(|name| replica(name, &server, &owners));
    let [one, two, three] = &managers;
    let (stop_one, ended_one) = run(one);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(parts(), [("one", 60)].into());
    assert!(two.ownership().table().is_none());

    // Half the renew deadline later, and the time in which the table comes to hold.
    let (stop_two, ended_two) = run(two);
    tokio::time::sleep(Duration::from_secs(15)).await;
    let shared = parts();
    assert_eq!(shared.values().sum::<usize>(), 60);
    assert!(shared.len() == 2 && shared.values().all(|part| *part >= 20), "{shared:?}");
    let owners_now = owners.lock().expect("no panic under the lock").clone();
    for (object, owner) in &owners_now {
        let request = Request::namespaced("default", object);
        assert_eq!(
            [one, two].map(|manager| manager.ownership().owns(&request)),
            [*owner == "one", *owner == "two"]
        );
    }
    let metrics = one.metrics().encode();
    for line in ["kubewright_shards_members 2", "kubewright_shards_epoch 2", "kubewright_shards_holds 1"] {
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    assert!(one.readiness().results().values().all(std::result::Result::is_ok));

    // Two goes in an orderly way while three comes: the one that is left takes over at once.
    stop_two.cancel();
    ended_two.await.expect("no panic").expect("an orderly end");
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(parts(), [("one", 60)].into());
    let (_stop_three, _ended_three) = run(three);
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert!(parts()["three"] >= 20, "{:?}", parts());
    assert!(one.ownership().fencing_token() == three.ownership().fencing_token());

    stop_one.cancel();
    ended_one.await.expect("no panic").expect("an orderly end");
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(parts(), [("three", 60)].into());
    // Those that are gone leave nothing behind: the table, and the lease of the one that is there.
    let leases: Api<Lease> = Api::default_namespaced(Client::new(server.service(), "default"));
    let leases =
        leases.list(&ListParams::default().labels("kubewright.dev/shards=kubewright")).await.expect("listed");
    assert_eq!(leases.items.len(), 2, "{leases:?}");
}
