use k8s_openapi::api::{
    core::v1::{Endpoints, Pod, Service},
    discovery::v1::EndpointSlice,
};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::{Client, ClientError, DeleteOptions},
    controller::Controller,
    handler::{EnqueueMapped, enqueue_mapped},
    manager::Manager,
};

use super::{
    endpoint, legacy,
    slices::{self, MANAGED_BY, MANAGER, SERVICE_NAME},
};
use crate::{cluster::Settings, context::RetryConflicts, ownership};

pub(crate) fn run(manager: &Manager, _: &Settings) -> Result<()> {
    let services = manager.cache().declare(InformerOptions::<Service>::new())?;
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
    let slices = manager.cache().declare(InformerOptions::<EndpointSlice>::new())?;
    Controller::for_kind::<Service>(manager)
        .named("endpointslice-controller")
        .owns::<EndpointSlice>()
        .watches(enqueue_services(services.clone()))
        .run(RetryConflicts(SliceReconciler { client: manager.client(), services, pods, slices }))
}

pub(crate) fn run_legacy(manager: &Manager, _: &Settings) -> Result<()> {
    let services = manager.cache().declare(InformerOptions::<Service>::new())?;
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
    let endpoints = manager.cache().declare(InformerOptions::<Endpoints>::new())?;
    Controller::for_kind::<Service>(manager)
        .named("endpoints-controller")
        // Endpoints have the name of their Service.
        .watches(enqueue_mapped(|endpoints: &Endpoints| vec![Request::of(endpoints)]))
        .watches(enqueue_services(services.clone()))
        .run(RetryConflicts(EndpointsReconciler { client: manager.client(), services, pods, endpoints }))
}

/// Enqueues the Services that select a pod.
fn enqueue_services(
    services: Informer<Service>,
) -> EnqueueMapped<Pod, impl Fn(&Pod) -> Vec<Request> + Send + Sync + 'static> {
    enqueue_mapped(move |pod: &Pod| {
        let namespace = pod.namespace().unwrap_or_default();
        let services = services.list(Some(&namespace));
        slices::services_of(pod, &services)
            .into_iter()
            .map(|name| Request::namespaced(&*namespace, name))
            .collect()
    })
}

struct SliceReconciler {
    client: Client,
    services: Informer<Service>,
    pods: Informer<Pod>,
    slices: Informer<EndpointSlice>,
}

impl Reconciler for SliceReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        // The slices of a Service that is gone are garbage of the garbage collector.
        let service =
            self.services.get(&request).filter(|service| service.metadata.deletion_timestamp.is_none());
        let Some(service) = service else { return Ok(Action::done()) };
        let existing: Vec<_> = self
            .slices
            .list(Some(request.namespace()))
            .into_iter()
            .filter(|slice| is_slice_of(slice, &service))
            .collect();
        let changes = if endpoint::is_managed(&service) {
            slices::changes(&service, &self.pods.list(Some(request.namespace())), &existing)
        } else {
            slices::Changes { delete: existing, ..slices::Changes::default() }
        };
        for slice in &changes.create {
            ignore_ending(self.client.create(slice).await.map(drop))?;
        }
        for slice in &changes.update {
            ignore_ending(self.client.update(slice).await.map(drop))?;
        }
        for slice in &changes.delete {
            self.client.delete::<EndpointSlice>(Request::of(&**slice), DeleteOptions::background()).await?;
        }
        Ok(Action::done())
    }
}

fn is_slice_of(slice: &EndpointSlice, service: &Service) -> bool {
    let label = |key: &str| slice.labels().get(key).map(String::as_str);
    label(SERVICE_NAME) == service.metadata.name.as_deref()
        && label(MANAGED_BY) == Some(MANAGER)
        && ownership::is_controlled_by(&slice.metadata, service.metadata.uid.as_deref())
}

struct EndpointsReconciler {
    client: Client,
    services: Informer<Service>,
    pods: Informer<Pod>,
    endpoints: Informer<Endpoints>,
}

impl Reconciler for EndpointsReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let existing = self.endpoints.get(&request);
        let service =
            self.services.get(&request).filter(|service| service.metadata.deletion_timestamp.is_none());
        let Some(service) = service else {
            // Endpoints have no owner that would collect them; they end with their Service.
            if existing.is_some_and(|endpoints| legacy::is_managed(&endpoints)) {
                self.client.delete::<Endpoints>(&request, DeleteOptions::background()).await?;
            }
            return Ok(Action::done());
        };
        if !endpoint::is_managed(&service) {
            return Ok(Action::done());
        }
        let pods = self.pods.list(Some(request.namespace()));
        let wanted = legacy::endpoints(&service, &pods, existing.as_deref());
        let result = match existing {
            Some(existing) if *existing == wanted => return Ok(Action::done()),
            Some(_) => self.client.update(&wanted).await,
            None => self.client.create(&wanted).await,
        };
        ignore_ending(result.map(drop))?;
        Ok(Action::done())
    }
}

/// A write may come too late: the object, or the namespace, is going.
fn ignore_ending(result: Result<(), ClientError>) -> Result<(), ClientError> {
    match result {
        Err(error) if error.is_not_found() || error.is_forbidden() => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_others_are_left_alone() {
        let mut service = Service::default();
        service.metadata.name = Some("web".into());
        service.metadata.uid = Some("s".into());
        let mut slice = EndpointSlice::default();
        slice.labels_mut().insert(SERVICE_NAME.into(), "web".into());
        slice.labels_mut().insert(MANAGED_BY.into(), MANAGER.into());
        assert!(!is_slice_of(&slice, &service));
        slice.metadata.owner_references = Some(vec![ownership::controller_reference(&service)]);
        assert!(is_slice_of(&slice, &service));
        slice.labels_mut().insert(MANAGED_BY.into(), "example.com/mine".into());
        assert!(!is_slice_of(&slice, &service));
    }
}
