use std::time::Duration;

use http::Method;
use k8s_openapi::api::{
    apps::v1::Deployment,
    autoscaling::v1::Scale,
    core::v1::{ConfigMap, Namespace, Pod},
};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use serde_json::{Value, json};

use super::*;
use crate::{Request, scripted::Scripted};

fn deployment(replicas: i32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "shop", "name": "cart", "resourceVersion": "7"},
        "spec": {"replicas": replicas, "selector": {}, "template": {}},
    })
}

fn typed(value: Value) -> Deployment {
    serde_json::from_value(value).expect("a deployment")
}

fn key() -> Request {
    Request::namespaced("shop", "cart")
}

#[tokio::test]
async fn a_missing_object_is_none_and_a_missing_kind_an_error() {
    let server = Scripted::new()
        .answer(200, deployment(1))
        .failure(404, "NotFound", "deployments.apps \"cart\" not found")
        .answer_text(404, "404 page not found\n");
    let live = server.client().live();
    let found = live.get::<Deployment>(key()).await.expect("an answer").expect("a deployment");
    assert_eq!(found.spec.replicas, Some(1));
    assert!(live.get::<Deployment>(key()).await.expect("an answer").is_none());
    let error = live.get::<Deployment>(key()).await.expect_err("no such kind");
    assert!(error.is_unknown_kind());
    assert!(!error.is_not_found());
    assert_eq!(
        error.to_string(),
        "cannot get deployments.apps \"shop/cart\": 404 page not found (404); the server does not serve this \
         resource: is its CustomResourceDefinition installed?"
    );
    assert_eq!(server.asked()[0].target, "/apis/apps/v1/namespaces/shop/deployments/cart");
}

