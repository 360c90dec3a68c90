//! Putting a document together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{CustomResource, custom, paths, schema};
use crate::{
    registry::ResourceDefinition,
    types::{Type, Types},
};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Collects the schemas that a document needs.
#[derive(Default)]
pub(super) struct Builder {
    schemas: Map<String, Value>,
    /// Built-in types that are referred to.
    wanted: BTreeSet<&'static str>,
    /// The kinds that a built-in type is, as this document names them.
    kinds: BTreeMap<&'static str, BTreeSet<[String; 3]>>,
}

impl Builder {
    /// The document of built-in resources of one group and version.
    pub(super) fn built_in(definitions: &[ResourceDefinition]) -> Value {
        let mut builder = Self::default();
        let mut all = Map::new();
        for definition in definitions {
            let kind = builder.kind(&definition.group, &definition.version, &definition.kind);
            let list = builder.kind(&definition.group, &definition.version, &definition.list_kind);
            let resource = paths::Resource { definition, schema: kind, list, custom: false };
            resource.write(&mut builder, &mut all);
        }
        paths::share_parameters(&mut all);
        builder.want_common();
        builder.finish(&Value::Object(all))
    }

    /// The document of what lists the versions of a group, or all groups.
    pub(super) fn group(path: &str) -> Value {
        let mut builder = Self::default();
        let paths = paths::of_group(&mut builder, path);
        builder.finish(&paths)
    }

    fn finish(mut self, paths: &Value) -> Value {
        self.write_built_in();
        json!({
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": "1.37"},
            "paths": paths,
            "components": {
                "schemas": self.schemas,
                "securitySchemes": {
                    "BearerToken": {
                        "type": "apiKey", "description": "Bearer Token authentication", "name": "authorization",
                        "in": "header",
                    },
                },
            },
        })
    }

    /// The document of custom resources of one group and version.
    pub(super) fn custom(resources: &[CustomResource]) -> Value {
        let mut builder = Self::default();
        let mut all = Map::new();
        for resource in resources {
            let definition = &resource.definition;
            let (name, list) = (
                custom::schema_name(definition, &definition.kind),
                custom::schema_name(definition, &definition.list_kind),
            );
            let (kind_schema, list_schema) = custom::schemas(resource, &name);
            builder.schemas.insert(name.clone(), kind_schema);
            builder.schemas.insert(list.clone(), list_schema);
            let resource = paths::Resource { definition, schema: Some(name), list: Some(list), custom: true };
            resource.write(&mut builder, &mut all);
        }
        paths::share_parameters(&mut all);
        builder.want_common();
        builder.want(&format!("{META}.ObjectMeta"));
        builder.want(&format!("{META}.ListMeta"));
        builder.write_built_in();
        json!({
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
            "paths": all,
            "components": {"schemas": builder.schemas},
        })
    }

    /// The name of the schema of a built-in kind, which is added to the document.
    pub(super) fn kind(&mut self, group: &str, version: &str, kind: &str) -> Option<String> {
        let found = Types::get().kind(group, version, kind)?;
        self.wanted.insert(&found.name);
        let kinds = self.kinds.entry(&found.name).or_default();
        kinds.insert([group, version, kind].map(str::to_owned));
        Some(found.name.clone())
    }

    fn want_common(&mut self) {
        for kind in ["DeleteOptions", "Status"] {
            self.kind("", "v1", kind);
        }
        self.schemas.insert(format!("{META}.Patch"), json!({"type": "object"}));
    }

    fn want(&mut self, name: &str) {
        if let Some(found) = Types::get().named(name) {
            self.wanted.insert(&found.name);
        }
    }

    /// Adds the built-in types that are wanted, and all that they refer to.
    fn write_built_in(&mut self) {
        let types = Types::get();
        let named = |name: &&str| types.named(name);
        let mut open: Vec<&'static Type> = self.wanted.iter().filter_map(named).collect();
        let mut seen = self.wanted.clone();
        while let Some(next) = open.pop() {
            for referred in schema::references(next) {
                if seen.insert(&referred.name) {
                    open.push(referred);
                }
            }
            let mut schema = schema::of(next);
            if let Some(kinds) = self.kinds.get(next.name.as_str()) {
                let kinds: Vec<Value> = kinds
                    .iter()
                    .map(|[group, version, kind]| json!({"group": group, "version": version, "kind": kind}))
                    .collect();
                schema["x-kubernetes-group-version-kind"] = json!(kinds);
            }
            self.schemas.insert(next.name.clone(), schema);
        }
    }
}

/// A reference to a schema of the document.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The name of a type of `meta/v1`.
pub(super) fn meta(kind: &str) -> String {
    format!("{META}.{kind}")
}
