use super::{Cells, Object, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            |object| row![object.name(), object.len("/webhooks"), object.age()]
        }
        "MutatingAdmissionPolicy" => {
            |object| row![object.name(), object.len("/spec/mutations"), param_kind(object), object.age()]
        }
        "ValidatingAdmissionPolicy" => {
            |object| row![object.name(), object.len("/spec/validations"), param_kind(object), object.age()]
        }
        "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding" => {
            |object| row![object.name(), object.text("/spec/policyName"), param_ref(object), object.age()]
        }
        _ => return None,
    })
}

fn param_kind(policy: Object<'_>) -> String {
    policy.get("/spec/paramKind").map_or_else(
        || "<unset>".into(),
        |kind| format!("{}/{}", kind.text("/apiVersion"), kind.text("/kind")),
    )
}

fn param_ref(binding: Object<'_>) -> String {
    let Some(param) = binding.get("/spec/paramRef") else { return "<unset>".into() };
    match param.text("/name") {
        "" => param.get("/selector").map_or_else(|| "<unset>".into(), go_selector),
        name => format!("{}/{name}", param.text_or("/namespace", "*")),
    }
}

/// A selector as Go prints the struct, which is what the real server shows.
fn go_selector(selector: Object<'_>) -> String {
    let labels: String = selector
        .map("/matchLabels")
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}: {},", value.as_str().unwrap_or_default()))
        .collect();
    let expressions: String = selector
        .list("/matchExpressions")
        .map(|expression| {
            let (key, operator) = (expression.text("/key"), expression.text("/operator"));
            let values = expression.texts("/values").join(" ");
            format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},")
        })
        .collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}
