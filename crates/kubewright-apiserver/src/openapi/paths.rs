//! The operations of resources.

use serde_json::{Map, Value, json};

use super::{
    document::{Builder, meta, reference},
    parameters::{self, DELETE, DELETE_COLLECTION, LIST, PATCH, Parameter, READ, WRITE},
};
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
        let parameters: Vec<Value> = operation.parameters.iter().map(parameters::described).collect();
        let mut described = json!({
            "tags": [self.tag()],
            "description": self.description(path, &operation),
            "operationId": operation.id,
            "responses": responses,
            "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": kind},
        });
        if !parameters.is_empty() {
            described["parameters"] = json!(parameters);
        }
        if let Some(request) = operation.request {
            described["requestBody"] = request;
        }
        let of_path = || json!({"parameters": parameters::of_path(path, kind)});
        let item = paths.entry(path).or_insert_with(of_path);
        item[operation.method] = described;
    }

    /// What the server does, in a few words.
    fn description(&self, path: &str, operation: &Operation<'_>) -> String {
        let own = &self.definition.kind;
        let subresource = path.split_once("{name}/").map(|(_, name)| name);
        let of = subresource.map(|name| format!("{name} of ")).unwrap_or_default();
        match (operation.action, subresource) {
            ("list", _) => format!("list or watch objects of kind {own}"),
            ("deletecollection", _) => format!("delete collection of {own}"),
            ("post", None) => format!("create {}", one(own)),
            ("post", Some(name)) => format!("create {name} of {}", one(own)),
            ("put", _) => format!("replace {of}the specified {own}"),
            ("patch", _) => format!("partially update {of}the specified {own}"),
            ("delete", _) => format!("delete {}", one(own)),
            _ => format!("read {of}the specified {own}"),
        }
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
        format!(
            "{}{}",
            capitalized(&group_name(&self.definition.group)),
            capitalized(&self.definition.version)
        )
    }

    /// Group and version in tags, e.g. `rbacAuthorization_v1`.
    fn tag(&self) -> String {
        format!("{}_{}", group_name(&self.definition.group), self.definition.version)
    }
}

/// Writes what all operations of a path take once, with the path.
pub(super) fn share_parameters(paths: &mut Map<String, Value>) {
    for item in paths.values_mut().filter_map(Value::as_object_mut) {
        let of = |value: &Value| value["parameters"].as_array().cloned().unwrap_or_default();
        let mut operations = item.iter().filter(|(key, _)| *key != "parameters").map(|(_, value)| of(value));
        let mut common = operations.next().unwrap_or_default();
        for own in operations {
            common.retain(|parameter| own.contains(parameter));
        }
        if common.is_empty() {
            continue;
        }
        for (_, operation) in item.iter_mut().filter(|(key, _)| *key != "parameters") {
            let mut own = of(operation);
            own.retain(|parameter| !common.contains(parameter));
            match operation.as_object_mut() {
                Some(operation) if own.is_empty() => drop(operation.remove("parameters")),
                _ => operation["parameters"] = json!(own),
            }
        }
        let mut all = item.get("parameters").and_then(Value::as_array).cloned().unwrap_or_default();
        all.extend(common);
        all.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
        item.insert("parameters".to_owned(), all.into());
    }
}

/// What lists the versions of a group, as operations of one path: of the core group, of a named one, or of all named ones.
pub(super) fn of_group(builder: &mut Builder, path: &str) -> Value {
    let group = path.strip_prefix("apis/");
    let (kind, id, description) = match group {
        Some(group) => {
            let id = format!("get{}APIGroup", capitalized(&group_name(group)));
            ("APIGroup", id, "get information of a group")
        }
        None if path == "api" => {
            ("APIVersions", "getCoreAPIVersions".to_owned(), "get available API versions")
        }
        None => ("APIGroupList", "getAPIVersions".to_owned(), "get available API versions"),
    };
    let tag =
        group.map_or_else(|| if path == "api" { "core".to_owned() } else { path.to_owned() }, group_name);
    let schema = builder.kind("", "v1", kind).unwrap_or_default();
    let types = ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"];
    let operation = json!({
        "tags": [tag],
        "description": description,
        "operationId": id,
        "responses": {
            "200": {"description": "OK", "content": content(&types, &schema)},
            "401": {"description": "Unauthorized"},
        },
    });
    json!({ format!("/{path}/"): {"get": operation} })
}

/// A group in tags and ids, e.g. `rbacAuthorization`.
fn group_name(group: &str) -> String {
    let group = match group {
        "" => "core",
        group => group.strip_suffix(".k8s.io").unwrap_or(group),
    };
    let mut parts = group.split('.');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| name + &capitalized(part))
}

fn content(types: &[&str], schema: &str) -> Value {
    types.iter().map(|&media_type| (media_type.to_owned(), json!({"schema": reference(schema)}))).collect()
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// A kind with its article. The kinds whose names are plurals have none.
fn one(kind: &str) -> String {
    let article = match kind {
        plural if plural.ends_with('s') && !plural.ends_with("ss") => "",
        kind if kind.starts_with(['A', 'E', 'I', 'O', 'U']) => "an ",
        _ => "a ",
    };
    format!("{article}{kind}")
}
