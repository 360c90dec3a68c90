//! How kinds differ: what the server sets on create, what an update may not change, how a delete proceeds.

mod feature_gates;
mod fields;
mod namespace;
mod pod;
mod secret;
mod service;
mod status;
mod workload;

use kubewright_schema::{ErrorList, crd as definition, names::NameRule};
use serde_json::{Map, Value, json};

pub(super) use self::service::Refusal;
use super::{Served, ServiceRanges, Warnings, metadata};
use crate::{
    apply::{Set, field_manager::FieldManager},
    crd,
    store::Listing,
    user::User,
};

/// The behaviour of a kind in the places where verbs ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Nothing but what the resource's definition says.
    Plain,
    /// A kind of which annotations, too, are part of the desired state.
    Deployment,
    /// A kind that runs pods from a template it selects.
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    Service,
    Event,
    Role,
    ClusterRole,
    Namespace,
    Pod,
    ConfigMap,
    Secret,
    RoleBinding,
    Crd,
    /// A custom resource: as its CRD says.
    Custom,
}

impl Strategy {
    /// The strategy of a built-in resource.
    pub(crate) fn of(group: &str, plural: &str) -> Self {
        match (group, plural) {
            ("", "namespaces") => Self::Namespace,
            ("", "pods") => Self::Pod,
            ("", "configmaps") => Self::ConfigMap,
            ("", "secrets") => Self::Secret,
            ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => Self::RoleBinding,
            ("rbac.authorization.k8s.io", "roles") => Self::Role,
            ("rbac.authorization.k8s.io", "clusterroles") => Self::ClusterRole,
            ("apps", "deployments") => Self::Deployment,
            ("apps", "replicasets") => Self::ReplicaSet,
            ("apps", "statefulsets") => Self::StatefulSet,
            ("apps", "daemonsets") => Self::DaemonSet,
            ("batch", "jobs") => Self::Job,
            ("batch", "cronjobs") => Self::CronJob,
            ("", "services") => Self::Service,
            (_, "events") => Self::Event,
            ("apiextensions.k8s.io", "customresourcedefinitions") => Self::Crd,
            _ => Self::Plain,
        }
    }

    /// What names of the kind look like; `None` if the kind's own checks look at metadata.
    pub(super) fn name_rule(self, served: &Served) -> Option<NameRule> {
        match (served.definition.group.as_str(), served.definition.plural.as_str()) {
            ("", "namespaces" | "services") | ("apps", "statefulsets") => Some(NameRule::DnsLabel),
            ("rbac.authorization.k8s.io" | "apiregistration.k8s.io" | "policy", _)
            | ("", "events")
            | ("certificates.k8s.io", "certificatesigningrequests" | "clustertrustbundles")
            | ("networking.k8s.io", "ipaddresses") => Some(NameRule::PathSegment),
            _ if self == Self::Crd => None,
            _ => Some(NameRule::DnsSubdomain),
        }
    }

    /// Whether the metadata of a new object is looked at when nothing else is wrong with it.
    pub(super) fn checks_metadata_last(self, served: &Served) -> bool {
        matches!(
            (served.definition.group.as_str(), served.definition.plural.as_str()),
            ("policy", _) | ("", "events")
        )
    }

    /// Whether an object without a name gets one like a uid.
    pub(super) fn names_itself(served: &Served) -> bool {
        served.definition.group.is_empty() && served.definition.plural == "limitranges"
    }

    /// Brings a new object into its first state.
    pub(super) fn prepare_create(self, served: &Served, object: &mut Value, warnings: &Warnings) {
        match self {
            Self::Custom => {
                if served.definition.subresource("status").is_some() {
                    metadata::as_map(object).remove("status");
                }
            }
            Self::Crd => crd::prepare_create(object),
            _ => {
                if served.definition.subresource("status").is_some() && !fields::keeps_first_status(served) {
                    let status = first_status(&served.definition.group, &served.definition.plural);
                    metadata::as_map(object).insert("status".to_owned(), status);
                }
            }
        }
        feature_gates::drop_disabled(&served.definition.group, &served.definition.plural, object);
        match self {
            Self::Namespace => namespace::prepare_create(object),
            Self::Pod => pod::prepare_create(object, warnings),
            Self::Job => workload::prepare_job(object),
            Self::DaemonSet => workload::count_template(object, None),
            Self::Secret => secret::prepare(object),
            _ => fields::prepare_create(served, object),
        }
        let generation = served.definition.generation.then(|| Value::from(1));
        metadata::set(object, "generation", generation);
    }

