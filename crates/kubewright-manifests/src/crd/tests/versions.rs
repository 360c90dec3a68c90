//! The versions of a kind.

use serde_json::json;

use super::*;

pub(super) mod v1alpha1 {
    use super::*;

    /// +kubebuilder:deprecatedversion:warning="use v1"
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
    pub(super) struct MemcachedSpec {
        size: String,
    }
}

pub(super) mod v1 {
    use super::*;

    /// +kubebuilder:storageversion
    /// +kubebuilder:resource:shortName=mc
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
    pub(super) struct MemcachedSpec {
        size: i32,
    }
}

pub(super) mod v2beta1 {
    use super::*;

    /// +kubebuilder:storageversion
    /// +kubebuilder:resource:shortName=mem
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cache.example.com", version = "v2beta1", kind = "Memcached", plural = "mems")]
    pub(super) struct MemcachedSpec {
        size: i32,
    }
}

fn names(built: &Built) -> Vec<(&str, bool)> {
    let versions = built.document["spec"]["versions"].as_array().expect("versions");
    versions
        .iter()
        .map(|version| (version["name"].as_str().expect("a name"), version["storage"] == true))
        .collect()
}

#[test]
fn the_marked_version_is_stored_and_the_most_stable_comes_first() {
    let built = shown("two-versions", &CrdBuilder::of::<v1alpha1::Memcached>().version::<v1::Memcached>());
    assert_eq!(faults(&built), []);
    assert_eq!(names(&built), [("v1", true), ("v1alpha1", false)]);
    assert_eq!(version(&built, 1)["deprecationWarning"], "use v1");
    assert_eq!(built.document["spec"]["names"]["shortNames"], json!(["mc"]));
    assert_eq!(built.document["spec"].get("conversion"), None);
}

#[test]
fn controller_gen_sorts_versions_by_name() {
    #[derive(JsonSchema)]
    struct Any {}
    let builder = CrdBuilder::of_root::<Any>("example.com", "v10", "Any").root_version::<Any>("v2");
    let builder = builder.root_version::<Any>("v2alpha1").root_version::<Any>("v1beta1");
    let order = |options: CrdOptions| {
        let built = builder.clone().options(options).build();
        names(&built).into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(order(CrdOptions::default()), ["v10", "v2", "v1beta1", "v2alpha1"]);
    assert_eq!(order(CrdOptions::controller_gen()), ["v10", "v1beta1", "v2", "v2alpha1"]);
}

#[test]
fn several_versions_are_converted_by_the_usual_webhook() {
    let options = CrdOptions { conversion: Some(ConversionWebhook::default()), ..CrdOptions::default() };
    let one = CrdBuilder::of::<v1::Memcached>().options(options.clone());
    assert_eq!(one.build().document["spec"].get("conversion"), None);
    let two = one.version::<v1alpha1::Memcached>();
    let mut shown = options;
    shown.schema.max_description_length = Some(0);
    our_style::assert_unchanged_with("unit-usual-conversion", two.clone(), shown);
    let built = two.build();
    let service = &built.document["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
    assert_eq!(*service, json!({"name": "webhook-service", "namespace": "system", "path": "/convert"}));
}

#[test]
fn versions_must_not_contradict_each_other() {
    let built =
        shown("contradicting-versions", &CrdBuilder::of::<v1::Memcached>().version::<v2beta1::Memcached>());
    let found: Vec<_> =
        built.diagnostics.iter().map(|found| (found.message.as_str(), marker_of(found).1)).collect();
    assert_eq!(
        found,
        [
            ("the plural name is `mems` here, but `memcacheds` in the attributes of `MemcachedSpec`", ""),
            ("the scope is `Cluster` here, but `Namespaced` in the attributes of `MemcachedSpec`", ""),
            (
                "the list of short names is `mem` here, but `mc` by `+kubebuilder:resource:shortName=mc` on \
                 `MemcachedSpec`",
                "mem",
            ),
            ("Memcached stores v2beta1 here, but v1 as well", "+kubebuilder:storageversion"),
        ]
    );
    assert!(built.has_errors());
}

#[test]
fn one_type_is_one_version_and_two_are_a_fault() {
    #[derive(JsonSchema)]
    struct One {}
    #[derive(JsonSchema)]
    struct Other {}
    let builder = CrdBuilder::of_root::<One>("example.com", "v1", "One").root_version::<One>("v1");
    assert_eq!(faults(&shown("one-version", &builder)), []);
    let built = shown("one-version-twice", &builder.root_version::<Other>("v1"));
    assert_eq!(built.diagnostics[0].code, "duplicate-version");
}

#[test]
fn versions_are_of_one_kind() {
    let built = shown("other-kind", &CrdBuilder::of::<v1::Memcached>().version::<Cache>());
    assert!(faults(&built).iter().any(|(code, _)| *code == "other-kind"));
}

#[test]
fn nothing_says_which_version_is_stored() {
    #[derive(JsonSchema)]
    struct Any {}
    let built = shown(
        "no-stored-version",
        &CrdBuilder::of_root::<Any>("example.com", "v1", "Any").root_version::<Any>("v2"),
    );
    assert_eq!(faults(&built), [("storage-version", "no version of Any is stored")]);
    // Whatever is said of a single version, it is stored.
    assert_eq!(names(&CrdBuilder::of_root::<Any>("example.com", "v1", "Any").build()), [("v1", true)]);
}

#[test]
fn a_skipped_version_is_left_out() {
    /// +kubebuilder:skipversion
    #[derive(JsonSchema)]
    struct Skipped {}
    #[derive(JsonSchema)]
    struct Kept {}
    let builder = CrdBuilder::of_root::<Skipped>("example.com", "v1", "Any");
    assert_eq!(faults(&shown("no-version", &builder)), [("no-version", "every version of Any is skipped")]);
    let built = shown("skipped-version", &builder.root_version::<Kept>("v2"));
    assert_eq!(faults(&built), []);
    assert_eq!(names(&built), [("v2", true)]);
}

#[test]
fn a_version_must_be_served() {
    /// +kubebuilder:unservedversion
    #[derive(JsonSchema)]
    struct Hidden {}
    let built = shown("unserved-version", &CrdBuilder::of_root::<Hidden>("example.com", "v1", "Any"));
    assert_eq!(faults(&built), [("no-served-version", "no version of Any is served")]);
    assert_eq!(version(&built, 0)["served"], false);
}
