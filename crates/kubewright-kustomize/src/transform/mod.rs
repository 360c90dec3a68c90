//! What a kustomization does to its objects, one file for each transformer.

pub(crate) mod image;
mod json_patch;
pub(crate) mod label;
pub(crate) mod name;
pub(crate) mod namespace;
pub(crate) mod patch;
pub(crate) mod replacement;
pub(crate) mod replicas;
pub(crate) mod variable;
