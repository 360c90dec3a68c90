//! The volume binder: gives each PersistentVolumeClaim a PersistentVolume.
//!
//! A claim gets the smallest free volume that fits, or a new one made for it, as with a provisioner that never
//! fails. [`binding`] decides and makes the objects, [`reconciler`] reads the caches and writes. Nothing is
//! stored anywhere: pods of the simulated kubelet have no files.

mod binding;
mod reconciler;

pub(crate) use reconciler::run;

/// The storage class of claims that name none.
pub(crate) const DEFAULT_CLASS: &str = "standard";
