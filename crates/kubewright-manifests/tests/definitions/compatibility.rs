//! `spec.preserveUnknownFields`, for clients of the first version of the API.

use kubewright_manifests::crd::{CrdBuilder, CrdOptions};
use schemars::JsonSchema;

use crate::assert_recorded_run;

#[derive(JsonSchema)]
struct Preserving {}

#[test]
fn unknown_fields_are_said_to_be_preserved_or_not() {
    for (run, preserve) in [("crd", false), ("true", true)] {
        let builder = CrdBuilder::of_root::<Preserving>("parity.example.com", "v1", "Preserving");
        let mut options = CrdOptions::controller_gen();
        options.preserve_unknown_fields = Some(preserve);
        assert_recorded_run(
            "compatibility-option",
            run,
            "parity.example.com_preservings.yaml",
            builder,
            options,
        );
    }
}
