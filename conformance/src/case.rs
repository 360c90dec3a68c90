//! Cases: sequences of requests, as the files of the corpus have them.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::webhooks::Webhook;

/// A sequence of requests. It runs on a server of its own, or on a shared one in a namespace of its own.
///
/// In texts, `$ns` is the case's namespace, which then exists, and `$case` a name that no other case uses; both are
/// the name of the case. `$(step.metadata.uid)` is what an earlier answer has there.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// A DNS label, unique in the corpus.
    pub name: String,
    /// What the case shows, where the name does not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether the server has admission plugins on that the corpus has off otherwise: see [`MORE_PLUGINS`](crate::target::MORE_PLUGINS).
    #[serde(default, skip_serializing_if = "is_false")]
    pub more_plugins: bool,
    /// Whether `metadata.managedFields` are compared too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub managed_fields: bool,
    /// Webhooks by name, each with what it answers. They are at `$(hooks.url)/<name>`, with the certificate `$(hooks.ca)`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub webhooks: BTreeMap<String, Webhook>,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// One thing that a client does: it sends a request, opens a watch, or reads events of one, or what a webhook was asked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// The name by which later steps refer to the answer, or read the watch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Sends a request: a method and a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send: Option<String>,
    /// Opens a watch: a path, to which `watch=true` is added. Its status is recorded, its events are read later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<String>,
    /// Reads events of the watch of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<String>,
    /// Reads what the webhook of this name was asked since the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// How many events are read; without it, all until the server ends the watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The user by whose token the request is made; `nobody` has none. Default: an administrator.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// More headers. An empty value takes away one that is sent otherwise.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The type of a PATCH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<PatchType>,
    /// A body, sent as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// A body, sent as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// A body that is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Blanks are put behind the body until it has this many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pad: Option<usize>,
    /// Repeats the request until the answer has this status, because a real server takes its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u16>,
    /// JSON pointers to what is recorded of the body. Default: all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub show: Vec<String>,
    /// JSON pointers to what is not recorded of the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hide: Vec<String>,
}

/// The media type of a PATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7396.
    Merge,
    /// Kubernetes' own.
    Strategic,
    /// Server-side apply.
    Apply,
}

fn is_false(value: &bool) -> bool {
    !*value
}

// === impl Case ===

impl Case {
    /// Whether the case needs its namespace.
    #[must_use]
    pub fn needs_namespace(&self) -> bool {
        self.text().contains("$ns")
    }

    /// Whether the case only tries, and changes nothing.
    #[must_use]
    pub fn leaves_nothing(&self) -> bool {
        let is_dry = |step: &Step| step.send.as_ref().is_some_and(|send| send.contains("dryRun=All"));
        !self.needs_namespace() && self.steps.iter().all(is_dry)
    }

    /// Everything that the case says itself.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(&self.steps).unwrap_or_default()
    }
}

// === impl Step ===

impl Step {
    /// The body as bytes, before anything is filled in.
    ///
    /// # Errors
    /// If the base64 is none.
    pub fn bytes(&self) -> Result<Option<Bytes>, base64::DecodeError> {
        if let Some(body) = &self.body {
            return Ok(Some(body.to_string().into()));
        }
        if let Some(text) = &self.base64 {
            let text: String = text.split_whitespace().collect();
            return STANDARD.decode(text).map(|bytes| Some(bytes.into()));
        }
        Ok(self.raw.clone().map(Bytes::from))
    }

    /// What the step does, in a line.
    #[must_use]
    pub fn title(&self) -> String {
        match (&self.send, &self.watch, &self.events, &self.asked) {
            (Some(send), ..) => send.clone(),
            (_, Some(path), ..) => format!("watch {path}"),
            (_, _, Some(name), _) => format!("events of {name}"),
            (.., Some(name)) => format!("what {name} was asked"),
            _ => "nothing".to_owned(),
        }
    }
}

// === impl PatchType ===

impl PatchType {
    /// As `Content-Type` has it.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}
