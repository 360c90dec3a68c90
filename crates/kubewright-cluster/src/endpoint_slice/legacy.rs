use std::sync::Arc;

use k8s_openapi::{
    api::{
        core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints, Pod, Service},
        discovery::v1::Endpoint,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::endpoint;

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const MANAGER: &str = "endpoint-controller";

/// The Endpoints of a Service, with the metadata of the `existing` ones.
pub(super) fn endpoints(service: &Service, pods: &[Arc<Pod>], existing: Option<&Endpoints>) -> Endpoints {
    let subsets: Vec<_> = endpoint::endpoints(service, pods)
        .into_iter()
        .map(|(ports, endpoints)| {
            let is_ready = |endpoint: &&Endpoint| {
                endpoint.conditions.as_ref().and_then(|conditions| conditions.ready) == Some(true)
            };
            // A terminating pod has no place in Endpoints, unlike in slices.
            let is_terminating = |endpoint: &&Endpoint| {
                endpoint.conditions.as_ref().and_then(|conditions| conditions.terminating) == Some(true)
            };
            let addresses = |ready: bool| {
                let addresses: Vec<_> = endpoints
                    .iter()
                    .filter(|endpoint| is_ready(endpoint) == ready && (ready || !is_terminating(endpoint)))
                    .map(address)
                    .collect();
                (!addresses.is_empty()).then_some(addresses)
            };
            let ports = ports.to_ports().into_iter().map(|port| EndpointPort {
                name: port.name.filter(|name| !name.is_empty()),
                port: port.port.unwrap_or(0),
                protocol: port.protocol,
                app_protocol: port.app_protocol,
            });
            EndpointSubset {
                addresses: addresses(true),
                not_ready_addresses: addresses(false),
                ports: Some(ports.collect()),
            }
        })
        .filter(|subset| subset.addresses.is_some() || subset.not_ready_addresses.is_some())
        .collect();
    let mut labels = service.metadata.labels.clone().unwrap_or_default();
    labels.insert(MANAGED_BY.into(), MANAGER.into());
    if endpoint::is_headless(service) {
        labels.insert(endpoint::HEADLESS.into(), String::new());
    }
    let metadata = match existing {
        Some(endpoints) => ObjectMeta { labels: Some(labels), ..endpoints.metadata.clone() },
        None => ObjectMeta {
            name: service.metadata.name.clone(),
            namespace: service.metadata.namespace.clone(),
            labels: Some(labels),
            ..ObjectMeta::default()
        },
    };
    let subsets = match existing.and_then(|endpoints| endpoints.subsets.as_ref()) {
        Some(before) if before.is_empty() && subsets.is_empty() => Some(subsets),
        _ => (!subsets.is_empty()).then_some(subsets),
    };
    Endpoints { metadata, subsets }
}

/// Whether the Endpoints were made by this controller and not by a user.
pub(super) fn is_managed(endpoints: &Endpoints) -> bool {
    let labels = endpoints.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(MANAGED_BY)).is_some_and(|manager| manager == MANAGER)
}

fn address(endpoint: &Endpoint) -> EndpointAddress {
    EndpointAddress {
        ip: endpoint.addresses.first().cloned().unwrap_or_default(),
        hostname: endpoint.hostname.clone(),
        node_name: endpoint.node_name.clone(),
        target_ref: endpoint.target_ref.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::api::core::v1::{PodCondition, PodStatus, ServicePort, ServiceSpec};

    use super::*;

    #[test]
    fn ready_and_unready_pods_share_a_subset() {
        let labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
        let mut service = Service {
            spec: Some(ServiceSpec {
                selector: Some(labels.clone()),
                ports: Some(vec![ServicePort { port: 80, ..ServicePort::default() }]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        };
        service.metadata.name = Some("web".into());
        let pod = |ip: &str, ready: &str| {
            let mut pod = Pod {
                status: Some(PodStatus {
                    pod_ip: Some(ip.into()),
                    conditions: Some(vec![PodCondition {
                        type_: "Ready".into(),
                        status: ready.into(),
                        ..PodCondition::default()
                    }]),
                    ..PodStatus::default()
                }),
                ..Pod::default()
            };
            pod.metadata.labels = Some(labels.clone());
            Arc::new(pod)
        };
        let pods = [pod("10.244.0.1", "True"), pod("10.244.0.2", "False")];
        let made = endpoints(&service, &pods, None);
        let subset = &made.subsets.as_ref().expect("subsets")[0];
        assert_eq!(subset.addresses.as_ref().expect("ready")[0].ip, "10.244.0.1");
        assert_eq!(subset.not_ready_addresses.as_ref().expect("not ready")[0].ip, "10.244.0.2");
        assert_eq!(subset.ports.as_ref().expect("ports")[0].port, 80);
        assert_eq!(endpoints(&service, &pods, Some(&made)), made);
        assert_eq!(endpoints(&service, &[], None).subsets, None);
    }
}
