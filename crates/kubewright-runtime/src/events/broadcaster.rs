use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use k8s_openapi::{api::events::v1::Event, apimachinery::pkg::apis::meta::v1::MicroTime};
use kube::core::ObjectMeta;
use kubewright_world::{Clock, Random};
use serde_json::json;
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

use super::{
    Recorder,
    recorder::{RecordedEvent, cut},
    series::{Key, SeriesCache, Step, Update},
};
use crate::{
    Request,
    client::{Client, ClientError, Patch},
    metrics::EventMetrics,
};

/// Takes the events of all recorders of a manager and writes them, one after the other.
pub(crate) struct Broadcaster {
    sender: mpsc::Sender<RecordedEvent>,
    clock: Clock,
    metrics: EventMetrics,
    task: Mutex<Option<Writer>>,
}

/// The running task of a [`Broadcaster`].
pub(crate) struct Running {
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

struct Writer {
    receiver: mpsc::Receiver<RecordedEvent>,
    client: Client,
    random: Random,
    metrics: EventMetrics,
    series: SeriesCache,
    stop: CancellationToken,
}

/// As in client-go.
const QUEUE: usize = 1000;
const TRIES: u32 = 12;
const RETRY_DELAY: Duration = Duration::from_secs(10);
/// The API's limit for a name, less a dot and 16 hexadecimal digits.
const NAME_LIMIT: usize = 253 - 17;

// === impl Broadcaster ===

impl Broadcaster {
    pub(crate) fn new(client: Client, clock: Clock, random: Random, metrics: EventMetrics) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let writer = Writer {
            receiver,
            client,
            random,
            metrics: metrics.clone(),
            series: SeriesCache::default(),
            stop: CancellationToken::new(),
        };
        Self { sender, clock, metrics, task: Mutex::new(Some(writer)) }
    }

    pub(crate) fn recorder(&self, controller: &str, instance: &str) -> Recorder {
        let (clock, metrics) = (self.clock.clone(), self.metrics.clone());
        Recorder::new(self.sender.clone(), controller, instance, clock, metrics)
    }

    /// Starts to write what was recorded and what will be, until [`Running::finish`] or the drop of what is
    /// returned. A second start writes nothing.
    pub(crate) fn start(&self) -> Running {
        let writer = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        let stop = writer.as_ref().map(|writer| writer.stop.clone()).unwrap_or_default();
        Running { stop, task: writer.map(|writer| tokio::spawn(writer.run())) }
    }
}

impl fmt::Debug for Broadcaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broadcaster").finish_non_exhaustive()
    }
}

// === impl Running ===

impl Running {
    /// Writes what is left, each with one try, and ends.
    pub(crate) async fn finish(mut self) {
        self.stop.cancel();
        if let Some(task) = &mut self.task {
            // The task does not panic; if it did, its events are lost and nothing else.
            let _ = task.await;
        }
        self.task = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

// === impl Writer ===

impl Writer {
    async fn run(mut self) {
        let mut due = tokio::time::interval(SeriesCache::period());
        due.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                event = self.receiver.recv() => match event {
                    Some(event) => self.record(event).await,
                    None => break,
                },
                _ = due.tick() => {
                    for update in self.series.due(Instant::now()) {
                        self.update(update, None).await;
                    }
                }
            }
        }
        self.receiver.close();
        while let Some(event) = self.receiver.recv().await {
            self.record(event).await;
        }
        for update in self.series.finish() {
            self.update(update, None).await;
        }
    }

    async fn record(&mut self, event: RecordedEvent) {
        let key = Key::of(&event);
        match self.series.observe(&key, event.time, Instant::now()) {
            Step::Wait => {}
            Step::Create => self.create(key, event).await,
            Step::Update(update) => self.update(*update, Some(event)).await,
        }
    }

    async fn create(&mut self, key: Key, event: RecordedEvent) {
        let time = event.time;
        let object = self.object(event);
        let client = self.client.clone();
        match self.with_retries(|| client.create(&object)).await {
            Ok(_) => {
                self.metrics.created();
                let evicted = self.series.created(key, Request::of(&object), time, Instant::now());
                if let Some(update) = evicted {
                    Box::pin(self.update(update, None)).await;
                }
            }
            // A retry found what an earlier try had done, of which no answer came.
            Err(error) if error.is_already_exists() => {
                self.series.created(key, Request::of(&object), time, Instant::now());
            }
            Err(error) => self.give_up(&error),
        }
    }

