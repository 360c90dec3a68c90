//! A network that fails, and a replica that is a process of its own: it has its own runtime, so that it can be killed
//! and can stand still while the others go on.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::Request;
use kube::{Client, client::Body};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Clock, Error, Random, Result,
    election::FencingToken,
    manager::{Manager, Options},
};
use tokio::{runtime::Runtime, task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;
use tower::{BoxError, ServiceExt};

/// How a connection is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Condition {
    Fine,
    /// Each way takes up to this long.
    Slow(Duration),
    /// Nothing passes, and nobody is told.
    Hangs,
    Refuses,
    /// Requests pass.
    LosesAnswers,
}

/// A connection whose condition a test sets. Clones are the same connection.
#[derive(Clone)]
pub(crate) struct Network {
    condition: Arc<Mutex<Condition>>,
    random: Random,
}

impl Network {
    pub(crate) fn new(random: Random) -> Self {
        Self { condition: Arc::new(Mutex::new(Condition::Fine)), random }
    }

    pub(crate) fn set(&self, condition: Condition) {
        *self.condition.lock().unwrap_or_else(PoisonError::into_inner) = condition;
    }

    pub(crate) fn condition(&self) -> Condition {
        *self.condition.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn client(&self, server: &ApiServer) -> Client {
        let (network, server) = (self.clone(), server.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (network, service) = (network.clone(), server.service());
            async move {
                network.pass(true).await?;
                let answer = service.oneshot(request).await.map_err(BoxError::from);
                network.pass(false).await?;
                answer
            }
        });
        Client::new(service, "default")
    }

    /// One way of a request or of its answer.
    async fn pass(&self, is_request: bool) -> Result<(), BoxError> {
        let longest = match self.condition() {
            Condition::Slow(longest) => longest,
            _ => Duration::from_millis(10),
        };
        tokio::time::sleep(longest.mul_f64(self.random.unit())).await;
        match self.condition() {
            Condition::Hangs => std::future::pending().await,
            Condition::Refuses => Err("connection refused".into()),
            Condition::LosesAnswers if !is_request => Err("connection reset by peer".into()),
            _ => Ok(()),
        }
    }
}

/// One thing that a leader did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    /// On the clock of the schedule.
    pub(crate) time: Duration,
    /// Which process.
    pub(crate) process: u64,
    pub(crate) token: FencingToken,
}

/// A process with a manager in it, which acts while it leads.
pub(crate) struct Replica {
    pub(crate) process: u64,
    pub(crate) network: Network,
    runtime: Runtime,
    /// When it was started, on the clock of the schedule and on its own.
    born: (Duration, Instant),
    stop: CancellationToken,
    run: Option<JoinHandle<Result<()>>>,
}

impl Replica {
    /// Starts a process. Its wall clock is wrong by up to two years.
    pub(crate) fn start(
        process: u64,
        now: Duration,
        server: &ApiServer,
        random: &Random,
        acts: &Arc<Mutex<Vec<Act>>>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let network = Network::new(random.fork());
        let stop = CancellationToken::new();
        let (random, acts, stopped) = (random.fork(), acts.clone(), stop.clone());
        let client = network.clone();
        let (born, run) = runtime.block_on(async move {
            let born = Instant::now();
            let epoch = 1_893_456_000 + i64::try_from(random.below(126_000_000)).expect("small") - 63_000_000;
            let clock = Clock::starting_at(jiff::Timestamp::from_second(epoch).expect("a time"));
            let mut options = Options::default();
            options.leader_election.enabled = true;
            let grace = Duration::from_millis(random.below(3000));
            let manager = Manager::builder(options)
                .client(client.client(server))
                .clock(clock)
                .random(random)
                .build()
                .expect("a manager");
            let leadership = manager.leadership().clone();
            let work = move |stop: CancellationToken| async move {
                let act = || {
                    let token = leadership.fencing_token().expect("who acts has a token");
                    let act = Act { time: now + born.elapsed(), process, token };
                    acts.lock().expect("no panic under the lock").push(act);
                };
                let mut acting = tokio::time::interval(Duration::from_millis(250));
                let ended = async {
                    stop.cancelled().await;
                    tokio::time::sleep(grace).await;
                };
                let mut ended = std::pin::pin!(ended);
                loop {
                    tokio::select! {
                        biased;
                        () = &mut ended => return Ok(()),
                        _ = acting.tick() => act(),
                    }
                }
            };
            manager.add("work", work).expect("added");
            let run = tokio::spawn(async move { manager.start_until(stopped).await });
            (born, run)
        });
        Self { process, network, runtime, born: (now, born), stop, run: Some(run) }
    }

    /// Lets it run until `now`.
    pub(crate) fn run_until(&mut self, now: Duration) {
        let until = self.born.1 + (now - self.born.0);
        self.runtime.block_on(async { tokio::time::sleep_until(until).await });
    }

    /// Puts its clocks to `now`, as of a process that stood still until then: it finds all its timers late.
    pub(crate) fn wake_at(&mut self, now: Duration) {
        let until = self.born.1 + (now - self.born.0);
        self.runtime.block_on(async {
            tokio::time::advance(until.saturating_duration_since(Instant::now())).await;
        });
    }

    /// Tells it to end.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Whether it was told to end.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Whether the process has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        let Some(run) = self.run.take_if(|run| run.is_finished()) else { return self.run.is_none() };
        match self.runtime.block_on(run).expect("no panic") {
            Ok(()) => assert!(self.stop.is_cancelled(), "a manager ends when it is told to"),
            Err(Error::LeaderElectionLost { .. }) => {}
            Err(error) => panic!("process {}: {error}", self.process),
        }
        true
    }
}
