//! The service controller: gives Services of type LoadBalancer an address, as a cloud would.
//!
//! Nothing listens at the address. It is there for those who wait for one.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc};

use k8s_openapi::api::core::v1::{LoadBalancerIngress, LoadBalancerStatus, Service};
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    controller::Controller,
    manager::Manager,
};

use crate::{
    cluster::Settings,
    context::{Context, RetryConflicts},
    note::Note,
};

const NAME: &str = "service-lb-controller";
/// The first and the last address that is given.
const RANGE: (Ipv4Addr, Ipv4Addr) = (Ipv4Addr::new(172, 18, 255, 1), Ipv4Addr::new(172, 18, 255, 254));

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let services = manager.cache().declare(InformerOptions::<Service>::new())?;
    let context = Context::new(manager, settings, NAME);
    Controller::for_kind::<Service>(manager)
        .named(NAME)
        .run(RetryConflicts(LoadBalancerReconciler { context, services }))
}

struct LoadBalancerReconciler {
    context: Context,
    services: Informer<Service>,
}

impl Reconciler for LoadBalancerReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let service =
            self.services.get(&request).filter(|service| service.metadata.deletion_timestamp.is_none());
        let Some(service) = service else { return Ok(Action::done()) };
        let Some(balancer) = wanted(&service, &self.services.list(None)) else { return Ok(Action::done()) };
        let mut updated = (*service).clone();
        updated.status.get_or_insert_default().load_balancer = Some(balancer);
        self.context.write_status(&updated).await?;
        if is_balanced(&service) {
            let note = Note::normal("EnsuredLoadBalancer", "Ensuring", "Ensured load balancer");
            self.context.tell(&*service, &note);
        }
        Ok(Action::done())
    }
}

/// The load balancer status that the Service is to have, if it has another one.
fn wanted(service: &Service, all: &[Arc<Service>]) -> Option<LoadBalancerStatus> {
    let has = !addresses(service).is_empty();
    match (is_balanced(service), has) {
        (true, true) | (false, false) => None,
        (false, true) => Some(LoadBalancerStatus::default()),
        (true, false) => {
            let asked = service.spec.as_ref().and_then(|spec| spec.load_balancer_ip.clone());
            let ip = asked.filter(|ip| !ip.is_empty()).or_else(|| free(all))?;
            let ingress = LoadBalancerIngress {
                ip: Some(ip),
                ip_mode: Some("VIP".into()),
                ..LoadBalancerIngress::default()
            };
            Some(LoadBalancerStatus { ingress: Some(vec![ingress]) })
        }
    }
}

/// Whether the Service asks for a balancer, and not for one of a class that somebody else makes.
fn is_balanced(service: &Service) -> bool {
    service.spec.as_ref().is_some_and(|spec| {
        spec.type_.as_deref() == Some("LoadBalancer") && spec.load_balancer_class.is_none()
    })
}

fn addresses(service: &Service) -> Vec<&str> {
    let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
    let ingress = balancer.and_then(|balancer| balancer.ingress.as_deref()).unwrap_or_default();
    ingress.iter().filter_map(|ingress| ingress.ip.as_deref()).collect()
}

fn free(all: &[Arc<Service>]) -> Option<String> {
    let taken: BTreeSet<&str> = all.iter().flat_map(|service| addresses(service)).collect();
    (RANGE.0.to_bits()..=RANGE.1.to_bits())
        .map(|bits| Ipv4Addr::from_bits(bits).to_string())
        .find(|address| !taken.contains(address.as_str()))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ServiceSpec, ServiceStatus};

    use super::*;

    fn service(kind: &str, ip: Option<&str>) -> Service {
        let ingress =
            ip.map(|ip| vec![LoadBalancerIngress { ip: Some(ip.into()), ..LoadBalancerIngress::default() }]);
        Service {
            spec: Some(ServiceSpec { type_: Some(kind.into()), ..ServiceSpec::default() }),
            status: Some(ServiceStatus {
                load_balancer: Some(LoadBalancerStatus { ingress }),
                ..ServiceStatus::default()
            }),
            ..Service::default()
        }
    }

    #[test]
    fn a_balancer_gets_a_free_address_and_loses_it() {
        let all = [Arc::new(service("LoadBalancer", Some("172.18.255.1")))];
        let given = wanted(&service("LoadBalancer", None), &all).expect("an address");
        assert_eq!(given.ingress.expect("ingress")[0].ip.as_deref(), Some("172.18.255.2"));
        assert_eq!(wanted(&all[0], &all), None);
        assert_eq!(wanted(&service("ClusterIP", None), &all), None);
        let taken_back = wanted(&service("ClusterIP", Some("172.18.255.1")), &all);
        assert_eq!(taken_back, Some(LoadBalancerStatus::default()));
    }
}
