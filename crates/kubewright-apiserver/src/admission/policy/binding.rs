use serde_json::Value;

use crate::{admission::matching::Matching, registry::metadata, selector::LabelSelector};

/// A `ValidatingAdmissionPolicyBinding` or a `MutatingAdmissionPolicyBinding`.
#[derive(Debug)]
pub(in crate::admission) struct Binding {
    pub(super) name: String,
    /// The name of the policy.
    pub(in crate::admission) policy: String,
    pub(super) matching: Matching,
    pub(super) denies: bool,
    pub(super) warns: bool,
    pub(super) parameters: Option<ParameterReference>,
}

/// Which objects a binding gives to a policy.
#[derive(Debug)]
pub(super) struct ParameterReference {
    /// One by its name, or all that are selected.
    pub(super) name: String,
    pub(super) selector: LabelSelector,
    /// Empty for the namespace of the request.
    pub(super) namespace: String,
    /// Whether the request is refused if there are none.
    pub(super) must_exist: bool,
}

impl Binding {
    /// Reads a binding.
    pub(in crate::admission) fn read(binding: &Value) -> Self {
        let spec = &binding["spec"];
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let actions = spec["validationActions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let reference = &spec["paramRef"];
        Self {
            name: metadata::name(binding).to_owned(),
            policy: text(spec, "policyName"),
            matching: Matching::of_policy(&spec["matchResources"]),
            denies: actions.iter().any(|action| action == "Deny"),
            warns: actions.iter().any(|action| action == "Warn"),
            parameters: reference.is_object().then(|| ParameterReference {
                name: text(reference, "name"),
                selector: LabelSelector::from_object(Some(&reference["selector"]))
                    .unwrap_or_else(|_| LabelSelector::nothing()),
                namespace: text(reference, "namespace"),
                must_exist: reference["parameterNotFoundAction"].as_str() != Some("Allow"),
            }),
        }
    }
}
