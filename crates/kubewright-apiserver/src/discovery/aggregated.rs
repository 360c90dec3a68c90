//! The aggregated list: everything below `/api` or `/apis` in one document, with an entity tag.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};

use super::{Catalog, priority::is_built_in};
use crate::registry::{ResourceDefinition, Subresource};

const MEDIA_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// An encoded list and its entity tag.
#[derive(Debug)]
pub(super) struct Document {
    body: Bytes,
    etag: HeaderValue,
}

/// What a client that asks for `/api` or `/apis` wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Aggregated,
    Legacy,
    /// A media type that is served, in a form that is not.
    OtherForm,
    /// No media type that is served.
    Nothing,
}

/// Reads `Accept`. Clauses are tried by their quality, then in their order.
pub(super) fn choose(headers: &HeaderMap) -> Choice {
    let mut clauses: Vec<(f32, Choice)> = Vec::new();
    let mut has_media_type = false;
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    for clause in accepts.flat_map(|accept| accept.split(',')) {
        let mut parts = clause.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
        let (mut quality, mut transform, mut group, mut version) = (1.0, "", "", "");
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            let value = value.trim();
            match key.trim() {
                "q" => quality = value.parse().unwrap_or(1.0),
                "as" => transform = value,
                "g" => group = value,
                "v" => version = value,
                _ => {}
            }
        }
        let is_json = matches!(media_type.as_str(), "application/json" | "application/*" | "*/*");
        let is_other =
            matches!(media_type.as_str(), "application/yaml" | "application/vnd.kubernetes.protobuf");
        let choice = match (transform, group, version) {
            ("", ..) if is_json || is_other => Choice::Legacy,
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") if is_json => Choice::Aggregated,
            _ if is_json || is_other => {
                has_media_type = true;
                continue;
            }
            _ => continue,
        };
        clauses.push((quality, choice));
    }
    if !headers.contains_key(header::ACCEPT) {
        return Choice::Legacy;
    }
    clauses.sort_by(|a, b| b.0.total_cmp(&a.0));
    let nothing = if has_media_type { Choice::OtherForm } else { Choice::Nothing };
    clauses.first().map_or(nothing, |(_, choice)| *choice)
}

impl Document {
    fn new(list: &Value) -> Self {
        let body = Bytes::from(list.to_string());
        let mut etag = String::with_capacity(130);
        etag.push('"');
        for byte in Sha512::digest(&body) {
            etag.push_str(&format!("{byte:02X}"));
        }
        etag.push('"');
        let etag = HeaderValue::try_from(etag).unwrap_or(HeaderValue::from_static("\"\""));
        Self { body, etag }
    }

    /// The list, or 304 to a client that has it.
    pub(super) fn respond(&self, headers: &HeaderMap) -> Response<Bytes> {
        let known = headers.get(header::IF_NONE_MATCH) == Some(&self.etag);
        let mut response = Response::new(if known { Bytes::new() } else { self.body.clone() });
        if known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        }
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.etag.clone());
        headers.insert(header::VARY, HeaderValue::from_static("Accept"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
        response
    }
}

impl Catalog {
    /// The list of the core group, or of all the others.
    pub(super) fn aggregated(&self, core: bool) -> Document {
        let groups = self.groups.iter().filter(|group| group.name.is_empty() == core);
        let items: Vec<Value> = groups
            .map(|group| {
                let versions: Vec<Value> = group
                    .versions
                    .iter()
                    .map(|version| {
                        let resources: Vec<Value> =
                            self.definitions(&group.name, version).map(resource).collect();
                        json!({"version": version, "freshness": "Current", "resources": resources})
                    })
                    .collect();
                let metadata = if core { json!({}) } else { json!({"name": group.name}) };
                json!({"metadata": metadata, "versions": versions})
            })
            .collect();
        Document::new(&json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        }))
    }
}

fn resource(definition: &ResourceDefinition) -> Value {
    let mut resource = Map::from_iter([
        ("resource".to_owned(), json!(definition.plural)),
        ("responseKind".to_owned(), response_kind(definition, None)),
        ("scope".to_owned(), json!(if definition.namespaced { "Namespaced" } else { "Cluster" })),
        ("singularResource".to_owned(), json!(definition.singular)),
        ("verbs".to_owned(), json!(definition.verbs)),
    ]);
    if !definition.short_names.is_empty() {
        resource.insert("shortNames".to_owned(), json!(definition.short_names));
    }
    if !definition.categories.is_empty() {
        resource.insert("categories".to_owned(), json!(definition.categories));
    }
    if !definition.subresources.is_empty() {
        let subresources = definition.subresources.iter().map(|own| subresource(definition, own)).collect();
        resource.insert("subresources".to_owned(), subresources);
    }
    Value::Object(resource)
}

fn subresource(parent: &ResourceDefinition, subresource: &Subresource) -> Value {
    json!({
        "subresource": subresource.name,
        "responseKind": response_kind(parent, Some(subresource)),
        "verbs": subresource.verbs,
    })
}

/// What the endpoint answers. Built-in resources leave out the group and version they are listed under.
fn response_kind(parent: &ResourceDefinition, subresource: Option<&Subresource>) -> Value {
    let (group, version, kind) = match subresource {
        Some(own) => (&own.group, &own.version, &own.kind),
        None => (&parent.group, &parent.version, &parent.kind),
    };
    if is_built_in(&parent.group) && (group, version) == (&parent.group, &parent.version) {
        return json!({"group": "", "version": "", "kind": kind});
    }
    json!({"group": group, "version": version, "kind": kind})
}
