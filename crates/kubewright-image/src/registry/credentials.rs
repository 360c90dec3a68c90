//! The logins of Docker and Podman: their configuration files, and the helpers that these name.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use base64::{
    Engine,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::Deserialize;

/// Under which name Docker keeps the login of Docker Hub.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";

/// Who asks, and where that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// Who asks.
    pub credentials: Credentials,
    /// Where that was found, for errors: a file, a helper.
    pub source: String,
}

/// What a registry knows somebody by.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credentials {
    /// Nothing.
    #[default]
    Anonymous,
    /// A user and a password.
    Basic {
        /// The user.
        username: String,
        /// The password, or a token in its place.
        password: String,
    },
    /// A token that is exchanged for others.
    Identity(String),
}

impl fmt::Debug for Credentials {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("Anonymous"),
            Self::Basic { username, .. } => {
                f.debug_struct("Basic").field("username", username).finish_non_exhaustive()
            }
            Self::Identity(_) => f.write_str("Identity(..)"),
        }
    }
}

/// Why no login can be taken from a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// The file cannot be read.
    #[error("cannot read the logins in {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not what it should be.
    #[error("cannot use the logins in {}: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A helper does not do what it should.
    #[error("the credential helper {helper}, which {} names, failed for {registry}: {reason}", path.display())]
    Helper {
        /// The file that names it.
        path: PathBuf,
        /// Its program.
        helper: String,
        /// The registry it was asked for.
        registry: String,
        /// What it says.
        reason: String,
    },
}

/// A file with logins, such as `~/.docker/config.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct File {
    auths: BTreeMap<String, Auth>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Auth {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Auth(..)")
    }
}

