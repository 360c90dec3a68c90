use serde_json::Value;

use super::text;
use crate::registry::metadata;

/// What a CRD says about one version of its resource.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    /// The version that objects are stored in.
    pub(crate) storage_version: String,
    /// The paths that field selectors may name, as JSONPath.
    pub(crate) selectable_fields: Vec<String>,
    /// Whether objects of this version are read just as they are stored.
    pub(crate) reads_as_stored: bool,
    /// Whether the CRD is being deleted.
    pub(crate) terminating: bool,
    /// The warning that every request of this version gets.
    pub(crate) deprecation: Option<String>,
    pub(crate) scale: Option<Scale>,
}

/// Where a custom resource has what the subresource `scale` shows, as paths of field names.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) spec_replicas: Vec<String>,
    pub(crate) status_replicas: Vec<String>,
    pub(crate) selector: Vec<String>,
}

impl CustomVersion {
    pub(super) fn new(crd: &Value, version: &Value, storage_version: &str) -> Self {
        let name = text(version, "name");
        let deprecation =
            (version["deprecated"] == true).then(|| match text(version, "deprecationWarning") {
                "" => {
                    let (group, kind) = (text(&crd["spec"], "group"), text(&crd["spec"]["names"], "kind"));
                    format!("{group}/{name} {kind} is deprecated")
                }
                warning => warning.to_owned(),
            });
        let selectable = version["selectableFields"].as_array().map(Vec::as_slice).unwrap_or_default();
        let scale = &version["subresources"]["scale"];
        Self {
            storage_version: storage_version.to_owned(),
            selectable_fields: selectable.iter().map(|field| text(field, "jsonPath").to_owned()).collect(),
            reads_as_stored: name == storage_version,
            terminating: metadata::is_deleting(crd),
            deprecation,
            scale: scale.is_object().then(|| Scale {
                spec_replicas: path(text(scale, "specReplicasPath")),
                status_replicas: path(text(scale, "statusReplicasPath")),
                selector: path(text(scale, "labelSelectorPath")),
            }),
        }
    }

    /// Brings a stored object into the state in which this version reads it.
    pub(crate) fn read(&self, _object: &mut Value) {}
}

impl Scale {
    /// Where the built-in kinds have it.
    pub(crate) fn built_in() -> Self {
        Self {
            spec_replicas: path(".spec.replicas"),
            status_replicas: path(".status.replicas"),
            selector: path(".spec.selector"),
        }
    }
}

/// The field names of a simple JSONPath such as `.spec.replicas`.
fn path(path: &str) -> Vec<String> {
    path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
