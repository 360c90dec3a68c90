//! Plays a case: sends its requests to a server and collects the answers.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};
use http_body_util::BodyExt;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    case::{Case, Step},
    normalise,
    target::{AnswerBody, Target},
    variables::Variables,
};

/// Why a case could not be played to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// A reference to what is not there.
    #[error("nothing that {0} refers to")]
    Missing(String),
    /// A step that makes no request.
    #[error("no request: {0}")]
    Request(String),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// No answer.
    #[error("no answer to {0} within {PATIENCE:?}")]
    Silent(String),
    /// A watch gave less than the case expects.
    #[error("watch {watch} gave {got} of {wanted} events within {PATIENCE:?}")]
    FewEvents {
        /// The step that opened the watch.
        watch: String,
        /// How many came.
        got: usize,
        /// How many were to come.
        wanted: usize,
    },
    /// A status that did not come.
    #[error("{title} answers {status}, not {wanted}, for {PATIENCE:?}: {body}")]
    Never {
        /// The step.
        title: String,
        /// The last status.
        status: u16,
        /// The last body.
        body: Value,
        /// The awaited one.
        wanted: u16,
    },
}

/// What came back in one step, as it was.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) at: Timestamp,
    pub(crate) status: Option<u16>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Value>,
    pub(crate) events: Option<Vec<Value>>,
}

/// How long a step waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(30);

struct Player<'a> {
    target: &'a Target,
    variables: Variables,
    watches: HashMap<String, Watch>,
    /// Paths of what the case has created.
    created: Vec<String>,
}

struct Watch {
    body: AnswerBody,
    buffer: Vec<u8>,
    ended: bool,
}

