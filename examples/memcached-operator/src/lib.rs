//! The operator memcached-operator.
//!
//! [`api`] has what its users ask for, [`controller`] how that is brought about. `main.rs` starts it.

kubewright::extern_crates!();

pub mod api;
pub mod controller;
