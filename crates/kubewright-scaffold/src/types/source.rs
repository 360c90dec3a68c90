//! The text of a module with types.

use std::fmt::Write;

use serde_json::Value;

use super::{
    definition::{Definition, DefinitionVersion},
    shape::{Body, Field, Function, Named, Presence, Shapes, Type},
};

/// Types of Kubernetes' crate that a field may have, and their places in it.
const OF_KUBERNETES: &[(&str, &str)] = &[
    ("Quantity", "api::resource::Quantity"),
    ("Time", "apis::meta::v1::Time"),
    ("RawExtension", "runtime::RawExtension"),
    ("IntOrString", "util::intstr::IntOrString"),
];

/// What the names and comments of a definition may be at odds with, and why they stay.
const ALLOWED: &str = "\
#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_nested_refdefs,
    clippy::doc_overindented_list_items,
    clippy::enum_variant_names,
    clippy::tabs_in_doc_comments,
    rustdoc::all,
    reason = \"names and comments are those of the definition\"
)]
";

pub(super) fn write(definition: &Definition, version: &DefinitionVersion, shapes: &Shapes) -> String {
    let mut body = String::new();
    root(&mut body, definition, version, shapes);
    for named in &shapes.types {
        body.push('\n');
        write_type(&mut body, named);
    }
    for function in &shapes.functions {
        body.push('\n');
        write_function(&mut body, function);
    }
    let mut out = format!(
        "//! The kind {}, from the definition `{}`.\n\n{ALLOWED}\n",
        definition.kind, definition.name
    );
    uses(&mut out, shapes);
    out.push('\n');
    out.push_str(&body);
    out
}

fn uses(out: &mut String, shapes: &Shapes) {
    let written: Vec<&Type> = shapes.all().flat_map(types_in).collect();
    let uses = |name: &str| written.iter().any(|rust| words(&rust.text).any(|word| word == name));
    let keeps_others =
        shapes.all().any(|named| matches!(named.body, Body::Struct { keeps_others: true, .. }));
    if uses("BTreeMap") || keeps_others {
        out.push_str("use std::collections::BTreeMap;\n\n");
    }
    let of_kubernetes: Vec<&str> =
        OF_KUBERNETES.iter().filter(|(name, _)| uses(name)).map(|(_, path)| *path).collect();
    let mut paths = Vec::new();
    match of_kubernetes.as_slice() {
        [] => {}
        [path] => paths.push(format!("k8s_openapi::apimachinery::pkg::{path}")),
        several => paths.push(format!("k8s_openapi::apimachinery::pkg::{{{}}}", several.join(", "))),
    }
    if !shapes.rules.is_empty() {
        paths.push("kube::core::Rule".to_owned());
    }
    paths.push("prelude::*".to_owned());
    if !shapes.functions.is_empty() {
        paths.push("schemars::{Schema, SchemaGenerator, json_schema}".to_owned());
    }
    let _ = match paths.as_slice() {
        [path] => writeln!(out, "use kubewright::{path};"),
        several => writeln!(out, "use kubewright::{{{}}};", several.join(", ")),
    };
}

