//! What a request says beside its body: selectors, tokens, paths and the forms of answers.

use std::cell::LazyCell;

use bytes::Bytes;
use futures::FutureExt;
use http::{HeaderValue, Request, StatusCode, header};
use http_body_util::Empty;
use jiff::Timestamp;
use kubewright_apiserver::{
    ApiServer, ApiService,
    authn::{ANONYMOUS, Authenticator, Bindings, BoundObjects, ObjectRef, TokenIssuer},
    selector::{FieldSelector, LabelSelector, SelectableFields},
};
use kubewright_world::{Clock, Random};
use serde_json::json;
use tower::ServiceExt;

use super::halves;

/// A label selector reads the same when it is written again.
pub fn label_selector(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(selector) = LabelSelector::parse(text) else { return };
    let written = selector.to_string();
    let again = LabelSelector::parse(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again.to_string(), written);
    for labels in [json!({}), json!({"a": "b"}), json!({"app": "web", "tier": "", "a.b/c": "1"})] {
        let object = json!({"metadata": {"labels": labels}});
        assert_eq!(again.matches(&object), selector.matches(&object));
    }
}

/// A field selector reads the same when it is written again.
pub fn field_selector(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(selector) = FieldSelector::parse(text) else { return };
    let written = selector.to_string();
    let again = FieldSelector::parse(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again, selector);
    if let Ok(fields) = selector.bind(&SelectableFields::built_in("", "v1", "Pod")) {
        let _ = fields.matches(&json!({"metadata": {"name": "a"}, "status": {"phase": "Running"}}));
    }
}

/// No token names anybody but the one that the server issued, byte for byte.
pub fn bearer_token(bytes: &[u8]) {
    thread_local! {
        static AUTHENTICATOR: LazyCell<(Authenticator, String)> = const { LazyCell::new(authenticator) };
    }
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    AUTHENTICATOR.with(|one| {
        let (authenticator, issued) = &**one;
        let headers = [(header::AUTHORIZATION, value)].into_iter().collect();
        let Ok(user) = authenticator.authenticate(&headers, &http::Extensions::new(), &Account) else {
            return;
        };
        if user.name != ANONYMOUS {
            let shown = String::from_utf8_lossy(bytes);
            assert!(shown.contains(issued), "{shown} is taken for {}, whose token is {issued}", user.name);
        }
    });
}

/// A continue token is one that is followed, or refused as a client's mistake. One from the future is waited for in vain.
pub fn continue_token(bytes: &[u8]) {
    let mut path = "/api/v1/namespaces?limit=1&continue=".to_owned();
    for byte in bytes {
        path.push_str(&format!("%{byte:02x}"));
    }
    let status = get(&path, "application/json");
    assert!(matches!(status, None | Some(200 | 400 | 410 | 504)), "{status:?}");
}

/// A path with its query, and in a second line the forms of answers that a client takes, are answered, and never with what says
/// that the server is at fault.
pub fn request(bytes: &[u8]) {
    let (path, accept) = halves(bytes).unwrap_or((bytes, b"*/*"));
    let (Ok(path), Ok(accept)) = (std::str::from_utf8(path), std::str::from_utf8(accept)) else { return };
    if !path.starts_with('/') {
        return;
    }
    if let Some(status) = get(path, accept) {
        let at_fault = StatusCode::INTERNAL_SERVER_ERROR.as_u16();
        assert!(status != at_fault || has_server_error(path), "{path}");
    }
}

/// Whether a real server, too, answers 500 to what such a path may say wrong: the version that a watch or a get starts at.
fn has_server_error(path: &str) -> bool {
    path.contains("resourceVersion")
}

/// The status of the answer to a GET. `None` if it is none that one can ask for, or takes longer.
fn get(path: &str, accept: &str) -> Option<u16> {
    thread_local! {
        static SERVICE: LazyCell<(tokio::runtime::Runtime, ApiService)> = const { LazyCell::new(service) };
    }
    let request = Request::get(path).header(header::ACCEPT, accept).body(Empty::<Bytes>::new()).ok()?;
    SERVICE.with(|one| {
        let (runtime, service) = &**one;
        let _entered = runtime.enter();
        let response = service.clone().oneshot(request).now_or_never()?;
        Some(response.expect("the server is there").status().as_u16())
    })
}

fn service() -> (tokio::runtime::Runtime, ApiService) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let server = ApiServer::builder().clock(clock()).random(Random::seeded(1)).build();
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
    server.create(object).expect("a valid object");
    (runtime, server.service())
}

fn clock() -> Clock {
    Clock::starting_at(Timestamp::from_second(1_900_000_000).expect("a time"))
}

/// The one token that [`bearer_token`] takes.
#[must_use]
pub fn issued_token() -> String {
    authenticator().1
}

fn authenticator() -> (Authenticator, String) {
    let issuer = TokenIssuer::new(clock(), &Random::seeded(1)).with_secret(&[7; 32]);
    let account = Bindings {
        namespace: "default".to_owned(),
        serviceaccount: ObjectRef { name: "robot".to_owned(), uid: "1".to_owned() },
        pod: None,
        secret: None,
        node: None,
    };
    let (token, _) = issuer.issue(account, vec![TokenIssuer::AUDIENCE.to_owned()], 3600);
    (Authenticator::new(issuer), token)
}

/// A cluster with one account.
struct Account;

impl BoundObjects for Account {
    fn uid(&self, resource: &str, namespace: &str, name: &str) -> Option<String> {
        ((resource, namespace, name) == ("serviceaccounts", "default", "robot")).then(|| "1".to_owned())
    }

    fn node_of_pod(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}
