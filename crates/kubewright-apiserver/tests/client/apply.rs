//! Server-side apply, and who owns what.

use std::time::Duration;

use k8s_openapi::{
    api::{apps::v1::Deployment, core::v1::ConfigMap},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;

use super::super::{client, config_map, server, status_of};
use super::custom_resources::{strict_widgets, widget_api};

#[tokio::test(start_paused = true)]
async fn appliers_own_what_they_apply() {
    let server = server();
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    crds.create(&PostParams::default(), &strict_widgets()).await.expect("created");
    let api = widget_api(&server);
    let apply = |size: i64| {
        Patch::Apply(json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": size},
        }))
    };
    let one = api.patch("w", &PatchParams::apply("one"), &apply(1)).await.expect("applied");
    assert_eq!(one.data["spec"], json!({"size": 1, "color": "red"}));
    tokio::time::advance(Duration::from_secs(5)).await;
    let again = api.patch("w", &PatchParams::apply("one"), &apply(1)).await.expect("applied");
    assert_eq!(again.metadata, one.metadata, "nothing has changed");

    let conflict = api.patch("w", &PatchParams::apply("two"), &apply(2)).await.expect_err("it is owned");
    assert_eq!(
        status_of(&conflict),
        (409, "Apply failed with 1 conflict: conflict with \"one\": .spec.size".to_owned())
    );
    let two = api.patch("w", &PatchParams::apply("two").force(), &apply(2)).await.expect("forced");
    assert_eq!(two.metadata.generation, Some(2));
    let managers: Vec<_> = two.managed_fields().iter().filter_map(|entry| entry.manager.as_deref()).collect();
    assert_eq!(managers, ["two"]);

    let status = Patch::Apply(json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "status": {"ready": true},
    }));
    let ready = api.patch_status("w", &PatchParams::apply("three"), &status).await.expect("applied");
    assert_eq!((&ready.data["status"]["ready"], &ready.data["spec"]["size"]), (&json!(true), &json!(2)));
    let own = ready.managed_fields().iter().find(|entry| entry.manager.as_deref() == Some("three"));
    assert_eq!(own.and_then(|entry| entry.subresource.as_deref()), Some("status"));
}

#[tokio::test(start_paused = true)]
async fn built_in_kinds_are_applied_by_their_list_keys() {
    let server = server();
    let api: Api<Deployment> = Api::default_namespaced(client(&server));
    let apply = |container: &str| {
        Patch::Apply(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {
                "selector": {"matchLabels": {"app": "d"}},
                "template": {
                    "metadata": {"labels": {"app": "d"}},
                    "spec": {"containers": [{"name": container, "image": "i"}]},
                },
            },
        }))
    };
    api.patch("d", &PatchParams::apply("one"), &apply("a")).await.expect("applied");
    let both = api.patch("d", &PatchParams::apply("two").force(), &apply("b")).await.expect("applied");
    let names = |deployment: &Deployment| {
        let spec = deployment.spec.template.spec.clone().expect("a pod spec");
        spec.containers.into_iter().map(|container| container.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&both), ["a", "b"]);
    let one = api.patch("d", &PatchParams::apply("two"), &apply("c")).await.expect("applied");
    assert_eq!(names(&one), ["a", "c"], "what an applier does not mention any more goes");
}

#[tokio::test(start_paused = true)]
async fn writers_are_told_apart_in_managed_fields() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let params = PostParams { field_manager: Some("tester".to_owned()), ..PostParams::default() };
    let created = maps.create(&params, &config_map("a", "1")).await.expect("created");
    let entry = &created.managed_fields()[0];
    assert_eq!((entry.manager.as_deref(), entry.operation.as_deref()), (Some("tester"), Some("Update")));
    assert_eq!(
        serde_json::to_value(&entry.fields_v1).expect("JSON"),
        json!({"f:data": {".": {}, "f:key": {}}})
    );
}