#[tokio::test]
async fn a_list_is_read_in_pages_and_starts_over_when_the_version_expired() {
    let page = |names: &[&str], token: &str| {
        let items: Vec<_> = names.iter().map(|name| json!({"metadata": {"name": name}})).collect();
        json!({"kind": "NamespaceList", "apiVersion": "v1", "metadata": {"continue": token}, "items": items})
    };
    let server = Scripted::new()
        .answer(200, page(&["a", "b"], "next"))
        .failure(410, "Expired", "The provided continue parameter is too old")
        .answer(200, page(&["a", "b", "c"], ""));
    let namespaces = server
        .client()
        .live()
        .list::<Namespace>(ListOptions::all().label("team", "x"))
        .await
        .expect("a list");
    let names: Vec<_> =
        namespaces.iter().filter_map(|namespace| namespace.metadata.name.as_deref()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let targets: Vec<_> = server.asked().into_iter().map(|asked| asked.target).collect();
    assert_eq!(
        targets,
        [
            "/api/v1/namespaces?labelSelector=team%3Dx&limit=500",
            "/api/v1/namespaces?labelSelector=team%3Dx&limit=500&continue=next",
            "/api/v1/namespaces?labelSelector=team%3Dx",
        ]
    );
}

#[tokio::test]
async fn an_empty_list_may_be_null() {
    let server = Scripted::new().answer(200, json!({"metadata": {}, "items": null}));
    let pods = server.client().live().list::<Pod>(ListOptions::all()).await.expect("a list");
    assert!(pods.is_empty());
}

#[tokio::test]
async fn metadata_alone_is_asked_for_where_it_is_enough() {
    let server = Scripted::new().answer(200, json!({"metadata": {"name": "cart"}}));
    let live = server.client().live();
    live.get::<PartialObjectMeta<Pod>>(("shop", "cart")).await.expect("an answer").expect("a pod");
    assert!(server.asked()[0].accept.contains("as=PartialObjectMetadata;"));
}

#[tokio::test]
async fn an_apply_is_forced_under_the_field_manager() {
    let server = Scripted::new().answer(200, deployment(3)).answer(200, deployment(3));
    let client = server.client();
    client.apply(&typed(deployment(3))).await.expect("applied");
    client
        .with_force(false)
        .with_dry_run()
        .with_field_validation(FieldValidation::Strict)
        .apply_value::<Deployment>(&json!({"metadata": {"namespace": "shop", "name": "cart"}}))
        .await
        .expect("applied");
    let [first, second] = &server.asked()[..] else { panic!("two requests") };
    assert_eq!(first.method, Method::PATCH);
    assert_eq!(first.content_type, "application/apply-patch+yaml");
    assert_eq!(
        first.target,
        "/apis/apps/v1/namespaces/shop/deployments/cart?fieldManager=operator&force=true"
    );
    assert_eq!(first.body["apiVersion"], "apps/v1");
    assert_eq!(
        second.target,
        "/apis/apps/v1/namespaces/shop/deployments/cart?fieldManager=operator&dryRun=All&fieldValidation=Strict&force=false"
    );
    assert_eq!(
        second.body,
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop", "name": "cart"}})
    );
}

#[tokio::test]
async fn an_object_of_another_kind_is_refused_before_it_is_sent() {
    let server = Scripted::new();
    let error = server
        .client()
        .apply_value::<Deployment>(
            &json!({"kind": "Service", "metadata": {"namespace": "shop", "name": "cart"}}),
        )
        .await
        .expect_err("another kind");
    assert!(error.to_string().contains("the kind of the object is \"Service\""), "{error}");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_key_that_does_not_fit_the_kind_is_refused() {
    let client = Scripted::new().client();
    for (key, reason) in [
        (Request::cluster("cart"), "Deployment is a namespaced kind, and no namespace is given"),
        (Request::namespaced("shop", ""), "the name is empty"),
        (Request::namespaced("shop", ".."), "the name may not be \"..\""),
        (Request::namespaced("shop", "a/b"), "may not contain any of"),
        (Request::namespaced("a/b", "cart"), "the namespace \"a/b\" may not contain any of"),
    ] {
        let error = client.live().get::<Deployment>(key).await.expect_err("a bad key").to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[tokio::test]
async fn writes_go_where_they_should() {
    let server = Scripted::new()
        .answer(201, deployment(1))
        .answer(200, deployment(1))
        .answer(200, deployment(1))
        .answer(200, deployment(1))
        .answer(200, json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}))
        .failure(404, "NotFound", "deployments.apps \"cart\" not found")
        .answer(200, json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}));
    let client = server.client();
    let object = typed(deployment(1));
    client.create(&object).await.expect("created");
    client.update(&object).await.expect("updated");
    client
        .patch::<Deployment>(&object, Patch::merge(json!({"spec": {"replicas": 1}})))
        .await
        .expect("patched");
    client.status().update(&object).await.expect("updated");
    assert!(client.delete::<Deployment>(&object, DeleteOptions::foreground()).await.expect("deleted"));
    assert!(!client.delete::<Deployment>(&object, DeleteOptions::default()).await.expect("no error"));
    client
        .delete_all_of::<Deployment>(
            ListOptions::in_namespace("shop").label("app", "cart"),
            DeleteOptions::default(),
        )
        .await
        .expect("deleted");
    let asked: Vec<_> =
        server.asked().into_iter().map(|asked| format!("{} {}", asked.method, asked.target)).collect();
    let collection = "/apis/apps/v1/namespaces/shop/deployments";
    assert_eq!(
        asked,
        [
            format!("POST {collection}?fieldManager=operator"),
            format!("PUT {collection}/cart?fieldManager=operator"),
            format!("PATCH {collection}/cart?fieldManager=operator"),
            format!("PUT {collection}/cart/status?fieldManager=operator"),
            format!("DELETE {collection}/cart"),
            format!("DELETE {collection}/cart"),
            format!("DELETE {collection}?labelSelector=app%3Dcart"),
        ]
    );
    assert_eq!(server.asked()[2].content_type, "application/merge-patch+json");
    assert_eq!(server.asked()[4].body["propagationPolicy"], "Foreground");
}

#[tokio::test]
async fn a_collection_of_a_namespaced_kind_is_deleted_by_namespace() {
    let client = Scripted::new().client();
    let error = client.delete_all_of::<Pod>(ListOptions::all(), DeleteOptions::default()).await;
    assert!(error.expect_err("no namespace").to_string().contains("no namespace is given"));
}

#[tokio::test]
async fn the_status_is_applied_alone() {
    let server = Scripted::new().answer(200, deployment(1));
    let mut object = deployment(1);
    object["status"] = json!({"replicas": 1});
    server.client().status().apply(&typed(object)).await.expect("applied");
    let asked = &server.asked()[0];
    assert_eq!(
        asked.target,
        "/apis/apps/v1/namespaces/shop/deployments/cart/status?fieldManager=operator&force=true"
    );
    assert_eq!(
        asked.body,
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop", "name": "cart"},
            "status": {"replicas": 1},
        })
    );
}

