//! What is counted of a resource.

mod claim;
mod device;
mod pod;
mod service;

use jiff::Timestamp;
use serde_json::Value;

pub use self::pod::{limits as pod_limits, requests as pod_requests};
use crate::{Quantity, ResourceList, Scopes};

/// Knows what the objects of one resource count for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluator {
    what: What,
    /// `count/<resource>.<group>`.
    object_count: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Pods,
    Services,
    Claims,
    DeviceClaims,
    /// Objects alone, perhaps by an older name as well.
    Objects(Option<&'static str>),
}

impl Evaluator {
    /// The evaluator of a resource; `None` if it is never counted.
    #[must_use]
    pub fn of(group: &str, resource: &str) -> Option<Self> {
        let what = match (group, resource) {
            ("", "bindings" | "componentstatuses" | "events")
            | ("events.k8s.io", "events")
            | ("authentication.k8s.io", "tokenreviews" | "selfsubjectreviews")
            | (
                "authorization.k8s.io",
                "subjectaccessreviews"
                | "selfsubjectaccessreviews"
                | "localsubjectaccessreviews"
                | "selfsubjectrulesreviews",
            ) => return None,
            ("", "pods") => What::Pods,
            ("", "services") => What::Services,
            ("", "persistentvolumeclaims") => What::Claims,
            ("resource.k8s.io", "resourceclaims") => What::DeviceClaims,
            ("", "configmaps") => What::Objects(Some("configmaps")),
            ("", "resourcequotas") => What::Objects(Some("resourcequotas")),
            ("", "replicationcontrollers") => What::Objects(Some("replicationcontrollers")),
            ("", "secrets") => What::Objects(Some("secrets")),
            _ => What::Objects(None),
        };
        let object_count =
            if group.is_empty() { format!("count/{resource}") } else { format!("count/{resource}.{group}") };
        Some(Self { what, object_count })
    }

    /// Whether a quota that limits `name` limits objects of the resource.
    #[must_use]
    pub fn counts(&self, name: &str) -> bool {
        name == self.object_count
            || match self.what {
                What::Pods => pod::counts(name),
                What::Services => service::counts(name),
                What::Claims => claim::counts(name),
                What::DeviceClaims => device::counts(name),
                What::Objects(alias) => alias == Some(name),
            }
    }

    /// Whether a quota of these scopes is about the object.
    #[must_use]
    pub fn is_in_scope(&self, scopes: &Scopes, object: &Value) -> bool {
        scopes.all(|requirement| match self.what {
            What::Pods => pod::is_in_scope(requirement, object),
            What::Claims => claim::is_in_scope(requirement, object),
            // Other objects are in no scope.
            What::Services | What::DeviceClaims | What::Objects(_) => false,
        })
    }

    /// What the object counts for. A pod that is over by `now` counts as an object alone.
    #[must_use]
    pub fn usage(&self, object: &Value, now: Timestamp) -> ResourceList {
        let mut usage = match self.what {
            What::Pods => pod::usage(object, now),
            What::Services => service::usage(object),
            What::Claims => claim::usage(object),
            What::DeviceClaims => device::usage(object),
            What::Objects(alias) => {
                let mut usage = ResourceList::default();
                if let Some(alias) = alias {
                    usage.set(alias, Quantity::count(1));
                }
                usage
            }
        };
        usage.set(self.object_count.as_str(), Quantity::count(1));
        usage
    }

    /// Whether an update of the object may change what it counts for.
    #[must_use]
    pub fn is_changed_by_update(&self, subresource: &str, old: &Value, new: &Value) -> bool {
        match (self.what, subresource) {
            (What::Pods, "") => pod::is_terminating(old) != pod::is_terminating(new),
            (What::Pods, "resize")
            | (What::Services | What::Claims | What::DeviceClaims, "")
            | (What::Claims, "status") => true,
            _ => false,
        }
    }

    /// Checks that the object says of each of the `limited` resources how much of it it wants, where it has to.
    ///
    /// # Errors
    /// With what is missing, as a refusal says it.
    pub fn require(&self, limited: &[&str], object: &Value) -> Result<(), String> {
        if self.what == What::Pods { pod::require(limited, object) } else { Ok(()) }
    }
}

/// The items of a list.
fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value[field].as_array().into_iter().flatten()
}

/// A string field that is not empty.
fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value[field].as_str().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(group: &str, resource: &str, object: &Value) -> String {
        let evaluator = Evaluator::of(group, resource).expect("counted");
        evaluator.usage(object, Timestamp::UNIX_EPOCH).to_string()
    }

    #[test]
    fn objects_are_counted_by_their_names() {
        assert_eq!(usage("", "secrets", &json!({})), "count/secrets=1,secrets=1");
        assert_eq!(usage("apps", "deployments", &json!({})), "count/deployments.apps=1");
        assert!(Evaluator::of("", "events").is_none());
        let secrets = Evaluator::of("", "secrets").expect("counted");
        assert!(
            secrets.counts("secrets") && secrets.counts("count/secrets") && !secrets.counts("configmaps")
        );
    }

    #[test]
    fn services_are_counted_by_their_type() {
        let service = |kind: &str| json!({"spec": {"type": kind, "ports": [{"port": 1}, {"port": 2}]}});
        assert_eq!(
            usage("", "services", &service("NodePort")),
            "count/services=1,services=1,services.loadbalancers=0,services.nodeports=2"
        );
        assert_eq!(
            usage("", "services", &service("LoadBalancer")),
            "count/services=1,services=1,services.loadbalancers=1,services.nodeports=2"
        );
        let mut without = service("LoadBalancer");
        without["spec"]["allocateLoadBalancerNodePorts"] = json!(false);
        assert_eq!(
            usage("", "services", &without),
            "count/services=1,services=1,services.loadbalancers=1,services.nodeports=0"
        );
    }

    #[test]
    fn claims_are_counted_by_their_class() {
        let claim =
            json!({"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1500m"}}}});
        assert_eq!(
            usage("", "persistentvolumeclaims", &claim),
            "count/persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/persistentvolumeclaims=1,\
             fast.storageclass.storage.k8s.io/requests.storage=2,persistentvolumeclaims=1,requests.storage=2"
        );
    }
}
