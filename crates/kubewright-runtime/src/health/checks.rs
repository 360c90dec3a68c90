use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::{Request, Response, StatusCode, header};

/// Whether something is well, or why not.
pub type CheckResult = Result<(), String>;

type Check = Arc<dyn Fn() -> CheckResult + Send + Sync>;
type Checks = Arc<dyn Fn() -> Vec<(String, CheckResult)> + Send + Sync>;

/// The checks of one endpoint. Clones share them.
#[derive(Clone, Default)]
pub struct HealthChecks {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    named: BTreeMap<String, Check>,
    /// Functions that give any number of checks, as one for each watch.
    many: Vec<Checks>,
}

struct Part {
    result: CheckResult,
    excluded: bool,
}

// === impl HealthChecks ===

impl HealthChecks {
    /// Without checks, the endpoint is well: it answers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a check, and replaces the one of the same name. It is called for each request and must not block.
    pub fn add(&self, name: impl Into<String>, check: impl Fn() -> CheckResult + Send + Sync + 'static) {
        self.lock().named.insert(name.into(), Arc::new(check));
    }

    /// Adds a function that gives any number of named checks.
    pub fn add_many(&self, checks: impl Fn() -> Vec<(String, CheckResult)> + Send + Sync + 'static) {
        self.lock().many.push(Arc::new(checks));
    }

    /// Asks every check.
    #[must_use]
    pub fn results(&self) -> BTreeMap<String, CheckResult> {
        let (named, many) = {
            let state = self.lock();
            (state.named.clone(), state.many.clone())
        };
        let mut results: BTreeMap<_, _> = named.into_iter().map(|(name, check)| (name, check())).collect();
        results.extend(many.iter().flat_map(|checks| checks()));
        if results.is_empty() {
            results.insert("ping".to_owned(), Ok(()));
        }
        results
    }

    /// Answers a request to the endpoint at `root`, as `/readyz`, or to a path below it.
    #[must_use]
    pub fn respond<B>(&self, root: &str, request: &Request<B>) -> Response<String> {
        let below = request.uri().path().strip_prefix(root).unwrap_or_default().trim_matches('/');
        if below.is_empty() {
            let query = request.uri().query().unwrap_or_default();
            let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
            let verbose = pairs.iter().any(|(name, _)| name == "verbose");
            let excluded = pairs.iter().filter(|(name, _)| name == "exclude");
            self.aggregate(verbose, excluded.map(|(_, value)| value.to_string()).collect())
        } else {
            self.single(below)
        }
    }

    fn aggregate(&self, verbose: bool, mut excluded: BTreeSet<String>) -> Response<String> {
        let parts: BTreeMap<_, _> = self
            .results()
            .into_iter()
            .map(|(name, result)| {
                let excluded = excluded.remove(&name);
                (name, Part { result, excluded })
            })
            .collect();
        let failed = parts.values().any(|part| !part.excluded && part.result.is_err());
        if !failed && !verbose {
            return text(StatusCode::OK, "ok".to_owned());
        }
        let mut body = String::new();
        for (name, part) in &parts {
            // Writing to a string does not fail.
            let _ = match part {
                Part { excluded: true, .. } => writeln!(body, "[+]{name} excluded: ok"),
                Part { result: Ok(()), .. } => writeln!(body, "[+]{name} ok"),
                // The endpoint is open to everybody; the reason is under the check's own path.
                Part { result: Err(_), .. } => writeln!(body, "[-]{name} failed: reason withheld"),
            };
        }
        if !excluded.is_empty() {
            let unknown: Vec<_> = excluded.iter().map(|name| format!("{name:?}")).collect();
            let _ = writeln!(
                body,
                "warn: some health checks cannot be excluded: no matches for {}",
                unknown.join(", ")
            );
        }
        if failed {
            body.push_str("healthz check failed\n");
            text(StatusCode::INTERNAL_SERVER_ERROR, body)
        } else {
            body.push_str("healthz check passed\n");
            text(StatusCode::OK, body)
        }
    }

    fn single(&self, name: &str) -> Response<String> {
        match self.results().remove(name) {
            Some(Ok(())) => text(StatusCode::OK, "ok".to_owned()),
            Some(Err(reason)) => {
                text(StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {reason}\n"))
            }
            None => text(StatusCode::NOT_FOUND, "404 page not found\n".to_owned()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for HealthChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthChecks").field("named", &self.lock().named.keys()).finish_non_exhaustive()
    }
}

fn text(status: StatusCode, body: String) -> Response<String> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, header::HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> HealthChecks {
        let checks = HealthChecks::new();
        checks.add("database", || Err("connection refused".to_owned()));
        checks.add_many(|| vec![("watch/pods".to_owned(), Ok(()))]);
        checks
    }

    fn get(checks: &HealthChecks, target: &str) -> (u16, String) {
        let request = Request::get(target).body(()).expect("a request");
        let response = checks.respond("/readyz", &request);
        (response.status().as_u16(), response.into_body())
    }

    #[test]
    fn a_failure_is_named_and_its_reason_withheld() {
        assert_eq!(
            get(&checks(), "/readyz"),
            (500, "[-]database failed: reason withheld\n[+]watch/pods ok\nhealthz check failed\n".to_owned())
        );
    }

    #[test]
    fn each_check_answers_alone_with_its_reason() {
        assert_eq!(
            get(&checks(), "/readyz/database"),
            (500, "internal server error: connection refused\n".to_owned())
        );
        assert_eq!(get(&checks(), "/readyz/watch/pods"), (200, "ok".to_owned()));
        assert_eq!(get(&checks(), "/readyz/unknown").0, 404);
    }

    #[test]
    fn checks_can_be_excluded() {
        assert_eq!(get(&checks(), "/readyz?exclude=database"), (200, "ok".to_owned()));
        assert_eq!(
            get(&checks(), "/readyz?verbose&exclude=database&exclude=nothing"),
            (
                200,
                "[+]database excluded: ok\n[+]watch/pods ok\nwarn: some health checks cannot be excluded: no \
                 matches for \"nothing\"\nhealthz check passed\n"
                    .to_owned()
            )
        );
    }

    #[test]
    fn without_checks_the_answer_is_the_check() {
        assert_eq!(
            get(&HealthChecks::new(), "/readyz?verbose=1"),
            (200, "[+]ping ok\nhealthz check passed\n".to_owned())
        );
    }
}
