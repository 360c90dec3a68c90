//! The tokens of service accounts.
//!
//! A token is a JSON Web Token with the claims of Kubernetes. It is signed with a secret of the server
//! (HS256) and not with a key pair as in a cluster: nobody else can verify it, and nobody else needs to,
//! since `TokenReview` is there. The secret is drawn from the injected randomness, so that tokens are part
//! of a reproducible run, unless it is one that was kept.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use kubewright_world::{Clock, Random};
use ring::hmac;
use serde::{Deserialize, Serialize};

use super::CREDENTIAL_ID;
use crate::user::User;

/// Issues and checks the tokens of service accounts.
#[derive(Clone)]
pub struct TokenIssuer {
    key: hmac::Key,
    /// What the issuer calls itself, followed by what it was called before.
    issuers: Vec<String>,
    clock: Clock,
    random: Random,
}

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Whom the token is for.
    pub aud: Vec<String>,
    /// The second after which it does not hold.
    pub exp: i64,
    /// The second it was issued.
    pub iat: i64,
    /// Who issued it.
    pub iss: String,
    /// The token's own identity.
    pub jti: String,
    /// The account and what the token is bound to.
    #[serde(rename = "kubernetes.io")]
    pub kubernetes: Bindings,
    /// The second before which it does not hold.
    pub nbf: i64,
    /// The user's name.
    pub sub: String,
}

/// The objects with which a token lives and dies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bindings {
    /// The account's namespace.
    pub namespace: String,
    /// The account.
    pub serviceaccount: ObjectRef,
    /// The pod the token was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<ObjectRef>,
    /// The secret the token was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<ObjectRef>,
    /// The node the token was made for, or on which its pod runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<ObjectRef>,
}

/// One object, not another of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectRef {
    /// The name.
    pub name: String,
    /// The uid.
    #[serde(default)]
    pub uid: String,
}

/// What tokens ask of stored objects.
pub trait BoundObjects {
    /// The uid of an object of the core group at version v1; `resource` is the plural, `namespace` empty for
    /// cluster-scoped resources. `None` if it does not exist or is being deleted.
    fn uid(&self, resource: &str, namespace: &str, name: &str) -> Option<String>;

    /// The node that a pod runs on (`spec.nodeName`).
    fn node_of_pod(&self, namespace: &str, name: &str) -> Option<String>;
}

/// Why a token that this server issued does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// Its time is over.
    #[error("service account token has expired")]
    Expired,
    /// Its time has not come.
    #[error("service account token is not valid yet")]
    NotYetValid,
    /// It was issued for somebody else.
    #[error("token audiences {issued} is invalid for the target audiences {wanted}")]
    WrongAudience {
        /// Whom it is for, as Go prints lists.
        issued: String,
        /// Who asks, as Go prints lists.
        wanted: String,
    },
    /// The account, or the object to which the token is bound, is gone or another of the same name.
    #[error("service account token has been invalidated")]
    Invalidated,
}

// === impl TokenIssuer ===

impl TokenIssuer {
    /// The issuer, and with it the audience of this server, unless others are named.
    pub const AUDIENCE: &str = "https://kubernetes.default.svc";

    /// An issuer with a secret drawn from `random`, which also draws the identities of tokens.
    #[must_use]
    pub fn new(clock: Clock, random: &Random) -> Self {
        let random = random.fork();
        let mut secret = [0; 32];
        random.fill(&mut secret);
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
        Self { key, issuers: vec![Self::AUDIENCE.to_owned()], clock, random }
    }

