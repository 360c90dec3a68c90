//! Authentication: who makes a request.
//!
//! An [`Authenticator`] looks at the client certificate that the listener found, then at the bearer token
//! (a static one, or one that was issued to a service account), and takes a client that shows neither for
//! `system:anonymous`. A client that shows nothing right and something wrong is refused with 401. Afterwards
//! [`impersonated`](impersonation::requested) reads whether the user wants to act as another one, which
//! [`crate::authz`] must allow.
//!
//! `token_file.rs` reads static tokens, `tokens.rs` issues and checks the tokens of service accounts, `reviews.rs` answers the virtual kinds
//! (`TokenRequest`, `TokenReview`, `SelfSubjectReview`). What is asked of stored objects goes through
//! [`BoundObjects`]; nothing here knows the registry.

pub mod impersonation;
mod reviews;
mod token_file;
mod tokens;

use std::{collections::BTreeMap, sync::Arc};

use http::{Extensions, HeaderMap, header};

pub(crate) use self::reviews::set_token_defaults;
pub use self::{
    token_file::{TokenFileError, read_token_file},
    tokens::{Bindings, BoundObjects, Claims, ObjectRef, TokenError, TokenIssuer},
};
use crate::{
    listener::{PeerCertificate, RefusedCertificate},
    status::Status,
    user::User,
};

/// The user of a request that shows no credentials.
pub const ANONYMOUS: &str = "system:anonymous";
/// The group of all users who were authenticated.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of [`ANONYMOUS`].
pub const UNAUTHENTICATED: &str = "system:unauthenticated";

const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Finds out who makes a request.
#[derive(Clone, Debug)]
pub struct Authenticator {
    tokens: BTreeMap<String, User>,
    issuer: TokenIssuer,
    /// Whom tokens must be for.
    audiences: Vec<String>,
    anonymous: bool,
}

/// Why a token names nobody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadToken {
    /// It is neither a static token nor one that this server issued.
    #[error("invalid bearer token")]
    Unknown,
    /// It was issued by this server but does not hold, or not here.
    #[error("[invalid bearer token, {0}]")]
    Refused(TokenError),
}

impl Authenticator {
    /// An authenticator that knows no static token and lets anonymous requests through to authorization. Tokens must be
    /// for one of its issuers.
    #[must_use]
    pub fn new(issuer: TokenIssuer) -> Self {
        let audiences = issuer.issuers().to_vec();
        Self { tokens: BTreeMap::new(), issuer, audiences, anonymous: true }
    }

    /// The same, for tokens that are for one of these audiences. An empty list changes nothing.
    #[must_use]
    pub fn with_audiences(self, audiences: Vec<String>) -> Self {
        if audiences.is_empty() { self } else { Self { audiences, ..self } }
    }

    /// The same with a static bearer token; the user becomes a member of `system:authenticated`.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>, user: User) -> Self {
        self.tokens.insert(token.into(), authenticated(user));
        self
    }

    /// The same, refusing requests without credentials (401) or not.
    #[must_use]
    pub fn with_anonymous(self, anonymous: bool) -> Self {
        Self { anonymous, ..self }
    }

    /// The issuer of service account tokens.
    #[must_use]
    pub fn issuer(&self) -> &TokenIssuer {
        &self.issuer
    }

    /// Finds out who makes the request with these headers and extensions.
    ///
    /// # Errors
    /// 401 when the client shows something wrong and nothing right, or nothing where anonymous requests are refused.
    pub fn authenticate(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
        objects: &dyn BoundObjects,
    ) -> Result<User, Status> {
        if let Some(user) = extensions.get::<User>() {
            return Ok(user.clone()); // a caller within the process, which need not show anything
        }
        if let Some(certificate) = extensions.get::<Arc<PeerCertificate>>() {
            return Ok(authenticated(User {
                name: certificate.common_name.clone(),
                groups: certificate.organizations.clone(),
                extra: BTreeMap::from([(CREDENTIAL_ID.to_owned(), vec![certificate.credential_id.clone()])]),
                ..User::default()
            }));
        }
        match bearer_token(headers) {
            Some(token) => match self.token_user(token, &[], objects) {
                Ok((user, _)) => Ok(user),
                Err(_) => Err(Status::unauthorized()),
            },
            None if extensions.get::<Arc<RefusedCertificate>>().is_some() => Err(Status::unauthorized()),
            None if self.anonymous => Ok(User {
                name: ANONYMOUS.to_owned(),
                groups: vec![UNAUTHENTICATED.to_owned()],
                ..User::default()
            }),
            None => Err(Status::unauthorized()),
        }
    }

    /// Whom a token names for an audience (those of this server if none is given), and for which of the
    /// audiences it was issued.
    ///
    /// # Errors
    /// When it names nobody.
    pub fn token_user(
        &self,
        token: &str,
        audiences: &[String],
        objects: &dyn BoundObjects,
    ) -> Result<(User, Vec<String>), BadToken> {
        let own = &self.audiences;
        let audiences = if audiences.is_empty() { own } else { audiences };
        if let Some(user) = self.tokens.get(token) {
            // A static token is for this server.
            let granted: Vec<String> = audiences.iter().filter(|one| own.contains(one)).cloned().collect();
            return if granted.is_empty() { Err(BadToken::Unknown) } else { Ok((user.clone(), granted)) };
        }
        let Some(claims) = self.issuer.read(token) else {
            return Err(BadToken::Unknown);
        };
        let granted = self.issuer.check(&claims, audiences, objects).map_err(BadToken::Refused)?;
        Ok((authenticated(claims.user()), granted))
    }
}

