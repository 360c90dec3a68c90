//! What comes before what.

use kube::api::DynamicObject;

/// Whether an object has to be there before others: they are in it, or of the kind that it defines.
pub(crate) fn comes_first(object: &DynamicObject) -> bool {
    is_definition(object) || kind(object) == "Namespace"
}

/// Whether it is a CustomResourceDefinition.
pub(crate) fn is_definition(object: &DynamicObject) -> bool {
    kind(object) == "CustomResourceDefinition"
}

pub(crate) fn kind(object: &DynamicObject) -> &str {
    object.types.as_ref().map(|types| types.kind.as_str()).unwrap_or_default()
}
