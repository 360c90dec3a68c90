//! What runs in the end: one Deployment for each Memcached, as in the example.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Capabilities, Container, ContainerPort, PodSecurityContext, PodSpec, PodTemplateSpec,
            SeccompProfile, SecurityContext,
        },
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use kube::{Resource, ResourceExt};

use crate::api::Memcached;

/// The label that names the Memcached to which an object belongs.
pub(crate) const INSTANCE: &str = "app.kubernetes.io/instance";

/// The Deployment that `memcached` asks for, to be run with `image`.
pub(crate) fn desired(memcached: &Memcached, image: &str) -> Deployment {
    let name = memcached.name_any();
    // The selector cannot be changed later, so nothing that an upgrade changes may be in it.
    let selector = labels([("app.kubernetes.io/name", "memcached"), (INSTANCE, &name)]);
    let mut all_labels = selector.clone();
    all_labels.extend(labels([("app.kubernetes.io/managed-by", "memcached-operator")]));
    if let Some(tag) = tag(image) {
        all_labels.extend(labels([("app.kubernetes.io/version", tag)]));
    }
    Deployment {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: memcached.namespace(),
            labels: Some(all_labels.clone()),
            owner_references: memcached.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..Default::default()
        },
        spec: DeploymentSpec {
            replicas: Some(memcached.spec.size),
            selector: LabelSelector { match_labels: Some(selector), ..Default::default() },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta { labels: Some(all_labels), ..Default::default() }),
                spec: Some(PodSpec {
                    containers: vec![container(memcached, image)],
                    security_context: Some(PodSecurityContext {
                        run_as_non_root: Some(true),
                        seccomp_profile: Some(SeccompProfile {
                            type_: "RuntimeDefault".to_owned(),
                            ..Default::default()
                        }),
                        ..Default::default()
                    }),
                    ..Default::default()
                }),
            },
            ..Default::default()
        },
        ..Default::default()
    }
}

fn container(memcached: &Memcached, image: &str) -> Container {
    let port = memcached.spec.container_port;
    Container {
        name: "memcached".to_owned(),
        image: Some(image.to_owned()),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        command: Some(["memcached", "-m=64", "-o", "modern", "-v"].map(str::to_owned).into()),
        ports: Some(vec![ContainerPort {
            name: Some("memcached".to_owned()),
            container_port: port,
            ..Default::default()
        }]),
        security_context: Some(SecurityContext {
            run_as_non_root: Some(true),
            run_as_user: Some(1001),
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), ..Default::default() }),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn labels<const N: usize>(labels: [(&str, &str); N]) -> BTreeMap<String, String> {
    labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

/// The tag of an image reference, if it has one: a registry's port or a digest is none. A tag of more than 63
/// characters cannot be a label's value.
fn tag(image: &str) -> Option<&str> {
    let name = image.split('@').next()?;
    let (_, tag) = name.rsplit('/').next()?.split_once(':')?;
    (!tag.is_empty() && tag.len() <= 63).then_some(tag)
}
