//! Labels of nodes that have other names by now.

use crate::validation::Field;

/// What to say to who uses the label, if it should not be used.
pub(crate) fn deprecation(key: &str) -> Option<&'static str> {
    Some(match key {
        "beta.kubernetes.io/arch" => "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
        "beta.kubernetes.io/os" => "deprecated since v1.14; use \"kubernetes.io/os\" instead",
        "failure-domain.beta.kubernetes.io/region" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"
        }
        "failure-domain.beta.kubernetes.io/zone" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"
        }
        "beta.kubernetes.io/instance-type" => {
            "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"
        }
        "app.kubernetes.io/created-by" => "deprecated since v1.9",
        "scheduler.alpha.kubernetes.io/preferAvoidPods" => {
            "deprecated since v1.22; use Taints and Tolerations instead"
        }
        "node-role.kubernetes.io/master" => "use \"node-role.kubernetes.io/control-plane\" instead",
        _ => return None,
    })
}

/// What to warn about in expressions that select nodes by their labels.
pub(crate) fn expression_warnings(expressions: Field<'_>) -> Vec<String> {
    let warning = |expression: Field<'_>| {
        let key = expression.child("key");
        deprecation(key.text()).map(|text| format!("{}: {} is {text}", key.path(), key.text()))
    };
    expressions.items().filter_map(warning).collect()
}
