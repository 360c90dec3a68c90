//! CRDs against those that controller-gen made of the same types in Go.
//!
//! The files are in the folder named by `KUBEWRIGHT_GOLDENS`, or in `shared/goldens` beside the clone. The types here are written
//! anew in Rust; their markers are those of the Go types. The doc comments are not: see [`comparison`].

#![allow(dead_code, reason = "the types are there for their schemas")]

mod comparison;
#[path = "../our_style/mod.rs"]
mod our_style;

mod clusterscopedresources;
mod cronjobs;
mod enums;
mod externaldocs;
mod foos;
mod immutabletypes;
mod jobs;
mod metadata;
mod nogroup;
mod oneofs;
mod providers;
mod testquotas;
mod topologies;
mod versionedresources;
mod workloadpriorityclasses;
