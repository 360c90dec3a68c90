//! CRDs against those that controller-gen made of the same types in Go.
//!
//! The files are in the folder named by `KUBEWRIGHT_GOLDENS`, or in `shared/goldens` beside the clone. The types here are written
//! anew in Rust; their markers are those of the Go types, which is a part of the comparison where the Go sources are at hand.
//!
//! Bytes are compared, the descriptions and messages too, and nothing is taken over from a golden afterwards. The words come
//! from elsewhere, since our types do not have those of the Go types in their doc comments. Each golden is compared twice:
//!
//! * with the texts that are [recovered](texts::recovered) from it, always;
//! * with the comments and markers of its [Go types](texts::go), if `KUBEWRIGHT_GO_SOURCES` names a folder that has them in the
//!   folders of their import paths: `sigs.k8s.io/controller-tools` at the commit of the goldens, `sigs.k8s.io/kueue` and
//!   `sigs.k8s.io/cluster-api` at theirs, `k8s.io/api` and `k8s.io/apimachinery` v0.36.1 and, for the one comment that it has in a
//!   golden, Go's own `time`. The texts of Kubernetes' types come from their comments then, too.
//!
//! These differ from what is said above:
//!
//! | golden | how it is compared |
//! |---|---|
//! | `enums` | by value: the file was edited by hand |
//! | `foos_maxdesclen` | the recovered texts are those of `foos`, where they are whole |
//! | `cronjobs` in full, without `jobTemplate`, and of the apply configurations | without what later versions of controller-gen and of Kubernetes' types have more |
//! | `cronjobs` in full, with the texts of k8s-openapi | [by words](cronjobs), with a list of what other versions of Kubernetes say otherwise |

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
mod texts;
mod topologies;
mod versionedresources;
mod workloadpriorityclasses;
