//! A registry in the test's own process, which can be told to fail.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use kubewright_image::{
    Digest, Reference,
    registry::{Options, Registry},
};
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};

/// A running registry; it ends with the value.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

/// What it has, wants and was asked.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) blobs: BTreeMap<(String, Digest), Bytes>,
    pub(crate) manifests: BTreeMap<(String, String), (String, Bytes)>,
    uploads: BTreeMap<usize, Vec<u8>>,
    pub(crate) access: Access,
    /// Tokens that are good.
    pub(crate) tokens: Vec<String>,
    issued: usize,
    pub(crate) faults: VecDeque<Fault>,
    /// Method and path of each request, with `?` if there is a query.
    pub(crate) requests: Vec<String>,
    /// What token servers were asked: the query, or the form.
    pub(crate) asked: Vec<String>,
    pub(crate) authorizations: Vec<Option<String>>,
}

/// Who may do what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Access {
    #[default]
    Open,
    /// Whoever has this login, as `USER:PASSWORD`.
    Basic(&'static str),
    /// Whoever has a token, which whoever has this login is given; or this identity token.
    Bearer(&'static str),
}

/// What to do instead of what it should: once, with the first request that has this method and whose path has this in it.
pub(crate) struct Fault {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) what: What,
}

pub(crate) enum What {
    /// Answer this.
    Answer(u16, &'static [(&'static str, String)], String),
    /// End the connection.
    Break,
    /// Do what is asked, and end the connection.
    BreakAfter,
    /// Answer rightly, but with other content.
    Change,
    /// Answer rightly, but with another digest.
    WrongDigest,
}

impl Fake {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                let service = service_fn(move |request| answer(Arc::clone(&state), address, request));
                // A connection that ends early is what some tests are about.
                tokio::spawn(async move {
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, state, server }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panicked with it")
    }

    pub(crate) fn reference(&self, name: &str) -> Reference {
        crate::program::reference(&format!("{}/{name}", self.address))
    }

    pub(crate) fn client(&self) -> Registry {
        self.client_with(Options::default())
    }

    /// A client that does not wait long.
    pub(crate) fn client_with(&self, options: Options) -> Registry {
        let options = Options { pause: Duration::from_millis(1), ..options };
        Registry::new(&self.address.to_string(), options).expect("a client")
    }

    pub(crate) fn fault(&self, method: Method, path: &'static str, what: What) {
        self.state().faults.push_back(Fault { method, path, what });
    }

    /// Ends it; its port is free afterwards.
    pub(crate) async fn end(mut self) {
        self.server.abort();
        let _ = (&mut self.server).await;
    }

    /// The requests since the last call.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state().requests)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.server.abort();
    }
}

pub(crate) fn error(code: &str, message: &str) -> String {
    json!({"errors": [{"code": code, "message": message, "detail": {}}]}).to_string()
}

type Answer = Response<Full<Bytes>>;

fn reply(status: u16, headers: &[(&str, String)], body: impl Into<Bytes>) -> Answer {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    response.body(Full::new(body.into())).expect("a valid answer")
}

async fn answer(
    state: Arc<Mutex<State>>,
    address: SocketAddr,
    request: Request<Incoming>,
) -> Result<Answer, io::Error> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let fault = {
        let mut state = state.lock().expect("whole");
        let mark = if query.is_empty() { "" } else { "?" };
        state.requests.push(format!("{} {path}{mark}", parts.method));
        let authorization = parts.headers.get(header::AUTHORIZATION);
        state.authorizations.push(authorization.map(|value| value.to_str().expect("text").to_owned()));
        let hit = |fault: &Fault| fault.method == parts.method && path.contains(fault.path);
        if state.faults.front().is_some_and(hit) { state.faults.pop_front() } else { None }
    };
    let broken = || io::Error::other("told to break");
    match fault.map(|fault| fault.what) {
        Some(What::Break) => Err(broken()),
        Some(What::Answer(status, headers, text)) => {
            // Read, so that the connection stays usable.
            let _ = body.collect().await;
            Ok(reply(status, headers, text))
        }
        what => {
            let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
            let mut response = state.lock().expect("whole").serve(
                address,
                &parts.method,
                &path,
                &query,
                &parts.headers,
                &body,
            );
            match what {
                Some(What::BreakAfter) => return Err(broken()),
                Some(What::Change) => {
                    let body = std::mem::take(response.body_mut()).collect().await;
                    let mut changed = body.expect("it is in memory").to_bytes().to_vec();
                    let middle = changed.len() / 2;
                    changed[middle] ^= 1;
                    *response.body_mut() = Full::new(changed.into());
                }
                Some(What::WrongDigest) => {
                    let digest = Digest::of(b"other").to_string();
                    response.headers_mut().insert("docker-content-digest", digest.parse().expect("a value"));
                }
                _ => {}
            }
            Ok(response)
        }
    }
}

