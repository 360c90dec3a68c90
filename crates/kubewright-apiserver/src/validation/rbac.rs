//! Roles and their bindings.

use kubewright_schema::names;
use serde_json::Value;

use super::{Field, selector};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "roles" | "clusterroles" => validate_role(object, plural == "clusterroles"),
        "rolebindings" | "clusterrolebindings" => {
            let is_cluster = plural == "clusterrolebindings";
            validate_binding(object, is_cluster);
            require_role_name(object);
        }
        _ => {}
    }
}

pub(super) fn update(plural: &str, new: Field<'_>, old: Field<'_>) {
    match plural {
        "rolebindings" | "clusterrolebindings" => {
            validate_binding(new, plural == "clusterrolebindings");
            // Whom a binding grants to may change, what it grants may not.
            let role = new.child("roleRef");
            if role.value() == old.child("roleRef").value() {
                require_role_name(new);
            } else {
                role.invalid_as("rbac.RoleRef", "field is immutable");
                require_role_name(new);
            }
        }
        _ => create(plural, new),
    }
}

fn validate_role(role: Field<'_>, is_cluster: bool) {
    let rules = role.child("rules");
    for rule in rules.items() {
        let urls = rule.child("nonResourceURLs");
        let (groups, resources) = (rule.child("apiGroups"), rule.child("resources"));
        if urls.is_empty() {
            if groups.is_empty() {
                groups.required("resource rules must supply at least one api group");
            }
            if resources.is_empty() {
                resources.required("resource rules must supply at least one resource");
            }
            continue;
        }
        let invalid = |detail: &str| urls.invalid(urls.value().clone(), detail);
        if !is_cluster {
            invalid("namespaced rules cannot apply to non-resource URLs");
        }
        if !groups.is_empty() || !resources.is_empty() || !rule.child("resourceNames").is_empty() {
            invalid("rules cannot apply to both regular resources and non-resource URLs");
        }
    }
    let aggregation = role.child("aggregationRule");
    if is_cluster && aggregation.is_set() {
        let selectors = aggregation.child("clusterRoleSelectors");
        if selectors.is_empty() {
            selectors.required("at least one clusterRoleSelector required if aggregationRule is non-nil");
        }
        for one in selectors.items() {
            selector::validate_label_selector(one);
            if selector::selects(one, None).is_none() {
                one.invalid(Value::Null, "invalid label selector.");
            }
        }
    }
    for rule in rules.items().filter(|rule| rule.child("verbs").is_empty()) {
        rule.child("verbs").required("");
    }
}

/// Checks all of a binding but that the names of subjects are there, which is found out after the rest.
fn validate_binding(binding: Field<'_>, is_cluster: bool) {
    let role = binding.child("roleRef");
    role.child("apiGroup").one_of(&[GROUP]);
    let kinds: &[&str] = if is_cluster { &["ClusterRole"] } else { &["Role", "ClusterRole"] };
    role.child("kind").one_of(kinds);
    if !role.child("name").is_empty() {
        role.child("name").check(names::path_segment_name);
    }
    for subject in binding.child("subjects").items() {
        let (group, name) = (subject.child("apiGroup"), subject.child("name"));
        match subject.child("kind").text() {
            "ServiceAccount" => {
                if !name.is_empty() {
                    name.check(names::dns1123_subdomain);
                }
                if !group.is_empty() {
                    group.not_supported(group.text(), &[""]);
                }
                if is_cluster {
                    subject.child("namespace").require();
                }
            }
            "User" | "Group" => group.one_of(&[GROUP]),
            _ => subject.child("kind").one_of(&["ServiceAccount", "User", "Group"]),
        }
    }
}

fn require_role_name(binding: Field<'_>) {
    for subject in binding.child("subjects").items() {
        subject.child("name").require();
    }
    binding.child("roleRef").child("name").require();
}
