//! Strict decoding.
