//! CRDs against those that controller-gen made of the same types in Go, byte for byte.
//!
//! The Go types and what controller-gen v0.23 made of them are in `conformance/controller-gen/cases`. Here are the same types
//! in Rust.

#![allow(dead_code, reason = "the types are there for their schemas")]

mod columns;
mod compatibility;
#[path = "../our_style/mod.rs"]
mod our_style;
mod versions;

use std::{fs, path::Path};

use kubewright_manifests::{
    crd::{CrdBuilder, CrdOptions},
    yaml,
};

/// Compares with the file `name` of the case `case`.
#[track_caller]
fn assert_recorded(case: &str, name: &str, builder: CrdBuilder) {
    our_style::assert_unchanged(&format!("{case}-{}", name.trim_end_matches(".yaml")), builder.clone());
    assert_recorded_run(case, "crd", name, builder, CrdOptions::controller_gen());
}

/// Compares what these options make with the file `name` of a run of the case.
#[track_caller]
fn assert_recorded_run(case: &str, run: &str, name: &str, builder: CrdBuilder, options: CrdOptions) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../conformance/controller-gen/cases")
        .join(case)
        .join("expected")
        .join(run)
        .join(name);
    let recorded =
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{} is not there: {error}", file.display()));
    let built = builder.options(options).build();
    assert!(built.diagnostics.is_empty(), "{:#?}", built.diagnostics);
    let ours = yaml::stream([&built.document]);
    if ours != recorded {
        let same = ours.lines().zip(recorded.lines()).take_while(|(one, other)| one == other).count();
        let excerpt =
            |text: &str| text.lines().skip(same.saturating_sub(8)).take(16).collect::<Vec<_>>().join("\n");
        panic!(
            "differs from line {}:\n--- recorded\n{}\n--- ours\n{}",
            same + 1,
            excerpt(&recorded),
            excerpt(&ours)
        );
    }
}
