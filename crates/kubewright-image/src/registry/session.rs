//! One request to a registry, with whatever makes the registry listen to it.

use std::{collections::BTreeMap, net::IpAddr, sync::Mutex};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, Uri, header};
use tokio::sync::OnceCell;

use super::{
    Options, Scope,
    auth::{Challenge, TokenAnswer},
    credentials::{Credentials, Login},
    error::{ApiError, RegistryError},
    transport::{Request, Response, Transport, without_query},
};

/// Whom token servers are told is asking.
const CLIENT_ID: &str = "kubewright";

/// A registry, and who we are to it.
#[derive(Debug)]
pub(super) struct Session {
    /// As references have it.
    pub(super) name: String,
    pub(super) transport: Transport,
    login: Login,
    /// Whether plain HTTP may be spoken.
    plain: bool,
    base: OnceCell<String>,
    /// What goes with requests of each set of scopes.
    authorizations: Mutex<BTreeMap<Vec<Scope>, HeaderValue>>,
}

impl Session {
    pub(super) fn new(name: &str, options: &Options) -> Result<Self, RegistryError> {
        Ok(Self {
            name: name.to_owned(),
            transport: Transport::new(options.progress.clone(), options.pause)?,
            login: options.login.clone(),
            plain: options.insecure || is_loopback(name),
            base: OnceCell::new(),
            authorizations: Mutex::default(),
        })
    }

    /// The URL of a path of the registry.
    pub(super) async fn url(&self, path: &str) -> Result<Uri, RegistryError> {
        let base = self.base.get_or_try_init(|| self.find_base()).await?;
        let url = format!("{base}{path}");
        url.parse().map_err(|error| RegistryError::Connect { url, reason: format!("{error}") })
    }

    /// HTTPS, or what is allowed and answers.
    async fn find_base(&self) -> Result<String, RegistryError> {
        let host = if self.name == "docker.io" { "registry-1.docker.io" } else { &self.name };
        let secure = format!("https://{host}");
        if !self.plain {
            return Ok(secure);
        }
        let ping = |base: &str| format!("{base}/v2/").parse::<Uri>().ok();
        let Some(url) = ping(&secure) else { return Ok(secure) };
        match self.transport.send(&Request::new(Method::GET, url).once()).await {
            Ok(_) => Ok(secure),
            // It does speak HTTPS: with whom, the user must decide.
            Err(error @ RegistryError::Untrusted { .. }) => Err(error),
            Err(error) => {
                let plain = format!("http://{host}");
                let Some(url) = ping(&plain) else { return Err(error) };
                self.transport.send(&Request::new(Method::GET, url)).await.map(|_| plain)
            }
        }
    }