    /// The same with another secret, so that tokens stay valid when a server starts again.
    #[must_use]
    pub fn with_secret(self, secret: &[u8]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret), ..self }
    }

    /// The same under other names: it issues tokens under the first and reads those of all. An empty list changes
    /// nothing.
    #[must_use]
    pub fn with_issuers(self, issuers: Vec<String>) -> Self {
        if issuers.is_empty() { self } else { Self { issuers, ..self } }
    }

    /// Under which names it reads tokens.
    pub(super) fn issuers(&self) -> &[String] {
        &self.issuers
    }

    /// The current second.
    pub(super) fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    /// Issues a token that holds from now for so many seconds.
    #[must_use]
    pub fn issue(&self, kubernetes: Bindings, audiences: Vec<String>, seconds: i64) -> (String, Claims) {
        let now = self.now();
        let sub =
            format!("system:serviceaccount:{}:{}", kubernetes.namespace, kubernetes.serviceaccount.name);
        let claims = Claims {
            aud: audiences,
            exp: now.saturating_add(seconds),
            iat: now,
            iss: self.issuers.first().cloned().unwrap_or_default(),
            jti: self.random.uid(),
            kubernetes,
            nbf: now,
            sub,
        };
        let payload = serde_json::to_vec(&claims).unwrap_or_default();
        let signed = format!("{HEADER}.{}", URL_SAFE_NO_PAD.encode(payload));
        let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&self.key, signed.as_bytes()));
        (format!("{signed}.{signature}"), claims)
    }

    /// What a token says, if this server issued it.
    #[must_use]
    pub fn read(&self, token: &str) -> Option<Claims> {
        let (signed, signature) = token.rsplit_once('.')?;
        let payload = signed.strip_prefix(HEADER)?.strip_prefix('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.key, signed.as_bytes(), &signature).ok()?;
        let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
        self.issuers.contains(&claims.iss).then_some(claims)
    }

    /// Checks that a token holds now and for one of `audiences`; returns those it is for.
    ///
    /// # Errors
    /// When it does not.
    pub fn check(
        &self,
        claims: &Claims,
        audiences: &[String],
        objects: &dyn BoundObjects,
    ) -> Result<Vec<String>, TokenError> {
        let now = self.now();
        if now > claims.exp {
            return Err(TokenError::Expired);
        }
        if now < claims.nbf {
            return Err(TokenError::NotYetValid);
        }
        let granted: Vec<String> =
            audiences.iter().filter(|audience| claims.aud.contains(audience)).cloned().collect();
        if granted.is_empty() {
            return Err(TokenError::WrongAudience { issued: list(&claims.aud), wanted: list(audiences) });
        }
        let Bindings { namespace, serviceaccount, pod, secret, node } = &claims.kubernetes;
        let bound = [
            ("serviceaccounts", namespace.as_str(), Some(serviceaccount)),
            ("pods", namespace.as_str(), pod.as_ref()),
            ("secrets", namespace.as_str(), secret.as_ref()),
            // The node of a bound pod is told, not watched.
            ("nodes", "", node.as_ref().filter(|_| pod.is_none())),
        ];
        let lives = |(resource, namespace, object): &(&str, &str, Option<&ObjectRef>)| match object {
            Some(object) => objects.uid(resource, namespace, &object.name).as_deref() == Some(&object.uid),
            None => true,
        };
        if bound.iter().all(lives) { Ok(granted) } else { Err(TokenError::Invalidated) }
    }
}

/// Keeps the secret out of logs.
impl fmt::Debug for TokenIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenIssuer").finish_non_exhaustive()
    }
}

/// `{"alg":"HS256","typ":"JWT"}`.
const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";

/// A list as Go's `%q` prints it.
fn list(values: &[String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("[{}]", quoted.join(" "))
}

// === impl Claims ===

impl Claims {
    /// The user that the token names, without `system:authenticated`.
    #[must_use]
    pub fn user(&self) -> User {
        let Bindings { namespace, serviceaccount, pod, node, .. } = &self.kubernetes;
        let mut user = User {
            name: self.sub.clone(),
            uid: serviceaccount.uid.clone(),
            groups: service_account_groups(namespace),
            ..User::default()
        };
        let mut extra = |key: &str, value: String| {
            user.extra.insert(format!("authentication.kubernetes.io/{key}"), vec![value]);
        };
        if let Some(pod) = pod {
            extra("pod-name", pod.name.clone());
            extra("pod-uid", pod.uid.clone());
        }
        if let Some(node) = node {
            extra("node-name", node.name.clone());
            if !node.uid.is_empty() {
                extra("node-uid", node.uid.clone());
            }
        }
        user.extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={}", self.jti)]);
        user
    }
}

/// The groups of every service account of a namespace.
pub(super) fn service_account_groups(namespace: &str) -> Vec<String> {
    vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]
}

