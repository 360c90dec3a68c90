//! The schema of a definition: the rules of structural schemas, of defaults, and those that only definitions have.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{
    defaults, items, rules,
    shared::{Part, Spec},
    text,
};
use crate::{
    cel::Cardinality,
    error::{ErrorList, FieldError, FieldPath},
    jsonpath::{Brackets, resolve},
    structural::{Schema, Structural},
};

/// What may stand at the root of a schema whose status is validated by itself, in the names of Go.
const ROOT_FIELDS: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength \
     MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example \
     XPreserveUnknownFields XValidations]";
const NOT_AT_ROOT: [&str; 17] = [
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "enum",
    "maxProperties",
    "minProperties",
    "not",
    "nullable",
    "oneOf",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
];
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];
const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks the schema below `path`, which is `spec.validation` or the schema of a version. The schema of a version that
/// `is_stored` with it may have expressions that are too expensive by themselves.
pub(super) fn validate(
    schema: &Value,
    has_status: bool,
    is_stored: bool,
    path: &FieldPath,
    errors: &mut ErrorList,
) {
    if schema.is_null() {
        return;
    }
    let path = path.child("openAPIV3Schema");
    let mut found = ErrorList::new();
    let mut readable = None;
    if has_status {
        found.extend(root_fields(schema, &path));
    }
    if schema["nullable"] == true {
        found.push(FieldError::forbidden(&path.child("nullable"), "nullable cannot be true at the root"));
    }
    match Structural::read_at(schema, &path) {
        Err(unreadable) => found.extend(unreadable),
        Ok(structural) => {
            let mut breaches = structural.check(&path);
            if breaches.is_empty() {
                breaches = defaults::validate(&structural, &path);
            }
            readable = Some(structural).filter(|_| breaches.is_empty());
            found.extend(breaches);
        }
    }
    let mut checker = Checker {
        path,
        errors: ErrorList::new(),
        rules: rules::Rules::new(is_stored),
        rule_errors: ErrorList::new(),
    };
    checker.node(schema, readable.as_deref(), &Place::default(), true);
    found.extend(checker.errors);
    found.extend(checker.rule_errors);
    found.extend(checker.rules.total(&checker.path));
    found.deduplicate();
    errors.extend(found);
}

/// Calls `visit` with every schema below and including `schema`.
pub(super) fn visit<'a>(schema: &'a Value, visit_one: &mut impl FnMut(&'a Value)) {
    if !schema.is_object() {
        return;
    }
    visit_one(schema);
    for keyword in ["items", "not", "additionalProperties"] {
        visit(&schema[keyword], visit_one);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for child in items(schema.get(keyword)) {
            visit(child, visit_one);
        }
    }
    for child in schema["properties"].as_object().into_iter().flat_map(Map::values) {
        visit(child, visit_one);
    }
}

/// Whether any schema of the definition is as asked.
pub(super) fn any(spec: &Spec<'_>, mut is_asked: impl FnMut(&Value) -> bool) -> bool {
    let shared = spec.part(Part::Schema);
    let own = spec.versions.iter().filter_map(|version| version.part(Part::Schema));
    let mut found = false;
    for root in shared.into_iter().chain(own) {
        visit(&root["openAPIV3Schema"], &mut |schema| found |= is_asked(schema));
    }
    found
}

fn root_fields(schema: &Value, path: &FieldPath) -> Option<FieldError> {
    let root_type = text(&schema["type"]);
    if !root_type.is_empty() && root_type != "object" {
        let detail = r#"only "object" is allowed as the type at the root of the schema if the status subresource is enabled"#;
        return Some(FieldError::invalid(&path.child("type"), root_type, detail));
    }
    let is_set = |value: &Value| !value.is_null() && *value != Value::Bool(false);
    NOT_AT_ROOT.iter().any(|keyword| is_set(&schema[*keyword])).then(|| {
        let detail = format!(
            "only {ROOT_FIELDS} fields are allowed at the root of the schema if the status subresource is enabled"
        );
        FieldError::invalid(path, schema.clone(), detail)
    })
}