    /// Writes the count of a series. If the event object is gone (they live an hour), `event` makes a new one.
    async fn update(&mut self, update: Update, event: Option<RecordedEvent>) {
        let patch = json!({
            "series": {"count": update.count, "lastObservedTime": MicroTime(micros(update.last))}
        });
        let client = self.client.clone();
        let written =
            self.with_retries(|| client.patch::<Event>(&update.event, Patch::merge(patch.clone()))).await;
        match (written, event) {
            (Ok(_), _) => {
                self.metrics.updated();
                self.series.updated(&update, Instant::now());
            }
            (Err(error), event) if error.is_not_found() => {
                self.series.forget(&update.key);
                if let Some(event) = event {
                    Box::pin(self.create(update.key, event)).await;
                }
            }
            (Err(error), _) => self.give_up(&error),
        }
    }

    /// Tries until there is an answer that another try would not change, or the broadcaster stops.
    async fn with_retries<T, F>(&mut self, attempt: impl Fn() -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let mut tries = 1;
        loop {
            match attempt().await {
                Err(error) if tries < TRIES && is_passing(&error) && !self.stop.is_cancelled() => {
                    tries += 1;
                    // At random the first time, so that many operators do not come back at once.
                    let delay =
                        if tries == 2 { RETRY_DELAY.mul_f64(self.random.unit()) } else { RETRY_DELAY };
                    let _ = tokio::time::timeout(delay, self.stop.cancelled()).await;
                }
                outcome => return outcome,
            }
        }
    }

    fn give_up(&self, error: &ClientError) {
        self.metrics.failed();
        // Nothing of note: an event about an object of a namespace that is being deleted.
        if error.is_not_found() {
            tracing::debug!(%error, "an event was not recorded");
        } else {
            tracing::warn!(%error, "an event was not recorded");
        }
    }

    fn object(&self, event: RecordedEvent) -> Event {
        let regarding = event.regarding;
        let name = regarding.name.as_deref().unwrap_or_default();
        let name = cut(name, NAME_LIMIT).trim_end_matches(['.', '-']);
        let namespace = regarding.namespace.clone().filter(|namespace| !namespace.is_empty());
        Event {
            metadata: ObjectMeta {
                name: Some(format!("{name}.{:016x}", self.random.next_u64())),
                namespace: Some(namespace.unwrap_or_else(|| "default".to_owned())),
                annotations: Some((*event.annotations).clone()).filter(|annotations| !annotations.is_empty()),
                ..Default::default()
            },
            event_time: Some(MicroTime(micros(event.time))),
            action: Some(event.action),
            reason: Some(event.reason),
            note: Some(event.note),
            type_: Some(event.type_.as_str().to_owned()),
            regarding: Some(regarding),
            related: event.related,
            reporting_controller: Some(event.controller.to_string()),
            reporting_instance: Some(event.instance.to_string()),
            ..Default::default()
        }
    }
}

/// Whether another try may do better.
fn is_passing(error: &ClientError) -> bool {
    match error {
        ClientError::Request { .. } | ClientError::Timeout { .. } => true,
        error => error.status().is_some_and(|status| status.code == 429 || status.code >= 500),
    }
}