#[cfg(test)]
pub(super) mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use super::*;

    /// Uids by `resource/namespace/name`.
    #[derive(Default)]
    pub(in crate::authn) struct Objects(pub(in crate::authn) BTreeMap<String, String>);

    impl BoundObjects for Objects {
        fn uid(&self, resource: &str, namespace: &str, name: &str) -> Option<String> {
            self.0.get(&format!("{resource}/{namespace}/{name}")).cloned()
        }

        fn node_of_pod(&self, _: &str, _: &str) -> Option<String> {
            Some("node-1".to_owned())
        }
    }

    fn bindings() -> Bindings {
        let object = |name: &str| ObjectRef { name: name.to_owned(), uid: format!("{name}-uid") };
        Bindings {
            namespace: "default".to_owned(),
            serviceaccount: object("s1"),
            pod: Some(object("p1")),
            secret: None,
            node: None,
        }
    }

    fn objects() -> Objects {
        let uid = |path: &str, uid: &str| (path.to_owned(), uid.to_owned());
        Objects(BTreeMap::from([
            uid("serviceaccounts/default/s1", "s1-uid"),
            uid("pods/default/p1", "p1-uid"),
        ]))
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_holds_until_it_expires() {
        let clock = Clock::starting_at("2030-01-01T00:00:00Z".parse().expect("a time"));
        let issuer = TokenIssuer::new(clock, &Random::seeded(1));
        let own = vec![TokenIssuer::AUDIENCE.to_owned()];
        let (token, claims) = issuer.issue(bindings(), own.clone(), 600);
        assert_eq!(issuer.read(&token).as_ref(), Some(&claims));
        assert_eq!(issuer.check(&claims, &own, &objects()), Ok(own.clone()));
        let user = claims.user();
        assert_eq!(user.name, "system:serviceaccount:default:s1");
        assert_eq!(user.groups, ["system:serviceaccounts", "system:serviceaccounts:default"]);
        assert_eq!(user.extra["authentication.kubernetes.io/pod-name"], ["p1"]);
        tokio::time::advance(Duration::from_secs(601)).await;
        assert_eq!(issuer.check(&claims, &own, &objects()), Err(TokenError::Expired));
    }

    #[test]
    fn a_token_dies_with_what_it_is_bound_to() {
        let issuer = TokenIssuer::new(Clock::system(), &Random::seeded(1));
        let own = vec![TokenIssuer::AUDIENCE.to_owned()];
        let (_, claims) = issuer.issue(bindings(), own.clone(), 600);
        for path in ["serviceaccounts/default/s1", "pods/default/p1"] {
            let mut objects = objects();
            objects.0.remove(path);
            assert_eq!(issuer.check(&claims, &own, &objects), Err(TokenError::Invalidated));
            objects.0.insert(path.to_owned(), "another".to_owned());
            assert_eq!(issuer.check(&claims, &own, &objects), Err(TokenError::Invalidated));
        }
    }

    #[test]
    fn other_tokens_are_not_read() {
        let issuer = TokenIssuer::new(Clock::system(), &Random::seeded(1));
        let other = TokenIssuer::new(Clock::system(), &Random::seeded(2));
        let (token, claims) = issuer.issue(bindings(), vec!["a".to_owned()], 600);
        assert_eq!(other.read(&token), None);
        let (head, signature) = token.rsplit_once('.').expect("three parts");
        assert_eq!(issuer.read(&format!("{head}A.{signature}")), None);
        for text in ["", ".", "..", "a.b.c", head] {
            assert_eq!(issuer.read(text), None, "{text:?}");
        }
        let wrong = issuer.check(&claims, &["b".to_owned(), "c".to_owned()], &objects());
        assert_eq!(
            wrong.expect_err("another audience").to_string(),
            "token audiences [\"a\"] is invalid for the target audiences [\"b\" \"c\"]"
        );
    }

    #[test]
    fn a_kept_secret_keeps_tokens_valid_under_the_names_that_are_known() {
        let issuer = |seed, names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            let issuer = TokenIssuer::new(Clock::system(), &Random::seeded(seed));
            issuer.with_secret(b"kept").with_issuers(names)
        };
        let (token, claims) = issuer(1, &["https://new", "https://old"]).issue(bindings(), Vec::new(), 600);
        assert_eq!(claims.iss, "https://new");
        assert_eq!(issuer(2, &["https://newest", "https://new"]).read(&token), Some(claims));
        assert_eq!(issuer(2, &["https://newest"]).read(&token), None);
    }
}