/// What the nodes above a node say about it.
#[derive(Clone)]
struct Place {
    /// How often the node can be in an object.
    cardinality: Cardinality,
    /// Why there may be no default.
    no_defaults: Option<String>,
    inside_meta: bool,
    /// The highest list above whose items have no identity.
    unrelated: Option<FieldPath>,
}

impl Place {
    /// The place of a part of a node.
    fn below(&self, parent: Option<&Schema>) -> Self {
        let cardinality = parent.map_or(self.cardinality, |parent| self.cardinality.below(parent));
        Self { cardinality, ..self.clone() }
    }
}

impl Default for Place {
    fn default() -> Self {
        Self { cardinality: Cardinality::ONE, no_defaults: None, inside_meta: false, unrelated: None }
    }
}

struct Checker {
    path: FieldPath,
    errors: ErrorList,
    rules: rules::Rules,
    /// What is wrong with expressions, which is said last.
    rule_errors: ErrorList,
}

impl Checker {
    /// `structural` is the same node as a tree, if the tree is valid and the node is part of its structure.
    fn node(&mut self, schema: &Value, structural: Option<&Schema>, place: &Place, is_root: bool) {
        // What is no schema has been refused already.
        let Some(object) = schema.as_object() else { return };
        let before = self.errors.len();
        self.standard(object, place);
        if schema["uniqueItems"] == true {
            self.forbidden(
                "uniqueItems",
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
            );
        }
        self.additional_properties(schema, structural, place);
        self.properties(schema, structural, place, is_root);
        self.below("not", None, &schema["not"], None, place);
        for keyword in ["allOf", "oneOf", "anyOf"] {
            for (index, child) in items(schema.get(keyword)).iter().enumerate() {
                let length = self.path.push_child(keyword);
                self.path.push_index(index);
                self.node(child, None, place, false);
                self.path.truncate(length);
            }
        }
        self.items(schema, structural, place);
        self.map_type(schema);
        self.list_type(schema);
        self.list_map_keys(schema);
        self.list_items(schema);
        self.rules(schema, structural);
        // Errors here or below would mostly be echoed by the compiler.
        if let Some(structural) = structural.filter(|_| self.errors.len() == before) {
            let problems =
                self.rules.validate(structural, &self.path, place.cardinality, place.unrelated.as_ref());
            self.rule_errors.extend(problems);
        }
    }

    fn below(
        &mut self,
        keyword: &str,
        key: Option<&str>,
        schema: &Value,
        structural: Option<&Schema>,
        place: &Place,
    ) {
        let length = self.path.push_child(keyword);
        if let Some(key) = key {
            self.path.push_key(key);
        }
        self.node(schema, structural, place, false);
        self.path.truncate(length);
    }

    fn items(&mut self, schema: &Value, structural: Option<&Schema>, place: &Place) {
        let mut below = place.below(structural);
        if schema["x-kubernetes-list-type"] != "map" && below.unrelated.is_none() {
            below.unrelated = Some(self.path.clone());
        }
        let structural = structural.and_then(|structural| structural.items.as_deref());
        self.below("items", None, &schema["items"], structural, &below);
    }

