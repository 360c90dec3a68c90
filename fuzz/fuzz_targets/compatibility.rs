//! No two definitions make the gate fail otherwise than by an error, and nothing changed is no change.
#![no_main]

use std::slice::from_ref;

use kubewright_manifests::compatibility::compare;
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|text: &str| {
    // Two JSON documents, one after the other.
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (Some(Ok(old)), Some(Ok(new))) = (documents.next(), documents.next()) else { return };
    if let Ok(report) = compare(from_ref(&old), from_ref(&new)) {
        let back = compare(from_ref(&new), from_ref(&old)).expect("both were read before");
        assert_eq!(report.changes.is_empty(), back.changes.is_empty());
        assert!(compare(from_ref(&old), from_ref(&old)).expect("it was read before").changes.is_empty());
    }
});
