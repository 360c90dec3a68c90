//! From a schema to types: structs, enums, lists, maps.
//!
//! What a schema says in itself stands on the type if it is the items of a list or the values of a map, and on the field if it
//! is a field's. Two schemas that are equal have one type.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde_json::{Map, Value};

use super::{
    definition::{Definition, DefinitionVersion},
    identifiers::{camel, field, pascal, unique},
    markers::{self, On, Unsaid},
    well_known,
};

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const CONDITION: &str = "Condition";

/// All types of a version.
#[derive(Debug)]
pub(super) struct Shapes {
    /// The type that the derive is put on.
    pub(super) root: Named,
    /// Whether its fields are those of the object itself, which has no spec.
    pub(super) no_spec: bool,
    /// The name of the status' type.
    pub(super) status: Option<String>,
    /// Rules about the whole object.
    pub(super) rules: Vec<Value>,
    /// All others, those that others have in them after these.
    pub(super) types: Vec<Named>,
    /// Schemas that no type says.
    pub(super) functions: Vec<Function>,
    pub(super) differences: Vec<String>,
}

/// A type with a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) docs: Vec<String>,
    pub(super) markers: Vec<String>,
    pub(super) body: Body,
    /// Keywords of its schema that no marker says.
    pub(super) keywords: Vec<(String, Value)>,
    /// Whether it can be made of nothing.
    pub(super) default: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Struct {
        fields: Vec<Field>,
        keeps_others: bool,
    },
    Enum(Vec<Variant>),
    /// Another type, of which more is said.
    Wrapper(Type),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Its name in JSON, if it does not follow from the other.
    pub(super) rename: Option<String>,
    pub(super) docs: Vec<String>,
    pub(super) markers: Vec<String>,
    pub(super) presence: Presence,
    pub(super) rust: Type,
    /// The function with its schema.
    pub(super) schema_with: Option<String>,
}

/// What a field that is left out is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It cannot be.
    Required,
    /// It has to be there, and may be null.
    Null,
    /// None.
    Option,
    /// An empty list or map.
    Empty,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) value: String,
}

/// A schema as a function.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) schema: Value,
}

/// A type as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Type {
    pub(super) text: String,
    /// The type whose schema is meant, if it is another one.
    pub(super) schema: String,
    /// Markers about the items of the list.
    pub(super) markers: Vec<String>,
    pub(super) default: bool,
    pub(super) collection: Option<&'static str>,
}

/// Where a schema is: the name of its type, and its path for people.
#[derive(Clone, Debug)]
struct Place {
    name: String,
    path: String,
    last: String,
}

#[derive(Debug)]
struct Builder {
    names: BTreeSet<String>,
    /// The names of types by what they were made of.
    known: BTreeMap<String, Type>,
    types: Vec<Named>,
    functions: Vec<Function>,
    differences: Vec<String>,
}

// === impl Shapes ===

