use std::collections::BTreeSet;

use kubewright_schema::names;
use serde_json::Value;

use super::{annotations, security::IDS};
use crate::validation::{Field, ip};

const MESSAGE_LENGTH: usize = 1024;

/// The lists of what is known of each container.
const STATUSES: [&str; 3] = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

/// Checks a change of what is known of a pod.
pub(super) fn validate(new: Field<'_>, old: Field<'_>) {
    let notes = new.child("metadata").child("annotations");
    annotations::validate_update(notes, old.child("metadata").child("annotations"));
    annotations::validate(notes, new.child("spec"));
    let (status, old_status) = (new.child("status"), old.child("status"));
    validate_conditions(status.child("conditions"));
    let node = status.child("nominatedNodeName");
    if node.value() != old_status.child("nominatedNodeName").value() && !node.is_empty() {
        node.check(names::dns1123_subdomain);
        if !old.child("spec").child("nodeName").is_empty() {
            node.forbidden("may not be set on pods that are already bound to a node");
        }
    }
    let generation = status.child("observedGeneration");
    if generation.number() < 0 {
        generation.invalid(generation.number(), "must be a non-negative integer");
    }
    let class = status.child("qosClass");
    if class.text() != old_status.child("qosClass").text() {
        class.invalid(class.text(), "field is immutable");
    }
    validate_transitions(status, old_status, old.child("spec"));
    validate_claims(status.child("resourceClaimStatuses"), new.child("spec"));
    validate_extended_claims(status.child("extendedResourceClaimStatus"), new.child("spec"));
    validate_pod_ips(status, old_status);
    validate_host_ips(status, old_status);
    let os = new.child("spec").child("os").child("name").text();
    for list in STATUSES {
        status.child(list).items().for_each(|container| validate_user(container.child("user"), os));
    }
    for (list, containers) in
        [("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")]
    {
        validate_allocated(status, list, new.child("spec").child(containers));
    }
    for container in status.child("ephemeralContainerStatuses").items() {
        let allocated = container.child("allocatedResourcesStatus");
        if !allocated.is_empty() {
            allocated.forbidden("must not be specified in container status");
        }
    }
}

fn validate_conditions(conditions: Field<'_>) {
    for condition in conditions.items() {
        let generation = condition.child("observedGeneration");
        if generation.number() < 0 {
            generation.invalid(generation.number(), "must be a non-negative integer");
        }
        let kind = condition.child("type");
        if !matches!(kind.text(), "PodScheduled" | "Ready" | "Initialized") {
            condition.at("Type").with(kind.value()).check(names::label_key);
        }
    }
}

/// A container that has ended and will not start again stays so.
fn validate_transitions(new: Field<'_>, old: Field<'_>, spec: Field<'_>) {
    let restarts_all = ["containers", "initContainers"].into_iter().any(|sort| {
        let rules =
            spec.child(sort).items().flat_map(|container| container.child("restartPolicyRules").items());
        rules.into_iter().any(|rule| rule.child("action").text() == "RestartAllContainers")
    });
    for (list, sort) in [
        ("containerStatuses", Some("containers")),
        ("initContainerStatuses", Some("initContainers")),
        ("ephemeralContainerStatuses", None),
    ] {
        if restarts_all && sort.is_some() {
            continue;
        }
        let statuses = new.child(list);
        for (index, ended) in old.child(list).items().enumerate() {
            let end = ended.child("state").child("terminated");
            if !end.is_set() {
                continue;
            }
            let name = ended.child("name").text();
            let is_running = |status: &Value| {
                status["name"].as_str().unwrap_or_default() == name && status["state"]["terminated"].is_null()
            };
            if !statuses.list().iter().any(is_running) {
                continue;
            }
            let mut containers = sort.into_iter().flat_map(|sort| spec.child(sort).items());
            let container = containers.find(|container| container.child("name").text() == name);
            let code = end.child("exitCode").number();
            if !container.is_some_and(|container| should_restart(container, spec, code)) {
                let place = statuses.at_index(index).at("state");
                place.forbidden("may not be transitioned to non-terminated state");
            }
        }
    }
}