/// `MicroTime` has microseconds.
fn micros(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use http::Method;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::Value;

    use super::*;
    use crate::{metrics::Metrics, scripted::Scripted};

    fn regarding() -> ConfigMap {
        serde_json::from_value(json!({"metadata": {"namespace": "shop", "name": "cart", "uid": "u"}}))
            .expect("a config map")
    }

    fn broadcaster(server: &Scripted, metrics: &Metrics) -> Broadcaster {
        let clock = Clock::starting_at("2030-01-01T00:00:00Z".parse().expect("a timestamp"));
        Broadcaster::new(server.client(), clock, Random::seeded(7), metrics.events())
    }

    fn stored() -> Value {
        json!({"metadata": {"namespace": "shop", "name": "cart.1"}})
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_is_written_and_its_repetitions_are_counted() {
        let server = Scripted::new()
            .answer(201, stored())
            .answer(200, stored())
            .answer(200, stored())
            .answer(200, stored());
        let metrics = Metrics::new();
        let broadcaster = broadcaster(&server, &metrics);
        let recorder =
            broadcaster.recorder("memcached", "memcached-0").with_annotation("example.com/shard", "3");
        let running = broadcaster.start();
        for _ in 0..3 {
            recorder.normal(&regarding(), "Created", "CreateDeployment", "created cart");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        running.finish().await;

        let asked = server.asked();
        assert_eq!(asked.len(), 3, "{asked:?}");
        let [create, second, last] = &asked[..] else { panic!("three requests") };
        assert_eq!(create.method, Method::POST);
        assert_eq!(create.target, "/apis/events.k8s.io/v1/namespaces/shop/events?fieldManager=operator");
        let event = &create.body;
        let name = event["metadata"]["name"].as_str().expect("a name").to_owned();
        assert!(name.starts_with("cart.") && name.len() == "cart.".len() + 16, "{name}");
        assert_eq!(event["metadata"]["annotations"], json!({"example.com/shard": "3"}));
        assert_eq!(event["eventTime"], "2030-01-01T00:00:00.000000Z");
        assert_eq!(event["type"], "Normal");
        assert_eq!(event["reason"], "Created");
        assert_eq!(event["action"], "CreateDeployment");
        assert_eq!(event["note"], "created cart");
        assert_eq!(event["reportingController"], "memcached");
        assert_eq!(event["reportingInstance"], "memcached-memcached-0");
        assert_eq!(
            event["regarding"],
            json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "cart", "uid": "u"})
        );
        assert!(second.target.contains(&format!("/events/{name}?")));
        assert_eq!(
            second.body,
            json!({"series": {"count": 2, "lastObservedTime": "2030-01-01T00:00:01.000000Z"}})
        );
        assert_eq!(last.body["series"]["count"], 3);
        assert!(metrics.encode().contains("kubewright_events_recorded_total{operation=\"create\"} 1\n"));
        assert!(metrics.encode().contains("kubewright_events_recorded_total{operation=\"patch\"} 2\n"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_that_passes_is_tried_again_and_one_that_does_not_is_not() {
        let server = Scripted::new()
            .failure(503, "ServiceUnavailable", "busy")
            .failure(503, "ServiceUnavailable", "busy")
            .answer(201, stored())
            .failure(403, "Forbidden", "no");
        let metrics = Metrics::new();
        let broadcaster = broadcaster(&server, &metrics);
        let recorder = broadcaster.recorder("memcached", "0");
        let running = broadcaster.start();
        recorder.normal(&regarding(), "First", "Test", "");
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(server.asked().len(), 3);
        recorder.normal(&regarding(), "Second", "Test", "");
        running.finish().await;
        assert_eq!(server.asked().len(), 4);
        assert!(metrics.encode().contains("kubewright_events_failed_total 1\n"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_object_that_is_gone_is_made_anew() {
        let server = Scripted::new()
            .answer(201, stored())
            .failure(404, "NotFound", "events \"cart.1\" not found")
            .answer(201, stored());
        let broadcaster = broadcaster(&server, &Metrics::new());
        let recorder = broadcaster.recorder("memcached", "0");
        let running = broadcaster.start();
        recorder.normal(&regarding(), "Created", "Test", "");
        recorder.normal(&regarding(), "Created", "Test", "");
        running.finish().await;
        let methods: Vec<_> = server.asked().iter().map(|asked| asked.method.to_string()).collect();
        assert_eq!(methods, ["POST", "PATCH", "POST"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_drops_events() {
        let metrics = Metrics::new();
        let broadcaster = broadcaster(&Scripted::new(), &metrics);
        let recorder = broadcaster.recorder("memcached", "0");
        for number in 0..QUEUE + 2 {
            recorder.normal(&regarding(), "Created", "Test", number.to_string());
        }
        assert!(metrics.encode().contains("kubewright_events_dropped_total 2\n"));
    }
}
