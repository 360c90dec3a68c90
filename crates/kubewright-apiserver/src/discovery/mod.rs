//! Discovery: how clients learn which groups, versions and resources the server serves.
//!
//! A [`Catalog`] is a value made of the [`Resources`] that are served at one moment: built-in ones and those
//! of established CRDs. The server makes a new one whenever a CRD changes and swaps it in; its documents are
//! computed when first asked for.
//!
//! Two generations of documents exist and both are in use (`kubectl auth can-i` asks for the old one):
//! `aggregated.rs` holds everything below `/api` or `/apis` in one list, `legacy.rs` one document for each
//! group and version. `priority.rs` is the order of both. This folder knows resource definitions and
//! nothing else of the server.

mod aggregated;
mod legacy;
mod priority;

use std::sync::OnceLock;

use bytes::Bytes;
use http::{HeaderMap, Response, Uri, header};
use serde_json::Value;

use self::aggregated::{Choice, Document};
pub use self::priority::compare_versions;
use crate::{
    registry::{ResourceDefinition, Resources},
    status::{Details, Reason, Status},
};

const MEDIA_TYPES: [&str; 3] =
    ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// The resources that a server serves at one moment, and the discovery documents that tell of them.
#[derive(Debug, Default)]
pub struct Catalog {
    resources: Resources,
    groups: Vec<Group>,
    core: OnceLock<Document>,
    named: OnceLock<Document>,
}

/// An API group with its versions, preferred first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    name: String,
    versions: Vec<String>,
}

/// The answer to a discovery request.
#[derive(Debug)]
pub enum Answer {
    /// A complete answer: the aggregated list in its own media type, or 304.
    Aggregated(Response<Bytes>),
    /// An object to be written in whatever the client accepts.
    Object(Value),
    /// The client accepts only forms that are not served (406), or asks for a version that a group of
    /// Kubernetes itself does not have (404).
    Refused(Status),
}

