//! Markers that contradict attributes, each other, or themselves.

use serde_json::json;

use super::*;

#[test]
fn markers_must_not_contradict_attributes() {
    /// +kubebuilder:resource:scope=Cluster,path=other
    /// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(
        group = "cache.example.com",
        version = "v1",
        kind = "Memcached",
        namespaced,
        printcolumn(name = "Size", type_ = "string", json_path = ".spec.size")
    )]
    struct MemcachedSpec {
        size: i32,
    }
    let built = shown("contradictions", &CrdBuilder::of::<Memcached>());
    let messages: Vec<_> = faults(&built).into_iter().map(|(_, message)| message).collect();
    assert_eq!(
        messages,
        [
            "the plural name is `memcacheds` here, but `other` by \
             `+kubebuilder:resource:scope=Cluster,path=other` on `MemcachedSpec`",
            "the scope is `Namespaced` here, but `Cluster` by \
             `+kubebuilder:resource:scope=Cluster,path=other` on `MemcachedSpec`",
            "the column \"Size\" is {\"jsonPath\":\".spec.size\",\"name\":\"Size\",\"type\":\"string\"} here, but \
             {\"jsonPath\":\".spec.size\",\"name\":\"Size\",\"type\":\"integer\"} by \
             `+kubebuilder:printcolumn:name=\"Size\",type=integer,JSONPath=`.spec.size`` on `MemcachedSpec`",
        ]
    );
}

#[test]
fn metadata_is_key_and_value() {
    /// +kubebuilder:metadata:annotations="abc",labels={"a=b=c"}
    #[derive(JsonSchema)]
    struct Any {}
    let built = shown("metadata", &CrdBuilder::of_root::<Any>("example.com", "v1", "Any"));
    assert_eq!(faults(&built), [("invalid-value", "`abc` is not in the form `key=value`")]);
    assert_eq!(built.document["metadata"]["labels"], json!({"a": "b=c"}));
}

#[test]
fn a_webhook_is_at_a_url_or_behind_a_service() {
    /// +kubewright:conversion:url="https://example.com/convert",serviceName=hooks
    #[derive(JsonSchema)]
    struct Any {}
    let built = shown("webhook", &CrdBuilder::of_root::<Any>("example.com", "v1", "Any"));
    assert_eq!(faults(&built), [("contradiction", "the webhook is at a URL, so it has no `serviceName`")]);
    assert_eq!(marker_of(&built.diagnostics[0]).1, "hooks");
    let client = &built.document["spec"]["conversion"]["webhook"]["clientConfig"];
    assert_eq!(*client, json!({"url": "https://example.com/convert"}));
}

#[test]
fn what_versions_share_is_told_once() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct Shared {
        /// +kubebuilder:validation:Minimun=1
        size: i32,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct V1 {
        spec: Shared,
    }
    /// +kubebuilder:storageversion
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct V2 {
        spec: Shared,
    }
    let built =
        shown("shared", &CrdBuilder::of_root::<V1>("example.com", "v1", "Any").root_version::<V2>("v2"));
    let codes: Vec<_> = faults(&built).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["unknown-marker"]);
}
