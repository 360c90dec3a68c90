//! An operator for Memcached.
//!
//! Read [`api`] for what a user asks for, [`controller`] for how it is brought about, [`deployment`] for what
//! runs in the end. `main.rs` starts it.

kubewright::extern_crates!();

pub mod api;
pub mod controller;
pub mod deployment;
