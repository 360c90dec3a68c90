//! The operations of resources.

use serde_json::{Map, Value, json};

use super::document::{Builder, meta, reference};
use crate::registry::{ResourceDefinition, Subresource};

/// A resource whose operations are to be described.
pub(super) struct Resource<'a> {
    pub(super) definition: &'a ResourceDefinition,
    /// The schema of an object; `None` if its type is not known.
    pub(super) schema: Option<String>,
    /// The schema of a list.
    pub(super) list: Option<String>,
    pub(super) custom: bool,
}

/// One operation on a path.
struct Operation<'a> {
    method: &'a str,
    /// What the server does, as in RBAC but for `post` and `put`.
    action: &'a str,
    id: String,
    parameters: &'a [Parameter],
    request: Option<Value>,
    response: Option<String>,
    codes: &'a [(&'a str, &'a str)],
    kind: [&'a str; 3],
}

type Parameter = (&'static str, &'static str);

const WRITE: [Parameter; 3] =
    [("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];
const PATCH: [Parameter; 4] =
    [("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"), ("force", "boolean")];
const READ: [Parameter; 1] = [("resourceVersion", "string")];
const DELETE: [Parameter; 5] = [
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];
const LIST: [Parameter; 11] = [
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("shardSelector", "string"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];
/// The options of a list and those of a delete.
const DELETE_COLLECTION: [Parameter; 14] = [
    ("continue", "string"),
    ("dryRun", "string"),
    ("fieldSelector", "string"),
    ("gracePeriodSeconds", "integer"),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("shardSelector", "string"),
    ("timeoutSeconds", "integer"),
];

const OK: (&str, &str) = ("200", "OK");
const CREATED: (&str, &str) = ("201", "Created");
const ACCEPTED: (&str, &str) = ("202", "Accepted");

impl Resource<'_> {
    /// Adds the paths of the resource.
    pub(super) fn write(&self, builder: &mut Builder, paths: &mut Map<String, Value>) {
        let ResourceDefinition { group, version, kind, plural, namespaced, .. } = self.definition;
        let root = if group.is_empty() { "/api" } else { "/apis" };
        let root = format!("{root}/{}", self.definition.api_version());
        let own = [group.as_str(), version.as_str(), kind.as_str()];
        let namespace = if *namespaced { "/namespaces/{namespace}" } else { "" };
        let scope = if *namespaced { "Namespaced" } else { "" };
        let collection = format!("{root}{namespace}/{plural}");
        let object = format!("{collection}/{{name}}");

        if *namespaced && self.definition.answers("list") {
            let id = format!("list{}{kind}ForAllNamespaces", self.prefix());
            let list = self.list_operation(id, own);
            self.add(paths, &format!("{root}/{plural}"), list);
        }
        if self.definition.answers("list") {
            let list = self.list_operation(format!("list{}{scope}{kind}", self.prefix()), own);
            self.add(paths, &collection, list);
        }
        if self.definition.answers("create") {
            let id = format!("create{}{scope}{kind}", self.prefix());
            let create = Operation {
                method: "post",
                action: "post",
                id,
                parameters: &WRITE,
                request: self.schema.as_deref().map(|schema| self.body(schema)),
                response: self.schema.clone(),
                codes: &[OK, CREATED, ACCEPTED],
                kind: own,
            };
            self.add(paths, &collection, create);
        }
        if self.definition.answers("deletecollection") {
            let id = format!("delete{}Collection{scope}{kind}", self.prefix());
            let delete = Operation {
                method: "delete",
                action: "deletecollection",
                id,
                parameters: if self.custom { &LIST } else { &DELETE_COLLECTION },
                request: (!self.custom).then(|| self.options_body()),
                response: Some(meta("Status")),
                codes: &[OK],
                kind: own,
            };
            self.add(paths, &collection, delete);
        }
        for verb in ["get", "update", "patch", "delete"] {
            if self.definition.answers(verb) {
                let suffix = format!("{}{scope}{kind}", self.prefix());
                let operation = self.object_operation(verb, &suffix, self.schema.clone(), own);
                self.add(paths, &object, operation);
            }
        }
        // Connections, whose kind is that of their query, are no operations on objects.
        let subresources = self.definition.subresources.iter().filter(|own| !own.kind.ends_with("Options"));
        for subresource in subresources {
            self.write_subresource(builder, paths, &object, scope, subresource);
        }
    }

    fn write_subresource(
        &self,
        builder: &mut Builder,
        paths: &mut Map<String, Value>,
        object: &str,
        scope: &str,
        subresource: &Subresource,
    ) {
        let Subresource { name, group, version, kind, verbs } = subresource;
        let parent = &self.definition;
        let is_parents = (group, version, kind) == (&parent.group, &parent.version, &parent.kind);
        let schema = if is_parents { self.schema.clone() } else { builder.kind(group, version, kind) };
        // The operations of a custom resource's scale are told to be about the resource itself.
        let described = if self.custom {
            [parent.group.as_str(), parent.version.as_str(), parent.kind.as_str()]
        } else {
            [group.as_str(), version.as_str(), kind.as_str()]
        };
        let path = format!("{object}/{name}");
        let suffix = format!("{}{scope}{}{}", self.prefix(), parent.kind, capitalized(name));
        for verb in verbs {
            let operation = self.object_operation(verb, &suffix, schema.clone(), described);
            self.add(paths, &path, operation);
        }
    }

    fn list_operation<'a>(&self, id: String, kind: [&'a str; 3]) -> Operation<'a> {
        Operation {
            method: "get",
            action: "list",
            id,
            parameters: &LIST,
            request: None,
            response: self.list.clone(),
            codes: &[OK],
            kind,
        }
    }

    /// The operation on one object, or on a subresource of it, that a verb stands for.
    fn object_operation<'a>(
        &self,
        verb: &str,
        suffix: &str,
        schema: Option<String>,
        kind: [&'a str; 3],
    ) -> Operation<'a> {
        let request = schema.as_deref().map(|schema| self.body(schema));
        let (method, prefix, parameters, request, response, codes): (_, _, &[Parameter], _, _, &[_]) =
            match verb {
                "update" => ("put", "replace", &WRITE, request, schema, &[OK, CREATED]),
                "patch" if self.custom => ("patch", "patch", &PATCH, Some(self.patch_body()), schema, &[OK]),
                "patch" => ("patch", "patch", &PATCH, Some(self.patch_body()), schema, &[OK, CREATED]),
                "create" => ("post", "create", &WRITE, request, schema, &[OK, CREATED, ACCEPTED]),
                "delete" => {
                    let options = self.options_body();
                    ("delete", "delete", &DELETE, Some(options), Some(meta("Status")), &[OK, ACCEPTED])
                }
                _ if self.custom => ("get", "read", &READ, None, schema, &[OK]),
                _ => ("get", "read", &[], None, schema, &[OK]),
            };
        let id = format!("{prefix}{suffix}");
        Operation { method, action: method, id, parameters, request, response, codes, kind }
    }

    fn add(&self, paths: &mut Map<String, Value>, path: &str, operation: Operation<'_>) {
        let [group, version, kind] = operation.kind;
        let mut responses = Map::from_iter([("401".to_owned(), json!({"description": "Unauthorized"}))]);
        for (code, description) in operation.codes {
            let mut response = json!({"description": description});
            if let Some(schema) = &operation.response {
                response["content"] = self.content(schema);
                if operation.action == "list" {
                    let mut types = vec!["application/json;stream=watch"];
                    if !self.custom {
                        types.push("application/vnd.kubernetes.protobuf;stream=watch");
                    }
                    if !self.custom
                        && let Value::Object(all) = &mut response["content"]
                        && let Value::Object(streams) = content(&types, schema)
                    {
                        all.extend(streams);
                    }
                }
            }
            responses.insert((*code).to_owned(), response);
        }
        let parameters: Vec<Value> = operation
            .parameters
            .iter()
            .map(|(name, kind)| json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}}))
            .collect();
        let mut described = json!({
            "tags": [self.tag()],
            "operationId": operation.id,
            "parameters": parameters,
            "responses": responses,
            "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": kind},
        });
        if let Some(request) = operation.request {
            described["requestBody"] = request;
        }
        let item = paths.entry(path).or_insert_with(|| json!({"parameters": path_parameters(path)}));
        item[operation.method] = described;
    }

    /// What is sent with POST and PUT.
    fn body(&self, schema: &str) -> Value {
        let content =
            if self.custom { self.content(schema) } else { json!({"*/*": {"schema": reference(schema)}}) };
        json!({"content": content, "required": true})
    }

    /// What may be sent with DELETE.
    fn options_body(&self) -> Value {
        let mut body = self.body(&meta("DeleteOptions"));
        if let Value::Object(body) = &mut body {
            body.remove("required");
        }
        body
    }

    /// What is sent with PATCH. Only built-in types can be patched strategically.
    fn patch_body(&self) -> Value {
        let mut types = vec![
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ];
        if !self.custom {
            types.push("application/strategic-merge-patch+json");
        }
        json!({"content": content(&types, &meta("Patch")), "required": true})
    }

    fn content(&self, schema: &str) -> Value {
        let mut types = vec!["application/json", "application/yaml"];
        if !self.custom {
            types.push("application/vnd.kubernetes.protobuf");
        }
        content(&types, schema)
    }

    /// Group and version in operation ids, e.g. `RbacAuthorizationV1`.
    fn prefix(&self) -> String {
        format!("{}{}", capitalized(&self.group()), capitalized(&self.definition.version))
    }

    /// Group and version in tags, e.g. `rbacAuthorization_v1`.
    fn tag(&self) -> String {
        format!("{}_{}", self.group(), self.definition.version)
    }

    fn group(&self) -> String {
        let group = match self.definition.group.as_str() {
            "" => "core",
            group => group.strip_suffix(".k8s.io").unwrap_or(group),
        };
        let mut parts = group.split('.');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |name, part| name + &capitalized(part))
    }
}

fn content(types: &[&str], schema: &str) -> Value {
    types.iter().map(|&media_type| (media_type.to_owned(), json!({"schema": reference(schema)}))).collect()
}

fn path_parameters(path: &str) -> Vec<Value> {
    let text = json!({"type": "string", "uniqueItems": true});
    let mut parameters: Vec<Value> = ["name", "namespace"]
        .iter()
        .filter(|name| path.contains(&format!("{{{name}}}")))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": text}))
        .collect();
    parameters.push(json!({"name": "pretty", "in": "query", "schema": text}));
    parameters
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}
