//! What becomes of types and markers on an API server.

mod crds {
    mod webhooks;
}

use kube::{
    Api, CustomResource, Error,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::crds::{ConversionWebhook, CrdBuilder, Crds};
use kubewright_testing::TestCluster;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// CacheSpec says what is wanted.
///
/// +kubebuilder:resource:shortName=ca,categories=all
/// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
/// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size
/// +kubebuilder:selectablefield:JSONPath=`.spec.color`
/// +kubebuilder:metadata:labels="team=storage"
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "cache.example.com", version = "v1", kind = "Cache", namespaced, status = "CacheStatus")]
struct CacheSpec {
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:validation:ExclusiveMinimum=true
    /// +kubebuilder:validation:Maximum=5
    size: i32,
    /// +kubebuilder:default=blue
    /// +kubebuilder:validation:Enum=blue;red
    color: Option<String>,
    /// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the zone is fixed"
    zone: Option<String>,
    template: Option<Template>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct CacheStatus {
    size: i32,
}

/// What objects are made of.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Template {
    metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
}

fn caches(cluster: &TestCluster) -> Api<DynamicObject> {
    Api::default_namespaced_with(cluster.client(), &ApiResource::erase::<Cache>(&()))
}

fn cache(name: &str, spec: &Value) -> DynamicObject {
    let object = json!({"apiVersion": "cache.example.com/v1", "kind": "Cache", "metadata": {"name": name}, "spec": spec});
    serde_json::from_value(object).expect("an object")
}

async fn created(api: &Api<DynamicObject>, object: DynamicObject) -> Result<Value, String> {
    match api.create(&PostParams::default(), &object).await {
        Ok(object) => Ok(object.data),
        Err(Error::Api(status)) => Err(status.message),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(start_paused = true)]
async fn markers_hold_on_the_server() {
    let cluster = TestCluster::start().await;
    cluster.install::<Cache>().await;
    let api = caches(&cluster);

    let stored = created(&api, cache("a", &json!({"size": 1, "zone": "x"}))).await.expect("valid");
    assert_eq!(stored["spec"], json!({"size": 1, "zone": "x", "color": "blue"}));
    for (spec, reason) in [
        (json!({"size": 0}), "spec.size in body should be greater than 0"),
        (json!({"size": 6}), "spec.size in body should be less than or equal to 5"),
        (json!({"size": 1, "color": "green"}), "Unsupported value: \"green\""),
    ] {
        let refused = created(&api, cache("b", &spec)).await.expect_err("invalid");
        assert!(refused.contains(reason), "{refused}");
    }
    let patch = Patch::Merge(json!({"spec": {"zone": "y"}}));
    let refused = api.patch("a", &PatchParams::default(), &patch).await.expect_err("the rule holds");
    assert!(refused.to_string().contains("the zone is fixed"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn subresources_and_selectable_fields_work() {
    let cluster = TestCluster::start().await;
    cluster.install::<Cache>().await;
    let api = caches(&cluster);
    created(&api, cache("a", &json!({"size": 1}))).await.expect("valid");
    created(&api, cache("b", &json!({"size": 1, "color": "red"}))).await.expect("valid");

    let red = api.list(&ListParams::default().fields("spec.color=red")).await.expect("a selectable field");
    assert_eq!(red.items.iter().map(|item| item.metadata.name.as_deref()).collect::<Vec<_>>(), [Some("b")]);
    let scale = Patch::Merge(json!({"spec": {"replicas": 3}}));
    api.patch_scale("a", &PatchParams::default(), &scale).await.expect("the scale subresource");
    let scaled = api.get("a").await.expect("it is there");
    assert_eq!(scaled.data["spec"]["size"], 3);
    let status = Patch::Merge(json!({"status": {"size": 3}}));
    let scaled =
        api.patch_status("a", &PatchParams::default(), &status).await.expect("the status subresource");
    assert_eq!(scaled.data["status"]["size"], 3);
}

#[tokio::test(start_paused = true)]
async fn the_metadata_of_an_embedded_object_is_kept() {
    let cluster = TestCluster::start().await;
    cluster.install::<Cache>().await;
    let template = json!({"metadata": {"name": "n", "labels": {"a": "b"}, "annotations": {"c": "d"}}});
    let object = cache("a", &json!({"size": 1, "template": template}));
    let stored = created(&caches(&cluster), object).await.expect("valid");
    assert_eq!(stored["spec"]["template"], template);
}

mod v1alpha1 {
    use super::*;

    /// CacheSpec in its first version.
    ///
    /// +kubebuilder:deprecatedversion:warning="use v1"
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(
        group = "cache.example.com",
        version = "v1alpha1",
        kind = "Cache",
        namespaced,
        status = "CacheStatus",
        storage = false
    )]
    pub(super) struct CacheSpec {
        pub(super) size: i32,
    }
}

#[tokio::test(start_paused = true)]
async fn all_versions_of_a_kind_are_served() {
    let crds = Crds::default();
    crds.register(CrdBuilder::of::<v1alpha1::Cache>());
    crds.register(CrdBuilder::of::<Cache>());
    let cluster = TestCluster::start().await;
    cluster.install_all(&crds).await;
    created(&caches(&cluster), cache("a", &json!({"size": 1}))).await.expect("valid");
    let old = Api::<v1alpha1::Cache>::default_namespaced(cluster.client()).get("a").await.expect("served");
    assert_eq!(old.spec.size, 1);
}

#[tokio::test(start_paused = true)]
async fn a_conversion_webhook_is_accepted() {
    let crds = Crds::default();
    crds.register(CrdBuilder::of::<v1alpha1::Cache>().version::<Cache>());
    crds.configure(|options| {
        options.conversion = Some(
            ConversionWebhook::service("cache-system", "webhook").inject_ca_from("cache-system/serving-cert"),
        );
    });
    let cluster = TestCluster::start().await;
    cluster.install_all(&crds).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(
    expected = "the CRDs are wrong: error[contradiction]: the scope is `Namespaced` here, but `Cluster`"
)]
async fn a_wrong_definition_is_not_installed() {
    /// +kubebuilder:resource:scope=Cluster
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Wrong", namespaced)]
    struct WrongSpec {}
    TestCluster::start().await.install::<Wrong>().await;
}
