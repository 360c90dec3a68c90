use schemars::JsonSchema;

/// A kind.
///
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kubebuilder:resource:singular=mycronjob
/// +kubebuilder:unservedversion
#[derive(JsonSchema)]
pub(crate) struct CronJob {
    spec: Option<CronJobSpec>,
}

/// What is wanted.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct CronJobSpec {
    /// Bounded by the field.
    ///
    /// +kubebuilder:validation:MinLength=4
    two_of_a_kind_part0: String,
    /// +kubebuilder:validation:Minimum=-2
    /// +kubebuilder:validation:Maximum=2
    /// +kubebuilder:validation:MultipleOf=2
    int32_with_validations: i32,
}