/// Whether a container starts again after it has ended with a code.
fn should_restart(container: Field<'_>, spec: Field<'_>, code: i64) -> bool {
    let by_policy = |policy: &str| match policy {
        "Never" => false,
        "OnFailure" => code != 0,
        _ => true,
    };
    let policy = container.child("restartPolicy");
    if !policy.is_set() {
        return by_policy(spec.child("restartPolicy").text());
    }
    for rule in container.child("restartPolicyRules").items() {
        let codes = rule.child("exitCodes");
        let is_listed = codes.child("values").list().iter().any(|value| value.as_i64() == Some(code));
        let matches = match codes.child("operator").text() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            _ => false,
        };
        if codes.is_set() && matches {
            return true;
        }
    }
    by_policy(policy.text())
}

fn validate_claims(statuses: Field<'_>, spec: Field<'_>) {
    let claims = spec.child("resourceClaims").list();
    let mut seen = BTreeSet::new();
    for status in statuses.items() {
        let name = status.child("name");
        if !claims.iter().any(|claim| claim["name"].as_str().unwrap_or_default() == name.text()) {
            name.invalid(name.text(), "must match the name of an entry in `spec.resourceClaims`");
        }
        if !seen.insert(name.text()) {
            name.duplicate(name.text());
        }
        let claim = status.child("resourceClaimName");
        if claim.is_set() {
            claim.check(names::dns1123_subdomain);
        }
    }
}

fn validate_extended_claims(status: Field<'_>, spec: Field<'_>) {
    if !status.is_set() {
        return;
    }
    let mappings = status.child("requestMappings");
    if mappings.is_empty() {
        mappings.required("at least one request mapping is required");
    }
    let mut seen = BTreeSet::new();
    for mapping in mappings.items() {
        let (container, resource, request) =
            (mapping.child("containerName"), mapping.child("resourceName"), mapping.child("requestName"));
        let mut containers =
            ["containers", "initContainers"].into_iter().flat_map(|sort| spec.child(sort).items().rev());
        match containers.find(|own| own.child("name").text() == container.text()) {
            None => {
                let detail =
                    "must match the name of an entry in spec.initContainers.name or spec.containers.name";
                container.invalid(container.text(), detail);
            }
            Some(own) if own.child("resources").child("requests").value().get(resource.text()).is_none() => {
                let detail = "must match the extended resource name of an entry in \
                              spec.initContainers.resources.requests or spec.containers.resources.requests";
                resource.invalid(resource.text(), detail);
            }
            Some(_) => {}
        }
        for reason in names::dns1123_label(request.text()) {
            status.at("requestName").invalid(request.text(), reason);
        }
        if !seen.insert((container.text(), resource.text(), request.text())) {
            for field in [container, resource, request] {
                field.duplicate(field.text());
            }
        }
    }
    let claim = status.child("resourceClaimName");
    if claim.require() {
        claim.check(names::dns1123_subdomain);
    }
}

fn validate_pod_ips(status: Field<'_>, old: Field<'_>) {
    let (ips, first) = (status.child("podIPs"), status.child("podIP").text());
    validate_ips(ips, old.child("podIPs"));
    if first.is_empty() != ips.is_empty() {
        ips.invalid_as("[]core.PodIP", "podIP and podIPs must either both be set or both be unset");
    } else if let Some(ip) = ips.items().next()
        && ip.child("ip").text() != first
    {
        ip.child("ip").invalid(ip.child("ip").text(), "must be equal to `podIP`");
    }
}

fn validate_host_ips(status: Field<'_>, old: Field<'_>) {
    let ips = status.child("hostIPs");
    let Some(first) = ips.items().next().map(|ip| ip.child("ip")) else { return };
    if first.text() != status.child("hostIP").text() {
        first.invalid(first.text(), "must be equal to `hostIP`");
    }
    validate_ips(ips, old.child("hostIPs"));
}