    fn standard(&mut self, schema: &Map<String, Value>, place: &Place) {
        if let Some(reason) = &place.no_defaults
            && schema.get("default").is_some_and(|default| !default.is_null())
        {
            self.forbidden("default", format!("must not be set {reason}"));
        }
        if schema.get("type").is_some_and(|name| name == "null") {
            self.forbidden("type", "type cannot be set to null, use nullable as an alternative");
        }
        if place.inside_meta && schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true)) {
            self.forbidden("x-kubernetes-embedded-resource", "must not be used inside of resource meta");
        }
    }

    fn additional_properties(&mut self, schema: &Value, structural: Option<&Schema>, place: &Place) {
        let additional = &schema["additionalProperties"];
        if additional.is_null() {
            return;
        }
        let has_properties = schema["properties"].as_object().is_some_and(|fields| !fields.is_empty());
        if has_properties && *additional != true {
            self.forbidden(
                "additionalProperties",
                "additionalProperties and properties are mutual exclusive",
            );
        }
        let mut below = place.below(structural);
        if place.inside_meta {
            below.no_defaults = Some("inside additionalProperties applying to object metadata".to_owned());
        }
        let structural =
            structural.and_then(|structural| structural.additional_schema()).map(|schema| &**schema);
        self.below("additionalProperties", None, additional, structural, &below);
    }

    fn properties(&mut self, schema: &Value, parent: Option<&Schema>, place: &Place, is_root: bool) {
        let is_object = is_root || schema["x-kubernetes-embedded-resource"] == true;
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let mut below = place.below(parent);
            if is_object && OBJECT_FIELDS.contains(&name.as_str()) {
                below.inside_meta = true;
                if is_root {
                    below.no_defaults = Some(format!("in top-level {name}"));
                }
            }
            let structural =
                parent.and_then(|structural| structural.properties.get(name)).map(|schema| &**schema);
            self.below("properties", Some(name), property, structural, &below);
        }
    }

    fn map_type(&mut self, schema: &Value) {
        if !schema["x-kubernetes-map-type"].is_null() {
            self.type_must_be("object", schema, "must be object if x-kubernetes-map-type is specified");
        }
    }

    fn list_type(&mut self, schema: &Value) {
        let list_type = &schema["x-kubernetes-list-type"];
        if list_type.is_null() {
            return;
        }
        let items = &schema["items"];
        if schema["type"] != "array" {
            self.type_must_be("array", schema, "must be array if x-kubernetes-list-type is specified");
        } else if *list_type == "set" && items.is_object() {
            const DETAIL: &str = "must be atomic as item of a list with x-kubernetes-list-type=set";
            let item_list_type = &items["x-kubernetes-list-type"];
            let path = self.path.child("items");
            match text(&items["type"]) {
                "array" if !item_list_type.is_null() && *item_list_type != "atomic" => {
                    let path = path.child("x-kubernetes-list-type");
                    self.errors.push(FieldError::invalid(&path, item_list_type.clone(), DETAIL));
                }
                "object" if items["x-kubernetes-map-type"] != "atomic" => {
                    // The real server shows the list type here as well.
                    let path = path.child("x-kubernetes-map-type");
                    self.errors.push(FieldError::invalid(&path, item_list_type.clone(), DETAIL));
                }
                _ => {}
            }
        }
    }

    fn type_must_be(&mut self, wanted: &str, schema: &Value, detail: &str) {
        match text(&schema["type"]) {
            "" => self.required("type", detail),
            found if found != wanted => self.invalid("type", found, detail),
            _ => {}
        }
    }

    fn list_map_keys(&mut self, schema: &Value) {
        const LIST_TYPE: &str = "x-kubernetes-list-type";
        const KEYS: &str = "x-kubernetes-list-map-keys";
        let keys = items(schema.get(KEYS));
        let list_type = &schema[LIST_TYPE];
        if !keys.is_empty() {
            let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
            if list_type.is_null() {
                self.required(LIST_TYPE, detail);
            } else if *list_type != "map" {
                self.invalid(LIST_TYPE, list_type.clone(), detail);
            }
        }
        if *list_type != "map" {
            return;
        }
        if keys.is_empty() {
            self.required(KEYS, "must not be empty if x-kubernetes-list-type is map");
        }
        let item = &schema["items"];
        if item.is_null() {
            self.required("items", "must have a schema if x-kubernetes-list-type is map");
        }
        if !item.is_object() {
            return;
        }
        if item["type"] != "object" {
            let path = self.path.child("items").child("type");
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            self.errors.push(FieldError::invalid(&path, text(&item["type"]), detail));
            return;
        }
        let mut seen = BTreeSet::new();
        for key in keys.iter().map(text) {
            match item["properties"].get(key) {
                None => self.invalid(KEYS, keys.to_vec(), "entries must all be names of item properties"),
                Some(property) if matches!(text(&property["type"]), "array" | "object") => {
                    let path = self.path.child("items").child("properties").key(key).child("type");
                    let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    // The real server shows the type of the item.
                    self.errors.push(FieldError::invalid(&path, "object", detail));
                }
                Some(_) => {}
            }
            if !seen.insert(key) {
                self.invalid(KEYS, keys.to_vec(), "must not contain duplicate entries");
            }
        }
    }

    /// Items of sets and maps, and the keys of the latter, must not be null or absent.
    fn list_items(&mut self, schema: &Value) {
        let list_type = text(&schema["x-kubernetes-list-type"]);
        let item = &schema["items"];
        if !item.is_object() || !matches!(list_type, "set" | "map") {
            return;
        }
        let path = self.path.child("items");
        if item["nullable"] == true {
            let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
            self.errors.push(FieldError::forbidden(&path.child("nullable"), detail));
        }
        if list_type != "map" {
            return;
        }
        let required = items(item.get("required"));
        for key in items(schema.get("x-kubernetes-list-map-keys")) {
            let Some(property) = item["properties"].get(text(key)) else { continue };
            let path = path.child("properties").key(text(key));
            if !required.contains(key) && property["default"].is_null() {
                let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a \
                              required property";
                self.errors.push(FieldError::required(&path.child("default"), detail));
            }
            if property["nullable"] == true {
                let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
                self.errors.push(FieldError::forbidden(&path.child("nullable"), detail));
            }
        }
    }

    fn rules(&mut self, schema: &Value, structural: Option<&Schema>) {
        let rules = items(schema.get("x-kubernetes-validations"));
        let has_paths = rules.iter().any(|rule| !text(&rule["fieldPath"]).is_empty());
        // A path into a schema that cannot be read is not judged.
        let read = (has_paths && structural.is_none())
            .then(|| Structural::read_at(schema, &FieldPath::root()).ok())
            .flatten();
        let structural = structural.or(read.as_deref());
        for (index, rule) in rules.iter().enumerate() {
            let path = self.path.child("x-kubernetes-validations").index(index);
            self.errors.extend(rule_form(rule, structural, &path));
        }
    }

    fn required(&mut self, keyword: &str, detail: &str) {
        self.errors.push(FieldError::required(&self.path.child(keyword), detail));
    }

    fn invalid(&mut self, keyword: &str, value: impl Into<Value>, detail: &str) {
        self.errors.push(FieldError::invalid(&self.path.child(keyword), value, detail));
    }

    fn forbidden(&mut self, keyword: &str, detail: impl Into<String>) {
        self.errors.push(FieldError::forbidden(&self.path.child(keyword), detail));
    }
}

