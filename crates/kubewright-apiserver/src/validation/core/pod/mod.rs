//! Pods, and templates of such.
//!
//! `spec.rs` goes through the spec of a pod in the order of a real server and names what looks at each part:
//! containers, volumes, affinity and so on, a file each. `template.rs` is about pods that are yet to be made,
//! `update.rs`, `status.rs`, `resize.rs` and `ephemeral.rs` are about what may change of a pod, each by its way,
//! `warnings.rs` about what is allowed and still not wise.

pub(in crate::validation) mod affinity;
mod annotations;
pub(crate) mod binding;
mod containers;
mod dns;
mod environment;
mod ephemeral;
mod mounts;
mod probes;
mod projected;
mod quality;
mod resize;
mod resources;
mod scheduling;
mod security;
mod spec;
mod status;
pub(in crate::validation) mod storage;
mod template;
pub(in crate::validation) mod tolerations;
mod topology_spread;
mod update;
pub(in crate::validation) mod volumes;
mod warnings;
mod windows;

use kubewright_schema::names::{self, NameRule};

pub(crate) use self::{
    annotations::app_armor_profile,
    quality::qos_class,
    resources::{larger, total},
    template::Template,
};
use crate::validation::Field;

/// What a spec is checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A pod.
    Pod,
    /// Pods that something makes.
    Template,
}

/// What the checks of a spec must know of what is around it.
#[derive(Debug)]
struct Scope<'a> {
    kind: Kind,
    /// The metadata of the pod.
    metadata: Option<Field<'a>>,
    /// Whether a container without new privileges may have the capability that it must not have: the pod or template
    /// had it before.
    allows_sys_admin: bool,
}

impl<'a> Scope<'a> {
    /// The scope of a pod, which was `old` before.
    fn pod(pod: Field<'a>, old: Option<Field<'_>>) -> Self {
        let allows_sys_admin = old.is_some_and(|old| security::has_sys_admin(old.child("spec")));
        Self { kind: Kind::Pod, metadata: Some(pod.child("metadata")), allows_sys_admin }
    }

    fn pod_name(&self) -> Option<&'a str> {
        self.metadata.map(|metadata| metadata.child("name").text()).filter(|name| !name.is_empty())
    }

    /// Whether it is the image of a pod that a kubelet has made by itself.
    fn is_mirror(&self) -> bool {
        let annotations = self.metadata.map(|metadata| metadata.child("annotations"));
        annotations.is_some_and(|annotations| annotations.value().get(annotations::MIRROR).is_some())
    }
}

pub(super) fn create(pod: Field<'_>) {
    let (spec, annotations) = (pod.child("spec"), pod.child("metadata").child("annotations"));
    validate(pod, &Scope::pod(pod, None));
    if !spec.child("ephemeralContainers").is_empty() {
        spec.child("ephemeralContainers").forbidden("cannot be set on create");
    }
    if !spec.child("nodeName").is_empty() && !spec.child("schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        spec.child("nodeName").forbidden(detail);
    }
    annotations::validate_profiles(annotations, spec);
}

pub(super) fn update(subresource: &str, new: Field<'_>, old: Field<'_>) {
    match subresource {
        "" => update::validate(new, old),
        "status" => status::validate(new, old),
        "ephemeralcontainers" => ephemeral::validate(new, old),
        "resize" => resize::validate(new, old),
        _ => {}
    }
}

pub(super) fn warnings(pod: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    // Who changes a pod is no person, most of the time.
    if old.is_some() {
        return Vec::new();
    }
    let mut warnings = Vec::from_iter(warnings::of_name(pod, "this is used in the Pod's hostname"));
    warnings.extend(warnings::of_pod(pod));
    warnings
}

/// What to warn about the name of something whose pods are named after it.
pub(crate) fn name_warning(owner: Field<'_>) -> Option<String> {
    warnings::of_name(owner, "this is used in Pod names and hostnames")
}

/// Checks a pod whose metadata stands the checks of every object.
fn validate(pod: Field<'_>, scope: &Scope<'_>) {
    let spec = pod.child("spec");
    annotations::validate(pod.child("metadata").child("annotations"), spec);
    spec::validate(spec, scope);
    if spec.child("serviceAccountName").is_empty() {
        for volume in spec.child("volumes").items() {
            for source in volume.child("projected").child("sources").items() {
                let token = source.child("serviceAccountToken");
                if token.is_set() {
                    token.forbidden("must not be specified when serviceAccountName is not set");
                }
            }
        }
    }
    spec.child("terminationGracePeriodSeconds").not_negative();
    for sort in ["containers", "initContainers"] {
        spec.child(sort).items().for_each(containers::validate_image_of_pod);
    }
}

/// Checks a changed pod as if it were new, its metadata too.
fn validate_again(pod: Field<'_>, old: Field<'_>) {
    let metadata = pod.child("metadata");
    let path = metadata.path();
    pod.extend(names::validate_object_meta(metadata.value(), true, NameRule::DnsSubdomain, &path));
    validate(pod, &Scope::pod(pod, Some(old)));
}
