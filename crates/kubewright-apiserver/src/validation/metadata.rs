//! What most kinds check in metadata beyond what all objects have in common.

use kubewright_schema::names;

use super::{Field, core};

/// Checks that finalizers without a domain are those of Kubernetes. Some kinds do not mind.
pub(super) fn check_finalizers(group: &str, plural: &str, object: Field<'_>) {
    let is_checked = match group {
        "" => plural != "events",
        "admissionregistration.k8s.io"
        | "apiextensions.k8s.io"
        | "apiregistration.k8s.io"
        | "coordination.k8s.io"
        | "node.k8s.io"
        | "policy" => false,
        _ => true,
    };
    if is_checked {
        object.child("metadata").child("finalizers").items().for_each(core::check_standard_finalizer);
    }
}

/// Checks the metadata of a changed object as if the object were new, for the kinds that do so.
pub(super) fn check_again(group: &str, plural: &str, subresource: &str, object: Field<'_>) {
    let is_checked = matches!(
        (group, plural),
        (
            "",
            "configmaps"
                | "endpoints"
                | "limitranges"
                | "persistentvolumeclaims"
                | "persistentvolumes"
                | "secrets"
                | "serviceaccounts",
        ) | (
            "apiregistration.k8s.io"
                | "discovery.k8s.io"
                | "flowcontrol.apiserver.k8s.io"
                | "node.k8s.io"
                | "rbac.authorization.k8s.io",
            _,
        ) | ("networking.k8s.io", "ingressclasses" | "ipaddresses")
            | (
                "storage.k8s.io",
                "csinodes"
                    | "csistoragecapacities"
                    | "storageclasses"
                    | "volumeattachments"
                    | "volumeattributesclasses",
            )
    );
    if is_checked && subresource.is_empty() {
        let finalizers = object.child("metadata").child("finalizers");
        finalizers.extend(names::validate_finalizers(finalizers.value(), &finalizers.path()));
    }
}
