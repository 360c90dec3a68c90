//! The scheduler: binds pods to nodes.
//!
//! [`placement`] decides, as a pure function: it filters the nodes as kube-scheduler's main plugins do (node
//! name, selector and affinity, taints, resources) and takes the one with the fewest pods. [`reconciler`]
//! binds the pod or says in its PodScheduled condition why it cannot.

mod affinity;
mod placement;
mod reconciler;

pub(crate) use placement::admits;
pub(crate) use reconciler::run;
