//! The node lifecycle controller: keeps the taints of nodes that say which pods may be put on them.
//!
//! A new node comes with the taint that it is not ready. Here it is taken away when the node's conditions say otherwise.

mod taints;

use k8s_openapi::api::core::v1::Node;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    controller::Controller,
    manager::Manager,
};

use crate::{
    cluster::Settings,
    context::{Context, RetryConflicts},
};

const NAME: &str = "node-lifecycle-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let nodes = manager.cache().declare(InformerOptions::<Node>::new())?;
    let context = Context::new(manager, settings, NAME);
    Controller::for_kind::<Node>(manager).named(NAME).run(RetryConflicts(NodeReconciler { context, nodes }))
}

struct NodeReconciler {
    context: Context,
    nodes: Informer<Node>,
}

impl Reconciler for NodeReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(node) = self.nodes.get(&request) else { return Ok(Action::done()) };
        let Some(taints) = taints::wanted(&node, self.context.clock.now()) else { return Ok(Action::done()) };
        let mut tainted = (*node).clone();
        tainted.spec.get_or_insert_default().taints = Some(taints);
        match self.context.client.update(&tainted).await {
            Ok(_) => Ok(Action::done()),
            Err(error) if error.is_not_found() => Ok(Action::done()),
            Err(error) => Err(error.into()),
        }
    }
}
