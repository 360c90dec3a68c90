//! An API server of a few lines that does what a test tells it: lists and watches collections of objects,
//! refuses, loses connections, forgets versions.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part of it")]

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::Instant};

type BoxBody = UnsyncBoxBody<Bytes, std::io::Error>;
type Lines = mpsc::UnboundedSender<Result<Frame<Bytes>, std::io::Error>>;

/// Clones are the same server.
#[derive(Clone, Default)]
pub struct Server {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    version: u64,
    collections: BTreeMap<String, Collection>,
    requests: Vec<String>,
}

#[derive(Default)]
struct Collection {
    objects: BTreeMap<(String, String), Value>,
    history: Vec<(u64, &'static str, Value)>,
    /// Versions before this one are forgotten.
    compacted: u64,
    watchers: Vec<(String, Lines)>,
    faults: BTreeSet<Fault>,
}

/// What is wrong with a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Every request is answered with 403.
    Forbidden,
    /// Every watch is answered with 403.
    WatchForbidden,
    /// Every watch is accepted and closed at once.
    ClosesWatches,
    /// A version that is too old is refused with HTTP status 410 rather than with an ERROR event.
    GoneAtStart,
    /// A streaming list is refused.
    NoStreamingLists,
    /// Lists are never answered.
    ListsHang,
    /// A list cannot be continued.
    PagesExpire,
}

