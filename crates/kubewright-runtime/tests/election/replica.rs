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

/// By how much the clocks of machines run at different rates, a hundred times what quartz does.
pub(crate) const DRIFT: f64 = 0.02;

/// What replicas do, and with which options.
pub(crate) struct Work<A> {
    pub(crate) options: fn(&mut Options),
    pub(crate) register: fn(&Manager, Acting<A>),
}

/// With which a process notes what it does.
pub(crate) struct Acting<A> {
    pub(crate) process: u64,
    pub(crate) random: Random,
    /// When the process was started, on the clock of the schedule and on its own.
    born: (Duration, Instant),
    rate: f64,
    acts: Arc<Mutex<Vec<A>>>,
}

impl<A> Acting<A> {
    /// The present time, on the clock of the schedule.
    pub(crate) fn time(&self) -> Duration {
        self.born.0 + self.born.1.elapsed().div_f64(self.rate)
    }

    pub(crate) fn note(&self, act: A) {
        self.acts.lock().expect("no panic under the lock").push(act);
    }
}

impl<A> Copy for Work<A> {}

impl<A> Clone for Work<A> {
    fn clone(&self) -> Self {
        *self
    }
}

/// A process with a manager in it.
pub(crate) struct Replica {
    pub(crate) process: u64,
    pub(crate) network: Network,
    pub(crate) clock: Clock,
    runtime: Runtime,
    /// When it was started, on the clock of the schedule and on its own.
    born: (Duration, Instant),
    /// How fast its monotonic clock runs.
    rate: f64,
    stop: CancellationToken,
    run: Option<JoinHandle<Result<()>>>,
}

impl Replica {
    /// Starts a process. Its wall clock is wrong by up to two years, and its monotonic one runs faster or slower by up to
    /// [`DRIFT`].
    pub(crate) fn start<A: Send + 'static>(
        process: u64,
        now: Duration,
        server: &ApiServer,
        random: &Random,
        acts: &Arc<Mutex<Vec<A>>>,
        work: Work<A>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let network = Network::new(random.fork());
        let stop = CancellationToken::new();
        let (random, acts, stopped) = (random.fork(), acts.clone(), stop.clone());
        let rate = 1.0 + DRIFT * (2.0 * random.unit() - 1.0);
        let connection = network.clone();
        let (born, clock, run) = runtime.block_on(async move {
            let born = Instant::now();
            let client = connection.client(server);
            let epoch = 1_893_456_000 + i64::try_from(random.below(126_000_000)).expect("small") - 63_000_000;
            let clock = Clock::starting_at(jiff::Timestamp::from_second(epoch).expect("a time"));
            let mut options = Options::default();
            (work.options)(&mut options);
            let manager = Manager::builder(options)
                .client(client)
                .clock(clock.clone())
                .random(random.fork())
                .build()
                .expect("a manager");
            let acting = Acting { process, random, born: (now, born), rate, acts };
            (work.register)(&manager, acting);
            let run = tokio::spawn(async move { manager.start_until(stopped).await });
            (born, clock, run)
        });
        Self { process, network, clock, runtime, born: (now, born), rate, stop, run: Some(run) }
    }

    /// Lets it run until `now`.
    pub(crate) fn run_until(&mut self, now: Duration) {
        let until = self.own_time(now);
        self.runtime.block_on(async { tokio::time::sleep_until(until).await });
    }

    /// Puts its clocks to `now`, as of a process that stood still until then: it finds all its timers late.
    pub(crate) fn wake_at(&mut self, now: Duration) {
        let until = self.own_time(now);
        self.runtime.block_on(async {
            tokio::time::advance(until.saturating_duration_since(Instant::now())).await;
        });
    }

    fn own_time(&self, now: Duration) -> Instant {
        self.born.1 + (now - self.born.0).mul_f64(self.rate)
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
            Err(Error::LeaderElectionLost { .. } | Error::ShardLost { .. }) => {}
            Err(error) => panic!("process {}: {error}", self.process),
        }
        true
    }
}
