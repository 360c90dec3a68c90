use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
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

const NAME: &str = "kube-root-ca.crt";
const KEY: &str = "ca.crt";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let namespaces = manager.cache().declare(InformerOptions::<Namespace>::new())?;
    let config_maps = manager.cache().declare(InformerOptions::<ConfigMap>::new())?;
    Controller::for_kind::<Namespace>(manager)
        .named("root-ca-certificate-publisher-controller")
        .watches(enqueue_mapped(|config_map: &ConfigMap| namespace_of(config_map, NAME)))
        .run(RetryConflicts(RootCaReconciler {
            client: manager.client(),
            root_ca: settings.root_ca.clone(),
            namespaces,
            config_maps,
        }))
}

struct RootCaReconciler {
    client: Client,
    root_ca: String,
    namespaces: Informer<Namespace>,
    config_maps: Informer<ConfigMap>,
}

impl Reconciler for RootCaReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(namespace) = self.namespaces.get(&request) else { return Ok(Action::done()) };
        if !is_active(&namespace) {
            return Ok(Action::done());
        }
        let data = Some(BTreeMap::from([(KEY.to_owned(), self.root_ca.clone())]));
        let result = match self.config_maps.get(&Request::namespaced(&*request.name, NAME)) {
            Some(existing) if existing.data == data => return Ok(Action::done()),
            Some(existing) => {
                let mut config_map = (*existing).clone();
                config_map.data = data;
                self.client.update(&config_map).await
            }
            None => {
                let mut config_map = ConfigMap { data, ..ConfigMap::default() };
                config_map.metadata.namespace = Some(request.name);
                config_map.metadata.name = Some(NAME.into());
                config_map.metadata.annotations =
                    Some(BTreeMap::from([("kubernetes.io/description".into(), DESCRIPTION.into())]));
                self.client.create(&config_map).await
            }
        };
        match result {
            Ok(_) => Ok(Action::done()),
            // It is there and the cache is late, or the namespace is going.
            Err(error) if error.is_already_exists() || error.is_not_found() || error.is_forbidden() => {
                Ok(Action::done())
            }
            Err(error) => Err(error.into()),
        }
    }
}
