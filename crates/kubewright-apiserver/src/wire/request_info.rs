use http::Method;
use percent_encoding::percent_decode_str;

use crate::selector::FieldSelector;

/// What a request is about, read from its method, path and query alone.
///
/// This is what authorization decides on, before anything is known about the resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestInfo {
    /// The decoded path.
    pub path: String,
    /// Whether the path names a resource; if not, only `path` and `verb` mean something.
    pub is_resource: bool,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for a path that names
    /// no resource the method in lower case.
    pub verb: String,
    /// The API group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The namespace, empty at the cluster scope.
    pub namespace: String,
    /// The resource's plural.
    pub resource: String,
    /// What is below the object, empty for the object itself.
    pub subresource: String,
    /// The object's name, empty for the collection. A list restricted to one name has that name.
    pub name: String,
    /// What the path names after the subresource.
    pub rest: Vec<String>,
    /// The query.
    pub query: Query,
}

/// The parameters of a query, in the order of their appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    parameters: Vec<(String, String)>,
}

impl RequestInfo {
    /// Reads a request line. A path that is no valid UTF-8 is read with replacement characters, and so names
    /// nothing.
    #[must_use]
    pub fn parse(method: &Method, path: &str, query: Option<&str>) -> Self {
        let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
        let query = Query::parse(query.unwrap_or_default());
        let mut info = Self { verb: method.as_str().to_ascii_lowercase(), query, ..Self::default() };
        info.read_path(method, &path);
        info.path = path;
        info
    }

    fn read_path(&mut self, method: &Method, path: &str) {
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let mut parts = match segments.as_slice() {
            ["api", version, rest @ ..] if !rest.is_empty() => {
                self.version = (*version).to_owned();
                rest
            }
            ["apis", group, version, rest @ ..] if !rest.is_empty() => {
                self.group = (*group).to_owned();
                self.version = (*version).to_owned();
                rest
            }
            _ => return,
        };
        self.is_resource = true;
        self.verb = match *method {
            Method::GET | Method::HEAD => "get",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE => "delete",
            _ => "",
        }
        .to_owned();
        let legacy_watch = parts.len() > 1 && parts.first() == Some(&"watch");
        if legacy_watch {
            parts = parts.get(1..).unwrap_or_default();
        }
        if let ["namespaces", namespace, rest @ ..] = parts {
            self.namespace = (*namespace).to_owned();
            // What follows a namespace is a resource in it, unless it is a subresource of the namespace.
            if !matches!(rest.first(), None | Some(&"status" | &"finalize")) {
                parts = rest;
            }
        }
        let part = |index: usize| parts.get(index).map_or_else(String::new, |part| (*part).to_owned());
        (self.resource, self.name, self.subresource) = (part(0), part(1), part(2));
        self.rest = parts.iter().skip(3).map(|part| (*part).to_owned()).collect();
        if self.name.is_empty() {
            if self.verb == "get" {
                self.verb =
                    if legacy_watch || self.query.is_true("watch") { "watch" } else { "list" }.to_owned();
                if let Ok(fields) = FieldSelector::parse(self.query.get("fieldSelector")) {
                    self.name = fields.required_value("metadata.name").unwrap_or_default().to_owned();
                }
            } else if self.verb == "delete" {
                self.verb = "deletecollection".to_owned();
            }
        } else if self.verb == "get" && legacy_watch {
            self.verb = "watch".to_owned();
        }
    }
}

impl Query {
    /// Reads `a=b&c=d`.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self { parameters }
    }

    /// The first value of a parameter, empty if it is absent.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    /// The first value of a parameter.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.parameters.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether a parameter is set to something other than Kubernetes' words for false.
    #[must_use]
    pub fn is_true(&self, name: &str) -> bool {
        // Kubernetes takes every other word for true, an empty value included.
        self.find(name).is_some_and(|value| !value.eq_ignore_ascii_case("false") && value != "0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(method: &Method, target: &str) -> RequestInfo {
        let (path, query) =
            target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        RequestInfo::parse(method, path, query)
    }

    fn summary(method: &Method, target: &str) -> String {
        let info = parse(method, target);
        format!(
            "{} g={} v={} ns={} r={} n={} s={}",
            info.verb, info.group, info.version, info.namespace, info.resource, info.name, info.subresource
        )
    }

    #[test]
    fn paths_name_resources() {
        let cases = [
            (Method::GET, "/api/v1/pods", "list g= v=v1 ns= r=pods n= s="),
            (Method::GET, "/api/v1/namespaces/a/pods?watch=true", "watch g= v=v1 ns=a r=pods n= s="),
            (Method::GET, "/api/v1/namespaces/a/pods/p/log", "get g= v=v1 ns=a r=pods n=p s=log"),
            (Method::GET, "/api/v1/namespaces/a", "get g= v=v1 ns=a r=namespaces n=a s="),
            (Method::PUT, "/api/v1/namespaces/a/finalize", "update g= v=v1 ns=a r=namespaces n=a s=finalize"),
            (Method::POST, "/api/v1/namespaces", "create g= v=v1 ns= r=namespaces n= s="),
            (
                Method::DELETE,
                "/apis/apps/v1/namespaces/a/deployments",
                "deletecollection g=apps v=v1 ns=a r=deployments n= s=",
            ),
            (
                Method::PATCH,
                "/apis/apps/v1/namespaces/a/deployments/d/scale",
                "patch g=apps v=v1 ns=a r=deployments n=d s=scale",
            ),
            (Method::GET, "/api/v1/watch/namespaces/a/pods", "watch g= v=v1 ns=a r=pods n= s="),
            (Method::GET, "/apis/g/v1/widgets/a%20b", "get g=g v=v1 ns= r=widgets n=a b s="),
        ];
        for (method, target, expected) in cases {
            assert_eq!(summary(&method, target), expected, "{method} {target}");
        }
    }

    #[test]
    fn other_paths_name_no_resource() {
        for path in ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "//"] {
            let info = parse(&Method::GET, path);
            assert!(!info.is_resource, "{path}");
            assert_eq!(info.verb, "get");
        }
    }

    #[test]
    fn only_words_for_false_are_false() {
        let info = parse(&Method::GET, "/api/v1/pods?watch=maybe");
        assert_eq!(info.verb, "watch");
        assert_eq!(parse(&Method::GET, "/api/v1/pods?watch=0").verb, "list");
        assert_eq!(parse(&Method::GET, "/api/v1/pods?watch=False").verb, "list");
    }
}