/// Plays a case and gives an answer for each of its steps.
///
/// # Errors
/// If the case asks for what does not come, or a connection fails.
pub async fn play(case: &Case, target: &Target) -> Result<Vec<Answer>, PlayError> {
    let mut player = Player {
        target,
        variables: Variables::new(&case.name),
        watches: HashMap::new(),
        created: Vec::new(),
    };
    target.webhooks().install(case);
    player.variables.insert("hooks", target.webhooks().variables(&case.name), &BTreeMap::new());
    if case.needs_namespace() {
        player.make_namespace(&case.name).await?;
    }
    let mut exchanges = Vec::new();
    let mut result = Ok(());
    for step in &case.steps {
        let played = tokio::time::timeout(2 * PATIENCE, player.step(step)).await;
        match played.unwrap_or_else(|_| Err(PlayError::Silent(step.title()))) {
            Ok(mut exchange) => {
                let values = exchange.body.iter_mut().chain(exchange.events.iter_mut().flatten());
                values.for_each(|value| target.webhooks().hide(value));
                exchanges.push(exchange);
            }
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    if target.is_shared() {
        player.clean_up().await?;
    }
    result.map(|()| normalise::answers(case, exchanges))
}

/// Puts the objects that every case finds on a shared server, unless they are there.
///
/// # Errors
/// If they are refused.
pub async fn install_fixtures(target: &Target) -> Result<(), PlayError> {
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let mut player = Player {
        target,
        variables: Variables::new("fixtures"),
        watches: HashMap::new(),
        created: Vec::new(),
    };
    for object in crate::target::fixtures() {
        let step =
            Step { send: Some(format!("POST {DEFINITIONS}")), body: Some(object.clone()), ..Step::default() };
        player.step(&step).await?;
        let spec = &object["spec"];
        for version in spec["versions"].as_array().into_iter().flatten() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let path = format!(
                "GET /apis/{}/{}/{}",
                text(&spec["group"]),
                text(&version["name"]),
                text(&spec["names"]["plural"])
            );
            player.step(&Step { send: Some(path), until: Some(200), ..Step::default() }).await?;
        }
    }
    // A real server makes the first object of a new kind wait.
    tokio::time::sleep(Duration::from_secs(3)).await;
    Ok(())
}

// === impl Player ===

impl Player<'_> {
    async fn step(&mut self, step: &Step) -> Result<Exchange, PlayError> {
        if let Some(name) = &step.events {
            let events = self.read_events(name, step.count).await?;
            let headers = BTreeMap::new();
            self.variables.insert(&step.name, json!({ "events": events }), &headers);
            return Ok(Exchange {
                at: self.target.now(),
                status: None,
                headers: HeaderMap::new(),
                body: None,
                events: Some(events),
            });
        }
        if let Some(name) = &step.asked {
            let asked = self.target.webhooks().asked(&self.variables.case, name);
            let asked = asked.ok_or_else(|| PlayError::Missing(format!("webhook {name}")))?;
            return Ok(Exchange {
                at: self.target.now(),
                status: None,
                headers: HeaderMap::new(),
                body: Some(asked),
                events: None,
            });
        }
        if step.watch.is_some() {
            return self.open_watch(step).await;
        }
        let mut exchange = self.send(step).await?;
        if let Some(wanted) = step.until {
            let deadline = tokio::time::Instant::now() + PATIENCE;
            while exchange.status != Some(wanted) {
                if tokio::time::Instant::now() > deadline {
                    let status = exchange.status.unwrap_or_default();
                    let body = exchange.body.unwrap_or_default();
                    return Err(PlayError::Never { title: step.title(), status, body, wanted });
                }
                tokio::time::sleep(self.target.pause()).await;
                exchange = self.send(step).await?;
            }
        }
        let headers = exchange.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        self.variables.insert(&step.name, exchange.body.clone().unwrap_or_default(), &headers.collect());
        Ok(exchange)
    }

    async fn send(&mut self, step: &Step) -> Result<Exchange, PlayError> {
        let text =
            step.send.as_deref().ok_or_else(|| PlayError::Request("a step that does nothing".to_owned()))?;
        let (method, path) = text.split_once(' ').ok_or_else(|| PlayError::Request(text.to_owned()))?;
        let path = self.variables.fill(path)?;
        let request = self.request(step, method, &path)?;
        let is_head = request.method() == Method::HEAD;
        let at = self.target.now();
        let response = self.target.send(request, step.user.as_deref().unwrap_or("admin")).await?;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await?.to_bytes();
        let body = match serde_json::from_slice(&bytes) {
            // The listener of the embedded server drops it, as any HTTP server does.
            _ if bytes.is_empty() || is_head => None,
            Ok(value) => Some(value),
            Err(_) => Some(Value::from(String::from_utf8_lossy(&bytes))),
        };
        let status = parts.status.as_u16();
        if self.target.is_shared() && status == 201 {
            self.remember(&path, body.as_ref().unwrap_or(&Value::Null));
        }
        Ok(Exchange { at, status: Some(status), headers: parts.headers, body, events: None })
    }

    async fn open_watch(&mut self, step: &Step) -> Result<Exchange, PlayError> {
        let path = self.variables.fill(step.watch.as_deref().unwrap_or_default())?;
        let joint = if path.contains('?') { '&' } else { '?' };
        let request = self.request(step, "GET", &format!("{path}{joint}watch=true"))?;
        let at = self.target.now();
        let response = self.target.send(request, step.user.as_deref().unwrap_or("admin")).await?;
        let (parts, body) = response.into_parts();
        let status = parts.status.as_u16();
        let body = if parts.status.is_success() {
            self.watches.insert(step.name.clone(), Watch { body, buffer: Vec::new(), ended: false });
            None
        } else {
            let bytes = body.collect().await?.to_bytes();
            serde_json::from_slice(&bytes).ok()
        };
        Ok(Exchange { at, status: Some(status), headers: parts.headers, body, events: None })
    }

    fn request(&self, step: &Step, method: &str, path: &str) -> Result<Request<Bytes>, PlayError> {
        let refuse = |error: &dyn std::fmt::Display| PlayError::Request(error.to_string());
        let body = if let Some(body) = &step.body {
            Some(Bytes::from(self.variables.fill_value(body)?.to_string()))
        } else if let Some(raw) = &step.raw {
            Some(Bytes::from(self.variables.fill(raw)?))
        } else {
            step.bytes().map_err(|error| refuse(&error))?
        };
        let body = body.map(|body| match step.pad {
            Some(size) => {
                let mut padded = body.to_vec();
                padded.resize(size.max(padded.len()), b' ');
                Bytes::from(padded)
            }
            None => body,
        });
        let mut headers: BTreeMap<String, String> =
            [("accept", "application/json"), ("user-agent", "corpus/1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
        if let Some(patch) = step.patch {
            headers.insert("content-type".to_owned(), patch.media_type().to_owned());
        } else if body.is_some() {
            headers.insert("content-type".to_owned(), "application/json".to_owned());
        }
        for (name, value) in &step.headers {
            headers.insert(name.to_lowercase(), self.variables.fill(value)?);
        }
        let method = Method::from_bytes(method.as_bytes()).map_err(|error| refuse(&error))?;
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(name, value);
        }
        request.body(body.unwrap_or_default()).map_err(|error| refuse(&error))
    }

    async fn read_events(&mut self, name: &str, count: Option<usize>) -> Result<Vec<Value>, PlayError> {
        let watch = self.watches.get_mut(name).ok_or_else(|| PlayError::Missing(format!("watch {name}")))?;
        let mut events = Vec::new();
        let wanted = count.unwrap_or(usize::MAX);
        let reading = async {
            while events.len() < wanted {
                match watch.next().await? {
                    Some(event) => events.push(event),
                    None => break,
                }
            }
            Ok::<(), PlayError>(())
        };
        let in_time = tokio::time::timeout(PATIENCE, reading).await;
        let got = events.len();
        match in_time {
            Ok(result) => result?,
            Err(_) => return Err(PlayError::FewEvents { watch: name.to_owned(), got, wanted }),
        }
        if count.is_some_and(|count| got < count) {
            return Err(PlayError::FewEvents { watch: name.to_owned(), got, wanted });
        }
        Ok(events)
    }

    /// Keeps the path of what a request has created.
    fn remember(&mut self, path: &str, body: &Value) {
        let path = path.split('?').next().unwrap_or_default();
        let name = body["metadata"]["name"].as_str().unwrap_or_default();
        if name.is_empty() || body["metadata"]["uid"].is_null() {
            return;
        }
        let name = name.replace('%', "%25").replace(' ', "%20");
        let at_object = path.ends_with(&format!("/{name}"));
        self.created.push(if at_object { path.to_owned() } else { format!("{path}/{name}") });
    }

    async fn make_namespace(&mut self, name: &str) -> Result<(), PlayError> {
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let send = Some("POST /api/v1/namespaces".to_owned());
        let made = self.send(&Step { send, body: Some(body), ..Step::default() }).await?;
        if made.status != Some(201) {
            return Err(PlayError::Request(format!("namespace {name}: {:?}", made.body)));
        }
        Ok(())
    }

    /// Takes away what the case has created, last things first.
    async fn clean_up(&mut self) -> Result<(), PlayError> {
        self.watches.clear();
        let mut created = std::mem::take(&mut self.created);
        created.dedup();
        for path in created.iter().rev() {
            let gone = |status: Option<u16>| status == Some(404);
            let send = |text: String| Step { send: Some(text), ..Step::default() };
            let deleted = self.send(&send(format!("DELETE {path}?gracePeriodSeconds=0"))).await?;
            if gone(deleted.status) {
                continue;
            }
            let is_definition = path.contains("/customresourcedefinitions/");
            for _ in 0..100 {
                let there = self.send(&send(format!("GET {path}"))).await?;
                if gone(there.status) {
                    break;
                }
                if is_definition {
                    tokio::time::sleep(self.target.pause()).await;
                    continue;
                }
                let mut free = send(format!("PATCH {path}"));
                free.patch = Some(crate::case::PatchType::Merge);
                free.body = Some(json!({"metadata": {"finalizers": null}}));
                self.send(&free).await?;
                if path.starts_with("/api/v1/namespaces/") && path.matches('/').count() == 4 {
                    let mut object = there.body.unwrap_or_default();
                    object["spec"]["finalizers"] = json!([]);
                    object["metadata"]["finalizers"] = json!([]);
                    let mut finalize = send(format!("PUT {path}/finalize"));
                    object["metadata"]["resourceVersion"] = Value::Null;
                    finalize.body = Some(object);
                    self.send(&finalize).await?;
                }
            }
        }
        Ok(())
    }
}

// === impl Watch ===

impl Watch {
    /// The next event, `None` at the end.
    async fn next(&mut self) -> Result<Option<Value>, PlayError> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let event = serde_json::from_slice(&line);
                return Ok(Some(event.unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&line)))));
            }
            if self.ended {
                return Ok(None);
            }
            match self.body.frame().await {
                None => self.ended = true,
                Some(frame) => {
                    if let Ok(data) = frame?.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

/// The header that is as always, which is not recorded.
pub(crate) fn is_usual(name: &str, value: &str) -> bool {
    match name {
        n if n == header::CONTENT_TYPE => value == "application/json",
        n if n == header::CACHE_CONTROL => value == "no-cache, private",
        _ => false,
    }
}
