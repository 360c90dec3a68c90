use schemars::JsonSchema;

/// A kind.
///
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kubebuilder:resource:singular=mycronjob
/// +kubebuilder:deprecatedversion:warning="use another"
#[derive(JsonSchema)]
pub(crate) struct CronJob {}
