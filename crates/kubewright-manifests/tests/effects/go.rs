//! The same types in Go, and what controller-gen makes of them.

use std::{fs, path::PathBuf};

use kubewright_manifests::{
    Style,
    diagnostic::Severity,
    marker::{Effect, Target},
};
use serde_json::Value;

use super::{difference::lines, entries, entry::Entry};

const HEAD: &str = "\
// The types of the entries in crates/kubewright-manifests/tests/effects, whose test writes this file.

// +groupName=parity.example.com
// +versionName=v1
package effects

import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"

type Item struct {
	Name string `json:\"name\"`
	Port *int32 `json:\"port,omitempty\"`
}

type Effect struct {
	metav1.TypeMeta   `json:\",inline\"`
	metav1.ObjectMeta `json:\"metadata,omitempty\"`

	Spec EffectSpec `json:\"spec\"`
}
";

/// An entry in Go: its field of the spec, and its types.
struct InGo {
    field: String,
    types: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/controller-gen/cases/effects")
}

/// The entries that have a counterpart in Go and that controller-gen does not refuse.
fn in_go() -> Vec<(Entry, InGo)> {
    let mut all: Vec<(Entry, InGo)> = Vec::new();
    for entry in entries() {
        let marker = entry.marker();
        let is_ours = marker.name.starts_with("kubewright:");
        let is_about_schemas = matches!(marker.definition.effect, Effect::Schema(_));
        let is_refused = || {
            let after = entry.after(Style::ControllerGen);
            after.diagnostics.iter().any(|found| found.severity == Severity::Error)
        };
        if is_ours
            || !is_about_schemas
            || entry.is_refused
            || entry.is_refused_by_controller_gen
            || is_refused()
        {
            continue;
        }
        let last = marker.name.rsplit(':').next().unwrap();
        let place = match entry.target {
            Target::Field => "Field",
            Target::Type => "Type",
            _ => continue,
        };
        let of_items = if marker.on_items { "Items" } else { "" };
        let mut name = format!("{}{}{of_items}On{place}", last[..1].to_uppercase(), &last[1..]);
        let same = all.iter().filter(|(_, other)| other.field.starts_with(&name)).count();
        if same > 0 {
            name.push_str(&(same + 1).to_string());
        }
        if let Some(types) = types(&entry, &name) {
            all.push((entry, InGo { field: name, types }));
        }
    }
    all
}

fn types(entry: &Entry, name: &str) -> Option<String> {
    let comment: String = entry.after_markers.iter().map(|line| format!("// {line}\n")).collect();
    if entry.target == Target::Field {
        let field = field("value", &entry.subject)?;
        let comment = comment.replace("// ", "\t// ");
        return Some(format!("type {name} struct {{\n{comment}{field}}}\n"));
    }
    let value = format!("{name}Value");
    let of = match entry.subject.strip_prefix("enum ") {
        Some(variants) => {
            let variants = variants.trim_matches(['{', '}', ' ']).split(',').map(str::trim);
            let constants =
                variants.map(|variant| format!("const {value}{variant} {value} = \"{variant}\"\n"));
            format!("string\n\n{}", constants.collect::<String>())
        }
        None if entry.subject.starts_with('{') => {
            let fields = entry.subject.trim_matches(['{', '}', ' ']).split(", ").map(|text| {
                let (name, of) = text.split_once(':')?;
                field(name.trim(), of.trim())
            });
            format!("struct {{\n{}}}\n", fields.collect::<Option<String>>()?)
        }
        None => format!("{}\n", go_type(&entry.subject)?),
    };
    let holder = format!("type {name} struct {{\n\tValue {value} `json:\"value\"`\n}}\n");
    Some(format!("{comment}type {value} {of}\n{holder}"))
}

fn field(name: &str, of: &str) -> Option<String> {
    let inner = of.strip_prefix("Option<").and_then(|of| of.strip_suffix('>'));
    let (of, option) = match inner {
        Some(inner) => (format!("*{}", go_type(inner)?), ",omitempty"),
        None => (go_type(of)?, ""),
    };
    let of = if of.starts_with("*[") || of.starts_with("*map") { of[1..].to_owned() } else { of };
    Some(format!("\t{}{} {of} `json:\"{name}{option}\"`\n", name[..1].to_uppercase(), &name[1..]))
}

fn go_type(of: &str) -> Option<String> {
    let between = |start: &str| of.strip_prefix(start).and_then(|of| of.strip_suffix('>'));
    Some(match of {
        "i32" => "int32".to_owned(),
        "i64" => "int64".to_owned(),
        "f64" => "float64".to_owned(),
        "String" => "string".to_owned(),
        "Item" => "Item".to_owned(),
        _ => match (between("Vec<"), between("BTreeMap<String, ")) {
            (Some(item), _) => format!("[]{}", go_type(item)?),
            (_, Some(value)) => format!("map[string]{}", go_type(value)?),
            _ => return None,
        },
    })
}

#[test]
fn the_types_in_go_are_those_of_the_entries() {
    let mut text = HEAD.to_owned();
    let all = in_go();
    assert!(all.len() > 100, "{} entries have a counterpart in Go", all.len());
    text.push_str("\ntype EffectSpec struct {\n");
    for (_, of) in &all {
        let json = of.field[..1].to_lowercase() + &of.field[1..];
        text.push_str(&format!("\t{} {} `json:\"{json}\"`\n", of.field, of.field));
    }
    text.push_str("}\n");
    for (_, of) in &all {
        text.push_str(&format!("\n{}", of.types));
    }
    let path = folder().join("types.go");
    if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
        fs::create_dir_all(folder()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == text,
        "{} is not that of the entries: run the test with KUBEWRIGHT_UPDATE=1, and record the case anew",
        path.display()
    );
}

#[test]
fn effects_on_schemas_are_those_of_controller_gen() {
    let path = folder().join("expected/crd/parity.example.com_effects.yaml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let crd: Value = serde_saphyr::from_str(&text).unwrap();
    let recorded =
        &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    let mut differences = Vec::new();
    for (entry, of) in in_go() {
        let json = of.field[..1].to_lowercase() + &of.field[1..];
        let ours = sorted(&entry.after(Style::ControllerGen).document);
        let theirs = sorted(&recorded[&json]);
        if ours != theirs {
            let gone = theirs.iter().filter(|line| !ours.contains(line)).map(|line| format!("  - {line}"));
            let new = ours.iter().filter(|line| !theirs.contains(line)).map(|line| format!("  + {line}"));
            let list: Vec<String> = gone.chain(new).collect();
            differences.push(format!("{json}: {:?}\n{}", entry.after_markers, list.join("\n")));
        }
    }
    assert!(differences.is_empty(), "recorded (-) and ours (+):\n{}", differences.join("\n"));
}

/// `1` and `1.0` are one number.
fn sorted(value: &Value) -> Vec<String> {
    let mut lines = lines(value);
    for line in &mut lines {
        if let Some((path, text)) = line.rsplit_once(": ")
            && let Ok(number) = text.parse::<f64>()
        {
            *line = format!("{path}: {number}");
        }
    }
    lines.sort();
    lines
}
