use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::{
        core::v1::{ObjectReference, Pod, Service, ServicePort},
        discovery::v1::{Endpoint, EndpointConditions, EndpointPort},
    },
    apimachinery::pkg::util::intstr::IntOrString,
};

use crate::pod;

/// The label that marks the endpoints of a Service without a cluster IP.
pub(super) const HEADLESS: &str = "service.kubernetes.io/headless";

/// The ports of an EndpointSlice, in the order of the Service, as a key that compares.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Ports(Vec<PortKey>);

/// Name, protocol, number, application protocol.
type PortKey = (Option<String>, Option<String>, Option<i32>, Option<String>);

impl Ports {
    pub(super) fn of(ports: &[EndpointPort]) -> Self {
        let key = |port: &EndpointPort| {
            (port.name.clone(), port.protocol.clone(), port.port, port.app_protocol.clone())
        };
        Self(ports.iter().map(key).collect())
    }

    pub(super) fn to_ports(&self) -> Vec<EndpointPort> {
        let port = |(name, protocol, port, app_protocol): &PortKey| EndpointPort {
            name: name.clone(),
            protocol: protocol.clone(),
            port: *port,
            app_protocol: app_protocol.clone(),
        };
        self.0.iter().map(port).collect()
    }
}

/// The endpoints of a Service, grouped by the port numbers that its pods have for it: a named target port may
/// be another number in each.
pub(super) fn endpoints(service: &Service, pods: &[Arc<Pod>]) -> BTreeMap<Ports, Vec<Endpoint>> {
    let mut groups: BTreeMap<Ports, Vec<Endpoint>> = BTreeMap::new();
    let publish = service.spec.as_ref().and_then(|spec| spec.publish_not_ready_addresses) == Some(true);
    for pod in pods.iter().filter(|pod| selects(service, pod) && !pod::is_finished(pod)) {
        if let Some(endpoint) = endpoint(pod, publish) {
            groups.entry(Ports::of(&ports(service, pod))).or_default().push(endpoint);
        }
    }
    for group in groups.values_mut() {
        group.sort_by(|one, two| one.addresses.cmp(&two.addresses));
    }
    groups
}

/// Whether the Service selects the pod; one without a selector is served by somebody else's endpoints.
pub(super) fn selects(service: &Service, pod: &Pod) -> bool {
    let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    let labels = pod.metadata.labels.as_ref();
    pod.metadata.namespace == service.metadata.namespace
        && selector.is_some_and(|selector| {
            !selector.is_empty()
                && selector.iter().all(|(key, value)| labels.and_then(|own| own.get(key)) == Some(value))
        })
}

/// Whether endpoints of the Service are made by these controllers.
pub(super) fn is_managed(service: &Service) -> bool {
    service.spec.as_ref().is_some_and(|spec| {
        spec.type_.as_deref() != Some("ExternalName")
            && spec.selector.as_ref().is_some_and(|selector| !selector.is_empty())
    })
}

pub(super) fn is_headless(service: &Service) -> bool {
    service.spec.as_ref().and_then(|spec| spec.cluster_ip.as_deref()) == Some("None")
}

fn endpoint(pod: &Pod, publish_not_ready: bool) -> Option<Endpoint> {
    let address = pod.status.as_ref()?.pod_ip.clone().filter(|ip| !ip.is_empty())?;
    let serving = pod::is_ready(pod);
    let terminating = pod.metadata.deletion_timestamp.is_some();
    let spec = pod.spec.as_ref();
    Some(Endpoint {
        addresses: vec![address],
        conditions: Some(EndpointConditions {
            ready: Some(publish_not_ready || (serving && !terminating)),
            serving: Some(serving),
            terminating: Some(terminating),
        }),
        hostname: spec.filter(|spec| spec.subdomain.is_some()).and_then(|spec| spec.hostname.clone()),
        node_name: spec.and_then(|spec| spec.node_name.clone()),
        target_ref: Some(reference(pod)),
        ..Endpoint::default()
    })
}

pub(super) fn reference(pod: &Pod) -> ObjectReference {
    ObjectReference {
        kind: Some("Pod".into()),
        namespace: pod.metadata.namespace.clone(),
        name: pod.metadata.name.clone(),
        uid: pod.metadata.uid.clone(),
        ..ObjectReference::default()
    }
}

/// The ports of a Service as numbers of a pod; a named port that the pod does not have is left out.
fn ports(service: &Service, pod: &Pod) -> Vec<EndpointPort> {
    let ports = service.spec.as_ref().and_then(|spec| spec.ports.as_deref()).unwrap_or_default();
    ports
        .iter()
        .filter_map(|port| {
            Some(EndpointPort {
                name: Some(port.name.clone().unwrap_or_default()),
                protocol: Some(port.protocol.clone().unwrap_or_else(|| "TCP".into())),
                port: Some(number(port, pod)?),
                app_protocol: port.app_protocol.clone(),
            })
        })
        .collect()
}

fn number(port: &ServicePort, pod: &Pod) -> Option<i32> {
    match &port.target_port {
        None => Some(port.port),
        // Nobody listens at port 0: it stands for an absent target port.
        Some(IntOrString::Int(0)) => Some(port.port),
        Some(IntOrString::Int(number)) => Some(*number),
        Some(IntOrString::String(name)) => {
            let protocol = port.protocol.as_deref().unwrap_or("TCP");
            let spec = pod.spec.as_ref()?;
            let sidecars = spec.init_containers.iter().flatten();
            let sidecars = sidecars.filter(|container| container.restart_policy.as_deref() == Some("Always"));
            spec.containers
                .iter()
                .chain(sidecars)
                .flat_map(|container| container.ports.iter().flatten())
                .find(|own| {
                    own.name.as_deref() == Some(name) && own.protocol.as_deref().unwrap_or("TCP") == protocol
                })
                .map(|own| own.container_port)
        }
    }
}
