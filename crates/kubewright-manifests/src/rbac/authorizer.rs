//! What kube-apiserver's authorizer allows, as a small model for tests and fuzz targets.

use std::collections::BTreeSet;

use super::Rule;

/// A request as the authorizer sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request<'a> {
    Resource { verb: &'a str, group: &'a str, resource: &'a str, subresource: &'a str, name: &'a str },
    Url { verb: &'a str, path: &'a str },
}

/// Whether one of the rules allows the request, as kube-apiserver's authorizer decides it.
pub(crate) fn allowed(rules: &[Rule], request: Request<'_>) -> bool {
    let one_of = |list: &BTreeSet<String>, item: &str| list.contains("*") || list.contains(item);
    rules.iter().any(|rule| match request {
        Request::Resource { verb, group, resource, subresource, name } => {
            let full = match subresource {
                "" => resource.to_owned(),
                _ => format!("{resource}/{subresource}"),
            };
            one_of(&rule.verbs, verb)
                && one_of(&rule.groups, group)
                && (one_of(&rule.resources, &full)
                    || !subresource.is_empty() && rule.resources.contains(&format!("*/{subresource}")))
                && (rule.resource_names.is_empty() || rule.resource_names.contains(name))
        }
        Request::Url { verb, path } => {
            one_of(&rule.verbs, verb)
                && rule.urls.iter().any(|url| {
                    url == path || url.ends_with('*') && path.starts_with(url.trim_end_matches('*'))
                })
        }
    })
}

pub(crate) const VERBS: &[&str] = &["get", "list", "update", "*"];
pub(crate) const GROUPS: &[&str] = &["", "apps", "*"];
pub(crate) const RESOURCES: &[&str] =
    &["pods", "nodes", "pods/status", "nodes/status", "pods/log", "*/status", "*/log", "*", "*/*", "pods/*"];
pub(crate) const NAMES: &[&str] = &["", "a", "b", "*"];
pub(crate) const URLS: &[&str] = &["/a", "/a/b", "/ab", "/a*", "/a/*", "/a**", "/*", "*", "/b"];

/// One request for every combination of what the lists above can tell apart, and one beyond each.
fn requests() -> Vec<Request<'static>> {
    let mut requests = Vec::new();
    for verb in ["get", "list", "update", "other"] {
        for group in ["", "apps", "other"] {
            for resource in ["pods", "nodes", "other"] {
                for subresource in ["", "status", "log", "*", "other"] {
                    for name in ["", "a", "b", "*", "other"] {
                        requests.push(Request::Resource { verb, group, resource, subresource, name });
                    }
                }
            }
        }
        for path in ["/", "/a", "/a/", "/a/b", "/ab", "/ac", "/b", "/b/other", "other"] {
            requests.push(Request::Url { verb, path });
        }
    }
    requests
}

pub(crate) fn allowed_set(rules: &[Rule]) -> Vec<bool> {
    requests().into_iter().map(|request| allowed(rules, request)).collect()
}
