use std::collections::BTreeSet;

use serde_json::Value;

use super::{Cells, Object, first_of, non_empty, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "Endpoints" => |object| row![object.name(), endpoints(object), object.age()],
        "EndpointSlice" => endpoint_slice,
        "Ingress" => ingress,
        "IngressClass" => ingress_class,
        "IPAddress" => ip_address,
        "NetworkPolicy" => |object| row![object.name(), object.selector("/spec/podSelector"), object.age()],
        "Service" => service,
        "ServiceCIDR" => |object| row![object.name(), object.texts("/spec/cidrs").join(","), object.age()],
        _ => return None,
    })
}

fn endpoints(object: Object<'_>) -> String {
    let mut addresses = Vec::new();
    for subset in object.list("/subsets") {
        let ips = || subset.list("/addresses").map(|address| address.text("/ip"));
        if subset.len("/ports") == 0 {
            addresses.extend(ips().map(str::to_owned));
        }
        for port in subset.list("/ports") {
            let port = port.int("/port");
            addresses.extend(ips().map(|ip| match ip.contains(':') {
                true => format!("[{ip}]:{port}"),
                false => format!("{ip}:{port}"),
            }));
        }
    }
    if object.len("/subsets") == 0 { "<none>".into() } else { first_of(&addresses, 3, ",") }
}

fn endpoint_slice(object: Object<'_>) -> Vec<Value> {
    let ports = object.list("/ports").map(|port| {
        let number = port.get("/port").or_else(|| port.get("/name"));
        number.map_or_else(|| "*".into(), Object::to_text)
    });
    let addresses = object.list("/endpoints").flat_map(|endpoint| endpoint.texts("/addresses"));
    let ports = first_of(&ports.collect::<Vec<_>>(), 3, ",");
    let addresses = first_of(&addresses.map(str::to_owned).collect::<Vec<_>>(), 3, ",");
    row![
        object.name(),
        object.text("/addressType"),
        non_empty(ports, "<unset>"),
        non_empty(addresses, "<unset>"),
        object.age(),
    ]
}

fn ingress(object: Object<'_>) -> Vec<Value> {
    let class = object.get("/spec/ingressClassName").map_or_else(|| "<none>".into(), Object::to_text);
    let ports = if object.len("/spec/tls") > 0 { "80, 443" } else { "80" };
    row![object.name(), class, hosts(object), load_balancer(object).join(","), ports, object.age()]
}

/// Rules without a host are counted, but not shown; after three shown hosts the rest is only counted.
fn hosts(ingress: Object<'_>) -> String {
    let mut shown: Vec<&str> = Vec::new();
    let mut more = false;
    for rule in ingress.list("/spec/rules") {
        more |= shown.len() == 3;
        if !more && !rule.text("/host").is_empty() {
            shown.push(rule.text("/host"));
        }
    }
    match shown.join(",") {
        none if none.is_empty() => "*".into(),
        hosts if more => format!("{hosts} + {} more...", ingress.len("/spec/rules") - 3),
        hosts => hosts,
    }
}

/// The addresses that a load balancer gave, sorted.
fn load_balancer(object: Object<'_>) -> Vec<&str> {
    let ingress = object.list("/status/loadBalancer/ingress");
    let addresses: BTreeSet<&str> = ingress
        .map(|ingress| ingress.text_or("/ip", ingress.text("/hostname")))
        .filter(|address| !address.is_empty())
        .collect();
    addresses.into_iter().collect()
}

fn ingress_class(object: Object<'_>) -> Vec<Value> {
    let annotations = object.map("/metadata/annotations");
    let default = annotations.and_then(|all| all.get("ingressclass.kubernetes.io/is-default-class"));
    let suffix = if default.is_some_and(|value| value == "true") { " (default)" } else { "" };
    let parameters = object.get("/spec/parameters").map_or_else(
        || "<none>".into(),
        |parameters| {
            let group = parameters.get("/apiGroup").map(|group| format!(".{}", group.to_text()));
            let (kind, name) = (parameters.text("/kind"), parameters.text("/name"));
            format!("{kind}{}/{name}", group.unwrap_or_default())
        },
    );
    let name = format!("{}{suffix}", object.name());
    row![name, object.text("/spec/controller"), parameters, object.age()]
}

fn ip_address(object: Object<'_>) -> Vec<Value> {
    let parent = object.get("/spec/parentRef").map_or_else(
        || "<none>".into(),
        |parent| {
            let group = match parent.text("/group") {
                "" => String::new(),
                group => format!(".{group}"),
            };
            let mut path = format!("{}{group}", parent.text("/resource")).to_lowercase();
            for part in [parent.text("/namespace"), parent.text("/name")] {
                if !part.is_empty() {
                    path = format!("{path}/{part}");
                }
            }
            path
        },
    );
    row![object.name(), parent, object.age()]
}

fn service(object: Object<'_>) -> Vec<Value> {
    let ports = object.list("/spec/ports").map(|port| {
        let (number, protocol) = (port.int("/port"), port.text("/protocol"));
        match port.int("/nodePort") {
            node_port if node_port > 0 => format!("{number}:{node_port}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    });
    row![
        object.name(),
        object.text("/spec/type"),
        object.texts("/spec/clusterIPs").first().copied().unwrap_or("<none>"),
        external_ip(object),
        non_empty(ports.collect::<Vec<_>>().join(","), "<none>"),
        object.age(),
        object.labels("/spec/selector"),
    ]
}

fn external_ip(service: Object<'_>) -> String {
    let external = service.texts("/spec/externalIPs");
    match service.text("/spec/type") {
        "ClusterIP" | "NodePort" => non_empty(external.join(","), "<none>"),
        "LoadBalancer" => non_empty([load_balancer(service), external].concat().join(","), "<pending>"),
        "ExternalName" => service.text("/spec/externalName").to_owned(),
        _ => "<unknown>".into(),
    }
}