/// The files that have logins, in the order in which they are asked: those of Docker, then those of Podman. `variable` gives the
/// value of an environment variable.
pub fn files(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let home = variable("HOME");
    let docker = variable("DOCKER_CONFIG").or_else(|| Some(home.as_ref()?.join(".docker")));
    let podman = variable("XDG_RUNTIME_DIR").map(|folder| folder.join("containers/auth.json"));
    [
        variable("REGISTRY_AUTH_FILE"),
        docker.map(|folder| folder.join("config.json")),
        podman,
        home.map(|home| home.join(".config/containers/auth.json")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The login for `repository` of `registry`, from the first of `files` that has one; nobody's, if none has. Runs the helpers that
/// they name, and waits for them.
///
/// # Errors
///
/// If a file that is there cannot be used, or a helper fails for another reason than that it has no login.
pub fn find(files: &[PathBuf], registry: &str, repository: &str) -> Result<Login, CredentialsError> {
    for path in files {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(CredentialsError::Read { path: path.clone(), source }),
        };
        let invalid = |reason| CredentialsError::Invalid { path: path.clone(), reason };
        let file: File = serde_json::from_slice(&text).map_err(|error| invalid(error.to_string()))?;
        if let Some(login) = file.find(path, registry, repository)? {
            return Ok(login);
        }
    }
    Ok(Login::default())
}

impl File {
    fn find(&self, path: &Path, registry: &str, repository: &str) -> Result<Option<Login>, CredentialsError> {
        let key = if registry == "docker.io" { DOCKER_HUB_KEY } else { registry };
        let special = self.cred_helpers.get(key).or_else(|| self.cred_helpers.get(registry));
        if let Some(helper) = special {
            return ask(helper, key, path);
        }
        if let Some(credentials) = self.auth(path, registry, repository)? {
            return Ok(Some(Login { credentials, source: path.display().to_string() }));
        }
        self.creds_store.as_ref().map_or(Ok(None), |helper| ask(helper, key, path))
    }

    /// The entry that names the longest part of the repository, or the registry alone.
    fn auth(
        &self,
        path: &Path,
        registry: &str,
        repository: &str,
    ) -> Result<Option<Credentials>, CredentialsError> {
        let full = format!("{registry}/{repository}");
        let found = self
            .auths
            .iter()
            .filter_map(|(key, auth)| Some((matched(key, registry, &full)?, key, auth)))
            .filter_map(|(length, key, auth)| Some((length, key, auth.credentials().transpose()?)))
            .max_by_key(|(length, ..)| *length);
        match found {
            Some((_, key, credentials)) => {
                credentials.map(Some).map_err(|reason| CredentialsError::Invalid {
                    path: path.to_owned(),
                    reason: format!("the entry `{key}` {reason}"),
                })
            }
            None => Ok(None),
        }
    }
}

/// How much of the image's name an entry names, if it is one for it. Docker writes whole URLs, Podman registries and parts of repositories.
fn matched(key: &str, registry: &str, full: &str) -> Option<usize> {
    let bare = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://"));
    if let Some(url) = bare {
        let host = url.split('/').next().unwrap_or_default();
        let host =
            if host == "index.docker.io" || host == "registry-1.docker.io" { "docker.io" } else { host };
        return (host == registry).then_some(registry.len());
    }
    let key = key.trim_end_matches('/');
    let key = if matches!(key, "index.docker.io" | "registry-1.docker.io") { "docker.io" } else { key };
    let rest = full.strip_prefix(key)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(key.len())
}

impl Auth {
    /// None for an entry that is empty, as Docker writes them beside a store.
    fn credentials(&self) -> Result<Option<Credentials>, String> {
        if !self.identitytoken.is_empty() {
            return Ok(Some(Credentials::Identity(self.identitytoken.clone())));
        }
        if self.auth.is_empty() {
            let basic =
                Credentials::Basic { username: self.username.clone(), password: self.password.clone() };
            return Ok((!self.username.is_empty()).then_some(basic));
        }
        let base64 = GeneralPurpose::new(
            &base64::alphabet::STANDARD,
            GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
        );
        let text = base64.decode(&self.auth).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let parts = text.as_deref().and_then(|text| text.split_once(':'));
        let (username, password) = parts.ok_or("is not USER:PASSWORD in base64")?;
        Ok(Some(Credentials::Basic {
            username: username.to_owned(),
            // Docker pads some with zeros.
            password: password.trim_end_matches('\0').to_owned(),
        }))
    }
}

/// Runs `docker-credential-NAME get`.
fn ask(name: &str, registry: &str, path: &Path) -> Result<Option<Login>, CredentialsError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Answer {
        username: String,
        secret: String,
    }
    let helper = format!("docker-credential-{name}");
    let failed = |reason: String| CredentialsError::Helper {
        path: path.to_owned(),
        helper: helper.clone(),
        registry: registry.to_owned(),
        reason,
    };
    let mut child = Command::new(&helper)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                failed("it is not on the PATH; install it, or take it out of the file".to_owned())
            }
            _ => failed(error.to_string()),
        })?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends without reading says why in its output.
        let _ = writeln!(stdin, "{registry}");
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).trim().to_owned());
        let said = said.iter().find(|text| !text.is_empty()).cloned().unwrap_or_default();
        // The words by which helpers say that they have no login.
        if said.contains("credentials not found") {
            return Ok(None);
        }
        return Err(failed(if said.is_empty() { output.status.to_string() } else { said }));
    }
    let answer: Answer = serde_json::from_slice(&output.stdout)
        .map_err(|error| failed(format!("its answer is not what helpers answer: {error}")))?;
    let credentials = if answer.username == "<token>" {
        Credentials::Identity(answer.secret)
    } else {
        Credentials::Basic { username: answer.username, password: answer.secret }
    };
    Ok(Some(Login { credentials, source: format!("the credential helper {helper}") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(username: &str, password: &str) -> Credentials {
        Credentials::Basic { username: username.to_owned(), password: password.to_owned() }
    }

    fn found(config: &str, registry: &str, repository: &str) -> Result<Login, CredentialsError> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("config.json");
        fs::write(&file, config).expect("writable");
        find(&[folder.path().join("absent.json"), file], registry, repository)
    }

    #[test]
    fn entries_are_found_by_what_docker_and_podman_write() {
        // `a:one`, `b:two:three` without its padding, `c:four`.
        let config = r#"{"auths": {
            "https://index.docker.io/v1/": {"auth": "YTpvbmU="},
            "r.io": {"auth": "Yjp0d286dGhyZWU"},
            "r.io/team": {"auth": "Yzpmb3Vy"},
            "https://old.io/v2/": {"username": "d", "password": "five"},
            "token.io:5000": {"auth": "YTpvbmU=", "identitytoken": "t"},
            "empty.io": {}
        }}"#;
        for (registry, repository, expected) in [
            ("docker.io", "library/memcached", basic("a", "one")),
            ("r.io", "other/x", basic("b", "two:three")),
            ("r.io", "team/x", basic("c", "four")),
            ("r.io", "teams/x", basic("b", "two:three")),
            ("old.io", "x", basic("d", "five")),
            ("token.io:5000", "x", Credentials::Identity("t".to_owned())),
            ("token.io", "x", Credentials::Anonymous),
            ("empty.io", "x", Credentials::Anonymous),
        ] {
            let login = found(config, registry, repository).expect("a valid file");
            assert_eq!(login.credentials, expected, "{registry}/{repository}");
            assert_eq!(login.source.is_empty(), expected == Credentials::Anonymous);
        }
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named() {
        for (config, reason) in [
            ("{", "EOF"),
            (r#"{"auths": {"r.io": {"auth": "%"}}}"#, "the entry `r.io` is not USER:PASSWORD in base64"),
            (r#"{"auths": {"r.io": {"auth": "YWJj"}}}"#, "the entry `r.io` is not USER:PASSWORD in base64"),
            (r#"{"credsStore": "kubewright-absent"}"#, "docker-credential-kubewright-absent"),
        ] {
            let error = found(config, "r.io", "x").expect_err(config).to_string();
            assert!(error.contains("config.json") && error.contains(reason), "{error}");
        }
        // An entry for another registry does not matter.
        assert!(found(r#"{"auths": {"r.io": {"auth": "%"}}}"#, "s.io", "x").is_ok());
    }

    #[test]
    fn secrets_are_not_shown() {
        assert!(!format!("{:?}", basic("a", "secret")).contains("secret"));
        assert!(!format!("{:?}", Credentials::Identity("secret".to_owned())).contains("secret"));
    }

    #[test]
    fn files_are_where_the_environment_says() {
        let environment = |set: &'static [(&str, &str)]| {
            files(move |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value)))
        };
        assert_eq!(
            environment(&[("HOME", "/home/a")]),
            [Path::new("/home/a/.docker/config.json"), Path::new("/home/a/.config/containers/auth.json")]
        );
        assert_eq!(
            environment(&[
                ("HOME", "/h"),
                ("DOCKER_CONFIG", "/d"),
                ("XDG_RUNTIME_DIR", "/x"),
                ("REGISTRY_AUTH_FILE", "/f")
            ])[..3],
            [Path::new("/f"), Path::new("/d/config.json"), Path::new("/x/containers/auth.json")]
        );
    }
}