fn types_in(named: &Named) -> Vec<&Type> {
    match &named.body {
        Body::Struct { fields, .. } => fields.iter().map(|field| &field.rust).collect(),
        Body::Wrapper(rust) => vec![rust],
        Body::Enum(_) => Vec::new(),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn root(out: &mut String, definition: &Definition, version: &DefinitionVersion, shapes: &Shapes) {
    comment(out, "", &shapes.root.docs, &shapes.root.markers);
    derive(out, &shapes.root, "CustomResource, ");
    let mut attributes = vec![
        format!("group = {}", quoted(&definition.group)),
        format!("version = {}", quoted(&version.name)),
        format!("kind = {}", quoted(&definition.kind)),
    ];
    // kube's own plural is not always Kubernetes'.
    attributes.push(format!("plural = {}", quoted(&definition.plural)));
    if let Some(text) = version.schema.get("description").and_then(Value::as_str) {
        attributes.push(format!("doc = {}", quoted(text)));
    }
    if definition.namespaced {
        attributes.push("namespaced".to_owned());
    }
    if shapes.no_spec {
        attributes.push("no_spec".to_owned());
    }
    if let Some(status) = &shapes.status {
        attributes.push(format!("status = {}", quoted(status)));
    }
    attributes.extend(shapes.rules.iter().map(|rule| format!("validation = {}", rule_of(rule))));
    let _ = writeln!(out, "#[kube(\n    {}\n)]", attributes.join(",\n    "));
    write_body(out, &shapes.root);
}

/// A rule as kube's derive takes it.
fn rule_of(rule: &Value) -> String {
    let text = |member: &str| rule.get(member).and_then(Value::as_str).map(quoted);
    let mut out = format!("Rule::new({})", text("rule").unwrap_or_default());
    if let Some(expression) = text("messageExpression") {
        let _ = write!(out, ".message(kubewright::kube::core::Message::Expression({expression}.into()))");
    } else if let Some(message) = text("message") {
        let _ = write!(out, ".message({message})");
    }
    if let Some(path) = text("fieldPath") {
        let _ = write!(out, ".field_path({path})");
    }
    if let Some(reason) = rule.get("reason").and_then(Value::as_str) {
        let _ = write!(out, ".reason(kubewright::kube::core::Reason::{reason})");
    }
    if let Some(optional) = rule.get("optionalOldSelf").and_then(Value::as_bool) {
        let _ = write!(out, ".optional_old_self({optional})");
    }
    out
}

fn write_type(out: &mut String, named: &Named) {
    comment(out, "", &named.docs, &named.markers);
    derive(out, named, "");
    write_body(out, named);
}

fn derive(out: &mut String, named: &Named, first: &str) {
    let default = if named.default { "Default, " } else { "" };
    let copy = if matches!(named.body, Body::Enum(_)) { "Copy, " } else { "" };
    let equal = if matches!(named.body, Body::Enum(_)) { "Eq, " } else { "" };
    let _ = writeln!(
        out,
        "#[derive({first}Clone, {copy}Debug, {default}PartialEq, {equal}Deserialize, Serialize, JsonSchema)]"
    );
}

fn write_body(out: &mut String, named: &Named) {
    for (keyword, value) in &named.keywords {
        let _ = writeln!(out, "#[schemars(extend({} = {}))]", quoted(keyword), literal(value, 0));
    }
    match &named.body {
        Body::Struct { fields, keeps_others } => {
            if fields.iter().any(|field| field.rename.is_none()) {
                out.push_str("#[serde(rename_all = \"camelCase\")]\n");
            }
            if fields.is_empty() && !keeps_others {
                let _ = writeln!(out, "pub struct {} {{}}", named.name);
                return;
            }
            let _ = writeln!(out, "pub struct {} {{", named.name);
            for (at, field) in fields.iter().enumerate() {
                if at > 0 {
                    out.push('\n');
                }
                write_field(out, field);
            }
            if *keeps_others {
                let name =
                    if fields.iter().any(|field| field.name == "others") { "all_others" } else { "others" };
                let gap = if fields.is_empty() { "" } else { "\n" };
                let _ = writeln!(
                    out,
                    "{gap}    /// What has no field of its own.\n    #[serde(flatten)]\n    pub {name}: BTreeMap<String, serde_json::Value>,"
                );
            }
            out.push_str("}\n");
        }
        Body::Enum(variants) => {
            let _ = writeln!(out, "pub enum {} {{", named.name);
            for variant in variants {
                if variant.name != variant.value {
                    let _ = writeln!(out, "    #[serde(rename = {})]", quoted(&variant.value));
                }
                let _ = writeln!(out, "    {},", variant.name);
            }
            out.push_str("}\n");
        }
        Body::Wrapper(rust) => {
            let with = if rust.schema == rust.text {
                String::new()
            } else {
                format!("#[schemars(with = {})] ", quoted(&rust.schema))
            };
            let _ = writeln!(out, "pub struct {}({with}pub {});", named.name, rust.text);
        }
    }
}

fn write_field(out: &mut String, field: &Field) {
    comment(out, "    ", &field.docs, &field.markers);
    let mut serde = Vec::new();
    if let Some(rename) = &field.rename {
        serde.push(format!("rename = {}", quoted(rename)));
    }
    let optional = |rust: &str| format!("Option<{rust}>");
    let (rust, schema) = match field.presence {
        Presence::Required => (field.rust.text.clone(), field.rust.schema.clone()),
        Presence::Null => (optional(&field.rust.text), optional(&field.rust.schema)),
        Presence::Option => {
            serde.push("default".to_owned());
            serde.push("skip_serializing_if = \"Option::is_none\"".to_owned());
            (optional(&field.rust.text), optional(&field.rust.schema))
        }
        Presence::Empty => {
            serde.push("default".to_owned());
            let collection = field.rust.collection.unwrap_or("Vec");
            serde.push(format!("skip_serializing_if = \"{collection}::is_empty\""));
            (field.rust.text.clone(), field.rust.schema.clone())
        }
    };
    if !serde.is_empty() {
        let _ = writeln!(out, "    #[serde({})]", serde.join(", "));
    }
    if let Some(function) = &field.schema_with {
        let _ = writeln!(out, "    #[schemars(schema_with = {})]", quoted(function));
    } else if schema != rust {
        let _ = writeln!(out, "    #[schemars(with = {})]", quoted(&schema));
    }
    let _ = writeln!(out, "    pub {}: {rust},", field.name);
}

fn write_function(out: &mut String, function: &Function) {
    let _ = writeln!(
        out,
        "/// The schema of `{}`, which no type says whole.\nfn {}(_: &mut SchemaGenerator) -> Schema {{\n    json_schema!({})\n}}",
        function.path,
        function.name,
        literal(&function.schema, 1)
    );
}

/// A value as the macro takes it.
fn literal(value: &Value, depth: usize) -> String {
    let indent = "    ".repeat(depth + 1);
    let end = "    ".repeat(depth);
    match value {
        Value::String(text) => quoted(text),
        Value::Object(members) if !members.is_empty() => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{indent}{}: {},\n", quoted(name), literal(value, depth + 1)))
                .collect();
            format!("{{\n{}{end}}}", members.concat())
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            let items: Vec<String> =
                items.iter().map(|item| format!("{indent}{},\n", literal(item, depth + 1))).collect();
            format!("[\n{}{end}]", items.concat())
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| literal(item, depth)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// The text and the markers, if there are any.
fn comment(out: &mut String, indent: &str, docs: &[String], markers: &[String]) {
    let gap = (!docs.is_empty() && !markers.is_empty()).then(String::new);
    for line in docs.iter().chain(&gap).chain(markers) {
        // A carriage return cannot stand in a comment.
        let line = line.replace('\r', " ");
        let space = if line.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{indent}///{space}{}", line.trim_end());
    }
}

/// A text as Rust writes it.
fn quoted(text: &str) -> String {
    format!("{text:?}")
}