    /// Notes in a new object who has made it, if the kind says so.
    pub(super) fn note_creator(served: &Served, object: &mut Value, user: &User) {
        fields::note_creator(served, object, user);
    }

    /// Takes back what an update of the object itself may not change silently, and counts the generation.
    pub(super) fn prepare_update(self, served: &Served, object: &mut Value, old: &Value, now: &Value) {
        if served.definition.subresource("status").is_some() {
            copy_field(object, old, "status");
        }
        if self != Self::Custom {
            feature_gates::drop_disabled(&served.definition.group, &served.definition.plural, object);
        }
        match self {
            Self::Namespace => namespace::prepare_update(object, old),
            Self::Secret => secret::prepare(object),
            Self::Service => service::prepare_update(object, old),
            Self::DaemonSet => workload::count_template(object, Some(old)),
            Self::Crd => crd::prepare_update(object, old),
            _ => fields::prepare_update(served, object, old, now),
        }
        if fields::counts_changes(served) && self.differs(served, object, old) {
            metadata::set(object, "generation", Some(Value::from(metadata::generation(old) + 1)));
        }
    }

    /// What a write to the object itself or to a subresource takes back, whatever it says. Managers do not own that.
    pub(super) fn reset_fields(self, served: &Served, subresource: &str) -> Set {
        match subresource {
            _ if self != Self::Custom => status::reset_fields(served, subresource),
            "status" => FieldManager::reset_all_but_status(),
            _ if served.definition.subresource("status").is_some() => FieldManager::reset_status(),
            _ => Set::default(),
        }
    }

    /// Lets an update of the status change nothing but that.
    pub(super) fn prepare_status_update(self, served: &Served, object: &mut Value, old: &Value, now: &Value) {
        let status = object.get("status").cloned();
        let mut new = old.clone();
        {
            let fields = metadata::as_map(&mut new);
            match status {
                Some(status) => fields.insert("status".to_owned(), status),
                None => fields.remove("status"),
            };
        }
        if self == Self::Custom {
            metadata::restore(&mut new, object, &["managedFields"]);
        } else {
            // Built-in kinds take metadata along, within what any update may change of it.
            let metadata = object.get("metadata").cloned().unwrap_or_default();
            metadata::as_map(&mut new).insert("metadata".to_owned(), metadata);
            status::restore_metadata(served, &mut new, old);
            status::note_times(served, &mut new, old, now);
            if self == Self::Pod {
                pod::prepare_status_update(&mut new, old);
            }
        }
        *object = new;
    }

    /// What is wrong with a new object beyond its metadata.
    pub(super) fn validate_create(self, object: &Value, warnings: &Warnings) -> ErrorList {
        match self {
            Self::Crd => {
                warnings.extend(definition::crd_warnings(object, None));
                definition::validate_crd(object)
            }
            _ => ErrorList::new(),
        }
    }

    /// What is wrong with a change beyond its metadata.
    pub(super) fn validate_update(self, object: &Value, old: &Value, warnings: &Warnings) -> ErrorList {
        match self {
            Self::Crd => {
                warnings.extend(definition::crd_warnings(object, Some(old)));
                definition::validate_crd_update(object, old)
            }
            _ => ErrorList::new(),
        }
    }

    /// Whether the server hands out what no two objects of the kind may have.
    pub(super) fn allocates(self) -> bool {
        self == Self::Service
    }

    /// Hands out what only the server can. `all` are the objects of the kind, which stay as they are until the object
    /// is stored.
    pub(super) fn allocate(
        self,
        object: &mut Value,
        all: impl FnOnce() -> Listing,
        ranges: &ServiceRanges,
    ) -> Result<(), Refusal> {
        if self.allocates() { service::allocate(object, &all(), ranges) } else { Ok(()) }
    }

    /// What is wrong with a change of the status beyond its metadata.
    pub(super) fn validate_status_update(self, object: &Value, old: &Value) -> ErrorList {
        match self {
            Self::Crd => definition::validate_crd_status_update(object, old),
            _ => ErrorList::new(),
        }
    }

