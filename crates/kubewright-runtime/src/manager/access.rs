use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{HeaderMap, Method, StatusCode, header};
use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec, UserInfo},
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{
    Api,
    api::{ObjectMeta, PostParams},
};
use tokio::time::{Instant, timeout};

/// Lets those pass whom the API server knows and allows to read a path: the clients of a metrics endpoint.
///
/// A bearer token is shown to the API server (`TokenReview`), which is then asked whether its user has the path for the
/// verb (`SubjectAccessReview`): the operator needs `create` on both. Answers are kept for as long as
/// controller-runtime keeps them, so a scrape does not become two requests.
pub(super) struct Access {
    client: kube::Client,
    /// By the digest of the token, which is not kept.
    users: Mutex<Kept<Vec<u8>, Option<UserInfo>>>,
    /// By user, verb and path.
    decisions: Mutex<Kept<String, bool>>,
}

/// Why somebody does not pass: a status and a line of text, those of controller-runtime.
pub(super) type Refusal = (StatusCode, String);

/// Answers that hold for a while.
struct Kept<K, V> {
    answers: BTreeMap<K, (Instant, V)>,
}

const USER_TTL: Duration = Duration::from_secs(60);
const ALLOWED_TTL: Duration = Duration::from_secs(300);
const DENIED_TTL: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(10);
/// A stranger can show any number of tokens, but not fill the memory with answers to them.
const KEPT: usize = 1024;

// === impl Access ===

impl Access {
    pub(super) fn new(client: kube::Client) -> Self {
        Self { client, users: Mutex::default(), decisions: Mutex::default() }
    }

    /// Whether a request may pass.
    pub(super) async fn check(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        let unauthorized = || (StatusCode::UNAUTHORIZED, "Unauthorized".to_owned());
        let token = bearer_token(headers).ok_or_else(unauthorized)?;
        let user = self.authenticate(token).await.map_err(|error| {
            tracing::error!(error, "cannot authenticate a client");
            (StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed".to_owned())
        })?;
        let user = user.ok_or_else(unauthorized)?;
        let name = user.username.clone().unwrap_or_default();
        let verb = method.as_str().to_lowercase();
        match self.authorize(user, &verb, path).await {
            Ok(true) => Ok(()),
            Ok(false) => Err((StatusCode::FORBIDDEN, format!("Authorization denied for user {name}"))),
            Err(error) => {
                tracing::error!(user = name, error, "cannot authorize a client");
                Err((StatusCode::INTERNAL_SERVER_ERROR, format!("Authorization for user {name} failed")))
            }
        }
    }

    /// Whose token it is.
    async fn authenticate(&self, token: &str) -> Result<Option<UserInfo>, String> {
        let key = ring::digest::digest(&ring::digest::SHA256, token.as_bytes()).as_ref().to_vec();
        if let Some(user) = lock(&self.users).get(&key) {
            return Ok(user);
        }
        let review = TokenReview {
            metadata: ObjectMeta::default(),
            spec: TokenReviewSpec { token: token.to_owned(), ..Default::default() },
            status: None,
        };
        let status = self.ask(&review).await?.status.unwrap_or_default();
        let user = status.user.filter(|_| status.authenticated == Some(true));
        lock(&self.users).put(key, user.clone(), USER_TTL);
        Ok(user)
    }

    async fn authorize(&self, user: UserInfo, verb: &str, path: &str) -> Result<bool, String> {
        let UserInfo { username, uid, groups, extra } = user;
        let attributes = NonResourceAttributes { path: Some(path.to_owned()), verb: Some(verb.to_owned()) };
        let spec = SubjectAccessReviewSpec {
            user: username,
            uid,
            groups,
            extra,
            non_resource_attributes: Some(attributes),
            resource_attributes: None,
        };
        let key = serde_json::to_string(&spec).map_err(|error| error.to_string())?;
        if let Some(allowed) = lock(&self.decisions).get(&key) {
            return Ok(allowed);
        }
        let review = SubjectAccessReview { metadata: ObjectMeta::default(), spec, status: None };
        let allowed = self.ask(&review).await?.status.is_some_and(|status| status.allowed);
        lock(&self.decisions).put(key, allowed, if allowed { ALLOWED_TTL } else { DENIED_TTL });
        Ok(allowed)
    }

    /// Creates a review, whose answer is what the API server makes of it.
    async fn ask<K>(&self, review: &K) -> Result<K, String>
    where
        K: kube::Resource<DynamicType = ()>
            + serde::Serialize
            + serde::de::DeserializeOwned
            + Clone
            + std::fmt::Debug,
    {
        let reviews = Api::<K>::all(self.client.clone());
        let parameters = PostParams::default();
        let answer = timeout(PATIENCE, reviews.create(&parameters, review)).await;
        let answer = answer.map_err(|_| format!("no answer to a {} within {PATIENCE:?}", K::kind(&())))?;
        answer.map_err(|error| format!("cannot create a {}: {error}", K::kind(&())))
    }
}

/// The token of an `Authorization: Bearer` header.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let mut words = value.split_ascii_whitespace();
    let is_bearer = words.next()?.eq_ignore_ascii_case("bearer");
    words.next().filter(|_| is_bearer)
}