impl Catalog {
    /// A catalog of these resources.
    #[must_use]
    pub fn new(resources: Resources) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        // The resources come ordered by group, then version.
        for definition in resources.iter() {
            if groups.last().is_none_or(|group| group.name != definition.group) {
                groups.push(Group { name: definition.group.clone(), versions: Vec::new() });
            }
            if let Some(group) = groups.last_mut()
                && group.versions.last() != Some(&definition.version)
            {
                group.versions.push(definition.version.clone());
            }
        }
        for group in &mut groups {
            group.versions.sort_by(|a, b| compare_versions(b, a));
        }
        groups.sort_by_key(|group| priority::group_order(&group.name));
        Self { resources, groups, ..Self::default() }
    }

    /// The resources.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Whether any resource of the group is served.
    #[must_use]
    pub fn has_group(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own.name == group)
    }

    /// The groups and versions in discovery order, preferred version first.
    pub fn group_versions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.groups
            .iter()
            .flat_map(|group| group.versions.iter().map(|version| (group.name.as_str(), version.as_str())))
    }

    /// The version of the group that clients should use.
    #[must_use]
    pub fn preferred_version(&self, group: &str) -> Option<&str> {
        let group = self.groups.iter().find(|own| own.name == group)?;
        group.versions.first().map(String::as_str)
    }

    /// Answers a GET of `/api`, `/apis`, `/apis/<group>`, `/api/v1` or `/apis/<group>/<version>`; `None` if
    /// the path is none of these or nothing is served there.
    #[must_use]
    pub fn answer(&self, uri: &Uri, headers: &HeaderMap) -> Option<Answer> {
        let path = uri.path();
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut segments = path.split('/').skip(1);
        let place = (segments.next()?, segments.next(), segments.next(), segments.next());
        let (object, group) = match place {
            ("api", None, ..) => return Some(self.root(&self.core, uri, headers)),
            ("apis", None, ..) => return Some(self.root(&self.named, uri, headers)),
            ("api", Some(version), None, _) => (self.legacy_resources("", version), ""),
            ("apis", Some(group), None, _) if !group.is_empty() => (self.legacy_group(group), group),
            ("apis", Some(group), Some(version), None) if !group.is_empty() => {
                (self.legacy_resources(group, version), group)
            }
            _ => return None,
        };
        if object.is_none() && priority::is_built_in(group) && self.has_group(group) {
            return Some(Answer::Refused(Status::no_such_resource()));
        }
        object.map(Answer::Object)
    }

    fn root(&self, document: &OnceLock<Document>, uri: &Uri, headers: &HeaderMap) -> Answer {
        let is_core = std::ptr::eq(document, &self.core);
        match aggregated::choose(headers) {
            Choice::Aggregated => {
                let document = document.get_or_init(|| self.aggregated(is_core));
                Answer::Aggregated(document.respond(headers))
            }
            Choice::Legacy if is_core => {
                let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
                let address = uri.authority().map(http::uri::Authority::as_str).or(host);
                Answer::Object(legacy::versions(address.unwrap_or_default()))
            }
            Choice::Legacy => Answer::Object(self.legacy_groups()),
            // Two parts of a real server answer here, which refuse in words of their own.
            Choice::Nothing if is_core => {
                let message =
                    format!("406: Not Acceptable\n\nAvailable representations: {}", MEDIA_TYPES.join(", "));
                let status = Status::new(406, Reason::NotAcceptable, message);
                Answer::Refused(status.with_details(Details::default()))
            }
            Choice::Nothing | Choice::OtherForm => Answer::Refused(Status::not_acceptable(&MEDIA_TYPES)),
        }
    }

    fn definitions(&self, group: &str, version: &str) -> impl Iterator<Item = &ResourceDefinition> {
        self.resources.iter().filter(move |own| own.group == group && own.version == version)
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, StatusCode};
    use serde_json::json;

    use super::*;
    use crate::registry::Subresource;

    fn definition(group: &str, version: &str, kind: &str, plural: &str) -> ResourceDefinition {
        ResourceDefinition {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            namespaced: true,
            storage: true,
            verbs: ["create", "get", "list"].map(str::to_owned).to_vec(),
            ..ResourceDefinition::default()
        }
    }

    fn catalog() -> Catalog {
        let mut deployments = definition("apps", "v1", "Deployment", "deployments");
        deployments.short_names = vec!["deploy".to_owned()];
        deployments.categories = vec!["all".to_owned()];
        deployments.subresources = vec![
            Subresource {
                name: "scale".to_owned(),
                group: "autoscaling".to_owned(),
                version: "v1".to_owned(),
                kind: "Scale".to_owned(),
                verbs: vec!["get".to_owned()],
            },
            Subresource {
                name: "status".to_owned(),
                group: "apps".to_owned(),
                version: "v1".to_owned(),
                kind: "Deployment".to_owned(),
                verbs: vec!["get".to_owned()],
            },
        ];
        let mut old = definition("example.com", "v1beta1", "Widget", "widgets");
        old.storage = false;
        Catalog::new(Resources::from_iter([
            definition("", "v1", "Pod", "pods"),
            deployments,
            definition("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
            definition("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
            definition("a.example.com", "v1", "Thing", "things"),
            definition("example.com", "v1", "Widget", "widgets"),
            old,
            definition("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"),
        ]))
    }

    fn get(catalog: &Catalog, path: &str, accept: &str) -> Option<Answer> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_str(accept).expect("a header"));
        headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:6443"));
        catalog.answer(&path.parse().expect("a path"), &headers)
    }

    fn object(catalog: &Catalog, path: &str) -> Value {
        match get(catalog, path, "application/json, */*") {
            Some(Answer::Object(object)) => object,
            other => panic!("{path}: {other:?}"),
        }
    }

    const AGGREGATED: &str =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

    fn aggregated(catalog: &Catalog, path: &str, accept: &str) -> Response<Bytes> {
        match get(catalog, path, accept) {
            Some(Answer::Aggregated(response)) => response,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn groups_come_in_the_order_of_a_real_server() {
        let names: Vec<String> = object(&catalog(), "/apis")["groups"]
            .as_array()
            .expect("groups")
            .iter()
            .map(|group| group["name"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(names, ["apps", "autoscaling", "apiextensions.k8s.io", "a.example.com", "example.com"]);
    }

    #[test]
    fn legacy_documents_have_the_shape_of_a_real_server() {
        let catalog = catalog();
        assert_eq!(
            object(&catalog, "/api"),
            json!({
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
            })
        );
        assert_eq!(
            object(&catalog, "/apis/autoscaling/"),
            json!({
                "kind": "APIGroup", "apiVersion": "v1", "name": "autoscaling",
                "versions": [
                    {"groupVersion": "autoscaling/v2", "version": "v2"},
                    {"groupVersion": "autoscaling/v1", "version": "v1"},
                ],
                "preferredVersion": {"groupVersion": "autoscaling/v2", "version": "v2"},
            })
        );
        let resources = object(&catalog, "/apis/apps/v1");
        assert_eq!(resources["groupVersion"], "apps/v1");
        assert_eq!(
            resources["resources"],
            json!([
                {
                    "name": "deployments", "singularName": "deployment", "namespaced": true, "kind": "Deployment",
                    "verbs": ["create", "get", "list"], "shortNames": ["deploy"], "categories": ["all"],
                    "storageVersionHash": "8aSe+NMegvE=",
                },
                {
                    "name": "deployments/scale", "singularName": "", "namespaced": true, "group": "autoscaling",
                    "version": "v1", "kind": "Scale", "verbs": ["get"],
                },
                {
                    "name": "deployments/status", "singularName": "", "namespaced": true, "kind": "Deployment",
                    "verbs": ["get"],
                },
            ])
        );
        let of = |version: &str| {
            object(&catalog, &format!("/apis/example.com/{version}"))["resources"][0]["storageVersionHash"]
                .clone()
        };
        assert_eq!(of("v1"), of("v1beta1"), "the hash is that of the stored version");
    }

    #[test]
    fn the_aggregated_list_is_cached_by_its_etag() {
        let catalog = catalog();
        let response = aggregated(&catalog, "/apis", AGGREGATED);
        let headers = response.headers().clone();
        assert_eq!(
            headers[header::CONTENT_TYPE],
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        );
        assert_eq!(headers[header::VARY], "Accept");
        let list: Value = serde_json::from_slice(response.body()).expect("JSON");
        assert_eq!(list["kind"], "APIGroupDiscoveryList");
        assert_eq!(
            list["items"][0],
            json!({
                "metadata": {"name": "apps"},
                "versions": [{
                    "version": "v1",
                    "freshness": "Current",
                    "resources": [{
                        "resource": "deployments",
                        "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                        "scope": "Namespaced",
                        "singularResource": "deployment",
                        "verbs": ["create", "get", "list"],
                        "shortNames": ["deploy"],
                        "categories": ["all"],
                        "subresources": [
                            {
                                "subresource": "scale",
                                "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                                "verbs": ["get"],
                            },
                            {
                                "subresource": "status",
                                "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                                "verbs": ["get"],
                            },
                        ],
                    }],
                }],
            })
        );
        assert_eq!(
            list["items"][4]["versions"][0]["resources"][0]["responseKind"],
            json!({"group": "example.com", "version": "v1", "kind": "Widget"})
        );
        let core: Value =
            serde_json::from_slice(aggregated(&catalog, "/api", AGGREGATED).body()).expect("JSON");
        assert_eq!(core["items"][0]["metadata"], json!({}));

        let mut again = HeaderMap::new();
        again.insert(header::ACCEPT, HeaderValue::from_static(AGGREGATED));
        again.insert(header::IF_NONE_MATCH, headers[header::ETAG].clone());
        match catalog.answer(&Uri::from_static("/apis"), &again) {
            Some(Answer::Aggregated(response)) => {
                assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
                assert!(response.body().is_empty());
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_old_beta_falls_back_or_is_refused() {
        let catalog = catalog();
        let beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
        let with_fallback = format!("{beta},application/json");
        assert!(matches!(get(&catalog, "/apis", &with_fallback), Some(Answer::Object(_))));
        assert!(matches!(get(&catalog, "/apis", beta), Some(Answer::Refused(status)) if status.code == 406));
        let both = format!("{beta},{AGGREGATED}");
        assert_eq!(aggregated(&catalog, "/api", &both).status(), StatusCode::OK);
        let with_profile =
            "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io;profile=nopeer";
        assert_eq!(aggregated(&catalog, "/api", with_profile).status(), StatusCode::OK);
    }

    #[test]
    fn other_paths_are_not_answered() {
        let catalog = catalog();
        for path in
            ["/", "/version", "/apis/none", "/apis/example.com/v9", "/apis/apps/v1/deployments", "/apis//v1"]
        {
            assert!(get(&catalog, path, "*/*").is_none(), "{path}");
        }
        for path in ["/api/v2", "/apis/apps/v2"] {
            let answer = get(&catalog, path, "*/*");
            assert!(matches!(answer, Some(Answer::Refused(status)) if status.code == 404), "{path}");
        }
        assert!(catalog.has_group("apps") && !catalog.has_group("none"));
        assert_eq!(catalog.preferred_version("autoscaling"), Some("v2"));
        assert_eq!(catalog.group_versions().next(), Some(("", "v1")));
    }
}