    /// For how many seconds a deleted object stays, with what the client asked for; `None` if the kind knows no
    /// grace.
    pub(super) fn grace_period(self, object: &Value, asked: Option<i64>) -> Option<i64> {
        match self {
            Self::Pod => Some(pod::grace_period(object, asked)),
            _ => None,
        }
    }

    /// Whether the answer to a delete that removes the object is the object, and not a `Status`.
    pub(super) fn returns_deleted(self, served: &Served) -> bool {
        match served.definition.group.as_str() {
            "" => matches!(
                served.definition.plural.as_str(),
                "persistentvolumeclaims"
                    | "persistentvolumes"
                    | "pods"
                    | "podtemplates"
                    | "resourcequotas"
                    | "serviceaccounts"
                    | "services"
            ),
            "resource.k8s.io" => served.definition.plural != "devicetaintrules",
            "storage.k8s.io" => served.definition.plural != "csistoragecapacities",
            _ => false,
        }
    }

    /// Whether a delete that does not say leaves the dependents behind, as it did before there was a choice.
    pub(super) fn orphans_by_default(self, served: &Served) -> bool {
        self == Self::Job
            || (served.definition.group.is_empty() && served.definition.plural == "replicationcontrollers")
    }

    /// What the client should know that deletes an object and does not say what becomes of its dependents.
    pub(super) fn delete_warning(self, served: &Served) -> Option<String> {
        (self == Self::Job && self.orphans_by_default(served)).then(|| {
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove \
             them or set propagationPolicy=Orphan to suppress this warning"
                .to_owned()
        })
    }

    /// Whether the desired state differs.
    fn differs(self, served: &Served, new: &Value, old: &Value) -> bool {
        let empty = Map::new();
        let (new_fields, old_fields) = (new.as_object().unwrap_or(&empty), old.as_object().unwrap_or(&empty));
        let is_status = served.definition.subresource("status").is_some() || self != Self::Custom;
        let is_desired =
            |name: &&String| name.as_str() != "metadata" && !(is_status && name.as_str() == "status");
        let desired_differs = new_fields
            .keys()
            .chain(old_fields.keys())
            .filter(is_desired)
            .any(|name| new_fields.get(name) != old_fields.get(name));
        desired_differs
            || fields::desired_metadata(served)
                .is_some_and(|field| metadata::get(new, field) != metadata::get(old, field))
    }
}

/// Lets an update of a subresource change nothing but what that is for.
pub(super) fn prepare_subresource_update(subresource: &str, object: &mut Value, old: &Value, now: &Value) {
    if subresource == "approval" {
        return status::prepare_approval(object, old, now);
    }
    if subresource == "resize" {
        pod::prepare_resize(object, old);
        return pod::count_generation(object, old);
    }
    let mut new = old.clone();
    let place = match subresource {
        "finalize" => "/spec/finalizers",
        "ephemeralcontainers" => "/spec/ephemeralContainers",
        // A binding changes the node and a condition.
        _ => "",
    };
    match place.rsplit_once('/') {
        None => new = object.clone(),
        Some((parent, field)) => {
            let value = object.pointer(place).cloned();
            let parent = metadata::child(metadata::as_map(&mut new), parent.trim_start_matches('/'));
            match value {
                Some(value) => parent.insert(field.to_owned(), value),
                None => parent.remove(field),
            };
        }
    }
    metadata::restore(&mut new, object, &["managedFields"]);
    *object = new;
    if subresource == "ephemeralcontainers" {
        pod::count_generation(object, old);
    }
}

/// Takes a field from another object, also its absence.
fn copy_field(object: &mut Value, from: &Value, field: &str) {
    let object = metadata::as_map(object);
    match from.get(field) {
        Some(value) => object.insert(field.to_owned(), value.clone()),
        None => object.remove(field),
    };
}

/// What the kind's strategy sets in the status of a new object. What Go writes of an empty status comes by itself.
fn first_status(group: &str, plural: &str) -> Value {
    match (group, plural) {
        ("", "persistentvolumeclaims" | "persistentvolumes") => json!({ "phase": "Pending" }),
        _ => json!({}),
    }
}

/// A string field, empty if it is not there.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The items of a list, none if it is not there.
fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