// === impl Kept ===

impl<K: Ord, V: Clone> Kept<K, V> {
    fn get(&self, key: &K) -> Option<V> {
        let (until, answer) = self.answers.get(key)?;
        (Instant::now() < *until).then(|| answer.clone())
    }

    fn put(&mut self, key: K, answer: V, ttl: Duration) {
        let now = Instant::now();
        if self.answers.len() >= KEPT {
            self.answers.retain(|_, (until, _)| now < *until);
        }
        if self.answers.len() >= KEPT {
            self.answers.clear();
        }
        self.answers.insert(key, (now + ttl, answer));
    }
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self { answers: BTreeMap::new() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scripted::Scripted;

    fn token(token: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let value = format!("Bearer {token}").parse().expect("a header");
        headers.insert(header::AUTHORIZATION, value);
        headers
    }

    fn review(authenticated: bool) -> serde_json::Value {
        let user = json!({"username": "prometheus", "groups": ["system:authenticated"]});
        json!({"spec": {}, "status": {"authenticated": authenticated, "user": user}})
    }

    fn access_review(allowed: bool) -> serde_json::Value {
        json!({"spec": {}, "status": {"allowed": allowed}})
    }

    async fn check(access: &Access, headers: &HeaderMap) -> Result<(), Refusal> {
        access.check(&Method::GET, "/metrics", headers).await
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_kept_for_a_while() {
        let server = Scripted::new()
            .answer(201, review(true))
            .answer(201, access_review(false))
            .answer(201, access_review(true))
            .answer(201, review(false));
        let access = Access::new(server.kube());
        let denied = (StatusCode::FORBIDDEN, "Authorization denied for user prometheus".to_owned());
        for _ in 0..3 {
            assert_eq!(check(&access, &token("t")).await, Err(denied.clone()));
        }
        assert_eq!(server.asked().len(), 2);
        tokio::time::sleep(DENIED_TTL).await;
        assert_eq!(check(&access, &token("t")).await, Ok(()));
        let asked = server.asked();
        let attributes = &asked[2].body["spec"];
        assert_eq!(attributes["nonResourceAttributes"], json!({"path": "/metrics", "verb": "get"}));
        assert_eq!(
            (&attributes["user"], &attributes["groups"][0]),
            (&json!("prometheus"), &json!("system:authenticated"))
        );
        // The token does not hold any more.
        tokio::time::sleep(USER_TTL).await;
        let unauthorized = (StatusCode::UNAUTHORIZED, "Unauthorized".to_owned());
        assert_eq!(check(&access, &token("t")).await, Err(unauthorized.clone()));
        assert_eq!(server.asked().len(), 4);
        assert_eq!(check(&access, &HeaderMap::new()).await, Err(unauthorized));
    }

    #[tokio::test(start_paused = true)]
    async fn a_review_that_cannot_be_made_is_no_permission() {
        let server = Scripted::new().failure(403, "Forbidden", "no");
        let access = Access::new(server.kube());
        let refused = check(&access, &token("t")).await;
        assert_eq!(refused, Err((StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed".to_owned())));
    }

    #[test]
    fn answers_do_not_fill_the_memory() {
        let mut kept = Kept::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            for key in 0..10 * KEPT {
                kept.put(key, (), USER_TTL);
                assert!(kept.answers.len() <= KEPT);
                assert!(kept.get(&key).is_some());
            }
        });
    }
}
