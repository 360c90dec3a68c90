//! The prose of the built-in types, as `kubectl explain` shows it.
//!
//! k8s-openapi carries the descriptions of the official documents, and gives them as JSON schemas.

use std::{collections::BTreeMap, sync::LazyLock};

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::Value;

/// What is said about a type.
#[derive(Debug, Default)]
pub(super) struct Description {
    /// About the type itself.
    pub(super) text: Option<String>,
    fields: BTreeMap<String, String>,
}

impl Description {
    /// About a field.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }
}

/// What is said about a type of this name.
pub(super) fn of(name: &str) -> Option<&'static Description> {
    DESCRIPTIONS.get(name)
}

// Made on first use, which is the first document that is asked for.
static DESCRIPTIONS: LazyLock<BTreeMap<String, Description>> = LazyLock::new(|| {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    add_kinds(&mut generator);
    let describe = |(name, schema): (String, Value)| {
        let Value::Object(mut schema) = schema else { return (name, Description::default()) };
        let text = |value: Value| match value {
            Value::String(text) => Some(text),
            _ => None,
        };
        let properties = match schema.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Default::default(),
        };
        let fields = properties
            .into_iter()
            .filter_map(|(field, mut schema)| Some((field, text(schema.get_mut("description")?.take())?)))
            .collect();
        (name, Description { text: schema.remove("description").and_then(text), fields })
    };
    generator.take_definitions(false).into_iter().map(describe).collect()
});

/// Adds these types and all that they refer to.
macro_rules! add {
    ($generator:ident: $($($module:ident)::+ { $($kind:ident),+ $(,)? })+) => {
        $({
            use k8s_openapi::$($module)::+ as kinds;
            $(let _ = $generator.subschema_for::<kinds::$kind>();)+
        })+
    };
}

fn add_kinds(generator: &mut SchemaGenerator) {
    add! { generator:
        apimachinery::pkg::apis::meta::v1 {
            APIGroup, APIGroupList, APIVersions, DeleteOptions, ListMeta, ObjectMeta, Status,
        }
        api::core::v1 {
            Binding, ComponentStatus, ConfigMap, Endpoints, Event, LimitRange, Namespace, Node,
            PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ReplicationController, ResourceQuota,
            Secret, Service, ServiceAccount,
        }
        api::admissionregistration::v1 {
            MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
            ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
        }
        apiextensions_apiserver::pkg::apis::apiextensions::v1 { CustomResourceDefinition }
        kube_aggregator::pkg::apis::apiregistration::v1 { APIService }
        api::apps::v1 { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet }
        api::authentication::v1 { SelfSubjectReview, TokenRequest, TokenReview }
        api::authorization::v1 {
            LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview,
        }
        api::autoscaling::v1 { HorizontalPodAutoscaler, Scale }
        api::autoscaling::v2 { HorizontalPodAutoscaler }
        api::batch::v1 { CronJob, Job }
        api::certificates::v1 { CertificateSigningRequest, ClusterTrustBundle, PodCertificateRequest }
        api::coordination::v1 { Lease }
        api::discovery::v1 { EndpointSlice }
        api::events::v1 { Event }
        api::flowcontrol::v1 { FlowSchema, PriorityLevelConfiguration }
        api::networking::v1 { IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR }
        api::node::v1 { RuntimeClass }
        api::policy::v1 { Eviction, PodDisruptionBudget }
        api::rbac::v1 { ClusterRole, ClusterRoleBinding, Role, RoleBinding }
        api::resource::v1 {
            DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice,
        }
        api::scheduling::v1 { PriorityClass }
        api::storage::v1 {
            CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass,
        }
        api::storagemigration::v1 { StorageVersionMigration }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_fields_are_described() {
        let spec = of("io.k8s.api.apps.v1.DeploymentSpec").expect("a type");
        assert!(spec.text.as_deref().is_some_and(|text| text.starts_with("DeploymentSpec is")));
        assert!(spec.field("replicas").is_some_and(|text| text.starts_with("Number of desired pods.")));
        assert!(spec.field("selector").is_some_and(|text| text.starts_with("Label selector for pods.")));
        assert!(of("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").is_some());
    }
}
