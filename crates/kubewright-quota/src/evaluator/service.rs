use serde_json::Value;

use super::items;
use crate::{Quantity, ResourceList};

const SERVICES: &str = "services";
const NODE_PORTS: &str = "services.nodeports";
const LOAD_BALANCERS: &str = "services.loadbalancers";

pub(super) fn counts(name: &str) -> bool {
    [SERVICES, NODE_PORTS, LOAD_BALANCERS].contains(&name)
}

pub(super) fn usage(service: &Value) -> ResourceList {
    let spec = &service["spec"];
    let ports = items(spec, "ports");
    // Ports that are yet to be handed out count as well.
    let (node_ports, balancers) = match spec["type"].as_str().unwrap_or_default() {
        "NodePort" => (ports.count(), 0),
        "LoadBalancer" if spec["allocateLoadBalancerNodePorts"] == false => {
            let has_port = |port: &&Value| port["nodePort"].as_i64().is_some_and(|number| number != 0);
            (ports.filter(has_port).count(), 1)
        }
        "LoadBalancer" => (ports.count(), 1),
        _ => (0, 0),
    };
    let mut usage = ResourceList::default();
    usage.set(SERVICES, Quantity::count(1));
    usage.set(NODE_PORTS, Quantity::count(node_ports));
    usage.set(LOAD_BALANCERS, Quantity::count(balancers));
    usage
}
