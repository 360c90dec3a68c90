#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubewright_conformance::decoders::cel(bytes));
