use std::{collections::BTreeMap, sync::Arc};

use kubewright_schema::{ErrorList, FieldError, FieldPath, JsonPath, Structural};
use serde_json::Value;

use super::{Conversion, Scale, text};
use crate::{
    apply::{ObjectType, field_manager::Versions, schema::openapi},
    discovery::compare_versions,
    registry::{Warnings, metadata},
    table::{Column, CustomColumn, Printer},
    types::{Types, canonical, strict},
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
    /// Who converts objects from and to other versions.
    pub(crate) conversion: Option<Arc<Conversion>>,
    /// The types of all versions of the resource, for managed fields.
    pub(crate) field_versions: Versions,
    /// The schema as the CRD writes it.
    pub(crate) published_schema: Arc<Value>,
    schema: Option<Structural>,
    /// `additionalPrinterColumns`.
    columns: Vec<Value>,
    /// The schemas of all versions of the resource by name, as objects are read by that of the version they are stored in.
    schemas: Arc<BTreeMap<String, Structural>>,
    /// Whether objects are stored in this version.
    is_storage_version: bool,
    /// The revision of the CRD.
    revision: u64,
}

impl CustomVersion {
    pub(super) fn new(crd: &Value, revision: u64, version: &Value, schemas: &Schemas) -> Self {
        let name = text(version, "name");
        let deprecation =
            (version["deprecated"] == true).then(|| match text(version, "deprecationWarning") {
                "" => deprecation(&crd["spec"], name),
                warning => warning.to_owned(),
            });
        let selectable = version["selectableFields"].as_array().map(Vec::as_slice).unwrap_or_default();
        let scale = &version["subresources"]["scale"];
        Self {
            storage_version: schemas.storage_version.clone(),
            selectable_fields: selectable.iter().map(|field| text(field, "jsonPath").to_owned()).collect(),
            terminating: metadata::is_deleting(crd),
            deprecation,
            scale: scale.is_object().then(|| Scale::read(scale)),
            field_versions: match &schemas.conversion {
                Some(_) => field_versions(&schemas.group, &schemas.versions, Some(name)),
                None => schemas.field_versions.clone(),
            },
            conversion: schemas.conversion.clone(),
            published_schema: Arc::new(schema(version).cloned().unwrap_or_default()),
            schema: schemas.structural.get(name).cloned(),
            schemas: schemas.structural.clone(),
            is_storage_version: name == schemas.storage_version,
            columns: version["additionalPrinterColumns"].as_array().cloned().unwrap_or_default(),
            revision,
        }
    }

    /// Whether an object is read just as it was stored in the commit of this revision: in this version, and the CRD
    /// has not changed since.
    pub(crate) fn reads_as_stored(&self, revision: u64) -> bool {
        self.is_storage_version && revision > self.revision
    }

    /// Brings a stored object of this revision into the state in which it is read: with the defaults of the version in which
    /// it is stored, and with the fields that both that one and this one have.
    pub(crate) fn read(&self, object: &mut Value, revision: u64) {
        if revision <= self.revision {
            let stored =
                text(object, "apiVersion").rsplit('/').next().and_then(|name| self.schemas.get(name));
            fit(stored, object);
        }
        self.prune(object);
    }

    /// Takes away the fields that this version does not have.
    pub(crate) fn prune(&self, object: &mut Value) {
        if let Some(schema) = &self.schema {
            schema.prune(object);
        }
    }

