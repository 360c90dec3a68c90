use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use k8s_openapi::{
    api::{
        core::v1::{Pod, Service},
        discovery::v1::{Endpoint, EndpointSlice},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::ResourceExt;

use super::endpoint::{self, Ports};
use crate::ownership;

/// The most endpoints in one slice.
const MAX_ENDPOINTS: usize = 100;
pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";
pub(super) const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
pub(super) const MANAGER: &str = "endpointslice-controller.k8s.io";

/// The writes that bring the slices of a Service to what they should be.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Changes {
    pub(super) create: Vec<EndpointSlice>,
    pub(super) update: Vec<EndpointSlice>,
    pub(super) delete: Vec<Arc<EndpointSlice>>,
}

/// Compares the `existing` slices of a Service with its pods.
///
/// Endpoints stay in the slice they are in; new ones fill the slices that have room before another one is
/// made. A Service without any endpoint keeps one empty slice, which tells that it has been looked at.
pub(super) fn changes(service: &Service, pods: &[Arc<Pod>], existing: &[Arc<EndpointSlice>]) -> Changes {
    let mut wanted = endpoint::endpoints(service, pods);
    if wanted.is_empty() {
        wanted.insert(Ports::default(), Vec::new());
    }
    let mut existing: Vec<_> = existing.to_vec();
    existing.sort_by_key(|slice| slice.metadata.name.clone());
    let mut by_ports: BTreeMap<Ports, Vec<Arc<EndpointSlice>>> = BTreeMap::new();
    let mut changes = Changes::default();
    for slice in existing {
        let ports = Ports::of(slice.ports.as_deref().unwrap_or_default());
        if wanted.contains_key(&ports) && slice.address_type == "IPv4" {
            by_ports.entry(ports).or_default().push(slice);
        } else {
            changes.delete.push(slice);
        }
    }
    for (ports, endpoints) in wanted {
        let slices = by_ports.remove(&ports).unwrap_or_default();
        distribute(service, &ports, endpoints, slices, &mut changes);
    }
    changes
}

fn distribute(
    service: &Service,
    ports: &Ports,
    endpoints: Vec<Endpoint>,
    slices: Vec<Arc<EndpointSlice>>,
    changes: &mut Changes,
) {
    let mut pending: BTreeMap<Vec<String>, Endpoint> =
        endpoints.into_iter().map(|endpoint| (endpoint.addresses.clone(), endpoint)).collect();
    // What each slice keeps, refreshed; an address in two slices stays in the first.
    let mut kept: Vec<(Arc<EndpointSlice>, Vec<Endpoint>)> = Vec::new();
    for slice in slices {
        let keep = slice
            .endpoints
            .iter()
            .flatten()
            .filter_map(|endpoint| pending.remove(&endpoint.addresses))
            .collect();
        kept.push((slice, keep));
    }
    let mut pending: Vec<_> = pending.into_values().collect();
    for (_, keep) in &mut kept {
        let room = MAX_ENDPOINTS.saturating_sub(keep.len()).min(pending.len());
        keep.extend(pending.drain(..room));
    }
    // Without any endpoint one slice stays, or is made, to be the empty one.
    let mut wants_empty = kept.iter().all(|(_, keep)| keep.is_empty()) && pending.is_empty();
    for (slice, keep) in kept {
        if keep.is_empty() && !std::mem::take(&mut wants_empty) {
            changes.delete.push(slice);
            continue;
        }
        let updated = slice_of(service, ports, keep, Some(&slice));
        if updated != *slice {
            changes.update.push(updated);
        }
    }
    if wants_empty {
        changes.create.push(slice_of(service, ports, Vec::new(), None));
    }
    for chunk in pending.chunks(MAX_ENDPOINTS) {
        changes.create.push(slice_of(service, ports, chunk.to_vec(), None));
    }
}

fn slice_of(
    service: &Service,
    ports: &Ports,
    endpoints: Vec<Endpoint>,
    existing: Option<&EndpointSlice>,
) -> EndpointSlice {
    let mut labels = service.metadata.labels.clone().unwrap_or_default();
    labels.insert(SERVICE_NAME.into(), service.name_any());
    labels.insert(MANAGED_BY.into(), MANAGER.into());
    if endpoint::is_headless(service) {
        labels.insert(endpoint::HEADLESS.into(), String::new());
    }
    let metadata = match existing {
        Some(slice) => ObjectMeta { labels: Some(labels), ..slice.metadata.clone() },
        None => ObjectMeta {
            generate_name: Some(format!("{}-", service.name_any())),
            namespace: service.metadata.namespace.clone(),
            labels: Some(labels),
            owner_references: Some(vec![ownership::controller_reference(service)]),
            ..ObjectMeta::default()
        },
    };
    // The server may keep an empty list or leave it out: whichever it did is not a difference.
    let list = |items_are_empty: bool, before: bool| !items_are_empty || before;
    let ports = ports.to_ports();
    let had_ports = existing.is_none_or(|slice| slice.ports.is_some());
    let had_endpoints = existing.is_none_or(|slice| slice.endpoints.is_some());
    EndpointSlice {
        metadata,
        address_type: "IPv4".into(),
        endpoints: list(endpoints.is_empty(), had_endpoints).then_some(endpoints),
        ports: list(ports.is_empty(), had_ports).then_some(ports),
    }
}

/// The names of the Services that select a pod, which is what an event of the pod is about.
pub(super) fn services_of<'a>(pod: &Pod, services: &'a [Arc<Service>]) -> BTreeSet<&'a str> {
    services
        .iter()
        .filter(|service| endpoint::selects(service, pod))
        .filter_map(|service| service.metadata.name.as_deref())
        .collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::core::v1::{
            Container, ContainerPort, PodCondition, PodSpec, PodStatus, ServicePort, ServiceSpec,
        },
        apimachinery::pkg::{apis::meta::v1::Time, util::intstr::IntOrString},
    };

    use super::*;

    fn labels() -> BTreeMap<String, String> {
        BTreeMap::from([("app".into(), "web".into())])
    }

    fn service(target: IntOrString) -> Service {
        let mut service = Service {
            spec: Some(ServiceSpec {
                selector: Some(labels()),
                ports: Some(vec![ServicePort {
                    port: 80,
                    target_port: Some(target),
                    ..ServicePort::default()
                }]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        };
        service.metadata.name = Some("web".into());
        service.metadata.namespace = Some("ns".into());
        service.metadata.uid = Some("s".into());
        service
    }

    fn pod(index: u8, port: i32) -> Pod {
        let mut pod = Pod {
            spec: Some(PodSpec {
                node_name: Some("node".into()),
                containers: vec![Container {
                    ports: Some(vec![ContainerPort {
                        name: Some("http".into()),
                        container_port: port,
                        ..ContainerPort::default()
                    }]),
                    ..Container::default()
                }],
                ..PodSpec::default()
            }),
            status: Some(PodStatus {
                phase: Some("Running".into()),
                pod_ip: Some(format!("10.244.0.{index}")),
                conditions: Some(vec![PodCondition {
                    type_: "Ready".into(),
                    status: "True".into(),
                    ..PodCondition::default()
                }]),
                ..PodStatus::default()
            }),
            ..Pod::default()
        };
        pod.metadata.name = Some(format!("web-{index}"));
        pod.metadata.namespace = Some("ns".into());
        pod.metadata.labels = Some(labels());
        pod
    }

    fn stored(mut slices: Vec<EndpointSlice>) -> Vec<Arc<EndpointSlice>> {
        for (index, slice) in slices.iter_mut().enumerate() {
            slice.metadata.name.get_or_insert_with(|| format!("web-{index}"));
        }
        slices.into_iter().map(Arc::new).collect()
    }

    #[test]
    fn pods_become_endpoints_and_nothing_changes_twice() {
        let service = service(IntOrString::String("http".into()));
        let pods = [pod(2, 8080), pod(1, 8080)].map(Arc::new);
        let first = changes(&service, &pods, &[]);
        let [slice] = &first.create[..] else { panic!("expected one slice: {first:?}") };
        assert_eq!(slice.metadata.generate_name.as_deref(), Some("web-"));
        assert_eq!(slice.labels()[SERVICE_NAME], "web");
        assert_eq!(slice.ports.as_ref().expect("ports")[0].port, Some(8080));
        let endpoints = slice.endpoints.as_ref().expect("endpoints");
        assert_eq!(endpoints[0].addresses, ["10.244.0.1"]);
        let conditions = endpoints[0].conditions.as_ref().expect("conditions");
        assert_eq!(
            (conditions.ready, conditions.serving, conditions.terminating),
            (Some(true), Some(true), Some(false))
        );
        assert_eq!(changes(&service, &pods, &stored(first.create)), Changes::default());
    }

    #[test]
    fn a_pod_that_is_not_ready_or_terminates_does_not_serve() {
        let mut service = service(IntOrString::Int(8080));
        let mut unready = pod(1, 8080);
        unready.status.as_mut().expect("a status").conditions = None;
        let mut terminating = pod(2, 8080);
        terminating.metadata.deletion_timestamp = Some(Time(Default::default()));
        let pods = [unready, terminating].map(Arc::new);
        let ready = |service: &Service| {
            let slices = changes(service, &pods, &[]).create;
            let endpoints = slices[0].endpoints.clone().expect("endpoints");
            endpoints.into_iter().map(|e| e.conditions.expect("conditions").ready).collect::<Vec<_>>()
        };
        assert_eq!(ready(&service), [Some(false), Some(false)]);
        service.spec.as_mut().expect("a spec").publish_not_ready_addresses = Some(true);
        assert_eq!(ready(&service), [Some(true), Some(true)]);
    }

    #[test]
    fn slices_are_filled_before_others_are_made() {
        let service = service(IntOrString::Int(8080));
        let pods: Vec<_> = (0..150).map(|index| Arc::new(pod(index, 8080))).collect();
        let all = changes(&service, &pods, &[]);
        let sizes = |slices: &[EndpointSlice]| {
            slices.iter().map(|slice| slice.endpoints.as_ref().map_or(0, Vec::len)).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&all.create), [100, 50]);
        let slices = stored(all.create);

        let more: Vec<_> = (0..200).map(|index| Arc::new(pod(index, 8080))).collect();
        let grown = changes(&service, &more, &slices);
        assert_eq!((sizes(&grown.update), grown.create.len(), grown.delete.len()), (vec![100], 0, 0));

        let none = changes(&service, &[], &slices);
        assert_eq!(none.delete.len(), 2, "the slices had ports, which an empty Service has not");
        assert_eq!(sizes(&none.create), [0]);
        assert_eq!(changes(&service, &[], &stored(none.create)), Changes::default());
    }

    #[test]
    fn each_number_of_a_named_port_has_its_slice() {
        let service = service(IntOrString::String("http".into()));
        let pods = [pod(1, 8080), pod(2, 9090)].map(Arc::new);
        assert_eq!(changes(&service, &pods, &[]).create.len(), 2);
    }
}