/// The token of `Authorization: Bearer <token>`. Other schemes and an empty token are as if absent.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(' ')?;
    let token = token.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn authenticated(mut user: User) -> User {
    if !user.groups.iter().any(|group| group == AUTHENTICATED) {
        user.groups.push(AUTHENTICATED.to_owned());
    }
    user
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use kubewright_world::{Clock, Random};

    use super::{tokens::tests::Objects, *};

    fn authenticator() -> Authenticator {
        let issuer = TokenIssuer::new(Clock::system(), &Random::seeded(1));
        Authenticator::new(issuer).with_token("secret", User { name: "jane".to_owned(), ..User::default() })
    }

    fn headers(authorization: &str) -> HeaderMap {
        let value = HeaderValue::from_str(authorization).expect("a header");
        HeaderMap::from_iter([(header::AUTHORIZATION, value)])
    }

    fn ask(authenticator: &Authenticator, authorization: &str) -> Result<String, u16> {
        let user =
            authenticator.authenticate(&headers(authorization), &Extensions::new(), &Objects::default());
        user.map(|user| user.name).map_err(|status| status.code)
    }

    #[test]
    fn a_static_token_names_its_user() {
        let user = authenticator()
            .authenticate(&headers("bearer secret"), &Extensions::new(), &Objects::default())
            .expect("known");
        assert_eq!((user.name.as_str(), &user.groups[..]), ("jane", &[AUTHENTICATED.to_owned()][..]));
        assert_eq!(ask(&authenticator(), "Bearer wrong"), Err(401));
        assert_eq!(ask(&authenticator(), "Bearer a.b.c"), Err(401));
    }

    #[test]
    fn no_credentials_are_anonymous() {
        for other in ["Basic secret", "Bearer", "Bearer ", "secret"] {
            assert_eq!(ask(&authenticator(), other), Ok(ANONYMOUS.to_owned()), "{other:?}");
        }
        let closed = authenticator().with_anonymous(false);
        assert_eq!(ask(&closed, "Basic secret"), Err(401));
    }

    #[test]
    fn a_certificate_comes_before_a_token() {
        let mut extensions = Extensions::new();
        extensions.insert(Arc::new(PeerCertificate {
            common_name: "system:admin".to_owned(),
            organizations: vec!["system:masters".to_owned()],
            credential_id: "X509SHA256=00".to_owned(),
        }));
        let user = authenticator()
            .authenticate(&headers("Bearer wrong"), &extensions, &Objects::default())
            .expect("a certificate");
        assert_eq!(user.name, "system:admin");
        assert_eq!(user.groups, ["system:masters", AUTHENTICATED]);
        assert_eq!(user.extra[CREDENTIAL_ID], ["X509SHA256=00"]);
    }

    #[test]
    fn a_certificate_that_does_not_verify_leaves_the_token_to_say_who_it_is() {
        let mut extensions = Extensions::new();
        extensions.insert(Arc::new(RefusedCertificate { reason: "UnknownIssuer".to_owned() }));
        let ask = |authorization: &str| {
            let user =
                authenticator().authenticate(&headers(authorization), &extensions, &Objects::default());
            user.map(|user| user.name).map_err(|status| status.code)
        };
        assert_eq!(ask("Bearer secret"), Ok("jane".to_owned()));
        assert_eq!(ask("Bearer wrong"), Err(401));
        assert_eq!(ask("None at all"), Err(401), "such a client is not anonymous");
    }
}
