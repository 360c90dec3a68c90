use std::collections::BTreeSet;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ResourceQuota, ResourceQuotaStatus};
use kubewright_quota::{Evaluator, Quantity, ResourceList, Scopes};
use serde_json::Value;

/// A quota as JSON, and what it limits.
pub(super) struct Limits {
    spec: Value,
    pub(super) hard: ResourceList,
    scopes: Scopes,
}

impl Limits {
    pub(super) fn of(quota: &ResourceQuota) -> Self {
        let spec = serde_json::to_value(&quota.spec).unwrap_or_default();
        Self { hard: ResourceList::of(&spec["hard"]), scopes: Scopes::of(&spec), spec }
    }

    /// Whether the quota limits objects that the evaluator counts.
    pub(super) fn concern(&self, evaluator: &Evaluator) -> bool {
        self.hard.names().any(|name| evaluator.counts(name))
    }

    /// Counts objects of one resource.
    pub(super) fn count(
        &self,
        evaluator: &Evaluator,
        objects: impl IntoIterator<Item = Value>,
        now: Timestamp,
    ) -> ResourceList {
        let mut total = ResourceList::default();
        for name in self.hard.names().filter(|name| evaluator.counts(name)) {
            total.set(name, Quantity::ZERO);
        }
        for object in objects {
            if evaluator.is_in_scope(&self.scopes, &object) {
                let usage = evaluator.usage(&object, now);
                total.add(&usage.filter(|name, _| self.hard.get(name).is_some()));
            }
        }
        total
    }

    /// The status that the quota is to have with these counts, if it has another one. What was not counted stays as it is.
    pub(super) fn status(
        &self,
        quota: &ResourceQuota,
        counted: &ResourceList,
    ) -> Option<ResourceQuotaStatus> {
        let status = serde_json::to_value(&quota.status).unwrap_or_default();
        let before = ResourceList::of(&status["used"]);
        let mut used = before.filter(|name, _| self.hard.get(name).is_some());
        for (name, amount) in counted.iter() {
            used.set(name, amount);
        }
        let is_current = status["hard"].is_object()
            && status["used"].is_object()
            && ResourceList::of(&status["hard"]) == self.hard
            && before == used;
        if is_current {
            return None;
        }
        let status = serde_json::json!({ "hard": self.spec["hard"], "used": used.to_value() });
        serde_json::from_value(status).ok()
    }

    /// The resources whose objects are counted by number, by group and plural.
    pub(super) fn counted(&self) -> BTreeSet<(String, String)> {
        let mut counted = BTreeSet::new();
        for name in self.hard.names() {
            let plain = ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];
            if plain.contains(&name) {
                counted.insert((String::new(), name.to_owned()));
            } else if let Some(resource) = name.strip_prefix("count/") {
                let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
                counted.insert((group.to_owned(), plural.to_owned()));
            } else if name.ends_with(".deviceclass.resource.k8s.io/devices") {
                counted.insert(("resource.k8s.io".to_owned(), "resourceclaims".to_owned()));
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn quota(hard: &Value, status: &Value) -> ResourceQuota {
        serde_json::from_value(json!({"spec": {"hard": hard}, "status": status})).expect("a quota")
    }

    #[test]
    fn a_status_is_written_when_it_says_something_else() {
        let of = |used: &str| json!({"hard": {"secrets": "2"}, "used": {"secrets": used}});
        let secrets = Evaluator::of("", "secrets").expect("counted");
        let now = Timestamp::UNIX_EPOCH;
        let quota = quota(&json!({"secrets": "2"}), &of("0"));
        let limits = Limits::of(&quota);
        assert!(limits.concern(&secrets));
        assert_eq!(limits.status(&quota, &limits.count(&secrets, [], now)), None);
        let counted = limits.count(&secrets, [json!({}), json!({})], now);
        let status = limits.status(&quota, &counted).expect("another status");
        assert_eq!(serde_json::to_value(status).expect("JSON"), of("2"));
    }

    #[test]
    fn resources_are_named_by_what_is_limited() {
        let hard =
            json!({"pods": "1", "secrets": "1", "count/widgets.example.com": "1", "count/services": "1"});
        let counted = Limits::of(&quota(&hard, &json!({}))).counted();
        let names: Vec<_> = counted.iter().map(|(group, plural)| format!("{group}/{plural}")).collect();
        assert_eq!(names, ["/secrets", "/services", "example.com/widgets"]);
    }
}
