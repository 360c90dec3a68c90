//! The webhooks of an operator, called by the API server in the test's own thread and time.

use kube::{
    Api, CustomResource,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_runtime::{
    Result,
    controller::Controller,
    manager::Manager,
    reconcile_fn,
    webhook::{AdmissionRequest, Defaulter, FieldErrors, Spoke, Validator, Warnings, Webhook},
};
use kubewright_testing::TestCluster;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// ShopSpec says what is wanted.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "shops.example.com", version = "v1", kind = "Shop", namespaced)]
#[serde(rename_all = "camelCase")]
struct ShopSpec {
    /// How many doors it has.
    doors: i32,
    /// Who keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    keeper: Option<String>,
}

mod v1alpha1 {
    use super::*;

    /// ShopSpec says what is wanted.
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "shops.example.com", version = "v1alpha1", kind = "Shop", namespaced, storage = false)]
    pub(super) struct ShopSpec {
        /// How many entrances it has.
        pub(super) entrances: i32,
    }
}

impl Spoke for v1alpha1::Shop {
    type Hub = Shop;

    fn into_hub(self) -> Result<Shop> {
        Ok(Shop::new("", ShopSpec { doors: self.spec.entrances, keeper: None }))
    }

    fn from_hub(hub: Shop) -> Result<Self> {
        Ok(Self::new("", v1alpha1::ShopSpec { entrances: hub.spec.doors }))
    }
}

struct Rules;

impl Defaulter<Shop> for Rules {
    async fn default(&self, shop: &mut Shop, request: &AdmissionRequest) -> Result<()> {
        if shop.spec.keeper.is_none() {
            shop.spec.keeper = request.user_info.username.clone();
        }
        Ok(())
    }
}

impl Validator<Shop> for Rules {
    async fn validate_create(&self, shop: &Shop, _: &AdmissionRequest) -> Result<Warnings> {
        let mut errors = FieldErrors::new();
        if shop.spec.doors < 1 {
            errors.invalid("spec.doors", shop.spec.doors, "nobody can get in");
        }
        errors.into_result()?;
        Ok(Warnings::none())
    }

    async fn validate_update(&self, old: &Shop, new: &Shop, request: &AdmissionRequest) -> Result<Warnings> {
        let mut errors = FieldErrors::new();
        if new.spec.keeper != old.spec.keeper {
            errors.forbidden("spec.keeper", "it is kept for life");
        }
        errors.into_result()?;
        self.validate_create(new, request).await
    }
}

fn register(manager: &Manager) -> Result<()> {
    Controller::new::<Shop>(manager).run(reconcile_fn(async |_| Ok(kubewright_runtime::Action::done())))?;
    Webhook::new::<Shop>(manager).defaulter(Rules).validator(Rules).spoke::<v1alpha1::Shop>().serve()
}

fn shop(name: &str, doors: i32) -> Shop {
    Shop::new(name, ShopSpec { doors, keeper: None })
}

async fn shops(cluster: &TestCluster) -> Api<Shop> {
    Api::default_namespaced(cluster.client())
}

#[tokio::test(start_paused = true)]
async fn an_operators_webhooks_are_called_without_further_ado() {
    let cluster = TestCluster::start().await;
    let operator = cluster.run("shop-operator", register);
    cluster.install_all(operator.manager().crds()).await;
    let api = shops(&cluster).await;

    let created = api.create(&PostParams::default(), &shop("baker", 2)).await.expect("a good shop");
    assert_eq!(created.spec.keeper.as_deref(), Some("system:admin"));
    let refused = api.create(&PostParams::default(), &shop("prison", 0)).await.expect_err("no door");
    let kube::Error::Api(status) = refused else { panic!("{refused}") };
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    assert_eq!(
        status.message,
        "admission webhook \"vshop-v1.kb.io\" denied the request: Shop.shops.example.com \"prison\" is invalid: spec.doors: \
         Invalid value: 0: nobody can get in"
    );
    let patch = Patch::Merge(json!({"spec": {"keeper": "somebody else"}}));
    let refused = api.patch("baker", &PatchParams::default(), &patch).await.expect_err("another keeper");
    assert!(refused.to_string().contains("it is kept for life"), "{refused}");

    let old = Api::<v1alpha1::Shop>::default_namespaced(cluster.client());
    assert_eq!(old.get("baker").await.expect("converted").spec.entrances, 2);
    let alpha = v1alpha1::Shop::new("butcher", v1alpha1::ShopSpec { entrances: 3 });
    old.create(&PostParams::default(), &alpha).await.expect("a shop in the old version");
    assert_eq!(api.get("butcher").await.expect("converted").spec.doors, 3);
    operator.stop().await.expect("a good end");
    let refused = api.create(&PostParams::default(), &shop("late", 1)).await.expect_err("nobody answers");
    assert!(refused.to_string().contains("connection refused"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn configurations_of_markers_are_taken_as_they_are() {
    let configurations = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating-webhook-configuration
webhooks:
- name: vshop-v1.kb.io
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: webhook-service, namespace: system, path: /validate-shops-example-com-v1-shop}
  failurePolicy: Fail
  sideEffects: None
  rules:
  - {apiGroups: [shops.example.com], apiVersions: [v1], operations: [UPDATE], resources: [shops]}
";
    let cluster = TestCluster::start().await;
    let operator = cluster.operator("shop-operator").webhooks(configurations).run(register);
    cluster.install_all(operator.manager().crds()).await;
    let api = shops(&cluster).await;
    let created =
        api.create(&PostParams::default(), &shop("prison", 0)).await.expect("creations are not asked about");
    assert_eq!(created.spec.keeper, None, "there is no mutating webhook");
    let patch = Patch::Merge(json!({"spec": {"doors": -1}}));
    api.patch("prison", &PatchParams::default(), &patch).await.expect_err("changes are");
}
