use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use super::{Quoted, SelectorError};

/// The fields of a kind that a field selector may name, and how their values read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectableFields {
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// `metadata.name` and `metadata.namespace`, with the message of kinds that declare nothing.
    Metadata,
    BuiltIn(&'static BuiltIn),
    Custom {
        namespaced: bool,
        /// `spec.versions[].selectableFields[].jsonPath` without the leading dot.
        fields: Arc<[String]>,
    },
}

#[derive(Debug, PartialEq, Eq)]
struct BuiltIn {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    fields: &'static [(&'static str, Read)],
    unsupported: Unsupported,
}

/// How the value of a field is read from the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// The string at the path, empty if absent.
    Text,
    /// The boolean at the path, false if absent.
    Bool,
    /// The number at another path, 0 if absent.
    Number(&'static str),
    /// The string at the first of these places that is there. An event is stored in the form of the core
    /// group and shown in that of its own.
    First(&'static [&'static str]),
    /// `status.podIP`: the first of `podIPs`, else `podIP`.
    PodIp,
    /// An event's `source`: the component, else the reporting component.
    EventSource,
    /// Accepted, but always empty.
    Empty,
}

/// The wording of the refusal, which differs by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unsupported {
    Plain,
    /// `field label not supported for <this>: x`.
    For(&'static str),
    /// `field label "x" not supported for <this>`.
    Quoted(&'static str),
}

use Read::{Bool, Empty, EventSource, First, Number, PodIp, Text};

const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        group: "",
        version: "v1",
        kind: "Pod",
        fields: &[
            ("metadata.name", Text),
            ("metadata.namespace", Text),
            ("spec.nodeName", Text),
            ("spec.restartPolicy", Text),
            ("spec.schedulerName", Text),
            ("spec.serviceAccountName", Text),
            ("spec.hostNetwork", Bool),
            ("status.phase", Text),
            ("status.podIP", PodIp),
            ("status.podIPs", Empty),
            ("status.nominatedNodeName", Text),
        ],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "",
        version: "v1",
        kind: "Node",
        fields: &[("metadata.name", Text), ("spec.unschedulable", Bool)],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "",
        version: "v1",
        kind: "ReplicationController",
        fields: &[
            ("metadata.name", Text),
            ("metadata.namespace", Text),
            ("status.replicas", Number("/status/replicas")),
        ],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "",
        version: "v1",
        kind: "Event",
        fields: &[
            ("metadata.name", Text),
            ("metadata.namespace", Text),
            ("involvedObject.kind", Text),
            ("involvedObject.namespace", Text),
            ("involvedObject.name", Text),
            ("involvedObject.uid", Text),
            ("involvedObject.apiVersion", Text),
            ("involvedObject.resourceVersion", Text),
            ("involvedObject.fieldPath", Text),
            ("reason", Text),
            ("reportingComponent", Text),
            ("source", EventSource),
            ("type", Text),
        ],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "",
        version: "v1",
        kind: "Namespace",
        fields: &[("metadata.name", Text), ("status.phase", Text)],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "",
        version: "v1",
        kind: "Secret",
        fields: &[("metadata.name", Text), ("metadata.namespace", Text), ("type", Text)],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "",
        version: "v1",
        kind: "Service",
        fields: &[
            ("metadata.name", Text),
            ("metadata.namespace", Text),
            ("spec.clusterIP", Text),
            ("spec.type", Text),
        ],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "batch",
        version: "v1",
        kind: "Job",
        fields: &[
            ("metadata.name", Text),
            ("metadata.namespace", Text),
            ("status.successful", Number("/status/succeeded")),
        ],
        unsupported: Unsupported::Quoted("Job"),
    },
    BuiltIn {
        group: "events.k8s.io",
        version: "v1",
        kind: "Event",
        fields: &[
            ("metadata.name", Text),
            ("metadata.namespace", Text),
            ("regarding.kind", First(&["/regarding/kind", "/involvedObject/kind"])),
            ("regarding.namespace", First(&["/regarding/namespace", "/involvedObject/namespace"])),
            ("regarding.name", First(&["/regarding/name", "/involvedObject/name"])),
            ("regarding.uid", First(&["/regarding/uid", "/involvedObject/uid"])),
            ("regarding.apiVersion", First(&["/regarding/apiVersion", "/involvedObject/apiVersion"])),
            (
                "regarding.resourceVersion",
                First(&["/regarding/resourceVersion", "/involvedObject/resourceVersion"]),
            ),
            ("regarding.fieldPath", First(&["/regarding/fieldPath", "/involvedObject/fieldPath"])),
            ("reason", Text),
            ("reportingController", First(&["/reportingController", "/reportingComponent"])),
            ("type", Text),
        ],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "certificates.k8s.io",
        version: "v1",
        kind: "CertificateSigningRequest",
        fields: &[("metadata.name", Text), ("spec.signerName", Text)],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "certificates.k8s.io",
        version: "v1",
        kind: "ClusterTrustBundle",
        fields: &[("metadata.name", Text), ("spec.signerName", Text)],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "certificates.k8s.io",
        version: "v1",
        kind: "PodCertificateRequest",
        fields: &[
            ("metadata.name", Text),
            ("spec.signerName", Text),
            ("spec.podName", Text),
            ("spec.nodeName", Text),
        ],
        unsupported: Unsupported::Plain,
    },
    BuiltIn {
        group: "resource.k8s.io",
        version: "v1",
        kind: "ResourceSlice",
        fields: &[("metadata.name", Text), ("spec.nodeName", Text), ("spec.driver", Text)],
        unsupported: Unsupported::For("resource.k8s.io/v1, Kind=ResourceSlice"),
    },
];

