//! No text makes the scanner of sources fail, and what it points at lies within the text.
#![no_main]

use std::path::PathBuf;

use kubewright_manifests::{diagnostic::Place, source::Sources};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let sources = Sources::of_texts("fuzzed", [(PathBuf::from("src/lib.rs"), text.to_owned())]);
    let (markers, diagnostics) = sources.markers();
    for marker in markers {
        assert_eq!(text.get(marker.range).map(str::len).is_some(), true);
    }
    for diagnostic in diagnostics.into_iter().chain(sources.check()) {
        if let Place::File { range, .. } = diagnostic.place {
            assert!(text.get(range).is_some());
        }
    }
});
