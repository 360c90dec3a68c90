//! What an operator's code uses all the time: `use kubewright::prelude::*`.

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
pub use kube::{CustomResource, CustomResourceExt, KubeSchema, Resource, ResourceExt};
pub use kubewright_runtime::{
    Action, Clock, Error, Reconciler, Request, Result,
    client::{Client, ClientError, DeleteOptions, ListOptions, Patch},
    conditions::{NewCondition, find_condition, is_condition_true, set_condition},
    controller::Controller,
    events::Recorder,
    finalizers::{add_finalizer, contains_finalizer, remove_finalizer},
    handler::{enqueue_mapped, enqueue_object, enqueue_owner},
    manager::{Manager, Options},
    owner_references::{controller_of, set_controller_reference, set_owner_reference},
    predicate::*,
    reconcile_fn,
    webhook::{AdmissionRequest, Defaulter, FieldErrors, Spoke, Validator, Warnings, Webhook},
};
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};
