use std::{env, fs, path::PathBuf};

use super::*;

fn definition() -> ResourceDefinition {
    ResourceDefinition {
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        kind: "Widget".to_owned(),
        list_kind: "WidgetList".to_owned(),
        plural: "widgets".to_owned(),
        singular: "widget".to_owned(),
        namespaced: true,
        verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
            .map(str::to_owned)
            .to_vec(),
        ..ResourceDefinition::default()
    }
}

fn open_api(schema: Value) -> OpenApi {
    let selectable_fields = vec![".spec.color".to_owned()];
    OpenApi::new(vec![CustomResource { definition: definition(), schema: schema.into(), selectable_fields }])
}

fn get(open_api: &OpenApi, uri: &str, headers: &[(header::HeaderName, &str)]) -> Response<Bytes> {
    let headers = headers
        .iter()
        .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).expect("a header")))
        .collect();
    let now = "2026-11-30T23:54:27Z".parse().expect("a time");
    open_api.answer(&uri.parse().expect("a path"), &headers, now).expect("an answer")
}

fn document(open_api: &OpenApi, path: &str) -> Value {
    let response = get(open_api, &format!("/openapi/v3/{path}"), &[]);
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    serde_json::from_slice(response.body()).expect("JSON")
}

#[test]
fn the_index_leads_to_documents_that_may_be_kept() {
    let open_api = open_api(json!({"type": "object"}));
    let response = get(&open_api, "/openapi/v3", &[(header::ACCEPT, "application/json, */*")]);
    let index: Value = serde_json::from_slice(response.body()).expect("JSON");
    for path in ["api/v1", "apis/apps/v1", "apis/example.com/v1"] {
        let url = index["paths"][path]["serverRelativeURL"].as_str().expect("a URL");
        let response = get(&open_api, url, &[(header::ACCEPT, "application/json")]);
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let headers = response.headers();
        assert_eq!(headers[header::CACHE_CONTROL], "public, immutable");
        assert_eq!(headers[header::EXPIRES], "Tue, 30 Nov 2027 23:54:27 UTC");
        let etag = headers[header::ETAG].to_str().expect("a text");
        assert!(url.ends_with(&format!("?hash={}", etag.trim_matches('"'))));
        let known = get(&open_api, url, &[(header::IF_NONE_MATCH, etag)]);
        assert_eq!(known.status(), StatusCode::NOT_MODIFIED);

        let moved = get(&open_api, &format!("/openapi/v3/{path}?hash=AA"), &[]);
        assert_eq!(moved.status(), StatusCode::MOVED_PERMANENTLY);
        assert_eq!(moved.headers()[header::LOCATION], url);
    }
    assert_eq!(get(&open_api, "/openapi/v3/apis/none/v1", &[]).status(), StatusCode::NOT_FOUND);
    let protobuf = [(header::ACCEPT, "application/com.github.proto-openapi.spec.v3@v1.0+protobuf")];
    assert_eq!(get(&open_api, "/openapi/v3/api/v1", &protobuf).status(), StatusCode::NOT_ACCEPTABLE);
}

#[test]
fn the_hash_changes_with_the_schema() {
    let hash = |schema: Value| open_api(schema).custom["apis/example.com/v1"].hash().to_owned();
    let one = json!({"type": "object", "description": "one"});
    assert_eq!(hash(one.clone()), hash(one.clone()));
    assert_ne!(hash(one), hash(json!({"type": "object", "description": "two"})));
}

