//! The operator framework for Rust.