impl SelectableFields {
    /// The fields of a built-in kind; `metadata.name` and `metadata.namespace` for those that declare no
    /// others.
    #[must_use]
    pub fn built_in(group: &str, version: &str, kind: &str) -> Self {
        let declared =
            BUILT_IN.iter().find(|one| (one.group, one.version, one.kind) == (group, version, kind));
        Self { source: declared.map_or(Source::Metadata, Source::BuiltIn) }
    }

    /// The fields of a custom resource: the metadata and the JSON paths of `selectableFields`
    /// (`.spec.color`), with or without their leading dot.
    pub fn custom<'a>(namespaced: bool, json_paths: impl IntoIterator<Item = &'a str>) -> Self {
        let fields = json_paths.into_iter().map(|path| path.trim_start_matches('.').to_owned()).collect();
        Self { source: Source::Custom { namespaced, fields } }
    }

    /// The name under which a field is matched.
    pub(super) fn resolve(&self, field: &str) -> Result<String, SelectorError> {
        let metadata = matches!(field, "metadata.name" | "metadata.namespace");
        let unsupported = match &self.source {
            Source::Metadata if metadata => return Ok(field.to_owned()),
            Source::Metadata => {
                return Err(SelectorError::new(format!(
                    "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                    Quoted(field)
                )));
            }
            Source::BuiltIn(built_in) => {
                if built_in.kind == "Pod" && field == "spec.host" {
                    return Ok("spec.nodeName".to_owned()); // its name before v1
                }
                if built_in.fields.iter().any(|(name, _)| *name == field) {
                    return Ok(field.to_owned());
                }
                built_in.unsupported
            }
            Source::Custom { namespaced, fields } => {
                let known = field == "metadata.name"
                    || (*namespaced && field == "metadata.namespace")
                    || fields.iter().any(|name| name == field);
                if known {
                    return Ok(field.to_owned());
                }
                Unsupported::Plain
            }
        };
        Err(SelectorError::new(match unsupported {
            Unsupported::Plain => format!("field label not supported: {field}"),
            Unsupported::For(kind) => format!("field label not supported for {kind}: {field}"),
            Unsupported::Quoted(kind) => format!("field label {} not supported for {kind}", Quoted(field)),
        }))
    }

    /// The value of a resolved field, as a selector compares it.
    pub(super) fn value<'a>(&self, object: &'a Value, field: &str) -> Cow<'a, str> {
        let read = match &self.source {
            Source::BuiltIn(built_in) => {
                built_in.fields.iter().find(|(name, _)| *name == field).map_or(Text, |(_, read)| *read)
            }
            Source::Metadata | Source::Custom { .. } => Text,
        };
        let text = |value: Option<&'a Value>| match value {
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => Cow::Owned(value.to_string()),
            _ => Cow::Borrowed(""),
        };
        match read {
            Text => text(at(object, field)),
            Bool => match at(object, field) {
                Some(Value::Bool(true)) => "true".into(),
                _ => "false".into(),
            },
            Number(pointer) => match object.pointer(pointer) {
                Some(number @ Value::Number(_)) => number.to_string().into(),
                _ => "0".into(),
            },
            First(places) => text(places.iter().find_map(|place| object.pointer(place))),
            PodIp => text(object.pointer("/status/podIPs/0/ip").or_else(|| object.pointer("/status/podIP"))),
            EventSource => {
                let component = text(object.pointer("/source/component"));
                if component.is_empty() { text(object.get("reportingComponent")) } else { component }
            }
            Empty => Cow::Borrowed(""),
        }
    }
}

fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(object, |value, key| value.get(key))
}
