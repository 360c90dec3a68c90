//! The operator user-identity.
//!
//! [`api`] has what its users ask for, [`directory`] the world outside, [`controller`] how the two come together. `main.rs`
//! starts it.

kubewright::extern_crates!();

pub mod api;
pub mod controller;
pub mod directory;
