//! Admission webhooks, asked in process. What is expected was seen on a real server.

mod cluster;
mod conditions;
mod matching;
mod mutating;
mod network;
mod plugins;
mod policies;
mod questions;
mod quotas;
mod validating;
