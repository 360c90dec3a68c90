//! `kubewright install`, `uninstall`, `deploy`, `undeploy`, `build-installer` and `run`: the project on any cluster.
//!
//! What is deployed is what `config/` says, built as kustomize builds it, with the user's own changes in it. How objects get into a
//! cluster is in `kubewright-deploy`. [`options`] are the flags, [`objects`] builds the folders, [`cluster`] finds the cluster,
//! [`report`] is what the user sees, and the commands are the rest.

mod cluster;
mod deploy;
mod install;
mod installer;
mod objects;
pub(crate) mod options;
mod report;
mod run;

pub(crate) use self::{
    deploy::{deploy, undeploy},
    install::{install, uninstall},
    installer::build_installer,
    run::run,
};