#[test]
fn a_custom_resource_is_published_with_what_its_extensions_mean() {
    let open_api = open_api(json!({
        "type": "object",
        "description": "Widget is a test.",
        "properties": {
            "metadata": {"type": "object"},
            "spec": {
                "type": "object",
                "properties": {
                    "port": {"x-kubernetes-int-or-string": true},
                    "template": {
                        "type": "object", "x-kubernetes-embedded-resource": true,
                        "x-kubernetes-preserve-unknown-fields": true,
                    },
                },
            },
        },
    }));
    let document = document(&open_api, "apis/example.com/v1");
    let schemas = &document["components"]["schemas"];
    let widget = &schemas["com.example.v1.Widget"];
    assert_eq!(widget["description"], "Widget is a test.");
    assert_eq!(
        widget["x-kubernetes-group-version-kind"],
        json!([{"group": "example.com", "version": "v1", "kind": "Widget"}])
    );
    assert_eq!(widget["x-kubernetes-selectable-fields"], json!([{"fieldPath": "spec.color"}]));
    let object_meta =
        json!([{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]);
    assert_eq!(widget["properties"]["metadata"]["allOf"], object_meta);
    let spec = &widget["properties"]["spec"]["properties"];
    assert_eq!(spec["port"]["anyOf"], json!([{"type": "integer"}, {"type": "string"}]));
    assert_eq!(spec["template"]["required"], json!(["kind", "apiVersion"]));
    assert_eq!(spec["template"]["properties"]["metadata"]["allOf"], object_meta);
    assert_eq!(
        schemas["com.example.v1.WidgetList"]["properties"]["items"]["items"]["$ref"],
        "#/components/schemas/com.example.v1.Widget"
    );
    let patch = &document["paths"]["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"]["patch"];
    assert_eq!(patch["operationId"], "patchExampleComV1NamespacedWidget");
    let types: Vec<&String> = patch["requestBody"]["content"].as_object().expect("types").keys().collect();
    assert_eq!(
        types,
        ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"]
    );
    check_references(&document, "apis/example.com/v1");
}

#[test]
fn every_built_in_document_is_whole() {
    let open_api = OpenApi::default();
    for (path, built_in) in BUILT_IN.iter() {
        let document = document(&open_api, path);
        check_references(&document, path);
        let Content::BuiltIn(definitions) = &built_in.content else { panic!("{path}") };
        // What kubectl looks for: a PATCH operation of the kind that validates fields, and its schema.
        for definition in definitions.iter().filter(|definition| definition.answers("patch")) {
            let ResourceDefinition { group, version, kind, .. } = definition;
            let own = json!({"group": group, "version": version, "kind": kind});
            let paths = document["paths"].as_object().expect("paths");
            let validates = paths.values().any(|item| {
                let patch = &item["patch"];
                let parameters = patch["parameters"].as_array().into_iter().flatten();
                patch["x-kubernetes-group-version-kind"] == own
                    && parameters.into_iter().any(|parameter| parameter["name"] == "fieldValidation")
            });
            assert!(validates, "{path} {kind}");
            let schemas = document["components"]["schemas"].as_object().expect("schemas");
            let described = schemas.values().any(|schema| {
                let kinds = schema["x-kubernetes-group-version-kind"].as_array();
                kinds.is_some_and(|kinds| kinds.contains(&own))
            });
            assert!(described, "{path} {kind}");
        }
    }
}

fn check_references(document: &Value, path: &str) {
    fn visit<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| visit(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| visit(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    visit(document, &mut found);
    assert!(!found.is_empty(), "{path}");
    for reference in found {
        let name = reference.strip_prefix("#/components/schemas/").expect("a schema");
        assert!(document["components"]["schemas"].get(name).is_some(), "{path}: {name}");
    }
}

fn golden(name: &str) -> Option<Value> {
    let folder = env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens"),
        PathBuf::from,
    );
    let text = fs::read_to_string(folder.join("openapi-v3").join(name)).ok()?;
    Some(serde_json::from_str(&text).expect("JSON"))
}

/// What a property says about patches, and what it refers to, whether directly or with siblings.
fn essence(property: &Value) -> [Option<Value>; 5] {
    let target = |value: &Value| {
        let reference = value.get("$ref").or_else(|| value.pointer("/allOf/0/$ref"));
        reference.cloned()
    };
    [
        property.get("type").cloned(),
        property.get("x-kubernetes-patch-strategy").cloned(),
        property.get("x-kubernetes-patch-merge-key").cloned(),
        target(property),
        property.get("items").and_then(target),
    ]
}

#[test]
fn schemas_agree_with_the_official_documents() {
    let files = [
        ("api__v1_openapi.json", "api/v1"),
        ("apis__apps__v1_openapi.json", "apis/apps/v1"),
        ("apis__batch__v1_openapi.json", "apis/batch/v1"),
        ("apis__discovery.k8s.io__v1_openapi.json", "apis/discovery.k8s.io/v1"),
    ];
    // The documents are of an older release, since which these have changed.
    let changed = [
        "io.k8s.api.core.v1.PersistentVolumeClaimSpec.resources",
        "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement.key",
    ];
    let mut compared = 0;
    for (file, path) in files {
        let Some(official) = golden(file) else {
            #[allow(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("skipped: no goldens/openapi-v3/{file}");
            }
            return;
        };
        let ours = document(&OpenApi::default(), path);
        let schemas =
            |document: &Value| document["components"]["schemas"].as_object().expect("schemas").clone();
        let official = schemas(&official);
        for (name, schema) in schemas(&ours) {
            let Some(official) = official.get(&name) else { continue };
            let properties = schema["properties"].as_object().into_iter().flatten();
            for (field, property) in properties {
                let place = format!("{name}.{field}");
                let Some(official) = official["properties"].get(field) else { continue };
                if !changed.contains(&place.as_str()) {
                    assert_eq!(essence(property), essence(official), "{path} {place}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "only {compared} properties in common");
}

#[test]
fn the_document_of_version_2_has_all_schemas() {
    let open_api = open_api(json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"port": {"x-kubernetes-int-or-string": true}}}},
    }));
    let response = get(&open_api, "/openapi/v2", &[]);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    let document: Value = serde_json::from_slice(response.body()).expect("JSON");
    assert_eq!(document["swagger"], "2.0");
    let schemas = &document["definitions"];
    let strategy = &schemas["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["strategy"];
    assert_eq!(
        strategy["$ref"], "#/definitions/io.k8s.api.apps.v1.DeploymentStrategy",
        "beside it: {strategy}"
    );
    assert_eq!(strategy["x-kubernetes-patch-strategy"], "retainKeys");
    assert_eq!(schemas["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"], "string");
    let port = &schemas["com.example.v1.Widget"]["properties"]["spec"]["properties"]["port"];
    assert_eq!(port, &json!({"x-kubernetes-int-or-string": true}));

    let patch = &document["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]["patch"];
    assert!(
        patch["consumes"]
            .as_array()
            .is_some_and(|types| types.contains(&json!("application/strategic-merge-patch+json")))
    );
    let body = patch["parameters"].as_array().and_then(|all| all.iter().find(|one| one["in"] == "body"));
    assert_eq!(
        body.map(|body| &body["schema"]["$ref"]),
        Some(&json!("#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch"))
    );
    assert_eq!(patch["responses"]["200"]["schema"]["$ref"], "#/definitions/io.k8s.api.core.v1.ConfigMap");

    let accept = [(header::ACCEPT, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")];
    let response = get(&open_api, "/openapi/v2", &accept);
    assert_eq!(
        response.headers()[header::CONTENT_TYPE],
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    );
    // swagger: "2.0", and info.title.
    assert!(response.body().starts_with(b"\x0a\x032.0\x12\x12\x0a\x0aKubernetes\x12\x041.37\x4a"));
    let etag = response.headers()[header::ETAG].to_str().expect("a text");
    let known = get(&open_api, "/openapi/v2", &[accept[0].clone(), (header::IF_NONE_MATCH, etag)]);
    assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(
        get(&open_api, "/openapi/v2", &[(header::ACCEPT, "text/html")]).status(),
        StatusCode::NOT_ACCEPTABLE
    );
}