    /// Sends `request` for `scopes`, with a login or a token where the registry wants one. `action` is for errors: "push r.io/a:v1".
    ///
    /// The answer may have any status but 401 and 403.
    pub(super) async fn send(
        &self,
        action: &str,
        mut request: Request,
        scopes: &[Scope],
    ) -> Result<Response, RegistryError> {
        let base = self.url("/").await?;
        // Uploads may be sent elsewhere, with a signature in the URL that says enough.
        let ours = request.url.authority() == base.authority();
        let known = self.authorizations.lock().ok().and_then(|known| known.get(scopes).cloned());
        let mut fresh = false;
        let mut authorization = known;
        loop {
            if let (true, Some(value)) = (ours, &authorization) {
                request.headers.insert(header::AUTHORIZATION, value.clone());
            }
            let response = self.transport.send(&request).await?;
            match response.status {
                // A token that was good may have run out.
                StatusCode::UNAUTHORIZED if ours && !fresh => {
                    let challenges = response.headers.get_all(header::WWW_AUTHENTICATE);
                    let challenge =
                        Challenge::parse(challenges.iter().filter_map(|value| value.to_str().ok()));
                    let challenge = challenge.ok_or_else(|| self.refused(action, &response.body))?;
                    let value = self.answer(action, challenge, scopes, &response).await?;
                    if let Ok(mut known) = self.authorizations.lock() {
                        known.insert(scopes.to_vec(), value.clone());
                    }
                    authorization = Some(value);
                    fresh = true;
                }
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    return Err(self.refused(action, &response.body));
                }
                _ => return Ok(response),
            }
        }
    }

    /// What to send along after a challenge.
    async fn answer(
        &self,
        action: &str,
        challenge: Challenge,
        scopes: &[Scope],
        response: &Response,
    ) -> Result<HeaderValue, RegistryError> {
        match challenge {
            Challenge::Basic => match &self.login.credentials {
                Credentials::Basic { username, password } => {
                    self.sensitive(action, &basic(username, password))
                }
                _ => Err(self.refused(action, &response.body)),
            },
            Challenge::Bearer { realm, service, scope } => {
                let mut wanted: Vec<String> = scopes.iter().map(|scope| scope.0.clone()).collect();
                for scope in scope.iter().flat_map(|scope| scope.split(' ')) {
                    if !wanted.iter().any(|ours| ours == scope) {
                        wanted.push(scope.to_owned());
                    }
                }
                let token = self.token(action, &realm, service.as_deref(), &wanted).await?;
                self.sensitive(action, &format!("Bearer {token}"))
            }
        }
    }

    /// Asks the token server that the registry names.
    async fn token(
        &self,
        action: &str,
        realm: &str,
        service: Option<&str>,
        scopes: &[String],
    ) -> Result<String, RegistryError> {
        let protocol = |reason: String| self.protocol(action, reason);
        let url: Uri =
            realm.parse().map_err(|_| protocol(format!("its token server `{realm}` is no URL")))?;
        if url.scheme_str() != Some("https") && !(self.plain && url.scheme_str() == Some("http")) {
            return Err(protocol(format!("its token server {realm} does not speak HTTPS")));
        }
        let mut form = form_urlencoded::Serializer::new(String::new());
        if let Some(service) = service {
            form.append_pair("service", service);
        }
        let request = match &self.login.credentials {
            Credentials::Identity(token) => {
                form.append_pair("scope", &scopes.join(" "));
                form.append_pair("grant_type", "refresh_token");
                form.append_pair("client_id", CLIENT_ID);
                form.append_pair("refresh_token", token);
                Request::new(Method::POST, url)
                    .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .body(Bytes::from(form.finish()))
            }
            credentials => {
                for scope in scopes {
                    form.append_pair("scope", scope);
                }
                let separator = if url.query().is_some() { '&' } else { '?' };
                let url = format!("{url}{separator}{}", form.finish());
                let url =
                    url.parse().map_err(|_| protocol(format!("its token server `{realm}` is no URL")))?;
                let mut request = Request::new(Method::GET, url);
                if let Credentials::Basic { username, password } = credentials {
                    let value = self.sensitive(action, &basic(username, password))?;
                    request.headers.insert(header::AUTHORIZATION, value);
                }
                request
            }
        };
        let response = self.transport.send(&request).await?;
        match response.status {
            StatusCode::OK => serde_json::from_slice::<TokenAnswer>(&response.body)
                .ok()
                .and_then(TokenAnswer::token)
                .ok_or_else(|| protocol(format!("{} gives no token", without_query(&request.url)))),
            // Also 400: some token servers say so of a login that they do not know.
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST => {
                Err(self.refused(action, &response.body))
            }
            _ => Err(self.unexpected(action, &response)),
        }
    }

    fn sensitive(&self, action: &str, value: &str) -> Result<HeaderValue, RegistryError> {
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| self.protocol(action, "its token has characters that no token has".to_owned()))?;
        value.set_sensitive(true);
        Ok(value)
    }

    fn refused(&self, action: &str, body: &[u8]) -> RegistryError {
        let name = &self.name;
        let (who, advice) = match &self.login.credentials {
            Credentials::Anonymous => (
                "there is no login for it".to_owned(),
                format!("log in with `docker login {name}`, or name a user and a password"),
            ),
            Credentials::Basic { username, .. } => (
                format!("the login of {username} from {} does not suffice", self.login.source),
                "check the password, and that this user may do it".to_owned(),
            ),
            Credentials::Identity(_) => (
                format!("the token from {} does not suffice", self.login.source),
                format!("it may have run out: log in again with `docker login {name}`"),
            ),
        };
        RegistryError::Refused {
            registry: name.clone(),
            action: action.to_owned(),
            who,
            errors: ApiError::of(body),
            advice,
        }
    }

    pub(super) fn protocol(&self, action: &str, reason: String) -> RegistryError {
        RegistryError::Protocol { registry: self.name.clone(), action: action.to_owned(), reason }
    }

    /// The error of an answer that is none of those that were hoped for.
    pub(super) fn unexpected(&self, action: &str, response: &Response) -> RegistryError {
        let (registry, action) = (self.name.clone(), action.to_owned());
        let errors = ApiError::of(&response.body);
        if response.status == StatusCode::NOT_FOUND {
            return RegistryError::NotFound { registry, action, errors };
        }
        RegistryError::Answer { registry, action, status: response.status, errors }
    }
}

fn basic(username: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{username}:{password}")))
}

/// Whether a registry is on this machine: what is said to it stays here.
fn is_loopback(name: &str) -> bool {
    let host = match name.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => name.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for name in ["localhost", "localhost:5000", "127.0.0.1:5000", "127.1.2.3", "[::1]:5000", "[::1]"] {
            assert!(is_loopback(name), "{name}");
        }
        for name in ["r.io", "localhost.r.io", "10.0.0.1:5000", "[2001:db8::1]:5000", "127.0.0.1.r.io"] {
            assert!(!is_loopback(name), "{name}");
        }
    }
}
