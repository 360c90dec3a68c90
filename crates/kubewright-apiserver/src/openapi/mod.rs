//! OpenAPI: the schemas and operations of all that is served. In version 3 there is one document for each group and version.
//!
//! `kubectl explain` reads the schemas, `kubectl apply` the patch strategies, and both `apply` and `create`
//! look at the PATCH operation to learn that the server validates fields. Documents of built-in groups are
//! made of the table of Go types ([`crate::types`]), those of custom resources of their CRDs' schemas.
//!
//! [`OpenApi`] answers the requests; it is a value that the server makes anew when a CRD changes. A document
//! is built when it is first asked for. `document.rs` puts one together from `schema.rs` (built-in types, with
//! their prose from `descriptions.rs`), `custom.rs` (custom resources) and `paths.rs` (operations). `swagger.rs` makes the one document
//! of version 2 of them, for kubectl, which looks there for kinds that it does not find, and for generators of clients.

mod custom;
mod descriptions;
mod document;
mod gnostic;
mod parameters;
mod paths;
mod schema;
mod swagger;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, OnceLock},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Uri, header};
use jiff::{Span, Timestamp};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};

use self::{
    document::Builder,
    swagger::{Part, Written},
};
use crate::registry::{ResourceDefinition, Resources};

/// The documents of a server at one moment.
#[derive(Debug, Default)]
pub struct OpenApi {
    custom: BTreeMap<String, Document>,
    /// What the document of version 2 says of custom resources.
    swagger: OnceLock<Written>,
}

/// A custom resource at one version.
#[derive(Clone, Debug)]
pub struct CustomResource {
    /// What is served.
    pub definition: ResourceDefinition,
    /// The `openAPIV3Schema` of the version; null if there is none.
    pub schema: Arc<Value>,
    /// The JSON paths of `selectableFields`, such as `.spec.color`.
    pub selectable_fields: Vec<String>,
}

/// The document of a group and version.
#[derive(Debug)]
struct Document {
    content: Content,
    /// In upper-case hexadecimal. It is taken from what the document is made of, so that the index need not
    /// build all documents.
    hash: OnceLock<String>,
    body: OnceLock<Bytes>,
}

#[derive(Debug)]
enum Content {
    BuiltIn(Vec<ResourceDefinition>),
    Custom(Vec<CustomResource>),
    /// What lists the versions of the group at a path, or all groups.
    Group(String),
}

/// The documents of built-in groups, which are the same in all servers of the process.
static BUILT_IN: LazyLock<BTreeMap<String, Document>> = LazyLock::new(|| {
    let mut groups: BTreeMap<String, Vec<ResourceDefinition>> = BTreeMap::new();
    for definition in Resources::built_in().iter() {
        groups.entry(path(definition)).or_default().push(definition.clone());
    }
    let document = |(path, definitions)| (path, Document::new(Content::BuiltIn(definitions)));
    groups.into_iter().map(document).collect()
});

/// The documents of what lists the versions of each built-in group, and the groups. A group of custom resources has none.
static GROUPS: LazyLock<BTreeMap<String, Document>> = LazyLock::new(|| {
    let of_version = |path: &String| path.rsplit_once('/').map(|(group, _)| group.to_owned());
    let paths = BUILT_IN.keys().filter_map(of_version).chain(["apis".to_owned()]);
    paths.map(|path| (path.clone(), Document::new(Content::Group(path)))).collect()
});

/// What the document of version 2 says of built-in resources.
static BUILT_IN_SWAGGER: LazyLock<Written> = LazyLock::new(|| Part::of(BUILT_IN.values()).write());

const JSON: &str = "application/json";
const SWAGGER_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

// === impl OpenApi ===

impl OpenApi {
    /// The documents of the built-in resources and these custom ones.
    #[must_use]
    pub fn new(custom: Vec<CustomResource>) -> Self {
        let mut groups: BTreeMap<String, Vec<CustomResource>> = BTreeMap::new();
        for resource in custom {
            groups.entry(path(&resource.definition)).or_default().push(resource);
        }
        let document = |(path, resources)| (path, Document::new(Content::Custom(resources)));
        Self { custom: groups.into_iter().map(document).collect(), swagger: OnceLock::new() }
    }

