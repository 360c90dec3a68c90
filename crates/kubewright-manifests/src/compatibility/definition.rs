//! A CRD, read.

use kubewright_schema::{ErrorList, FieldPath, Structural, crd::default_crd};
use serde_json::Value;

/// A CRD with its defaults, its schemas parsed.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    spec: Value,
    stored: Vec<String>,
    pub(super) versions: Vec<Version>,
}

/// One version of a CRD.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) name: String,
    pub(super) served: bool,
    pub(super) storage: bool,
    pub(super) schema: Structural,
    pub(super) document: Value,
}

/// A document that cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotADefinition {
    /// Something else than a CRD of `apiextensions.k8s.io/v1`.
    #[error(
        "`{name}` is not a CustomResourceDefinition of apiextensions.k8s.io/v1 but a `{kind}` of `{api_version}`; \
         leave it out, or convert it"
    )]
    OtherKind {
        /// The name of the object, which may be empty.
        name: String,
        /// Its kind.
        kind: String,
        /// Its API version.
        api_version: String,
    },
    /// A version whose schema is not structural.
    #[error(
        "the schema of version `{version}` of the CRD `{name}` is not structural, an API server refuses it: {errors}"
    )]
    Schema {
        /// The name of the CRD.
        name: String,
        /// The name of the version.
        version: String,
        /// What is wrong with the schema.
        errors: ErrorList,
    },
    /// A CRD without versions.
    #[error("the CRD `{name}` has no versions; an API server refuses it")]
    NoVersions {
        /// The name of the CRD.
        name: String,
    },
    /// Two versions of one name.
    #[error("the CRD `{name}` has two versions called `{version}`; an API server refuses it")]
    VersionTwice {
        /// The name of the CRD.
        name: String,
        /// The name of the versions.
        version: String,
    },
    /// One CRD in two documents.
    #[error("the CRD `{name}` is there twice; leave one out")]
    Twice {
        /// The name of the CRD.
        name: String,
    },
}

// === impl Definition ===

impl Definition {
    pub(super) fn read(document: &Value) -> Result<Self, NotADefinition> {
        let text =
            |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = text("/metadata/name");
        let (kind, api_version) = (text("/kind"), text("/apiVersion"));
        if kind != "CustomResourceDefinition" || api_version != "apiextensions.k8s.io/v1" {
            return Err(NotADefinition::OtherKind { name, kind, api_version });
        }
        let mut crd = document.clone();
        default_crd(&mut crd);
        let versions = list(&crd["spec"], "versions")
            .iter()
            .map(|version| Version::read(&name, version))
            .collect::<Result<Vec<_>, _>>()?;
        if versions.is_empty() {
            return Err(NotADefinition::NoVersions { name });
        }
        for (at, version) in versions.iter().enumerate() {
            if versions.iter().take(at).any(|other| other.name == version.name) {
                return Err(NotADefinition::VersionTwice { name, version: version.name.clone() });
            }
        }
        let stored = list(&crd["status"], "storedVersions")
            .iter()
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect();
        Ok(Self { name, spec: crd["spec"].take(), stored, versions })
    }

    /// A part of the spec; null if it is absent.
    pub(super) fn spec(&self, pointer: &str) -> &Value {
        self.spec.pointer(pointer).unwrap_or(&Value::Null)
    }

    pub(super) fn kind(&self) -> &str {
        self.spec("/names/kind").as_str().unwrap_or_default()
    }

    pub(super) fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    pub(super) fn storage(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.storage)
    }

    /// Whether objects may be stored in a version.
    pub(super) fn stores(&self, version: &str) -> bool {
        self.stored.iter().any(|name| name == version)
    }

    pub(super) fn converts(&self) -> bool {
        self.spec("/conversion/strategy") == "Webhook"
    }
}

impl Version {
    fn read(crd: &str, version: &Value) -> Result<Self, NotADefinition> {
        let name = version["name"].as_str().unwrap_or_default().to_owned();
        let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
        let path = FieldPath::new("spec.versions").key(&name).child("schema").child("openAPIV3Schema");
        let schema = Structural::parse_at(schema, &path).map_err(|errors| NotADefinition::Schema {
            name: crd.to_owned(),
            version: name.clone(),
            errors,
        })?;
        Ok(Self {
            name,
            served: version["served"] == true,
            storage: version["storage"] == true,
            schema,
            document: version.clone(),
        })
    }

    /// The path of the version in the CRD.
    pub(super) fn path(&self) -> String {
        format!(r#".spec.versions[?(@.name=="{}")]"#, self.name)
    }
}

/// The list under `key`, empty if there is none.
pub(super) fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
