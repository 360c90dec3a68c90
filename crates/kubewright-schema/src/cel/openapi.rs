//! Types of objects that OpenAPI documents describe, for checking expressions about them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    checker::{self, Type},
    declaration::Declarations,
    depth::{self, SHALLOW},
    program,
    scope::{Scope, remembered},
    shown,
};
use crate::cel_names;

const PREFIX: &str = "#/components/schemas/";

impl Scope {
    /// The scope with variables of the kind that a schema of an OpenAPI document describes. If it describes none, what
    /// they hold is only known when they are evaluated.
    #[must_use]
    pub fn with_kind(mut self, names: &[&str], document: &Value, schema: &str) -> Self {
        let schemas = &document["components"]["schemas"];
        let mut reader =
            Reader { schemas, declarations: &mut self.declarations, above: vec![schema.to_owned()] };
        let of = reader.read(&schemas[schema], true).unwrap_or(Type::Dyn);
        self.variables.extend(names.iter().map(|name| ((*name).to_owned(), of.clone())));
        self
    }

    /// What is wrong with an expression, whatever it evaluates to.
    ///
    /// # Errors
    /// What a server says is wrong.
    pub fn check(&self, source: &str) -> Result<(), String> {
        self.output(source).map(|_| ())
    }

    /// Adds a field to `variables`, of the type that an expression makes if it is right.
    pub fn add_checked(&mut self, name: &str, source: &str) {
        let output = self.output(source).map_or(Type::Dyn, |output| remembered(&output));
        self.add_variable_of(name, output);
    }

    fn output(&self, source: &str) -> Result<Type, String> {
        let tree = program::parse(source).map_err(|problem| problem.text)?;
        depth::with_room(tree.depth() <= SHALLOW, || {
            let checked = checker::check(tree, &self.declarations, self.variables.clone());
            checked.map(|checked| checked.output().clone()).map_err(|errors| shown::errors(source, &errors))
        })
        .unwrap_or_else(|| Err("there is no memory to check the expression".to_owned()))
    }
}

/// Declares the types of schemas.
struct Reader<'d> {
    schemas: &'d Value,
    declarations: &'d mut Declarations,
    /// The schemas that are being read, which may refer to themselves.
    above: Vec<String>,
}

impl Reader<'_> {
    /// The type of values of a schema. Nothing if it does not say.
    fn read(&mut self, schema: &Value, is_root: bool) -> Option<Type> {
        if let Some(name) = reference(schema) {
            if self.above.iter().any(|above| above == name) {
                return Some(self.object(BTreeMap::new()));
            }
            let schemas = self.schemas;
            self.above.push(name.to_owned());
            let of = self.read(&schemas[name], false);
            self.above.pop();
            return of;
        }
        let format = schema["format"].as_str().unwrap_or_default();
        if schema["x-kubernetes-int-or-string"] == true || format == "int-or-string" {
            return Some(Type::Dyn);
        }
        match schema["type"].as_str()? {
            "array" => Some(Type::list(self.read(&schema["items"], false)?)),
            "object" if schema["additionalProperties"].is_object() => {
                Some(Type::map(Type::String, self.read(&schema["additionalProperties"], false)?))
            }
            "object" => {
                let mut fields = BTreeMap::new();
                for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                    if let (Some(of), Some(name)) = (self.read(property, false), cel_names::escape(name)) {
                        fields.insert(name, of);
                    }
                }
                if is_root && !fields.contains_key("metadata") {
                    let names = ["name", "generateName"].map(|name| (name.to_owned(), Type::String));
                    fields.insert("metadata".to_owned(), self.object(names.into()));
                }
                if is_root {
                    fields.extend(["apiVersion", "kind"].map(|name| (name.to_owned(), Type::String)));
                }
                Some(self.object(fields))
            }
            "string" => Some(match format {
                "byte" => Type::Bytes,
                "duration" => Type::Duration,
                "date" | "date-time" => Type::Timestamp,
                _ => Type::String,
            }),
            "boolean" => Some(Type::Bool),
            "number" => Some(Type::Double),
            "integer" => Some(Type::Int),
            _ => None,
        }
    }

    fn object(&mut self, fields: BTreeMap<String, Type>) -> Type {
        self.declarations.declare("object", fields.into_iter().collect())
    }
}

/// The name of the schema that a schema refers to, perhaps with a description of its own.
fn reference(schema: &Value) -> Option<&str> {
    let direct = schema["$ref"].as_str();
    let wrapped = || schema["allOf"].as_array()?.iter().find_map(|part| part["$ref"].as_str());
    direct.or_else(wrapped)?.strip_prefix(PREFIX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_those_of_the_schema() {
        let document = json!({"components": {"schemas": {
            "Thing": {"type": "object", "properties": {
                "metadata": {"allOf": [{"$ref": "#/components/schemas/Meta"}], "default": {}},
                "self": {"$ref": "#/components/schemas/Thing"},
                "port": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
                "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
            }},
            "Meta": {"type": "object", "properties": {"name": {"type": "string"}, "at": {"type": "string", "format": "date-time"}}},
        }}});
        let mut scope = Scope::of_admission().with_variables().with_kind(&["object"], &document, "Thing");
        scope.add_checked("size", "object.sizes['a']");
        for source in [
            "object.metadata.name == 'a' && object.metadata.at.getFullYear() == 2030",
            "object.port == 1 && object.kind == 'Thing' && variables.size == 1",
        ] {
            assert_eq!(scope.check(source), Ok(()), "{source}");
        }
        for (source, text) in [
            ("object.nope", "undefined field 'nope'"),
            ("object.self.port", "undefined field 'port'"),
            ("variables.size == 'a'", "found no matching overload for '_==_' applied to '(int, string)'"),
            ("request.nope", "undefined field 'nope'"),
        ] {
            assert!(scope.check(source).is_err_and(|why| why.contains(text)), "{source}");
        }
    }
}
