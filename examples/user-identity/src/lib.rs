//! An operator that is fed from outside the cluster: accounts for the users of a directory.
//!
//! Read [`api`] for what a user asks for, [`directory`] for the world outside, [`controller`] for how the two come
//! together. `main.rs` starts it.

kubewright::extern_crates!();

pub mod api;
pub mod controller;
pub mod directory;
