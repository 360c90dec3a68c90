//! The built-in plugins, one file or folder each, named as kube-apiserver names them.
//!
//! `names.rs` has the names, the order, and which are on by default. [`Registry::admit`] is the first phase, in which plugins
//! and then webhooks may change the object; [`Registry::allow`] is the second, in which they look at it as it would be stored.
//! [`Registry::charge`] comes last: what is charged to a quota is stored.
//! What a plugin has to know it reads in the store, where a commit counts at once. (A real server's plugins look at caches.)

mod certificates;
mod default_ingress_class;
mod default_storage_class;
mod default_toleration_seconds;
mod deny_service_external_ips;
mod limit_ranger;
mod names;
mod namespace_lifecycle;
mod owner_references_permission_enforcement;
mod persistent_volume_claim_resize;
mod pod_resize_validator;
mod pod_security;
mod pod_topology_labels;
mod priority;
mod resource_quota;
mod runtime_class;
mod service_account;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;

use serde_json::Value;

pub(crate) use self::names::Plugin;
pub use self::names::{AdmissionPlugins, AdmissionPluginsError};
use super::{Attributes, Operation};
use crate::{registry::Registry, status::Status};

/// Who has a say about a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admitters {
    /// Plugins, policies and webhooks.
    All,
    /// Plugins alone: the server itself writes.
    Plugins,
    /// Nobody, as they had their say.
    None,
}

impl Registry {
    /// Lets plugins and then webhooks change the object of a request, or refuse it. A delete has no object.
    ///
    /// # Errors
    /// With the first refusal.
    pub(crate) async fn admit(
        &self,
        attributes: &Attributes<'_>,
        mut object: Option<Value>,
    ) -> Result<Option<Value>, Status> {
        if attributes.request.admitters == Admitters::None {
            return Ok(object);
        }
        self.ask_plugins(attributes, object.as_mut()).await?;
        if self.admission.may_be_mutated() {
            let before = object.clone();
            object = self.mutate(attributes, object).await?;
            if object != before {
                // What a webhook has made is as good as what a client sends.
                self.ask_plugins(attributes, object.as_mut()).await?;
            }
        }
        if self.admission.plugins.has(Plugin::AlwaysDeny) {
            let why = "admission control is denying all modifications";
            return Err(attributes.forbidden(object.as_ref(), why));
        }
        Ok(object)
    }

    /// Lets plugins, policies and webhooks look at the object of a request as it would be stored.
    ///
    /// # Errors
    /// With the first refusal.
    pub(crate) async fn allow(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<(), Status> {
        if attributes.request.admitters == Admitters::None {
            return Ok(());
        }
        // No built-in plugin looks at connections.
        let is_write = attributes.operation() != Operation::Connect;
        for plugin in self.admission.plugins.iter().filter(|_| is_write) {
            match plugin {
                Plugin::LimitRanger => limit_ranger::validate(self, attributes, object)?,
                Plugin::ServiceAccount => service_account::validate(self, attributes, object)?,
                Plugin::PodSecurity => pod_security::validate(self, attributes, object)?,
                Plugin::Priority => priority::validate(self, attributes, object)?,
                Plugin::OwnerReferencesPermissionEnforcement => {
                    owner_references_permission_enforcement::validate(self, attributes, object)?;
                }
                Plugin::PersistentVolumeClaimResize => {
                    persistent_volume_claim_resize::validate(self, attributes, object)?;
                }
                Plugin::RuntimeClass => runtime_class::validate(self, attributes, object)?,
                Plugin::CertificateApproval => certificates::validate_approval(self, attributes)?,
                Plugin::CertificateSigning => certificates::validate_signing(self, attributes, object)?,
                Plugin::ClusterTrustBundleAttest => certificates::validate_bundle(self, attributes, object)?,
                Plugin::CertificateSubjectRestriction => certificates::validate_subject(attributes, object)?,
                Plugin::DenyServiceExternalIPs => deny_service_external_ips::validate(attributes, object)?,
                Plugin::PodResizeValidator => pod_resize_validator::validate(self, attributes, object)?,
                _ => {}
            }
        }
        self.validate(attributes, object).await
    }

    /// Charges quotas for an object that everybody has allowed, right before it is stored.
    ///
    /// # Errors
    /// If a quota does not allow it.
    pub(crate) fn charge(&self, attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
        let is_charged = attributes.request.admitters != Admitters::None
            && self.admission.plugins.has(Plugin::ResourceQuota);
        if is_charged { resource_quota::charge(self, attributes, object) } else { Ok(()) }
    }

    async fn ask_plugins(
        &self,
        attributes: &Attributes<'_>,
        mut object: Option<&mut Value>,
    ) -> Result<(), Status> {
        let is_write = attributes.operation() != Operation::Connect;
        for plugin in self.admission.plugins.iter().filter(|_| is_write) {
            let object = object.as_deref_mut();
            match plugin {
                Plugin::NamespaceLifecycle => {
                    namespace_lifecycle::admit(self, attributes, object.as_deref())?;
                }
                Plugin::LimitRanger => limit_ranger::admit(self, attributes, object),
                Plugin::ServiceAccount => service_account::admit(self, attributes, object).await?,
                Plugin::TaintNodesByCondition => taint_nodes_by_condition::admit(attributes, object),
                Plugin::Priority => priority::admit(self, attributes, object)?,
                Plugin::DefaultTolerationSeconds => default_toleration_seconds::admit(attributes, object),
                Plugin::DefaultStorageClass => default_storage_class::admit(self, attributes, object),
                Plugin::StorageObjectInUseProtection => {
                    storage_object_in_use_protection::admit(attributes, object);
                }
                Plugin::RuntimeClass => runtime_class::admit(self, attributes, object)?,
                Plugin::DefaultIngressClass => default_ingress_class::admit(self, attributes, object),
                Plugin::PodTopologyLabels => pod_topology_labels::admit(self, attributes, object),
                _ => {}
            }
        }
        Ok(())
    }
}
