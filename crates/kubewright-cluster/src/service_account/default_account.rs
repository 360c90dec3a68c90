use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::Client,
    controller::Controller,
    handler::enqueue_mapped,
    manager::Manager,
};

use super::{is_active, namespace_of};
use crate::{cluster::Settings, context::RetryConflicts};

/// The account of pods that name none.
const DEFAULT: &str = "default";

pub(crate) fn run(manager: &Manager, _: &Settings) -> Result<()> {
    let namespaces = manager.cache().declare(InformerOptions::<Namespace>::new())?;
    let accounts = manager.cache().declare(InformerOptions::<ServiceAccount>::new())?;
    Controller::for_kind::<Namespace>(manager)
        .named("serviceaccount-controller")
        .watches(enqueue_mapped(|account: &ServiceAccount| namespace_of(account, DEFAULT)))
        .run(RetryConflicts(DefaultAccountReconciler { client: manager.client(), namespaces, accounts }))
}

struct DefaultAccountReconciler {
    client: Client,
    namespaces: Informer<Namespace>,
    accounts: Informer<ServiceAccount>,
}

impl Reconciler for DefaultAccountReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(namespace) = self.namespaces.get(&request) else { return Ok(Action::done()) };
        let key = Request::namespaced(&*request.name, DEFAULT);
        if !is_active(&namespace) || self.accounts.get(&key).is_some() {
            return Ok(Action::done());
        }
        let mut account = ServiceAccount::default();
        account.metadata.namespace = key.namespace;
        account.metadata.name = Some(key.name);
        match self.client.create(&account).await {
            Ok(_) => Ok(Action::done()),
            // It is there and the cache is late, or the namespace is going.
            Err(error) if error.is_already_exists() || error.is_not_found() || error.is_forbidden() => {
                Ok(Action::done())
            }
            Err(error) => Err(error.into()),
        }
    }
}