/// Checks the form of a CEL rule, not its expressions.
fn rule_form(rule: &Value, schema: Option<&Schema>, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let breaks = |text: &str| text.contains(['\n', '\r']);
    let expression = text(&rule["rule"]);
    let message = text(&rule["message"]);
    if expression.trim().is_empty() {
        errors.push(FieldError::required(&path.child("rule"), "rule is not specified"));
    } else if !message.is_empty() && message.trim().is_empty() {
        errors.push(FieldError::invalid(&path.child("message"), message, "must be non-empty if specified"));
    } else if breaks(message.trim()) {
        errors.push(FieldError::invalid(&path.child("message"), message, "must not contain line breaks"));
    } else if breaks(expression.trim()) && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(FieldError::required(&path.child("message"), detail));
    }
    let message_expression = text(&rule["messageExpression"]);
    if !message_expression.is_empty() && message_expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(FieldError::required(&path.child("messageExpression"), detail));
    }
    if let Some(reason) = rule["reason"].as_str()
        && !REASONS.contains(&reason)
    {
        errors.push(FieldError::not_supported(&path.child("reason"), reason, &REASONS));
    }
    let field_path = text(&rule["fieldPath"]);
    let mut misfit = |detail: &str| {
        errors.push(FieldError::invalid(&path.child("fieldPath"), field_path, detail));
    };
    if field_path.is_empty() {
        return errors;
    }
    if field_path.trim().is_empty() {
        misfit("must be non-empty if specified");
    }
    if breaks(field_path) {
        misfit("must not contain line breaks");
    }
    if schema.is_some_and(|schema| resolve(field_path, schema, Brackets::Allowed).is_err()) {
        misfit("must be a valid path");
    }
    errors
}
