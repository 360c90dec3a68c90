//! The paths that name no resource: health, version, the list of paths.

use std::fmt;

use http::{Response, StatusCode, header};
use serde_json::{Value, json};

use super::{
    body::ApiBody,
    respond::{Writer, page_not_found, text},
};

/// What the server says it is: the answer to `GET /version`.
///
/// Clients decide by it which of their features to use, and kubectl warns if it is more than one minor version
/// away from it. The default is the version whose behaviour is reproduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
    /// The patch version.
    pub patch: u32,
}

impl Default for Version {
    fn default() -> Self {
        Self { major: 1, minor: 37, patch: 2 }
    }
}

/// The `gitVersion`: `v1.37.2+kubewright`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}.{}+kubewright", self.major, self.minor, self.patch)
    }
}

impl Version {
    fn to_value(&self) -> Value {
        let Self { major, minor, .. } = self;
        json!({
            "major": major.to_string(),
            "minor": minor.to_string(),
            "emulationMajor": major.to_string(),
            "emulationMinor": minor.to_string(),
            "minCompatibilityMajor": major.to_string(),
            "minCompatibilityMinor": minor.saturating_sub(1).to_string(),
            "gitVersion": self.to_string(),
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "",
            "compiler": "rustc",
            "platform": "linux/amd64",
        })
    }
}

/// Answers a path that is neither discovery nor a resource.
pub(super) fn answer(path: &str, verbose: bool, version: &Version, writer: &Writer) -> Response<ApiBody> {
    let health = ["/healthz", "/livez", "/readyz"]
        .into_iter()
        .find(|check| path.strip_prefix(check).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    if let Some(check) = health {
        if let Some(part) = path.strip_prefix(check).and_then(|rest| rest.strip_prefix('/')) {
            if !CHECKS.contains(&part) {
                return page_not_found();
            }
            let mut response = text(StatusCode::OK, "ok");
            response.headers_mut().remove(header::X_CONTENT_TYPE_OPTIONS);
            return response;
        }
        let answer = if verbose {
            format!("[+]ping ok\n[+]etcd ok\n{} check passed\n", check.trim_start_matches('/'))
        } else {
            "ok".to_owned()
        };
        return text(StatusCode::OK, answer);
    }
    match path.trim_end_matches('/') {
        "/version" => writer.value(StatusCode::OK, &version.to_value()),
        "" => writer.value(StatusCode::OK, &json!({ "paths": PATHS })),
        _ => page_not_found(),
    }
}

/// Whether a path takes GET alone: the version, and what lists the versions of the core group or the resources of a built-in
/// one. A real server does not look at the method of the others.
pub(super) fn is_only_read(path: &str, is_built_in_group: impl Fn(&str) -> bool) -> bool {
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    match parts.as_slice() {
        ["", "version" | "api"] | ["", "api", _] => true,
        ["", "apis", group, _] => is_built_in_group(group),
        _ => false,
    }
}

/// The parts of the server's health that can be asked for one by one.
const CHECKS: [&str; 2] = ["ping", "etcd"];

const PATHS: [&str; 8] =
    ["/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"];
