//! No text makes the parser of markers fail otherwise than by an error that lies within the text.
#![no_main]

use kubewright_manifests::{
    Style,
    marker::{Target, docs, parse},
};

libfuzzer_sys::fuzz_target!(|text: &str| {
    for targets in [&[Target::Field][..], &[Target::Type, Target::Kind], &[Target::Package]] {
        match parse(text, targets) {
            Ok(marker) => {
                for argument in &marker.arguments {
                    assert!(text.get(argument.range.clone()).is_some());
                }
            }
            Err(error) => assert!(text.get(error.range).is_some()),
        }
    }
    for style in [Style::Kubewright, Style::ControllerGen] {
        let documentation = docs::split(text, style);
        assert!(documentation.markers.iter().all(|marker| text.contains(marker.as_str())));
    }
});
