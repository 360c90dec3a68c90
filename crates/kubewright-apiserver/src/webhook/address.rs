use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use serde_json::Value;

use super::ServiceReference;
use crate::{registry::metadata, store::Store};

/// Where services are that webhooks run behind.
///
/// An embedded cluster has no network of its own: what runs for a pod listens on this machine. So a port of a service
/// is, unless told otherwise, the port of the loopback address that the service's `targetPort` says. A `targetPort` that
/// is a name is looked up in the EndpointSlices of the service. The service has to exist, as for a real server.
#[derive(Clone, Debug, Default)]
pub struct ServiceAddresses {
    fixed: BTreeMap<(String, String), SocketAddr>,
}

impl ServiceAddresses {
    /// Connects to `address` for every port of a service, which need not exist.
    pub fn insert(&mut self, namespace: impl Into<String>, name: impl Into<String>, address: SocketAddr) {
        self.fixed.insert((namespace.into(), name.into()), address);
    }

    /// The address of a port of a service.
    ///
    /// # Errors
    /// With the text of kube-apiserver, if there is none.
    pub(super) fn find(&self, store: &Store, service: &ServiceReference) -> Result<SocketAddr, String> {
        let ServiceReference { namespace, name, port } = service;
        if let Some(address) = self.fixed.get(&(namespace.clone(), name.clone())) {
            return Ok(*address);
        }
        let Some(object) = store.get("/services", &format!("{namespace}/{name}")) else {
            return Err(format!("service {name:?} not found"));
        };
        let ports = object.value()["spec"]["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(found) = ports.iter().find(|own| own["port"].as_u64() == Some(u64::from(*port))) else {
            return Err(format!("no service port {port} found for service {name:?}"));
        };
        let number = |value: &Value| value.as_u64().and_then(|port| u16::try_from(port).ok());
        let target = match &found["targetPort"] {
            Value::String(_) => endpoint_port(store, service, found["name"].as_str().unwrap_or_default()),
            other => number(other).filter(|port| *port != 0),
        };
        Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), target.unwrap_or(*port)))
    }
}

/// What the named port of a service is on its endpoints.
fn endpoint_port(store: &Store, service: &ServiceReference, name: &str) -> Option<u16> {
    let slices = store.list("discovery.k8s.io/endpointslices");
    let prefix = format!("{}/", service.namespace);
    slices
        .range(&prefix, "")
        .filter(|(_, slice)| {
            let labels = metadata::get(slice.value(), "labels");
            labels.is_some_and(|labels| labels["kubernetes.io/service-name"] == service.name.as_str())
        })
        .flat_map(|(_, slice)| slice.value()["ports"].as_array().into_iter().flatten())
        .find(|port| port["name"].as_str().unwrap_or_default() == name)
        .and_then(|port| port["port"].as_u64())
        .and_then(|port| u16::try_from(port).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn store() -> Store {
        let store = Store::new(1, 16);
        let service = json!({
            "metadata": {"name": "hook", "namespace": "n"},
            "spec": {"ports": [
                {"name": "https", "port": 443, "targetPort": "webhook"},
                {"name": "number", "port": 444, "targetPort": 9443},
                {"name": "same", "port": 445},
            ]},
        });
        store.create(&"/services".into(), "n/hook", service).expect("a service");
        let slice = json!({
            "metadata": {"name": "s", "namespace": "n", "labels": {"kubernetes.io/service-name": "hook"}},
            "ports": [{"name": "https", "port": 10250}],
        });
        store.create(&"discovery.k8s.io/endpointslices".into(), "n/s", slice).expect("a slice");
        store
    }

    fn find(addresses: &ServiceAddresses, name: &str, port: u16) -> Result<String, String> {
        let service = ServiceReference { namespace: "n".to_owned(), name: name.to_owned(), port };
        addresses.find(&store(), &service).map(|address| address.to_string())
    }

    #[test]
    fn a_port_leads_to_what_it_targets_on_this_machine() {
        let addresses = ServiceAddresses::default();
        let at = |port: u16| Ok(format!("127.0.0.1:{port}"));
        assert_eq!(find(&addresses, "hook", 443), at(10250), "a name is looked up in the slices");
        assert_eq!(find(&addresses, "hook", 444), at(9443));
        assert_eq!(find(&addresses, "hook", 445), at(445));
        assert_eq!(
            find(&addresses, "hook", 446),
            Err("no service port 446 found for service \"hook\"".to_owned())
        );
        assert_eq!(find(&addresses, "other", 443), Err("service \"other\" not found".to_owned()));
    }

    #[test]
    fn an_address_that_is_given_counts_for_every_port() {
        let mut addresses = ServiceAddresses::default();
        addresses.insert("n", "other", SocketAddr::from(([127, 0, 0, 1], 7)));
        assert_eq!(find(&addresses, "other", 443), Ok("127.0.0.1:7".to_owned()));
    }
}
