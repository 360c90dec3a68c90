//! Tables of the `merge` package: sequences of updates and applies by several managers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kubewright_apiserver::apply::schema::Schema;
use kubewright_apiserver::apply::typed::Duplicates::{Allow, Refuse};
use kubewright_apiserver::apply::updater::{
    ConvertError, Converter, ManagedFields, UpdateError, Updater, VersionedSet,
};
use kubewright_apiserver::apply::{ObjectType, Set, TypedValue};
use serde_json::{Map, Value};

use super::goldens::{Goldens, Report, named, path, plain, set, yaml};

type Convert = fn(&Types, &TypedValue<'_>, &str) -> Result<Option<Value>, ConvertError>;

/// Finds the type of a version.
#[derive(Clone)]
enum Types {
    /// Every version has the same type.
    One(ObjectType),
    /// The type has the version for its name.
    ByName(Arc<Schema>),
}

struct Conversion {
    types: Types,
    convert: Convert,
}

struct State<'g> {
    goldens: &'g Goldens,
    file: &'static str,
    types: Types,
    live: Option<TypedValue<'static>>,
    managers: ManagedFields,
}

pub(crate) fn run(goldens: &Goldens, report: &mut Report) {
    let parser = |file, name| Types::ByName(goldens.schema(file, name));
    let nested = || Types::One(named(&goldens.schema("merge_nested", "nestedTypeParser"), "type"));
    let deduced = || Types::One(ObjectType::deduced());
    let one = |file, name, ty| Types::One(named(&goldens.schema(file, name), ty));
    let multi = "merge_multiple_appliers";
    let tables: [(&str, &str, Types, Convert); 25] = [
        ("merge_deduced", "TestDeduced.tests", deduced(), keep),
        (
            "merge_default_keys",
            "TestDefaultKeysFlat.tests",
            parser("merge_default_keys", "portListParser"),
            keep,
        ),
        (
            "merge_default_keys",
            "TestDefaultKeysFlatErrors.tests",
            parser("merge_default_keys", "portListParser"),
            keep,
        ),
        (
            "merge_default_keys",
            "TestDefaultKeysNested.tests",
            parser("merge_default_keys", "bookParser"),
            keep,
        ),
        (
            "merge_duplicates",
            "TestDuplicates.tests",
            one("merge_duplicates", "duplicatesParser", "type"),
            keep,
        ),
        (
            "merge_extract_apply",
            "TestExtractApply.tests",
            one("merge_extract_apply", "extractParser", "sets"),
            keep,
        ),
        ("merge_ignore", "TestIgnoreFilter.tests", deduced(), keep),
        ("merge_ignore", "TestIgnoredFields.tests", deduced(), keep),
        ("merge_ignore", "TestFilteredFieldsUsesVersions.tests", nested(), repeat_letters),
        (
            "merge_key",
            "TestUpdateAssociativeLists.tests",
            one("merge_key", "associativeListParser", "type"),
            keep,
        ),
        ("merge_leaf", "TestUpdateLeaf.tests", one("merge_leaf", "leafFieldsParser", "leafFields"), keep),
        (multi, "TestMultipleAppliersSet.tests", one("merge_key", "associativeListParser", "type"), keep),
        (
            multi,
            "TestMultipleAppliersFieldUnsetting.tests",
            parser(multi, "structMultiversionParser"),
            rename_fields,
        ),
        (multi, "TestMultipleAppliersNestedType.tests", nested(), keep),
        (multi, "TestMultipleAppliersDeducedType.tests", deduced(), keep),
        (multi, "TestMultipleAppliersRealConversion.tests", nested(), repeat_letters),
        (
            multi,
            "TestMultipleAppliersFieldRenameConversions.tests",
            parser(multi, "structMultiversionParser"),
            rename_fields,
        ),
        (multi, "TestMultipleApplierAtomicMaps.tests", parser(multi, "atomicMapParser"), keep),
        (
            multi,
            "TestMultipleAppliersReliantFieldsConversions.tests",
            parser(multi, "multiversionWithReliantFieldsParser"),
            require_field,
        ),
        ("merge_nested", "TestUpdateNestedType.tests", nested(), keep),
        (
            "merge_preserve_unknown",
            "TestPreserveUnknownFields.tests",
            one("merge_preserve_unknown", "preserveUnknownParser", "type"),
            keep,
        ),
        (
            "merge_schema_change",
            "TestGranularToAtomicSchemaChanges.tests",
            parser("merge_schema_change", "structParser"),
            keep,
        ),
        (
            "merge_schema_change",
            "TestAtomicToGranularSchemaChanges.tests",
            parser("merge_schema_change", "structWithAtomicParser"),
            keep,
        ),
        (
            "merge_schema_change",
            "TestAssociativeListSchemaChanges.tests",
            parser("merge_schema_change", "associativeListParserOld"),
            keep,
        ),
        (
            "merge_schema_change",
            "TestPromoteFieldToAssociativeListKey.tests",
            parser("merge_schema_change", "associativeListParserPromoteKeyBefore"),
            keep,
        ),
    ];
    let set_fields =
        [("merge_set", "TestUpdateSet.tests", one("merge_set", "setFieldsParser", "sets"), keep as Convert)];
    for (file, table, types, convert) in tables.into_iter().chain(set_fields) {
        for (name, case) in goldens.table(file, table, report) {
            for versions in versions_of(&case) {
                let case = substitute(&case, &versions);
                let label = format!("{table} {name} {versions:?}");
                let mut state =
                    State { goldens, file, types: types.clone(), live: None, managers: BTreeMap::new() };
                let outcome = state.run_case(&case, convert);
                if table.contains("Errors") {
                    report.check(&label, outcome.is_err(), || "must fail".into());
                } else {
                    report.check(&label, outcome.is_ok(), || outcome.unwrap_err());
                }
            }
        }
    }
}