    /// Brings an object into the state in which it is stored: with the fields and the defaults of the storage version.
    pub(crate) fn store(&self, object: &mut Value) {
        if !self.is_storage_version {
            fit(self.schemas.get(&self.storage_version), object);
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

    /// Reads the metadata of the resources within an object as strictly as its own. Gives the places of fields that metadata
    /// does not have, and drops them.
    ///
    /// # Errors
    /// If a field of it is of the wrong type.
    pub(crate) fn coerce_embedded(&self, object: &mut Value) -> Result<Vec<String>, FieldError> {
        let Some(schema) = &self.schema else { return Ok(Vec::new()) };
        let ty = Types::get().named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
        let mut unknown = Vec::new();
        schema.visit_embedded_metadata(object, &mut |path, metadata| {
            let decoded = strict::decode(metadata.to_string().as_bytes(), ty)
                .map_err(|error| FieldError::invalid(path, metadata.clone(), error.to_string()))?;
            *metadata = decoded.value;
            if let Some(ty) = ty {
                canonical::canonicalize(ty, metadata);
            }
            let at_place = |fault: String| fault.replacen("field \"", &format!("field \"{path}."), 1);
            unknown.extend(decoded.strict_errors.into_iter().map(at_place));
            Ok(())
        })?;
        Ok(unknown)
    }

    /// What is wrong with an object, or with a change of it, after `errors` in its metadata. What was wrong before and
    /// has not changed is warned of. Of an object that claims to be of another kind, `kind_errors` come instead of
    /// those in metadata and values.
    ///
    /// `is_status` tells whether it is a change of the status alone.
    pub(crate) fn validate(
        &self,
        kind_errors: ErrorList,
        errors: ErrorList,
        object: &Value,
        old: Option<&Value>,
        is_status: bool,
        warnings: &Warnings,
    ) -> ErrorList {
        let root = FieldPath::root();
        let mut errors = if kind_errors.is_empty() {
            self.validate_content(errors, object, old, is_status)
        } else {
            kind_errors
        };
        let Some(schema) = &self.schema else { return errors };
        errors.extend(schema.validate_embedded(object, &root));
        errors.extend(schema.validate_lists(object, old, &root));
        let report = schema.validate_rules_after(errors, object, old, &root, true);
        warnings.extend(report.warnings);
        report.errors
    }

    fn validate_content(
        &self,
        mut errors: ErrorList,
        object: &Value,
        old: Option<&Value>,
        is_status: bool,
    ) -> ErrorList {
        errors.extend(match &self.schema {
            Some(schema) if is_status => validate_status(schema, object, old),
            Some(schema) => schema.validate_values(object, old, &FieldPath::root()),
            None => ErrorList::new(),
        });
        if let Some(scale) = &self.scale {
            if !is_status {
                errors.extend(scale.validate_spec(object));
            }
            errors.extend(scale.validate_status(object));
        }
        errors
    }

    /// The table that shows objects of this version.
    pub(crate) fn printer(&self) -> Printer {
        Printer::custom(self.columns.iter().filter_map(column).collect())
    }
}

/// Checks the values of the status. The messages name fields from there, as those of a real server do.
fn validate_status(schema: &Structural, object: &Value, old: Option<&Value>) -> ErrorList {
    let (Some(schema), Some(status)) = (schema.field("status"), object.get("status")) else {
        return ErrorList::new();
    };
    let old = old.and_then(|old| old.get("status"));
    let at_place = |mut error: FieldError| {
        error.field = match error.field.as_str() {
            "<nil>" | "" => "status".to_owned(),
            field => format!("status.{field}"),
        };
        error
    };
    schema.validate_values(status, old, &FieldPath::root()).into_iter().map(at_place).collect()
}

/// What all versions of a resource share.
pub(super) struct Schemas {
    group: String,
    versions: Vec<Value>,
    storage_version: String,
    /// The schemas by version.
    structural: Arc<BTreeMap<String, Structural>>,
    field_versions: Versions,
    conversion: Option<Arc<Conversion>>,
}

impl Schemas {
    pub(super) fn new(spec: &Value, versions: &[Value], storage_version: &str) -> Self {
        let structural = versions
            .iter()
            .filter_map(|version| Some((text(version, "name").to_owned(), structural(version)?)));
        Self {
            structural: Arc::new(structural.collect()),
            group: text(spec, "group").to_owned(),
            versions: versions.to_vec(),
            storage_version: storage_version.to_owned(),
            field_versions: field_versions(text(spec, "group"), versions, None),
            conversion: Conversion::read(&spec["conversion"]).map(Arc::new),
        }
    }
}

/// Leaves an object the fields that a schema has, and adds its defaults.
fn fit(schema: Option<&Structural>, object: &mut Value) {
    if let Some(schema) = schema {
        schema.prune(object);
        schema.drop_nulls(object);
        schema.apply_defaults(object);
    }
}

/// The schema of a version. The CRD was refused if it cannot be read.
fn structural(version: &Value) -> Option<Structural> {
    schema(version).and_then(|schema| Structural::read_at(schema, &FieldPath::root()).ok())
}

/// The warning about a version that has none of its own: with the version to use instead, if there is a newer one.
fn deprecation(spec: &Value, name: &str) -> String {
    let (group, kind) = (text(spec, "group"), text(&spec["names"], "kind"));
    let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let newest = versions
        .iter()
        .filter(|version| version["served"] == true && version["deprecated"] != true)
        .map(|version| text(version, "name"))
        .filter(|version| compare_versions(version, name).is_gt())
        .max_by(|one, other| compare_versions(one, other));
    match newest {
        Some(newest) => format!("{group}/{name} {kind} is deprecated; use {group}/{newest} {kind}"),
        None => format!("{group}/{name} {kind} is deprecated"),
    }
}

/// The types of all versions of a resource. A version whose schema does not say is of whatever type its values have.
///
/// Objects whose managed fields are looked at are not converted by a webhook, so that one of another version than `only`
/// may have fields that this does not know. It is then of whatever type its values have, too.
fn field_versions(group: &str, versions: &[Value], only: Option<&str>) -> Versions {
    Versions::several(versions.iter().map(|version| {
        let is_known = only.is_none_or(|only| text(version, "name") == only);
        let schema = schema(version).filter(|_| is_known);
        let ty = schema.and_then(|schema| openapi::object_type(schema).ok());
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
