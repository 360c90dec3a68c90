use std::sync::Arc;

use kubewright_schema::{ErrorList, FieldPath, JsonPath, Structural};
use serde_json::Value;

use super::text;
use crate::{
    apply::{ObjectType, field_manager::Versions, schema::openapi},
    registry::{Warnings, metadata},
    table::{Column, CustomColumn, Printer},
};

/// What a CRD says about one version of its resource.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    /// The version that objects are stored in.
    pub(crate) storage_version: String,
    /// The paths that field selectors may name, as JSONPath.
    pub(crate) selectable_fields: Vec<String>,
    /// Whether the CRD is being deleted.
    pub(crate) terminating: bool,
    /// The warning that every request of this version gets.
    pub(crate) deprecation: Option<String>,
    pub(crate) scale: Option<Scale>,
    /// The types of all versions of the resource, for managed fields.
    pub(crate) field_versions: Versions,
    /// The schema as the CRD writes it.
    pub(crate) published_schema: Arc<Value>,
    schema: Option<Structural>,
    /// `additionalPrinterColumns`.
    columns: Vec<Value>,
    /// Whether there is no other version, so that every object was written in this one.
    is_only_version: bool,
    /// The revision of the CRD.
    revision: u64,
}

/// Where a custom resource has what the subresource `scale` shows, as paths of field names.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) spec_replicas: Vec<String>,
    pub(crate) status_replicas: Vec<String>,
    pub(crate) selector: Vec<String>,
}

impl CustomVersion {
    pub(super) fn new(
        crd: &Value,
        revision: u64,
        version: &Value,
        storage_version: &str,
        field_versions: &Versions,
    ) -> Self {
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
            terminating: metadata::is_deleting(crd),
            deprecation,
            scale: scale.is_object().then(|| Scale {
                spec_replicas: path(text(scale, "specReplicasPath")),
                status_replicas: path(text(scale, "statusReplicasPath")),
                selector: path(text(scale, "labelSelectorPath")),
            }),
            field_versions: field_versions.clone(),
            published_schema: Arc::new(schema(version).cloned().unwrap_or_default()),
            // The CRD was refused if its schema cannot be read.
            schema: schema(version).and_then(|schema| Structural::read_at(schema, &FieldPath::root()).ok()),
            columns: version["additionalPrinterColumns"].as_array().cloned().unwrap_or_default(),
            is_only_version: crd["spec"]["versions"].as_array().is_some_and(|versions| versions.len() == 1),
            revision,
        }
    }

    /// Whether an object is read just as it was stored in the commit of this revision: it was written in this
    /// version, and the CRD has not changed since.
    pub(crate) fn reads_as_stored(&self, revision: u64) -> bool {
        self.is_only_version && revision > self.revision
    }

    /// Brings a stored object into the state in which this version reads it.
    pub(crate) fn read(&self, object: &mut Value) {
        if let Some(schema) = &self.schema {
            schema.prune(object);
            schema.drop_nulls(object);
            schema.apply_defaults(object);
        }
    }

    /// Brings an object that a client sent into the state in which it is checked, and tells the fields that the
    /// schema does not have.
    pub(crate) fn coerce(&self, object: &mut Value, keep_nulls: bool) -> Vec<String> {
        let Some(schema) = &self.schema else { return Vec::new() };
        let unknown = schema.prune(object);
        if !keep_nulls {
            schema.drop_nulls(object);
        }
        schema.apply_defaults(object);
        unknown
    }

    /// What is wrong with an object, or with a change of it. What was wrong before and has not changed is warned of.
    pub(crate) fn validate(&self, object: &Value, old: Option<&Value>, warnings: &Warnings) -> ErrorList {
        let Some(schema) = &self.schema else { return ErrorList::new() };
        let root = FieldPath::root();
        let errors = schema.validate(object, old, &root);
        let report = schema.validate_rules_after(errors, object, old, &root, true);
        warnings.extend(report.warnings);
        report.errors
    }

    /// The table that shows objects of this version.
    pub(crate) fn printer(&self) -> Printer {
        Printer::custom(self.columns.iter().filter_map(column).collect())
    }
}

/// The types of all versions of a resource. A version whose schema does not say is of whatever type its values have.
pub(super) fn field_versions(group: &str, versions: &[Value]) -> Versions {
    Versions::several(versions.iter().map(|version| {
        let ty = schema(version).and_then(|schema| openapi::object_type(schema).ok());
        (format!("{group}/{}", text(version, "name")), ty.unwrap_or_else(ObjectType::deduced))
    }))
}

fn schema(version: &Value) -> Option<&Value> {
    version.get("schema")?.get("openAPIV3Schema").filter(|schema| schema.is_object())
}

/// A printer column; `None` if its path cannot be read, for which the CRD is refused.
fn column(column: &Value) -> Option<CustomColumn> {
    let path = JsonPath::parse(text(column, "jsonPath")).ok()?;
    Some(CustomColumn {
        column: Column::from_printer_column(column),
        find: Box::new(move |object| path.find(object).first().copied()),
    })
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
