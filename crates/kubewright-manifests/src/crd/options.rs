use super::ConversionWebhook;
use crate::{Style, schema};

/// How CRDs are made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrdOptions {
    /// How schemas are made, and in whose style all of it is.
    pub schema: schema::Options,
    /// The version that the annotation `controller-gen.kubebuilder.io/version` names in controller-gen's style; none leaves
    /// the annotation out, as `omitToolVersion` does. Our own style has no such annotation: it would change every CRD
    /// with every release.
    pub tool_version: Option<String>,
    /// What `spec.preserveUnknownFields` says, where it is written: in controller-gen's style, which has an option for it. Ours
    /// leaves it out: API servers refuse `true`, and `false` is the default.
    pub preserve_unknown_fields: Option<bool>,
    /// The webhook that converts the objects of kinds with several versions whose markers do not name one.
    pub conversion: Option<ConversionWebhook>,
}

// === impl CrdOptions ===

impl CrdOptions {
    /// Everything as controller-gen does it.
    #[must_use]
    pub fn controller_gen() -> Self {
        let mut options = Self::default();
        options.schema.style = Style::ControllerGen;
        options
    }
}

impl Default for CrdOptions {
    fn default() -> Self {
        Self {
            schema: schema::Options::default(),
            tool_version: Some("v0.23.0".to_owned()),
            preserve_unknown_fields: None,
            conversion: None,
        }
    }
}
