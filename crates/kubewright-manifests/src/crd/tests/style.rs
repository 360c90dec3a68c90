//! What is different in controller-gen's style.

use serde_json::json;

use super::*;

#[test]
fn controller_gen_style() {
    /// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.size`
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct Index {
        size: i32,
        status: Option<CacheStatus>,
    }
    let builder = CrdBuilder::of_root::<Index>("example.com", "v1", "Index");
    let built = builder.clone().options(CrdOptions::controller_gen()).build();
    assert_eq!(
        built.document["metadata"]["annotations"],
        json!({"controller-gen.kubebuilder.io/version": "v0.23.0"})
    );
    assert_eq!(version(&built, 0)["subresources"], json!({}));
    let mut options = CrdOptions::controller_gen();
    options.tool_version = None;
    assert_eq!(builder.clone().options(options).build().document["metadata"].get("annotations"), None);
    let ours = shown("status", &builder);
    assert_eq!(version(&ours, 0)["subresources"], json!({"status": {}}));
    assert_eq!(ours.document["metadata"].get("annotations"), None);
}

#[test]
fn a_plural_of_the_derive_that_controller_gen_does_not_make() {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Policy", plural = "policys")]
    struct PolicySpec {}
    assert_eq!(faults(&shown("policies", &CrdBuilder::of::<Policy>())), []);
    let built = CrdBuilder::of::<Policy>().options(CrdOptions::controller_gen()).build();
    assert_eq!(
        faults(&built),
        [("other-plural", "the plural of Policy is `policys`; controller-gen makes it `policies`")]
    );
    assert!(!built.has_errors());
    assert_eq!(built.document["spec"]["names"]["plural"], "policys");
}