impl Shapes {
    pub(super) fn of(definition: &Definition, version: &DefinitionVersion) -> Self {
        let kind = definition.kind.as_str();
        let mut builder = Builder {
            names: [kind].map(str::to_owned).into(),
            known: BTreeMap::new(),
            types: Vec::new(),
            functions: Vec::new(),
            differences: definition.differences.clone(),
        };
        let mut properties = object(version.schema.get("properties")).clone();
        for name in ["apiVersion", "kind", "metadata"] {
            properties.remove(name);
        }
        let status = properties.remove("status");
        let is_struct =
            |schema: &Value| schema["type"] == "object" && schema.get("additionalProperties").is_none();
        let no_spec = properties.len() != usize::from(properties.get("spec").is_some_and(is_struct));
        let mut required: Vec<&str> = texts(version.schema.get("required")).collect();
        required.retain(|name| !["apiVersion", "kind", "metadata"].contains(name));

        let suffix = if no_spec { "Fields" } else { "Spec" };
        let name = unique(format!("{kind}{suffix}"), &mut builder.names);
        let place = Place { name: kind.to_owned(), path: String::new(), last: String::new() };
        let mut root = if no_spec {
            let mut fields = Map::new();
            fields.insert("type".to_owned(), "object".into());
            fields.insert("required".to_owned(), required.iter().copied().collect());
            fields.insert("properties".to_owned(), properties.into());
            builder.structure(name, &fields, &place)
        } else {
            let spec = object(properties.get("spec"));
            if !required.contains(&"spec") {
                builder.differences.push("the spec is required".to_owned());
            }
            builder.top(name, spec, &place.field("spec", kind.to_owned()))
        };
        let status = status.as_ref().and_then(Value::as_object).map(|status| {
            let name = unique(format!("{kind}Status"), &mut builder.names);
            let status = builder.top(name.clone(), status, &place.field("status", format!("{kind}Status")));
            builder.types.push(status);
            name
        });
        if status.is_some() && !version.status {
            builder.differences.push("the status is a subresource".to_owned());
        }
        if required.contains(&"status") {
            builder.differences.push("the status is not required".to_owned());
        }
        root.markers.extend(markers::of_kind(definition, version, status.is_some()));
        let mut schema = version.schema.clone();
        let rules = schema.remove("x-kubernetes-validations");
        if markers::of_schema(&schema, &[], On::Type) != Ok(Vec::new()) {
            builder
                .differences
                .push("what the schema says of the whole object, but for its rules, is left out".to_owned());
        }
        let Builder { types, functions, differences, .. } = builder;
        let rules = rules.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        Self { root, no_spec, status, rules, types, functions, differences }
    }

    /// Whether a controller can set conditions in the status.
    pub(super) fn has_conditions(&self) -> bool {
        let status = self.types.iter().find(|known| Some(&known.name) == self.status.as_ref());
        status.is_some_and(|status| {
            let Body::Struct { fields, .. } = &status.body else { return false };
            let is_list = |field: &Field| field.name == "conditions" && field.rust.text == "Vec<Condition>";
            status.default && fields.iter().any(|field| is_list(field) && field.presence == Presence::Empty)
        })
    }

    /// Every type, the one that the derive is put on first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Named> {
        std::iter::once(&self.root).chain(&self.types)
    }
}

// === impl Builder ===

impl Builder {
    /// The spec or the status: a struct, whatever there is in it, with all that is said of it.
    fn top(&mut self, name: String, schema: &Map<String, Value>, place: &Place) -> Named {
        let mut named = self.structure(name, schema, place);
        if let Body::Struct { fields, keeps_others: true } = &named.body
            && fields.is_empty()
        {
            // A struct with nothing but what it does not know would be a map.
            named.body = Body::Wrapper(Type::plain("RawExtension", true));
            named.default = false;
        }
        named.docs = docs(schema);
        for (keyword, value) in schema {
            let alone = Map::from_iter([(keyword.clone(), value.clone())]);
            match markers::of_schema(&alone, &[PRESERVE], On::Type) {
                Ok(markers) => named.markers.extend(markers),
                // The field that has the type is not ours to mark.
                Err(Unsaid) => named.keywords.push((keyword.clone(), value.clone())),
            }
        }
        named
    }

    /// A struct with the properties of a schema.
    fn structure(&mut self, name: String, schema: &Map<String, Value>, place: &Place) -> Named {
        let required: BTreeSet<&str> = texts(schema.get("required")).collect();
        let mut taken = BTreeSet::new();
        let mut fields = Vec::new();
        for (json, property) in object(schema.get("properties")) {
            let property = object(Some(property));
            let place = place.field(json, format!("{}{}", place.name, pascal(json)));
            fields.push(self.field(json, property, required.contains(json.as_str()), &place, &mut taken));
        }
        let default = fields.iter().all(|field| field.presence != Presence::Required || field.rust.default);
        let keeps_others = schema.get(PRESERVE) == Some(&Value::Bool(true));
        Named {
            name,
            docs: Vec::new(),
            markers: Vec::new(),
            keywords: Vec::new(),
            body: Body::Struct { fields, keeps_others },
            default,
        }
    }