/// Checks the addresses, of which there may be one of each family. What is no address may stay.
fn validate_ips(ips: Field<'_>, old: Field<'_>) {
    for own in ips.items() {
        if !old.list().iter().any(|old| old["ip"] == *own.child("ip").value()) {
            ip::validate_ip(own.with(own.child("ip").value()));
        }
    }
    if ips.len() < 2 {
        return;
    }
    let parsed: Vec<_> = ips.items().map(|own| ip::parse_sloppy(own.child("ip").text())).collect();
    if let Some((index, _)) = parsed.iter().enumerate().find(|(_, ip)| ip.is_none()) {
        let text = ips.items().nth(index).map(|own| own.child("ip").text()).unwrap_or_default();
        let why = format!("failed to check for dual stack with error:invalid IP[{index}]: {text}");
        ips.internal(why);
    }
    let is_dual = parsed.iter().flatten().any(std::net::IpAddr::is_ipv4)
        && parsed.iter().flatten().any(std::net::IpAddr::is_ipv6)
        && parsed.iter().all(Option::is_some);
    if !is_dual || ips.len() > 2 {
        let kind = if ips.path().as_str().ends_with("podIPs") { "[]core.PodIP" } else { "[]core.HostIP" };
        ips.invalid_as(kind, "may specify no more than one IP for each IP family");
    }
}

fn validate_user(user: Field<'_>, os: &str) {
    let linux = user.child("linux");
    if !linux.is_set() {
        return;
    }
    match os {
        "windows" => linux.forbidden("cannot be set for a windows pod"),
        "linux" | "" => {
            let number = |field| linux.child(field).number();
            linux.child("uid").with(&number("uid").into()).in_range(0..=i64::from(u32::MAX));
            linux.child("gid").with(&number("gid").into()).in_range(IDS);
            linux.child("supplementalGroups").items().for_each(|group| group.in_range(IDS));
        }
        _ => {}
    }
}

/// Checks what is known of the devices of containers.
fn validate_allocated(status: Field<'_>, list: &'static str, containers: Field<'_>) {
    let extended = status.child("extendedResourceClaimStatus");
    for container in status.child(list).items() {
        let name = container.child("name").text();
        let own = containers.items().find(|own| own.child("name").text() == name);
        for resource in container.child("allocatedResourcesStatus").items() {
            if let Some(own) = own {
                validate_allocated_name(resource.child("name"), own, extended);
            }
            let mut seen = BTreeSet::new();
            for health in resource.child("resources").items() {
                health.child("health").one_of(&["Healthy", "Unhealthy", "Unknown"]);
                let message = health.child("message");
                if message.is_set() {
                    message.require_or("must be non-empty if specified");
                }
                if message.text().len() > MESSAGE_LENGTH {
                    message.too_long(1024);
                }
                let id = health.child("resourceID");
                if !seen.insert(id.text()) {
                    id.duplicate(id.text());
                }
            }
        }
    }
}

fn validate_allocated_name(name: Field<'_>, container: Field<'_>, extended: Field<'_>) {
    let requests = container.child("resources").child("requests");
    let Some(claim) = name.text().strip_prefix("claim:") else {
        if requests.value().get(name.text()).is_none() {
            name.invalid(name.text(), "must match one of the container's resource requests");
        }
        return;
    };
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let is_claim = container.child("resources").child("claims").list().iter().any(|own| {
        let (own, request) = (text(own, "name"), text(own, "request"));
        if request.is_empty() { claim == own } else { claim == format!("{own}/{request}") }
    });
    let is_extended = || {
        let (own, request) = claim.split_once('/').unwrap_or((claim, ""));
        !request.is_empty()
            && extended.child("resourceClaimName").text() == own
            && extended.child("requestMappings").list().iter().any(|mapping| {
                text(mapping, "containerName") == container.child("name").text()
                    && text(mapping, "requestName") == request
                    && requests.value().get(text(mapping, "resourceName")).is_some_and(|amount| amount != "0")
            })
    };
    if !is_claim && !is_extended() {
        let detail = "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when \
                      container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty";
        name.invalid(name.text(), detail);
    }
}
