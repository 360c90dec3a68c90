//! Defaults that depend on other fields or on where a type stands, one file per API group.

mod apiextensions;
mod apps;
mod autoscaling;
mod batch;
mod core;
mod policies;

use super::fields::{self, Fields};

/// Sets the conditional defaults of a type. The defaults of types within it are set later.
pub(super) fn set(name: &str, object: &mut Fields) {
    let Some((package, short)) = name.rsplit_once('.') else { return };
    match package {
        "io.k8s.api.core.v1" => core::set(short, object),
        "io.k8s.api.apps.v1" => apps::set(short, object),
        "io.k8s.api.batch.v1" => batch::set(short, object),
        "io.k8s.api.autoscaling.v1" => autoscaling::set_v1(short, object),
        "io.k8s.api.autoscaling.v2" => autoscaling::set(short, object),
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1" => apiextensions::set(short, object),
        "io.k8s.api.admissionregistration.v1"
        | "io.k8s.api.networking.v1"
        | "io.k8s.api.rbac.v1"
        | "io.k8s.api.resource.v1" => policies::set(short, object),
        _ => {}
    }
}
