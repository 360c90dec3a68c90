//! Names and metadata: what Kubernetes accepts as a name, a label or an annotation, and why not.
//!
//! `syntax.rs` holds the checks of single strings. They answer with a list of reasons, empty if the string is
//! fine, so that the caller ties them to a field. `meta.rs` checks the metadata of a whole object on create and
//! on update, `selector.rs` label selectors, `fields.rs` strings of built-in kinds. Start at [`NameRule`] and [`validate_object_meta`].

mod fields;
mod meta;
mod selector;
mod syntax;

pub use fields::{
    dns1123_subdomain_with_underscore, environment_variable_name, http_header_name, percent, port_name,
};
pub(crate) use meta::type_problem;
pub use meta::{
    finalizer_warnings, validate_annotations, validate_field_manager, validate_finalizers, validate_labels,
    validate_managed_fields, validate_object_meta, validate_object_meta_update, validate_owner_references,
};
pub use selector::validate_label_selector;
pub use syntax::{
    NameRule, api_version_problem, config_map_key, dns1035_label, dns1123_label, dns1123_subdomain,
    label_key, label_value, path_segment_name, path_segment_prefix, wildcard_dns1123_subdomain,
};
