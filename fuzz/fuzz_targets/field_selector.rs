#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubewright_conformance::decoders::field_selector(bytes));
