//! Reading the golden tables: schemas, objects, paths and sets as they are written there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use kubewright_apiserver::apply::schema::Schema;
use kubewright_apiserver::apply::{ObjectType, Path, PathElement, Set};
use serde_json::Value;

pub(crate) struct Goldens {
    files: BTreeMap<String, Value>,
}

/// What ran and what failed.
pub(crate) struct Report {
    /// Entries of the tables; the type marker that a Go map literal leaves in a table counts as one.
    pub(crate) entries: usize,
    /// Single comparisons.
    pub(crate) checks: usize,
    pub(crate) failures: Vec<String>,
}

// === impl Goldens ===

impl Goldens {
    pub(crate) fn open() -> Option<Self> {
        let root = match std::env::var_os("KUBEWRIGHT_GOLDENS") {
            Some(path) => PathBuf::from(path),
            None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens"),
        };
        let entries = std::fs::read_dir(root.join("smd/cases")).ok()?;
        let files = entries
            .map(|entry| {
                let path = entry.unwrap().path();
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                (name, serde_json::from_str(&text).unwrap())
            })
            .collect();
        Some(Self { files })
    }

    pub(crate) fn report(&self) -> Report {
        Report { entries: 0, checks: 0, failures: Vec::new() }
    }

    /// The entries of a table with their names. A list has numbers for names.
    pub(crate) fn table(&self, file: &str, table: &str, report: &mut Report) -> Vec<(String, Value)> {
        let table = &self.files[file]["tables"][table];
        match table {
            Value::Array(cases) => {
                report.entries += cases.len();
                cases.iter().enumerate().map(|(i, case)| (i.to_string(), case.clone())).collect()
            }
            Value::Object(cases) => {
                report.entries += cases.len();
                cases
                    .iter()
                    .filter(|(name, _)| *name != "$t")
                    .map(|(name, case)| (name.clone(), case.clone()))
                    .collect()
            }
            other => panic!("{file}: not a table: {other}"),
        }
    }

    /// The schema of a parser variable.
    pub(crate) fn schema(&self, file: &str, name: &str) -> Arc<Schema> {
        schema(
            self.files[file]["schemas"][name].as_str().unwrap_or_else(|| panic!("{file}: no schema {name}")),
        )
    }

    /// The schema document that the case `name` of another table carries.
    pub(crate) fn schema_of_case(&self, file: &str, table: &str, name: &str) -> Arc<Schema> {
        let cases = self.files[file]["tables"][table].as_array().unwrap();
        let case = cases.iter().find(|case| case["name"] == name).unwrap();
        schema(case["schema"].as_str().unwrap())
    }
}

// === impl Report ===

impl Report {
    pub(crate) fn check(&mut self, name: &str, passed: bool, message: impl FnOnce() -> String) {
        self.checks += 1;
        if !passed {
            self.failures.push(format!("{name}: {}", message()));
        }
    }

    pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(&mut self, name: &str, got: &T, want: &T) {
        self.check(name, got == want, || format!("\n want {want:?}\n  got {got:?}"));
    }
}

pub(crate) fn schema(document: &str) -> Arc<Schema> {
    Arc::new(Schema::from_document(&yaml(document)).unwrap_or_else(|e| panic!("{e}: {document}")))
}

pub(crate) fn named(schema: &Arc<Schema>, name: &str) -> ObjectType {
    ObjectType::named(schema, name).unwrap_or_else(|| panic!("no type {name}"))
}

pub(crate) fn yaml(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Null;
    }
    // The Go parser stops after the first value; one table has a stray brace behind it.
    let first = || serde_json::Deserializer::from_str(text).into_iter().next()?.ok();
    serde_saphyr::from_str(text).or_else(|e| first().ok_or(e)).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// A value as the tables write it, with Go conversions taken out.
pub(crate) fn plain(value: &Value) -> Value {
    match value {
        Value::Object(map) if map.contains_key("$call") => plain(&map["args"][0]),
        Value::Object(map) => {
            map.iter().filter(|(k, _)| *k != "$t").map(|(k, v)| (k.clone(), plain(v))).collect()
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

pub(crate) fn set(value: &Value) -> Set {
    let paths = value["set"].as_array().unwrap_or_else(|| panic!("not a set: {value}"));
    paths.iter().map(path).collect()
}

pub(crate) fn path(value: &Value) -> Path {
    value.as_array().unwrap().iter().map(element).collect()
}

fn element(value: &Value) -> PathElement {
    let (kind, content) = value.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "f" => PathElement::field(content.as_str().unwrap()),
        "k" => PathElement::key(
            content.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), plain(value))),
        ),
        "v" => PathElement::value(plain(content)),
        "i" => PathElement::Index(content.as_i64().unwrap()),
        other => panic!("unknown element {other}: {value}"),
    }
}