impl State {
    fn serve(
        &mut self,
        address: SocketAddr,
        method: &Method,
        path: &str,
        query: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Answer {
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if path == "/token" {
            return self.token(authorization, query, body);
        }
        if let Some(refusal) = self.refusal(address, authorization) {
            return refusal;
        }
        let query: BTreeMap<String, String> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let parts: Vec<&str> = path.trim_start_matches("/v2/").split('/').collect();
        let digest = |text: &str| text.parse::<Digest>().expect("a digest");
        match (method.as_str(), parts.as_slice()) {
            ("GET", [""]) => reply(200, &[], "{}"),
            ("HEAD" | "GET", [repository @ .., "blobs", name]) => {
                match self.blobs.get(&(repository.join("/"), digest(name))) {
                    Some(content) => {
                        reply(200, &[], if method == Method::HEAD { Bytes::new() } else { content.clone() })
                    }
                    None => reply(404, &[], error("BLOB_UNKNOWN", "blob unknown to registry")),
                }
            }
            ("POST", [repository @ .., "blobs", "uploads", ""]) => {
                if let (Some(mount), Some(from)) = (query.get("mount"), query.get("from"))
                    && let Some(content) = self.blobs.get(&(from.clone(), digest(mount)))
                {
                    let content = content.clone();
                    self.blobs.insert((repository.join("/"), digest(mount)), content);
                    return reply(201, &[], "");
                }
                let id = self.issued;
                self.issued += 1;
                self.uploads.insert(id, Vec::new());
                reply(
                    202,
                    &[("location", format!("/v2/{}/blobs/uploads/{id}?state={id}", repository.join("/")))],
                    "",
                )
            }
            (_, [repository @ .., "blobs", "uploads", id]) => {
                let id: usize = id.parse().expect("an upload");
                self.upload(
                    method,
                    &repository.join("/"),
                    id,
                    query.get("digest").map(|text| digest(text)),
                    headers,
                    body,
                )
            }
            ("PUT", [repository @ .., "manifests", name]) => {
                let found = Digest::of(body);
                let media_type = headers[header::CONTENT_TYPE].to_str().expect("text").to_owned();
                for name in [(*name).to_owned(), found.to_string()] {
                    self.manifests.insert((repository.join("/"), name), (media_type.clone(), body.clone()));
                }
                reply(201, &[("docker-content-digest", found.to_string())], "")
            }
            ("GET", [repository @ .., "manifests", name]) => {
                match self.manifests.get(&(repository.join("/"), (*name).to_owned())) {
                    Some((media_type, content)) => {
                        reply(200, &[("content-type", media_type.clone())], content.clone())
                    }
                    None => reply(404, &[], error("MANIFEST_UNKNOWN", "manifest unknown")),
                }
            }
            _ => reply(405, &[], ""),
        }
    }

    fn upload(
        &mut self,
        method: &Method,
        repository: &str,
        id: usize,
        digest: Option<Digest>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Answer {
        let location = ("location", format!("/v2/{repository}/blobs/uploads/{id}?state={id}"));
        let Some(upload) = self.uploads.get_mut(&id) else {
            return reply(404, &[], error("BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry"));
        };
        match method.as_str() {
            "PATCH" => {
                let range = headers[header::CONTENT_RANGE].to_str().expect("text");
                if range.split('-').next() != Some(upload.len().to_string().as_str()) {
                    return reply(416, &[location], "");
                }
                upload.extend(body);
                reply(202, &[location, ("range", format!("0-{}", upload.len() - 1))], "")
            }
            "GET" => reply(204, &[location, ("range", format!("0-{}", upload.len().saturating_sub(1)))], ""),
            "DELETE" => {
                self.uploads.remove(&id);
                reply(204, &[], "")
            }
            "PUT" => {
                upload.extend(body);
                let content = Bytes::from(self.uploads.remove(&id).unwrap_or_default());
                let digest = digest.expect("an upload ends with a digest");
                if !digest.is_of(&content) {
                    return reply(
                        400,
                        &[],
                        error("DIGEST_INVALID", "provided digest did not match uploaded content"),
                    );
                }
                let found = ("docker-content-digest", digest.to_string());
                self.blobs.insert((repository.to_owned(), digest), content);
                reply(201, &[found], "")
            }
            _ => reply(405, &[], ""),
        }
    }

    fn refusal(&self, address: SocketAddr, authorization: Option<&str>) -> Option<Answer> {
        let (good, challenge) = match &self.access {
            Access::Open => return None,
            Access::Basic(login) => {
                (authorization == Some(&basic(login)), r#"Basic realm="fake""#.to_owned())
            }
            Access::Bearer(_) => (
                authorization
                    .and_then(|value| value.strip_prefix("Bearer "))
                    .is_some_and(|token| self.tokens.iter().any(|good| good == token)),
                format!(r#"Bearer realm="http://{address}/token",service="fake registry""#),
            ),
        };
        let body = error("UNAUTHORIZED", "authentication required");
        (!good).then(|| reply(StatusCode::UNAUTHORIZED.as_u16(), &[("www-authenticate", challenge)], body))
    }

    fn token(&mut self, authorization: Option<&str>, query: &str, form: &[u8]) -> Answer {
        let form = String::from_utf8_lossy(form).into_owned();
        self.asked.push(if form.is_empty() { query.to_owned() } else { form.clone() });
        let Access::Bearer(login) = &self.access else { return reply(404, &[], "") };
        if authorization != Some(&basic(login)) && !form.contains(&format!("refresh_token={login}")) {
            return reply(401, &[], json!({"details": "incorrect username or password"}).to_string());
        }
        self.issued += 1;
        let token = format!("token{}", self.issued);
        self.tokens.push(token.clone());
        // Either name is in use.
        let name = if form.is_empty() { "token" } else { "access_token" };
        reply(200, &[], json!({name: token, "expires_in": 300}).to_string())
    }
}

fn basic(login: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(login))
}