    fn field(
        &mut self,
        json: &str,
        schema: &Map<String, Value>,
        is_required: bool,
        place: &Place,
        taken: &mut BTreeSet<String>,
    ) -> Field {
        let name = field(json, taken);
        let rename = (camel(&name) != json).then(|| json.to_owned());
        let said = self.on_field(schema, place);
        let (rust, mut markers, schema_with) = match said {
            Ok((rust, markers)) => (rust, markers, None),
            Err(Unsaid) => {
                // Its type is as close as may be, and its schema stands in a function.
                let rust = self.loose(schema, place);
                let function = self.function(schema, place);
                (rust, Vec::new(), Some(function))
            }
        };
        let is_nullable = schema.get("nullable") == Some(&Value::Bool(true));
        let presence = match (is_required, is_nullable) {
            (true, false) => Presence::Required,
            (true, true) => Presence::Null,
            (false, false) if rust.collection.is_some() && !schema.contains_key("default") => Presence::Empty,
            (false, _) => Presence::Option,
        };
        if presence == Presence::Null {
            markers.insert(0, "+required".to_owned());
        }
        Field { name, rename, docs: docs(schema), markers, presence, rust, schema_with }
    }

    /// The type of a field, and the markers of all that the type does not say.
    fn on_field(
        &mut self,
        schema: &Map<String, Value>,
        place: &Place,
    ) -> Result<(Type, Vec<String>), Unsaid> {
        let (rust, said) = self.rust_type(schema, place, &[])?;
        let mut markers = rust.markers.clone();
        // What a struct says of itself stands on it.
        markers.extend(markers::of_schema(schema, &said, On::Field)?);
        Ok((rust, markers))
    }

    /// The type of the items of a list, or of the values of a map: what is said of them stands on their type.
    fn inner(&mut self, schema: &Map<String, Value>, place: &Place) -> Result<Type, Unsaid> {
        let text = docs(schema);
        let (rust, said) = self.rust_type(schema, place, &text)?;
        // The type of conditions has a text of its own.
        let is_named = rust.text == CONDITION || self.types.iter().any(|known| known.name == rust.text);
        let own = markers::of_schema(schema, &said, On::Type)?;
        if is_named || (text.is_empty() && own.is_empty() && rust.markers.is_empty()) {
            return if is_named && !own.is_empty() { Err(Unsaid) } else { Ok(rust) };
        }
        let markers = rust.markers.iter().cloned().chain(own).collect();
        let wrapper = Named {
            name: String::new(),
            docs: text,
            markers,
            keywords: Vec::new(),
            default: rust.default,
            body: Body::Wrapper(Type { markers: Vec::new(), ..rust }),
        };
        Ok(self.name(wrapper, schema, place))
    }