    /// Answers a GET of `/openapi/v2`, `/openapi/v3` or a path below that; `None` for other paths. `now` dates the time until
    /// which a client may keep a document.
    #[must_use]
    pub fn answer(&self, uri: &Uri, headers: &HeaderMap, now: Timestamp) -> Option<Response<Bytes>> {
        let rest = uri.path().strip_prefix("/openapi/")?;
        if rest == "v2" {
            return Some(self.answer_v2(headers));
        }
        let rest = rest.strip_prefix("v3")?;
        if rest.is_empty() {
            let mut response = Response::new(Bytes::from(self.index().to_string()));
            let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, content_type);
            return Some(response);
        }
        let path = rest.strip_prefix('/')?;
        let document = BUILT_IN.get(path).or_else(|| self.custom.get(path)).or_else(|| GROUPS.get(path));
        let Some(document) = document else {
            return Some(empty(StatusCode::NOT_FOUND));
        };
        Some(document.answer(path, uri.query(), headers, now))
    }

    fn answer_v2(&self, headers: &HeaderMap) -> Response<Bytes> {
        let mut response = match accepted_v2(headers) {
            None => empty(StatusCode::NOT_ACCEPTABLE),
            Some(media_type) => {
                let custom = self.swagger.get_or_init(|| Part::of(self.custom.values()).write());
                let body = if media_type == JSON {
                    BUILT_IN_SWAGGER.json(custom)
                } else {
                    BUILT_IN_SWAGGER.protobuf(custom)
                };
                let hash: String = Sha512::digest(&body).iter().map(|byte| format!("{byte:02X}")).collect();
                let etag = HeaderValue::try_from(format!("\"{hash}\"")).ok();
                let mut response = if etag.is_some() && headers.get(header::IF_NONE_MATCH) == etag.as_ref() {
                    empty(StatusCode::NOT_MODIFIED)
                } else {
                    Response::new(body)
                };
                let headers = response.headers_mut();
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
                headers.extend(etag.map(|etag| (header::ETAG, etag)));
                response
            }
        };
        let headers = response.headers_mut();
        headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        headers.append(header::VARY, HeaderValue::from_static("Accept"));
        response
    }

    fn index(&self) -> Value {
        let documents = BUILT_IN.iter().chain(GROUPS.iter()).chain(&self.custom);
        let paths: Map<String, Value> = documents
            .map(|(path, document)| {
                let url = format!("/openapi/v3/{path}?hash={}", document.hash());
                (path.clone(), json!({"serverRelativeURL": url}))
            })
            .collect();
        json!({ "paths": paths })
    }
}

// === impl Document ===

impl Document {
    fn new(content: Content) -> Self {
        Self { content, hash: OnceLock::new(), body: OnceLock::new() }
    }

    fn hash(&self) -> &str {
        self.hash.get_or_init(|| {
            let mut digest = Sha512::new();
            digest.update(env!("CARGO_PKG_VERSION"));
            match &self.content {
                Content::BuiltIn(definitions) => digest.update(format!("{definitions:?}")),
                Content::Group(path) => digest.update(path),
                Content::Custom(resources) => {
                    for CustomResource { definition, schema, selectable_fields } in resources {
                        digest.update(format!("{definition:?} {selectable_fields:?} {schema}"));
                    }
                }
            }
            digest.finalize().iter().map(|byte| format!("{byte:02X}")).collect()
        })
    }

    fn answer(
        &self,
        path: &str,
        query: Option<&str>,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Response<Bytes> {
        if !accepts_json(headers) {
            return empty(StatusCode::NOT_ACCEPTABLE);
        }
        let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let hash = pairs.find(|(key, _)| key == "hash").map(|(_, hash)| hash);
        let etag = HeaderValue::try_from(format!("\"{}\"", self.hash()));
        let etag = etag.unwrap_or(HeaderValue::from_static("\"\""));

        let mut response = match &hash {
            Some(hash) if *hash != self.hash() => {
                let mut response = empty(StatusCode::MOVED_PERMANENTLY);
                let location = format!("/openapi/v3/{path}?hash={}", self.hash());
                if let Ok(location) = HeaderValue::try_from(location) {
                    response.headers_mut().insert(header::LOCATION, location);
                }
                response
            }
            _ if headers.get(header::IF_NONE_MATCH) == Some(&etag) => empty(StatusCode::NOT_MODIFIED),
            _ => Response::new(self.body.get_or_init(|| Bytes::from(self.build().to_string())).clone()),
        };
        let is_current = hash.as_deref() == Some(self.hash());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ETAG, etag);
        headers.insert(header::VARY, HeaderValue::from_static("Accept"));
        if is_current {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
            let year = now.checked_add(Span::new().hours(365 * 24)).unwrap_or(now);
            let expires = year.strftime("%a, %d %b %Y %H:%M:%S UTC").to_string();
            if let Ok(expires) = HeaderValue::try_from(expires) {
                headers.insert(header::EXPIRES, expires);
            }
        }
        response
    }

    fn build(&self) -> Value {
        match &self.content {
            Content::BuiltIn(definitions) => Builder::built_in(definitions),
            Content::Custom(resources) => Builder::custom(resources),
            Content::Group(path) => Builder::group(path),
        }
    }
}

/// `api/v1` or `apis/<group>/<version>`.
fn path(definition: &ResourceDefinition) -> String {
    let root = if definition.group.is_empty() { "api" } else { "apis" };
    format!("{root}/{}", definition.api_version())
}

fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

/// The form of the document of version 2 that a client wants first.
fn accepted_v2(headers: &HeaderMap) -> Option<&'static str> {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    let clauses: Vec<&str> = accept.flat_map(|accept| accept.split(',')).collect();
    if clauses.is_empty() {
        return Some(JSON);
    }
    clauses.into_iter().find_map(|clause| match clause.split(';').next().unwrap_or_default().trim() {
        "application/json" | "application/*" | "*/*" | "" => Some(JSON),
        // Clients of old write it with an at sign.
        SWAGGER_PROTOBUF | "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" => {
            Some(SWAGGER_PROTOBUF)
        }
        _ => None,
    })
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let mut accepts = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    !headers.contains_key(header::ACCEPT)
        || accepts.any(|accept| {
            accept.split(',').any(|clause| {
                let media_type = clause.split(';').next().unwrap_or_default().trim();
                matches!(media_type, "application/json" | "application/*" | "*/*" | "")
            })
        })
}

#[cfg(test)]
mod tests;
