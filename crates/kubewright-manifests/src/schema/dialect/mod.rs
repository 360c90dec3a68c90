//! From schemars' JSON schema (draft 2020-12) to the dialect of OpenAPI 3.0 that CRDs are written in.
//!
//! Nothing is resolved here: what is a reference stays one.

mod arrays;
mod numbers;
mod objects;
mod types;

use serde_json::{Map, Value};

use super::{
    faults::Faults,
    generate::referenced,
    node::{Node, Rule, Site, VALIDATIONS},
};
use crate::Style;

/// Formats the API server knows. It warns about others and does not check them.
pub(super) const FORMATS: [&str; 31] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "duration",
    "double",
    "email",
    "float",
    "hexcolor",
    "hostname",
    "int32",
    "int64",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8s-long-name",
    "k8s-short-name",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Formats that schemars gives to types of Rust, of which nobody has to be told that API servers do not check them.
const OF_RUST_TYPES: [&str; 5] = ["duration", "ip", "partial-date-time", "partial-time", "zoned-date-time"];

/// Keywords that say nothing about what the API server accepts.
const ANNOTATIONS: [&str; 11] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "readOnly",
    "writeOnly",
    "deprecated",
    "contentEncoding",
    "contentMediaType",
    "propertyNames",
];

/// Keywords of JSON schema for which a structural schema has no counterpart.
const UNSUPPORTED: [&str; 13] = [
    "$dynamicRef",
    "contains",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "minContains",
    "then",
    "unevaluatedItems",
    "additionalItems",
];

/// Reads definitions.
#[derive(Debug)]
pub(super) struct Dialect<'a> {
    pub(super) style: Style,
    pub(super) allow_dangerous_types: bool,
    pub(super) faults: &'a mut Faults,
}

// === impl Dialect ===

impl Dialect<'_> {
    /// A definition.
    pub(super) fn definition(&mut self, name: &str, value: &Value) -> Node {
        self.structure(value, &Site::of_type(name))
    }

    /// A schema that stands for a value: one that says nothing means any value.
    fn structure(&mut self, value: &Value, site: &Site) -> Node {
        let mut node = self.schema(value, site);
        if node.says_nothing() {
            node.set(super::node::PRESERVE, true);
        } else if !node.properties.is_empty() && node.own_type().is_none() && node.reference.is_none() {
            node.set("type", "object");
        }
        node.site = Some(site.clone());
        node
    }

    fn schema(&mut self, value: &Value, site: &Site) -> Node {
        let mut node = Node::default();
        match value {
            Value::Object(object) => self.keywords(object, &mut node, site),
            Value::Bool(false) => {
                self.faults.error(
                    "uninhabited-type",
                    site,
                    format!("`{site}` has no value: an object that has it cannot exist"),
                    "give the enum a variant, or leave the field out with `#[serde(skip)]`",
                );
            }
            _ => {}
        }
        node
    }

    fn keywords(&mut self, object: &Map<String, Value>, node: &mut Node, site: &Site) {
        for (keyword, value) in object {
            match keyword.as_str() {
                "$ref" => node.reference = value.as_str().map(referenced),
                "const" => node.set("enum", vec![value.clone()]),
                "enum" => node.set("enum", without_null(value)),
                "examples" => {
                    if let Some(example) = value.get(0) {
                        node.set("example", example.clone());
                    }
                }
                // A default of null is what the API server takes for no default.
                "default" if value.is_null() => {}
                "format" => {
                    if let Some(format) = value.as_str() {
                        self.format(format, node, site);
                    }
                }
                "required" => node.required.extend(texts(value)),
                "allOf" => node.all_of = self.list(value, site),
                "not" => node.not = Some(Box::new(self.schema(value, site))),
                VALIDATIONS => node.rules.extend(
                    value
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(|rule| Rule { value: rule.clone(), source: None }),
                ),
                "type"
                | "anyOf"
                | "oneOf"
                | "items"
                | "prefixItems"
                | "uniqueItems"
                | "properties"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "patternProperties" => {}
                keyword if ANNOTATIONS.contains(&keyword) => {}
                keyword if UNSUPPORTED.contains(&keyword) => self.faults.warning(
                    "unsupported-keyword",
                    site,
                    format!("`{keyword}` of `{site}` has no counterpart in a CRD and was left out"),
                    "say it as a CEL rule with `+kubebuilder:validation:XValidation`",
                ),
                keyword => node.set(keyword, value.clone()),
            }
        }
        self.types(object, node, site);
        self.alternatives(object, node, site);
        self.arrays(object, node, site);
        self.objects(object, node, site);
        self.numbers(object, node, site);
    }

    /// `anyOf` and `oneOf`. A branch for null is how an `Option` is written.
    fn alternatives(&mut self, object: &Map<String, Value>, node: &mut Node, site: &Site) {
        for keyword in ["anyOf", "oneOf"] {
            let Some(branches) = object.get(keyword).and_then(Value::as_array) else { continue };
            let mut nodes: Vec<Node> = branches
                .iter()
                .filter(|branch| !is_null(branch))
                .map(|branch| self.schema(branch, site))
                .collect();
            if nodes.len() < branches.len() {
                node.optional = true;
            }
            match nodes.len() {
                1 => {
                    if let Some(only) = nodes.pop() {
                        absorb(node, only);
                    }
                }
                _ if keyword == "anyOf" => node.any_of = nodes,
                _ => node.one_of = nodes,
            }
        }
    }

    fn list(&mut self, value: &Value, site: &Site) -> Vec<Node> {
        value.as_array().into_iter().flatten().map(|schema| self.schema(schema, site)).collect()
    }

    /// Rust's own number formats are read by [`numbers`](Self::numbers). Of the others, those that the API server does not
    /// know are of no use; and what it knows as `duration` is Go's text form, not the ISO 8601 of Rust's types.
    fn format(&mut self, format: &str, node: &mut Node, site: &Site) {
        if (FORMATS.contains(&format) && format != "duration") || numbers::is_rust_format(format) {
            node.set("format", format);
        } else if !OF_RUST_TYPES.contains(&format) {
            let kept = match self.style {
                Style::Kubewright => "it is left out",
                Style::ControllerGen => "it is left out, other than that of a marker",
            };
            self.faults.warning(
                "unknown-format",
                site,
                format!(
                    "API servers do not know the format `{format}` of `{site}` and check nothing: {kept}"
                ),
                "say it with `#[schemars(regex(pattern = ..))]` or `+kubebuilder:validation:Pattern`",
            );
        }
    }
}

/// Takes over all that `inner` says and `outer` does not say itself.
fn absorb(outer: &mut Node, inner: Node) {
    let own = std::mem::replace(outer, inner);
    outer.keywords.extend(own.keywords);
    outer.reference = outer.reference.take().or(own.reference);
    outer.properties.extend(own.properties);
    outer.required.extend(own.required);
    outer.items = own.items.or(outer.items.take());
    outer.additional = own.additional.or(outer.additional.take());
    outer.closed |= own.closed;
    outer.optional |= own.optional;
    outer.all_of.extend(own.all_of);
    if !own.any_of.is_empty() {
        outer.any_of = own.any_of;
    }
    if !own.one_of.is_empty() {
        outer.one_of = own.one_of;
    }
    outer.not = own.not.or(outer.not.take());
    outer.rules.extend(own.rules);
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

fn without_null(values: &Value) -> Value {
    values.as_array().into_iter().flatten().filter(|value| !value.is_null()).cloned().collect()
}

fn texts(values: &Value) -> impl Iterator<Item = String> + '_ {
    values.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
}