// === impl State ===

impl State<'_> {
    fn run_case(&mut self, case: &Value, convert: Convert) -> Result<(), String> {
        for (i, operation) in case["Ops"].as_array().unwrap().iter().enumerate() {
            let updater = Updater::new(Conversion { types: self.types.clone(), convert }, ignored(case));
            self.run_operation(operation, &updater).map_err(|e| format!("operation {i}: {e}"))?;
        }
        if let Some(text) = case["Object"].as_str() {
            let version = case["APIVersion"].as_str().unwrap_or("v1");
            let conversion = Conversion { types: self.types.clone(), convert };
            let live = self.live.clone().unwrap();
            let live = conversion.convert(&live, version).map_err(|e| e.to_string())?;
            let want = yaml(text);
            if !same(live.value(), &want) {
                return Err(format!("object\n want {want}\n  got {}", live.value()));
            }
        }
        if case["Managed"].is_object() {
            self.compare_managers(&case["Managed"])?;
        }
        match self.managers.iter().find(|(_, fields)| fields.set.is_empty()) {
            Some((manager, _)) => Err(format!("{manager} owns nothing")),
            None => Ok(()),
        }
    }

    /// Sets and versions are compared; whether they were applied is not, as in the Go tests.
    fn compare_managers(&self, want: &Value) -> Result<(), String> {
        // An empty literal has no entries but an empty list of elements.
        let want: BTreeMap<String, (Set, String)> = want
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| *name != "$t" && *name != "el")
            .map(|(name, fields)| {
                (name.clone(), (set(fields), fields["version"].as_str().unwrap().to_owned()))
            })
            .collect();
        let got: BTreeMap<String, (Set, String)> = self
            .managers
            .iter()
            .map(|(name, VersionedSet { set, api_version, .. })| {
                (name.clone(), (set.clone(), api_version.clone()))
            })
            .collect();
        if got == want { Ok(()) } else { Err(format!("managers\n want {want:#?}\n  got {got:#?}")) }
    }

    fn run_operation(&mut self, operation: &Value, updater: &Updater<Conversion>) -> Result<(), String> {
        let kind = operation["$t"].as_str().unwrap();
        if kind == "ChangeParser" {
            let parser = operation["Parser"]["$id"].as_str().unwrap();
            self.types = Types::ByName(self.goldens.schema(self.file, parser));
            let live = self.live.take().unwrap();
            let live = self.types.get("v1").check(Cow::Owned(live.into_value()), Refuse);
            self.live = Some(live.map_err(|e| e.to_string())?);
            return Ok(());
        }
        let manager = operation["Manager"].as_str().unwrap();
        let version = operation["APIVersion"].as_str().unwrap();
        let ty = self.types.get(version);
        let duplicates = if kind == "Update" { Allow } else { Refuse };
        let object = yaml(operation["Object"].as_str().unwrap());
        let object = ty.check(Cow::Owned(object), duplicates).map_err(|e| e.to_string())?;
        let force = kind != "Apply";
        match kind {
            "Update" => {
                let live = self.live_at(version, updater)?;
                let managers = std::mem::take(&mut self.managers);
                self.managers =
                    updater.update(&live, &object, version, managers, manager).map_err(|e| e.to_string())?;
                self.live = Some(object);
                Ok(())
            }
            "Apply" | "ForceApply" => self.apply(operation, &object, version, manager, force, updater),
            "ExtractApply" => {
                let live = self.live_at(version, updater)?;
                let fields = self.managers.get(manager).map(|fields| fields.set.leaves());
                let extracted = live.extract(&fields.unwrap_or_default());
                let object = extracted.merge(&object).map_err(|e| e.to_string())?;
                self.apply(operation, &object, version, manager, force, updater)
            }
            other => panic!("unknown operation {other}"),
        }
    }

    fn live_at(&self, version: &str, updater: &Updater<Conversion>) -> Result<TypedValue<'static>, String> {
        let Some(live) = &self.live else {
            return self.types.get(version).check(Cow::Owned(Value::Null), Refuse).map_err(|e| e.to_string());
        };
        let live = updater.converter().convert(live, version).map_err(|e| e.to_string())?;
        let ty = live.ty().clone();
        ty.check(Cow::Owned(live.value().clone()), Allow).map_err(|e| e.to_string())
    }

    fn apply(
        &mut self,
        operation: &Value,
        config: &TypedValue<'_>,
        version: &str,
        manager: &str,
        force: bool,
        updater: &Updater<Conversion>,
    ) -> Result<(), String> {
        let live = self.live_at(version, updater)?;
        let result = updater.apply(&live, config, version, self.managers.clone(), manager, force);
        let conflicts = match result {
            Ok((object, managers)) => {
                self.managers = managers;
                self.live = Some(object.unwrap_or(live));
                BTreeSet::new()
            }
            Err(UpdateError::Conflicts(conflicts)) if operation["Conflicts"].is_object() => {
                self.live = Some(live);
                conflicts.0.into_iter().map(|c| (c.manager, c.path)).collect()
            }
            Err(error) => return Err(error.to_string()),
        };
        let want: BTreeSet<_> = operation["Conflicts"]["el"]
            .as_array()
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .map(|c| (c["Manager"].as_str().unwrap().to_owned(), path(&c["Path"]["path"])))
            .collect();
        if conflicts == want {
            Ok(())
        } else {
            Err(format!("conflicts\n want {want:?}\n  got {conflicts:?}"))
        }
    }
}

