//! Kinds that a definition adds.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::wait;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use kubewright_apiserver::ApiServer;
use serde_json::json;

use super::super::{client, server, status_of};

fn widgets() -> CustomResourceDefinition {
    serde_json::from_value(json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    },
                }},
            }],
        },
    }))
    .expect("a CRD")
}

pub(super) fn widget_api(server: &ApiServer) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.com", "v1", "Widget");
    Api::default_namespaced_with(client(server), &ApiResource::from_gvk(&kind))
}

pub(super) fn widget(name: &str) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 1},
    }))
    .expect("a widget")
}

#[tokio::test(start_paused = true)]
async fn a_custom_resource_is_served_as_soon_as_its_definition_is_there() {
    let server = server();
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    let widgets_api = widget_api(&server);
    widgets_api.list(&ListParams::default()).await.expect_err("not served yet");
    crds.create(&PostParams::default(), &widgets()).await.expect("created");
    wait::await_condition(crds.clone(), "widgets.example.com", wait::conditions::is_crd_established())
        .await
        .expect("established");

    let created = widgets_api.create(&PostParams::default(), &widget("w")).await.expect("created");
    assert_eq!(created.metadata.generation, Some(1));
    let patch = Patch::Merge(json!({"status": {"ready": true}, "spec": {"size": 2}}));
    let status = widgets_api.patch_status("w", &PatchParams::default(), &patch).await.expect("patched");
    assert_eq!((&status.data["status"]["ready"], &status.data["spec"]["size"]), (&json!(true), &json!(1)));
    let spec = widgets_api.patch("w", &PatchParams::default(), &patch).await.expect("patched");
    assert_eq!(spec.metadata.generation, Some(2));

    let hold = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/hold"]}}));
    widgets_api.patch("w", &PatchParams::default(), &hold).await.expect("patched");
    let going = crds.delete("widgets.example.com", &DeleteParams::default()).await.expect("deleted");
    assert!(going.is_left());
    let refused = widgets_api.create(&PostParams::default(), &widget("x")).await.expect_err("it is late");
    assert_eq!(
        status_of(&refused),
        (
            403,
            "widgets.example.com \"x\" is forbidden: create not allowed while custom resource definition is \
             terminating"
                .to_owned()
        )
    );
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    widgets_api.patch("w", &PatchParams::default(), &release).await.expect("released");
    assert_eq!(crds.get_opt("widgets.example.com").await.expect("an answer"), None);
    widgets_api.list(&ListParams::default()).await.expect_err("not served any more");
}

pub(super) fn strict_widgets() -> CustomResourceDefinition {
    let mut crd = widgets();
    crd.spec.versions[0].schema = serde_json::from_value(json!({"openAPIV3Schema": {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["size"],
                "properties": {
                    "size": {"type": "integer", "minimum": 1, "maximum": 3},
                    "color": {"type": "string", "default": "red"},
                },
            },
            "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
        },
    }}))
    .expect("a schema");
    crd
}

#[tokio::test(start_paused = true)]
async fn custom_resources_are_pruned_defaulted_and_checked() {
    let server = server();
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    crds.create(&PostParams::default(), &strict_widgets()).await.expect("created");
    let api = widget_api(&server);

    let mut wrong = widget("w");
    wrong.data["spec"] = json!({"size": 4});
    let refused = api.create(&PostParams::default(), &wrong).await.expect_err("out of bounds");
    assert_eq!(
        status_of(&refused),
        (
            422,
            "Widget.example.com \"w\" is invalid: spec.size: Invalid value: 4: spec.size in body should be less than \
             or equal to 3"
                .to_owned()
        )
    );
    let refused = api.create(&PostParams::default(), &widget("Bad_Name")).await.expect_err("a bad name");
    assert_eq!(status_of(&refused).0, 422);

    let mut unknown = widget("w");
    unknown.data["spec"] = json!({"size": 1, "sise": 2});
    let created = api.create(&PostParams::default(), &unknown).await.expect("created");
    assert_eq!(created.data["spec"], json!({"size": 1, "color": "red"}));
    let same = api.get("w").await.expect("there");
    assert_eq!(same.metadata.resource_version, created.metadata.resource_version);

    let patch = Patch::Merge(json!({"spec": {"size": null}}));
    let refused = api.patch("w", &PatchParams::default(), &patch).await.expect_err("it is required");
    assert_eq!(status_of(&refused).1, "Widget.example.com \"w\" is invalid: spec.size: Required value");
    let patch = Patch::Merge(json!({"spec": {"sise": 3}}));
    let strict =
        PatchParams { field_validation: Some(kube::api::ValidationDirective::Strict), ..Default::default() };
    let refused = api.patch("w", &strict, &patch).await.expect_err("an unknown field");
    assert_eq!(status_of(&refused).0, 422);
    assert!(status_of(&refused).1.contains("unknown field \"spec.sise\""), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn several_versions_are_views_of_what_is_stored() {
    let server = server();
    let mut crd = strict_widgets();
    let mut beta = crd.spec.versions[0].clone();
    beta.name = "v1beta1".to_owned();
    beta.storage = false;
    beta.deprecated = Some(true);
    crd.spec.versions.push(beta);
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    crds.create(&PostParams::default(), &crd).await.expect("created");
    let beta_kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1beta1", "Widget"));
    let beta: Api<DynamicObject> = Api::default_namespaced_with(client(&server), &beta_kind);
    let mut old = widget("w");
    old.types.as_mut().expect("types").api_version = "example.com/v1beta1".to_owned();
    let created = beta.create(&PostParams::default(), &old).await.expect("created");
    let api_version = |object: &DynamicObject| object.types.as_ref().expect("types").api_version.clone();
    assert_eq!(api_version(&created), "example.com/v1beta1");
    let stored = widget_api(&server).get("w").await.expect("the same object");
    assert_eq!(api_version(&stored), "example.com/v1");
    assert_eq!(stored.data["spec"], json!({"size": 1, "color": "red"}));
    assert_eq!(stored.metadata.resource_version, created.metadata.resource_version);

    // A default that comes later is seen in what was stored before.
    let patch = json!([{
        "op": "add",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/shape",
        "value": {"type": "string", "default": "round"},
    }]);
    let patch: Patch<()> = Patch::Json(serde_json::from_value(patch).expect("a patch"));
    crds.patch("widgets.example.com", &PatchParams::default(), &patch).await.expect("patched");
    let read = widget_api(&server).get("w").await.expect("the same object");
    assert_eq!(read.data["spec"], json!({"size": 1, "color": "red", "shape": "round"}));
    assert_eq!(read.metadata.resource_version, stored.metadata.resource_version);
}

#[tokio::test(start_paused = true)]
async fn rules_are_evaluated() {
    let server = server();
    let mut crd = serde_json::to_value(strict_widgets()).expect("JSON");
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["x-kubernetes-validations"] =
        json!([{"rule": "self.size < 3", "message": "too big"}]);
    let crd: CustomResourceDefinition = serde_json::from_value(crd).expect("a CRD");
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    crds.create(&PostParams::default(), &crd).await.expect("created");
    let mut big = widget("w");
    big.data["spec"]["size"] = json!(3);
    let refused = widget_api(&server).create(&PostParams::default(), &big).await.expect_err("too big");
    assert_eq!(
        status_of(&refused),
        (422, "Widget.example.com \"w\" is invalid: spec: Invalid value: too big".to_owned())
    );
}
