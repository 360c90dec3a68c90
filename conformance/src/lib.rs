//! One corpus of requests, answered by the embedded API server and by a real kube-apiserver, compared field by field.
//!
//! A [`case`] is a sequence of requests in a file of `corpus/<area>/`. Beside it are the answers that a real server
//! gave. A [`player`] sends a case to a [`target`], the embedded server or a real one, and [`normalise`] turns what
//! came back into answers in which nothing is left that differs from run to run. [`compare`] says where two answers
//! differ, and [`exceptions`] which differences are known, and why. [`webhooks`] are those that a case brings along. [`generated`] are the cases that a program makes: kinds by
//! verbs by mistakes. [`decoders`] are what reads bytes of clients, for fuzzers.
//!
//! The test `corpus` replays everything on the embedded server. `conformance/record` asks a real one anew.

pub mod answer;
pub mod area;
pub mod case;
pub mod compare;
pub mod decoders;
pub mod exceptions;
pub mod generated;
pub mod normalise;
pub mod player;
pub mod target;
mod variables;
pub mod webhooks;