#[tokio::test]
async fn a_subresource_has_its_own_type() {
    let server =
        Scripted::new().answer(200, json!({"metadata": {"name": "cart"}, "spec": {"replicas": 4}})).failure(
            403,
            "Forbidden",
            "deployments.apps \"cart\" is forbidden: User \"u\" cannot patch resource \
                                    \"deployments/scale\" in API group \"apps\" in the namespace \"shop\"",
        );
    let scale = server.client().subresource("scale");
    let read = scale.get::<Deployment, Scale>(key()).await.expect("an answer").expect("a scale");
    assert_eq!(read.spec.and_then(|spec| spec.replicas), Some(4));
    let patch = Patch::merge(json!({"spec": {"replicas": 5}}));
    let error = scale.patch::<Deployment, Scale>(key(), patch).await.expect_err("forbidden").to_string();
    assert!(error.starts_with("cannot patch deployments.apps/scale \"shop/cart\": "), "{error}");
    assert!(error.contains("groups=apps,resources=deployments/scale,verbs=patch"), "{error}");
}

#[tokio::test]
async fn objects_of_dynamic_kinds_know_their_type() {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("cache.example.com", "v1", "Memcached"));
    let server = Scripted::new()
        .answer(200, json!({"metadata": {}, "items": [{"metadata": {"namespace": "shop", "name": "a"}}]}))
        .answer(
            201,
            json!({"apiVersion": "cache.example.com/v1", "kind": "Memcached", "metadata": {"name": "b"}}),
        );
    let client = server.client().dynamic(&resource);
    let list = client.list(ListOptions::in_namespace("shop")).await.expect("a list");
    assert_eq!(list[0].types.as_ref().map(|types| types.kind.as_str()), Some("Memcached"));
    client.create(&DynamicObject::new("b", &resource)).await.expect("created");
    assert_eq!(server.asked()[0].target, "/apis/cache.example.com/v1/namespaces/shop/memcacheds?limit=500");
    assert_eq!(server.asked()[1].body["kind"], "Memcached");
}

#[tokio::test]
async fn create_or_patch_writes_only_a_difference() {
    let server = Scripted::new()
        .failure(404, "NotFound", "deployments.apps \"cart\" not found")
        .answer(201, deployment(2))
        .answer(200, deployment(2))
        .answer(200, deployment(1))
        .answer(200, deployment(2));
    let client = server.client();
    let two = |deployment: &mut Deployment| {
        deployment.spec.replicas = Some(2);
        Ok(())
    };
    let mut fresh = typed(deployment(1));
    fresh.metadata.resource_version = None;
    let mut results = Vec::new();
    for _ in 0..3 {
        results.push(client.create_or_patch(fresh.clone(), two).await.expect("no error").1);
    }
    assert_eq!(results, [OperationResult::Created, OperationResult::Unchanged, OperationResult::Updated]);
    let asked = server.asked();
    let methods: Vec<_> = asked.iter().map(|asked| asked.method.as_str()).collect();
    assert_eq!(methods, ["GET", "POST", "GET", "GET", "PATCH"]);
    assert_eq!(asked[4].body, json!({"metadata": {"resourceVersion": "7"}, "spec": {"replicas": 2}}));
}

#[tokio::test]
async fn create_or_patch_refuses_to_rename() {
    let server = Scripted::new().answer(200, deployment(2));
    let error = server
        .client()
        .create_or_patch(typed(deployment(1)), |deployment| {
            deployment.metadata.name = Some("other".into());
            Ok(())
        })
        .await
        .expect_err("renamed");
    assert!(error.to_string().contains("changed the object's key to \"shop/other\""), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_is_given_up_on() {
    let service = tower::service_fn(|_: http::Request<kube::client::Body>| async {
        std::future::pending::<std::result::Result<http::Response<kube::client::Body>, kube::Error>>().await
    });
    let client = Client::new(kube::Client::new(service, "default"), "operator");
    let error = client
        .with_timeout(Duration::from_secs(10))
        .live()
        .get::<ConfigMap>(("shop", "cart"))
        .await
        .expect_err("no answer");
    assert_eq!(error.to_string(), "cannot get configmaps \"shop/cart\": no answer within 10s");
}