fn ignored(case: &Value) -> BTreeMap<String, Set> {
    ["IgnoreFilter", "IgnoredFields"]
        .iter()
        .filter_map(|name| case[name].as_object())
        .flatten()
        .filter(|(version, _)| *version != "$t")
        .map(|(version, fields)| {
            (version.clone(), set(if fields["set"].is_null() { &fields["args"][0] } else { fields }))
        })
        .collect()
}

/// Some cases leave their versions open: they hold for any assignment of v1, v2 and v3.
fn versions_of(case: &Value) -> Vec<[&'static str; 3]> {
    if !case.to_string().contains(r#""$id":"v"#) {
        return vec![["v1", "v2", "v3"]];
    }
    let all = ["v1", "v2", "v3"];
    let mut versions = Vec::new();
    for a in all {
        for b in all {
            for c in all {
                versions.push([a, b, c]);
            }
        }
    }
    versions
}

/// Replaces the version variables and the strings formatted with them.
fn substitute(value: &Value, versions: &[&str; 3]) -> Value {
    match value {
        Value::Object(map) => {
            if let Some(id) = map.get("$id").and_then(Value::as_str) {
                return match id {
                    "v1" => versions[0].into(),
                    "v2" => versions[1].into(),
                    "v3" => versions[2].into(),
                    _ => value.clone(),
                };
            }
            if map.get("$call").is_some_and(|call| call == "fmt.Sprintf") {
                let args: Vec<Value> =
                    map["args"].as_array().unwrap().iter().map(|a| substitute(a, versions)).collect();
                let mut text = args[0].as_str().unwrap().to_owned();
                for arg in &args[1..] {
                    text = text.replacen("%s", arg.as_str().unwrap(), 1);
                }
                return text.into();
            }
            if let Some(element) = map.get("?") {
                return Value::Object(Map::from_iter([("f".to_owned(), substitute(element, versions))]));
            }
            map.iter().map(|(k, v)| (k.clone(), substitute(v, versions))).collect()
        }
        Value::Array(items) => items.iter().map(|item| substitute(item, versions)).collect(),
        other => other.clone(),
    }
}

