//! Which word about optional fields counts.

use schemars::JsonSchema;

use crate::assert_recorded;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PlainSpec {
    plain: String,
    pointer: String,
    omitempty: Option<String>,
    omitzero: Option<String>,
    /// +optional
    optional: String,
    /// +required
    required: Option<String>,
    /// +kubebuilder:validation:Optional
    long_optional: String,
    /// +kubebuilder:validation:Required
    long_required: Option<String>,
    /// +optional
    /// +required
    both: String,
    /// +kubebuilder:validation:Required
    /// +optional
    long_required_optional: String,
    /// +kubebuilder:validation:Optional
    /// +required
    long_optional_required: String,
    /// +kubebuilder:validation:Optional
    /// +kubebuilder:validation:Required
    long_both: String,
    /// +kubebuilder:default=a
    defaulted: String,
}

#[test]
fn which_word_counts() {
    assert_recorded::<PlainSpec>("optionality", "plains");
}