    /// The type, and the keywords that it says besides its structure. `text` is what is to stand on it, if it has a name.
    fn rust_type(
        &mut self,
        schema: &Map<String, Value>,
        place: &Place,
        text: &[String],
    ) -> Result<(Type, Vec<&'static str>), Unsaid> {
        if well_known::is_int_or_string(schema) {
            return Ok(if well_known::is_quantity(schema) {
                (Type::plain("Quantity", true), vec!["anyOf", "pattern"])
            } else {
                (Type::plain("IntOrString", true), vec!["anyOf"])
            });
        }
        if ["anyOf", "oneOf", "allOf", "not", "x-kubernetes-int-or-string"]
            .iter()
            .any(|&keyword| schema.contains_key(keyword))
        {
            return Err(Unsaid);
        }
        let format = schema.get("format").and_then(Value::as_str);
        match schema.get("type").and_then(Value::as_str) {
            Some("string") if schema.contains_key("enum") => {
                Ok((self.enumeration(schema, place, text)?, vec!["enum"]))
            }
            Some("string") if format == Some("date-time") => Ok((Type::plain("Time", false), vec!["format"])),
            Some("string") => Ok((Type::plain("String", true), Vec::new())),
            Some("boolean") => Ok((Type::plain("bool", true), Vec::new())),
            Some("integer") => Ok(match format {
                Some("int32") => (Type::plain("i32", true), vec!["format"]),
                Some("int64") => (Type::plain("i64", true), vec!["format"]),
                // i64 has a format, and this is the type of whole numbers without one.
                _ => (Type { schema: "i128".to_owned(), ..Type::plain("i64", true) }, Vec::new()),
            }),
            Some("number") => Ok(match format {
                Some("float") => (Type::plain("f32", true), vec!["format"]),
                Some("double") => (Type::plain("f64", true), vec!["format"]),
                _ => {
                    (Type { schema: "serde_json::Number".to_owned(), ..Type::plain("f64", true) }, Vec::new())
                }
            }),
            Some("array") => Ok((self.list(object(schema.get("items")), place)?, Vec::new())),
            Some("object") => self.object(schema, place, text),
            _ if schema.get(PRESERVE) == Some(&Value::Bool(true)) => {
                Ok((Type::plain("serde_json::Value", true), vec![PRESERVE]))
            }
            _ => Err(Unsaid),
        }
    }

    fn list(&mut self, items: &Map<String, Value>, place: &Place) -> Result<Type, Unsaid> {
        let place = place.inside("[]");
        // Of a text or a number, markers of the list say what is said.
        if docs(items).is_empty()
            && !items.contains_key("properties")
            && let Ok((rust, said)) = self.rust_type(items, &place, &[])
            && rust.markers.is_empty()
            && let Ok(markers) = markers::of_schema(items, &said, On::Items)
        {
            return Ok(Type { markers, ..rust.collected("Vec<", "Vec") });
        }
        Ok(self.inner(items, &place)?.collected("Vec<", "Vec"))
    }

    fn object(
        &mut self,
        schema: &Map<String, Value>,
        place: &Place,
        text: &[String],
    ) -> Result<(Type, Vec<&'static str>), Unsaid> {
        match schema.get("additionalProperties") {
            Some(Value::Object(values)) => {
                let values = self.inner(values, &place.inside("{}"))?;
                return Ok((values.collected("BTreeMap<String, ", "BTreeMap"), Vec::new()));
            }
            Some(Value::Bool(true)) => return Err(Unsaid),
            _ => {}
        }
        if well_known::is_condition(schema) {
            return Ok((Type::plain(CONDITION, true), Vec::new()));
        }
        let keeps_others = schema.get(PRESERVE) == Some(&Value::Bool(true));
        if keeps_others && !schema.contains_key("properties") {
            return Ok((Type::plain("RawExtension", true), vec![PRESERVE]));
        }
        let mut named = self.structure(String::new(), schema, place);
        text.clone_into(&mut named.docs);
        // Rules, merging and sizes are about the type, wherever it is used.
        let of_type = ["x-kubernetes-validations", "x-kubernetes-map-type", "minProperties", "maxProperties"];
        let own: Map<String, Value> = schema
            .iter()
            .filter(|(keyword, _)| of_type.contains(&keyword.as_str()))
            .map(|(keyword, value)| (keyword.clone(), value.clone()))
            .collect();
        named.markers = markers::of_schema(&own, &[], On::Type)?;
        let said = [&of_type[..], &[PRESERVE]].concat();
        Ok((self.name(named, schema, place), said))
    }