// === impl Types ===

impl Types {
    fn get(&self, version: &str) -> ObjectType {
        match self {
            Self::One(ty) => ty.clone(),
            Self::ByName(schema) => named(schema, version),
        }
    }

    /// The version whose type an object has.
    fn version_of(&self, object: &TypedValue<'_>) -> Option<String> {
        let Self::ByName(schema) = self else { return None };
        let candidates = ["v1", "v2", "v3"];
        candidates
            .into_iter()
            .filter(|version| schema.type_named(version).is_some())
            .find(|version| named(schema, version) == *object.ty())
            .map(ToOwned::to_owned)
    }
}

// === impl Conversion ===

impl Converter for Conversion {
    fn convert<'a>(
        &self,
        object: &'a TypedValue<'a>,
        api_version: &str,
    ) -> Result<Cow<'a, TypedValue<'a>>, ConvertError> {
        match (self.convert)(&self.types, object, api_version)? {
            None => Ok(Cow::Borrowed(object)),
            Some(converted) => {
                Ok(Cow::Owned(self.types.get(api_version).check(Cow::Owned(converted), Refuse)?))
            }
        }
    }
}

/// Every version has the same content.
fn keep(_: &Types, _: &TypedValue<'_>, _: &str) -> Result<Option<Value>, ConvertError> {
    Ok(None)
}

/// Below the first level, names in version N repeat their letter N times.
fn repeat_letters(_: &Types, object: &TypedValue<'_>, version: &str) -> Result<Option<Value>, ConvertError> {
    fn rename(value: &Value, times: usize) -> Value {
        let Value::Object(map) = value else { return value.clone() };
        map.iter().map(|(name, value)| (name[..1].repeat(times), rename(value, times))).collect()
    }
    let times = version.strip_prefix('v').and_then(|n| n.parse().ok());
    let times = times.ok_or_else(|| ConvertError::UnknownVersion(version.to_owned()))?;
    let Value::Object(map) = object.value() else { return Ok(Some(object.value().clone())) };
    Ok(Some(map.iter().map(|(name, value)| (name.clone(), rename(value, times))).collect()))
}

/// Names end in their version.
fn rename_fields(
    types: &Types,
    object: &TypedValue<'_>,
    version: &str,
) -> Result<Option<Value>, ConvertError> {
    fn rename(value: &Value, from: &str, to: &str) -> Value {
        match value {
            Value::Object(map) => map
                .iter()
                .map(|(name, value)| {
                    let name = name.strip_suffix(from).map_or(name.clone(), |stem| format!("{stem}{to}"));
                    (name, rename(value, from, to))
                })
                .collect(),
            Value::Array(items) => items.iter().map(|item| rename(item, from, to)).collect(),
            other => other.clone(),
        }
    }
    let from = types.version_of(object).unwrap();
    Ok(Some(rename(object.value(), &from, version)))
}

/// v1 can only be made of a v2 object that has the field v1 relies on.
fn require_field(
    types: &Types,
    object: &TypedValue<'_>,
    version: &str,
) -> Result<Option<Value>, ConvertError> {
    if types.version_of(object).as_deref() == Some(version) {
        return Ok(None);
    }
    let text = object.value().to_string();
    let text = match version {
        "v1" if !text.contains("required_field_bar") => {
            return Err(ConvertError::Failed("missing required field bar".to_owned()));
        }
        "v1" => text.replace("required_field_bar", "field_foo_rely_on_bar"),
        "v2" => text.replace("field_foo_rely_on_bar", "required_field_bar"),
        _ => return Err(ConvertError::UnknownVersion(version.to_owned())),
    };
    Ok(Some(serde_json::from_str(&text).unwrap()))
}

/// Whether two values are equal, numbers by value.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(l), Value::Number(r)) => l.as_f64() == r.as_f64(),
        (Value::Array(l), Value::Array(r)) => l.len() == r.len() && l.iter().zip(r).all(|(l, r)| same(l, r)),
        (Value::Object(l), Value::Object(r)) => {
            l.len() == r.len() && l.iter().zip(r).all(|((lk, lv), (rk, rv))| lk == rk && same(lv, rv))
        }
        _ => plain(left) == plain(right),
    }
}
