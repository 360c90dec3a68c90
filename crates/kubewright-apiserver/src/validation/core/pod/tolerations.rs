use kubewright_schema::names;
use serde_json::Value;

use crate::validation::{Field, selector};

/// Checks which taints of nodes a pod bears.
pub(crate) fn validate(tolerations: Field<'_>) {
    for toleration in tolerations.items() {
        let (key, operator) = (toleration.child("key"), toleration.child("operator"));
        let (value, effect) = (toleration.child("value").text(), toleration.child("effect"));
        if !key.is_empty() {
            selector::validate_label_key(key);
        }
        if key.is_empty() && operator.text() != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            operator.invalid(operator.text(), detail);
        }
        if toleration.child("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            effect.invalid(effect.text(), "effect must be 'NoExecute' when `tolerationSeconds` is set");
        }
        match operator.text() {
            "Equal" | "" => {
                let reasons = names::label_value(value);
                if !reasons.is_empty() {
                    operator.invalid(value, reasons.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                operator.invalid(value, "value must be empty when `operator` is 'Exists'");
            }
            "Exists" => {}
            // Known, but not enabled.
            other @ ("Lt" | "Gt") => operator.not_supported(other, &["Equal", "Exists", "Lt", "Gt"]),
            other => operator.not_supported(other, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            effect.one_of(&["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        }
    }
}

/// Checks a change of a pod's tolerations: they may become more, and last for other times.
pub(super) fn validate_update(new: Field<'_>, old: Field<'_>) {
    let is_same = |one: &Value, other: &Value| {
        let fields = ["key", "operator", "value", "effect"];
        fields.iter().all(|field| one.get(*field) == other.get(*field))
    };
    if old.list().iter().any(|old| !new.list().iter().any(|new| is_same(new, old))) {
        return new.forbidden("existing toleration can not be modified except its tolerationSeconds");
    }
    validate(new);
}