    fn enumeration(
        &mut self,
        schema: &Map<String, Value>,
        place: &Place,
        text: &[String],
    ) -> Result<Type, Unsaid> {
        let mut taken = BTreeSet::new();
        let variant = |value: &Value| {
            let value = value.as_str().ok_or(Unsaid)?.to_owned();
            let name = match pascal(&value).as_str() {
                "" if value.is_empty() => "Empty".to_owned(),
                "" => "Sign".to_owned(),
                "Self" => "Self_".to_owned(),
                name => name.to_owned(),
            };
            Ok(Variant { name: unique(name, &mut taken), value })
        };
        let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let variants = values.map(variant).collect::<Result<Vec<_>, Unsaid>>()?;
        if variants.is_empty() {
            return Err(Unsaid);
        }
        let named = Named {
            name: String::new(),
            docs: text.to_vec(),
            markers: Vec::new(),
            keywords: Vec::new(),
            body: Body::Enum(variants),
            default: false,
        };
        Ok(self.name(named, schema, place))
    }

    /// The type, which gets the name of its place unless there is an equal one already.
    fn name(&mut self, mut named: Named, schema: &Map<String, Value>, place: &Place) -> Type {
        // The same fields under another name are another thing.
        // If the field has a text, it takes the place of that of the type in the schema.
        let is_free = named.docs.is_empty() && schema.contains_key("description");
        let parts = (&named.docs, &named.markers, &named.body, schema.get("required"), is_free);
        let made_of = format!("{} {parts:?}", place.last);
        if let Some(known) = self.known.get(&made_of) {
            return known.clone();
        }
        named.name = unique(place.name.clone(), &mut self.names);
        let rust = Type::plain(&named.name, named.default);
        if is_free {
            named.docs = vec![match named.body {
                Body::Enum(_) => format!("A value of `{}`.", place.path),
                _ => format!("What `{}` is.", place.path),
            }];
        }
        self.known.insert(made_of, rust.clone());
        self.types.push(named);
        rust
    }

    /// A type for what no type says whole.
    fn loose(&mut self, schema: &Map<String, Value>, place: &Place) -> Type {
        let mut known = schema.clone();
        known.retain(|keyword, _| {
            !["anyOf", "oneOf", "allOf", "not", "x-kubernetes-int-or-string"].contains(&keyword.as_str())
        });
        if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
            return Type::plain("IntOrString", true);
        }
        let found = self.rust_type(&known, place, &[]);
        found.map_or_else(|Unsaid| Type::plain("serde_json::Value", true), |(rust, _)| rust)
    }

    fn function(&mut self, schema: &Map<String, Value>, place: &Place) -> String {
        let mut schema = schema.clone();
        schema.remove("description");
        let mut taken = self.functions.iter().map(|function| function.name.clone()).collect();
        let name = unique(
            format!("{}_schema", field(&place.last, &mut BTreeSet::new()).trim_end_matches('_')),
            &mut taken,
        );
        self.functions.push(Function { name: name.clone(), path: place.path.clone(), schema: schema.into() });
        name
    }
}

// === impl Type ===

impl Type {
    fn plain(text: &str, default: bool) -> Self {
        Self {
            text: text.to_owned(),
            schema: text.to_owned(),
            markers: Vec::new(),
            default,
            collection: None,
        }
    }

    fn collected(self, before: &str, collection: &'static str) -> Self {
        Self {
            text: format!("{before}{}>", self.text),
            schema: format!("{before}{}>", self.schema),
            markers: Vec::new(),
            default: true,
            collection: Some(collection),
        }
    }
}

// === impl Place ===

impl Place {
    fn field(&self, json: &str, name: String) -> Self {
        let path = if self.path.is_empty() { json.to_owned() } else { format!("{}.{json}", self.path) };
        Self { name, path, last: json.to_owned() }
    }

    fn inside(&self, mark: &str) -> Self {
        Self { path: format!("{}{mark}", self.path), ..self.clone() }
    }
}

fn object(value: Option<&Value>) -> &Map<String, Value> {
    static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    value.and_then(Value::as_object).unwrap_or(&EMPTY)
}

fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The lines of a description.
fn docs(schema: &Map<String, Value>) -> Vec<String> {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