impl Server {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            let (head, _) = request.into_parts();
            async move { Ok::<_, Infallible>(server.answer(head).await) }
        });
        Client::new(service, "default")
    }

    /// Creates or replaces an object and tells the watchers. Returns its version.
    pub fn put(&self, plural: &str, mut object: Value) -> u64 {
        let mut state = self.lock();
        state.version += 1;
        let version = state.version;
        let collection = state.collections.entry(plural.to_owned()).or_default();
        let key = key_of(&object);
        let old = collection.objects.get(&key);
        let uid = old.map_or_else(|| format!("uid-{version}"), |old| text(&old["metadata"]["uid"]));
        object["metadata"]["uid"] = json!(uid);
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        let kind = if old.is_some() { "MODIFIED" } else { "ADDED" };
        collection.objects.insert(key, object.clone());
        collection.publish(version, kind, object);
        version
    }

    pub fn delete(&self, plural: &str, namespace: &str, name: &str) {
        let mut state = self.lock();
        state.version += 1;
        let version = state.version;
        let collection = state.collections.entry(plural.to_owned()).or_default();
        if let Some(mut object) = collection.objects.remove(&(namespace.to_owned(), name.to_owned())) {
            object["metadata"]["resourceVersion"] = json!(version.to_string());
            collection.publish(version, "DELETED", object);
        }
    }

    /// Sends a line as it is to the watchers.
    pub fn send(&self, plural: &str, line: &Value) {
        let mut state = self.lock();
        let collection = state.collections.entry(plural.to_owned()).or_default();
        for (_, watcher) in &collection.watchers {
            let _ = watcher.send(Ok(frame(line)));
        }
    }

    /// Breaks the connections of all watches, after half a line.
    pub fn cut(&self, plural: &str) {
        let mut state = self.lock();
        for (_, watcher) in
            std::mem::take(&mut state.collections.entry(plural.to_owned()).or_default().watchers)
        {
            let _ = watcher.send(Ok(Frame::data(Bytes::from_static(b"{\"type\":\"MODI"))));
            let _ = watcher.send(Err(std::io::Error::other("connection reset")));
        }
    }

    /// Ends all watches in good order.
    pub fn close(&self, plural: &str) {
        self.lock().collections.entry(plural.to_owned()).or_default().watchers.clear();
    }

    /// Forgets all versions but the present one.
    pub fn compact(&self, plural: &str) {
        let mut state = self.lock();
        let version = state.version;
        let collection = state.collections.entry(plural.to_owned()).or_default();
        collection.compacted = version;
        collection.history.clear();
    }

    pub fn set(&self, plural: &str, fault: Fault) {
        self.lock().collections.entry(plural.to_owned()).or_default().faults.insert(fault);
    }

    pub fn clear(&self, plural: &str, fault: Fault) {
        self.lock().collections.entry(plural.to_owned()).or_default().faults.remove(&fault);
    }

    /// The paths and queries of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.lock().requests.clone()
    }

    pub fn watchers(&self, plural: &str) -> usize {
        let mut state = self.lock();
        let watchers = &mut state.collections.entry(plural.to_owned()).or_default().watchers;
        watchers.retain(|(_, watcher)| !watcher.is_closed());
        watchers.len()
    }

    async fn answer(&self, request: http::request::Parts) -> Response<BoxBody> {
        let uri = request.uri;
        let accept =
            request.headers.get("accept").and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        let metadata_only = accept.contains("PartialObjectMetadata");
        self.lock().requests.push(uri.to_string());
        let segments: Vec<&str> = uri.path().split('/').collect();
        let namespace =
            segments.iter().position(|&segment| segment == "namespaces").map(|at| segments[at + 1]);
        let plural = segments.last().copied().unwrap_or_default();
        let query: BTreeMap<String, String> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let hangs = self.faults(plural).contains(&Fault::ListsHang);
        if hangs && !query.contains_key("watch") {
            std::future::pending::<()>().await;
        }
        let mut state = self.lock();
        let now = state.version;
        let collection = state.collections.entry(plural.to_owned()).or_default();
        collection.answer(plural, namespace.unwrap_or_default(), &query, now, metadata_only)
    }

    fn faults(&self, plural: &str) -> BTreeSet<Fault> {
        self.lock().collections.entry(plural.to_owned()).or_default().faults.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collection {
    fn publish(&mut self, version: u64, kind: &'static str, object: Value) {
        let namespace = text(&object["metadata"]["namespace"]);
        let line = frame(&json!({"type": kind, "object": object}));
        for (watched, watcher) in &self.watchers {
            if watched.is_empty() || *watched == namespace {
                let _ = watcher.send(Ok(Frame::data(line.data_ref().cloned().unwrap_or_default())));
            }
        }
        self.history.push((version, kind, object));
    }

    fn answer(
        &mut self,
        plural: &str,
        namespace: &str,
        query: &BTreeMap<String, String>,
        now: u64,
        metadata_only: bool,
    ) -> Response<BoxBody> {
        let watch = query.contains_key("watch");
        let verb = if watch { "watch" } else { "list" };
        if self.faults.contains(&Fault::Forbidden) || watch && self.faults.contains(&Fault::WatchForbidden) {
            let message = format!(
                "{plural} is forbidden: User \"operator\" cannot {verb} resource \"{plural}\" in API group \"\" at the cluster scope"
            );
            return status(403, "Forbidden", &message);
        }
        let here = |object: &&Value| namespace.is_empty() || object["metadata"]["namespace"] == namespace;
        let present: Vec<Value> =
            self.objects.values().filter(here).cloned().map(|object| strip(object, metadata_only)).collect();
        if !watch {
            return self.list(&present, query, now);
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        let version = query.get("resourceVersion").map(String::as_str).unwrap_or_default();
        if query.contains_key("sendInitialEvents") {
            if self.faults.contains(&Fault::NoStreamingLists) {
                let message =
                    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
                return status(422, "Invalid", message);
            }
            for object in &present {
                let _ = sender.send(Ok(frame(&json!({"type": "ADDED", "object": object}))));
            }
            let metadata = json!({"resourceVersion": now.to_string(), "annotations": {"k8s.io/initial-events-end": "true"}});
            let bookmark = json!({"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "X", "metadata": metadata}});
            let _ = sender.send(Ok(frame(&bookmark)));
        } else {
            let version: u64 = version.parse().unwrap_or_default();
            if version < self.compacted {
                let message = format!("too old resource version: {version} ({})", self.compacted);
                if self.faults.contains(&Fault::GoneAtStart) {
                    return status(410, "Expired", &message);
                }
                let object = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                    "message": message, "reason": "Expired", "code": 410});
                let _ = sender.send(Ok(frame(&json!({"type": "ERROR", "object": object}))));
                return stream(receiver);
            }
            for (_, kind, object) in self.history.iter().filter(|(then, ..)| *then > version) {
                if here(&object) {
                    let object = strip(object.clone(), metadata_only);
                    let _ = sender.send(Ok(frame(&json!({"type": kind, "object": object}))));
                }
            }
        }
        if !self.faults.contains(&Fault::ClosesWatches) {
            self.watchers.push((namespace.to_owned(), sender));
        }
        stream(receiver)
    }

    fn list(&self, present: &[Value], query: &BTreeMap<String, String>, now: u64) -> Response<BoxBody> {
        let limit = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
        // A token is the version of the list and the place to go on.
        let token = query.get("continue").and_then(|token| token.split_once('.'));
        let (version, start) = match token {
            Some((version, start)) => {
                (version.parse().unwrap_or_default(), start.parse().unwrap_or_default())
            }
            None => (now, 0),
        };
        if version < self.compacted || token.is_some() && self.faults.contains(&Fault::PagesExpire) {
            return status(410, "Expired", "The provided continue parameter is too old");
        }
        let end = present.len().min(start + limit.min(present.len()));
        let mut metadata = json!({"resourceVersion": version.to_string()});
        if end < present.len() {
            metadata["continue"] = json!(format!("{version}.{end}"));
        }
        let list =
            json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": present[start..end]});
        full(200, &list)
    }
}

fn strip(object: Value, metadata_only: bool) -> Value {
    if !metadata_only {
        return object;
    }
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
}

fn status(code: u16, reason: &str, message: &str) -> Response<BoxBody> {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code});
    full(code, &status)
}

fn full(code: u16, body: &Value) -> Response<BoxBody> {
    let body = http_body_util::Full::new(Bytes::from(body.to_string())).map_err(|never| match never {});
    Response::builder().status(code).body(body.boxed_unsync()).expect("a response")
}

fn stream(receiver: mpsc::UnboundedReceiver<Result<Frame<Bytes>, std::io::Error>>) -> Response<BoxBody> {
    let frames =
        futures::stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
    Response::new(BodyExt::boxed_unsync(StreamBody::new(frames.boxed())))
}

fn frame(line: &Value) -> Frame<Bytes> {
    Frame::data(Bytes::from(format!("{line}\n")))
}

fn key_of(object: &Value) -> (String, String) {
    (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A ConfigMap with one entry.
pub fn config_map(namespace: &str, name: &str, value: &str) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name}, "data": {"value": value}})
}

/// Waits until `condition` holds and returns how long that took. Panics after an hour of paused time.
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(3600), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    start.elapsed()
}
