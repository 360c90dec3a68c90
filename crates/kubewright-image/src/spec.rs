//! The documents of the OCI image specification, as far as an operator's image needs them.
//!
//! Maps are ordered, so that equal documents have equal bytes and with them equal digests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{digest::Digest, platform::Platform};

/// The media type of a [`Manifest`].
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of an [`Index`].
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of a [`Config`].
pub const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// The media type of a layer: a gzipped tar archive.
pub const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// The annotation that names the image an image was made from.
pub const BASE_NAME: &str = "org.opencontainers.image.base.name";
/// The annotation that has the digest of that image.
pub const BASE_DIGEST: &str = "org.opencontainers.image.base.digest";

/// Docker's older names of the same documents.
pub(crate) const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
pub(crate) const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
pub(crate) const DOCKER_LAYER: &str = "application/vnd.docker.image.rootfs.diff.tar.gzip";

/// What some content is, how large, and its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// What the content is.
    pub media_type: String,
    /// The digest of the content.
    pub digest: Digest,
    /// The length of the content in bytes.
    pub size: u64,
    /// The platform of a manifest in an index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// What else is said about it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    /// Describes `content`.
    #[must_use]
    pub fn of(media_type: &str, content: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: Digest::of(content),
            size: content.len() as u64,
            platform: None,
            annotations: BTreeMap::new(),
        }
    }

    /// Whether it describes a list of manifests.
    #[must_use]
    pub fn is_index(&self) -> bool {
        matches!(self.media_type.as_str(), INDEX | DOCKER_INDEX)
    }

    /// Whether it describes a manifest.
    #[must_use]
    pub fn is_manifest(&self) -> bool {
        matches!(self.media_type.as_str(), MANIFEST | DOCKER_MANIFEST)
    }
}

/// An image for one platform: its configuration and its layers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Always 2.
    pub schema_version: u32,
    /// What this document is.
    #[serde(default)]
    pub media_type: String,
    /// The configuration.
    pub config: Descriptor,
    /// The layers, the lowest first.
    pub layers: Vec<Descriptor>,
    /// What else is said about it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// Manifests, one for each platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// Always 2.
    pub schema_version: u32,
    /// What this document is.
    #[serde(default)]
    pub media_type: String,
    /// The manifests.
    pub manifests: Vec<Descriptor>,
    /// What else is said about it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// How an image is run, and of what it consists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// When it was made, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The processor.
    pub architecture: String,
    /// The operating system.
    pub os: String,
    /// The variant of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// How it is run.
    #[serde(default)]
    pub config: Execution,
    /// The layers, unpacked.
    pub rootfs: RootFs,
    /// Where each layer comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<History>,
}

impl Config {
    /// What it is for.
    #[must_use]
    pub fn platform(&self) -> Platform {
        Platform {
            architecture: self.architecture.clone(),
            os: self.os.clone(),
            variant: self.variant.clone(),
        }
    }
}

/// How an image is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Execution {
    /// The user, and the group after a colon.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// `NAME=VALUE`, each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<String>>,
    /// The program and its first arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<Vec<String>>,
    /// The arguments that a user may replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cmd: Option<Vec<String>>,
    /// Where it starts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub working_dir: String,
    /// What is said about it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_is_empty")]
    pub labels: BTreeMap<String, String>,
}

fn null_is_empty<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The layers of an image, unpacked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootFs {
    /// Always `layers`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The digests of the archives before they were compressed, the lowest first.
    pub diff_ids: Vec<Digest>,
}

impl Default for RootFs {
    fn default() -> Self {
        Self { kind: "layers".to_owned(), diff_ids: Vec::new() }
    }
}

/// Where a layer comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// When it was made, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// By what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// Whether there is no layer of this step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty_layer: bool,
}
