use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        coordination::v1::{Lease, LeaseSpec},
        core::v1::{
            DaemonEndpoint, Node, NodeAddress, NodeCondition, NodeDaemonEndpoints, NodeSpec, NodeStatus,
            NodeSystemInfo,
        },
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{MicroTime, OwnerReference, Time},
    },
};
use kubewright_runtime::{Request, Result, client::Client};
use kubewright_world::Clock;

/// The version the node reports: that of the API server it goes with.
const KUBELET_VERSION: &str = "v1.37.2";
const RUNTIME_VERSION: &str = concat!("kubewright://", env!("CARGO_PKG_VERSION"));
/// The namespace of the leases by which nodes show that they live.
const LEASE_NAMESPACE: &str = "kube-node-lease";
const LEASE_DURATION_SECONDS: i32 = 40;
/// How often the lease is renewed.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(10);

/// The identity of a simulated node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity<'a> {
    pub(super) name: &'a str,
    pub(super) ip: &'a str,
    pub(super) pod_cidr: &'a str,
}

/// Registers the node if it is not there and renews its lease.
pub(super) async fn beat(client: &Client, clock: &Clock, node: Identity<'_>) -> Result<()> {
    let registered = match client.live().get::<Node>(Request::cluster(node.name)).await? {
        Some(registered) => registered,
        None => register(client, node, clock.now()).await?,
    };
    renew(client, &registered, clock.now()).await
}

async fn register(client: &Client, identity: Identity<'_>, now: Timestamp) -> Result<Node> {
    let node = node(identity, now);
    let mut created = client.create(&node).await?;
    // Whether the status of a new node is taken is up to the server.
    if created.status.as_ref().and_then(|status| status.conditions.as_ref()).is_none() {
        created.status = node.status;
        created = client.status().update(&created).await?;
    }
    Ok(created)
}

async fn renew(client: &Client, node: &Node, now: Timestamp) -> Result<()> {
    let name = node.metadata.name.clone().unwrap_or_default();
    let key = Request::namespaced(LEASE_NAMESPACE, &*name);
    let result = match client.live().get::<Lease>(&key).await? {
        Some(mut lease) => {
            lease.spec.get_or_insert_default().renew_time = Some(MicroTime(now));
            client.update(&lease).await
        }
        None => {
            let mut lease = Lease {
                spec: Some(LeaseSpec {
                    holder_identity: Some(name.clone()),
                    lease_duration_seconds: Some(LEASE_DURATION_SECONDS),
                    renew_time: Some(MicroTime(now)),
                    ..LeaseSpec::default()
                }),
                ..Lease::default()
            };
            lease.metadata.name = Some(name.clone());
            lease.metadata.namespace = Some(LEASE_NAMESPACE.into());
            lease.metadata.owner_references = Some(vec![OwnerReference {
                api_version: "v1".into(),
                kind: "Node".into(),
                name,
                uid: node.metadata.uid.clone().unwrap_or_default(),
                ..OwnerReference::default()
            }]);
            client.create(&lease).await
        }
    };
    result?;
    Ok(())
}

/// The Node object.
fn node(identity: Identity<'_>, now: Timestamp) -> Node {
    let name = identity.name;
    let mut node = Node {
        spec: Some(NodeSpec {
            pod_cidr: Some(identity.pod_cidr.into()),
            pod_cidrs: Some(vec![identity.pod_cidr.into()]),
            provider_id: Some(format!("kubewright://{name}")),
            ..NodeSpec::default()
        }),
        status: Some(NodeStatus {
            capacity: Some(capacity()),
            allocatable: Some(capacity()),
            conditions: Some(conditions(now)),
            addresses: Some(vec![address("InternalIP", identity.ip), address("Hostname", name)]),
            daemon_endpoints: Some(NodeDaemonEndpoints {
                kubelet_endpoint: Some(DaemonEndpoint { port: 10250 }),
            }),
            node_info: Some(NodeSystemInfo {
                architecture: "amd64".into(),
                operating_system: "linux".into(),
                os_image: "Kubewright simulated node".into(),
                kernel_version: "6.12.0".into(),
                kubelet_version: KUBELET_VERSION.into(),
                container_runtime_version: RUNTIME_VERSION.into(),
                boot_id: name.into(),
                machine_id: name.into(),
                system_uuid: name.into(),
                ..NodeSystemInfo::default()
            }),
            ..NodeStatus::default()
        }),
        ..Node::default()
    };
    node.metadata.name = Some(name.into());
    let labels = [
        ("beta.kubernetes.io/arch", "amd64"),
        ("beta.kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/hostname", name),
        ("kubernetes.io/os", "linux"),
        ("kubewright.dev/simulated", "true"),
        ("node-role.kubernetes.io/control-plane", ""),
    ];
    node.metadata.labels = Some(labels.map(|(key, value)| (key.into(), value.into())).into());
    node
}

/// Room for any test: the node is not what is tested.
fn capacity() -> BTreeMap<String, Quantity> {
    [
        ("cpu", "256"),
        ("ephemeral-storage", "10Ti"),
        ("hugepages-1Gi", "0"),
        ("hugepages-2Mi", "0"),
        ("memory", "1Ti"),
        ("pods", "10k"),
    ]
    .map(|(name, value)| (name.into(), Quantity(value.into())))
    .into()
}

fn address(kind: &str, address: &str) -> NodeAddress {
    NodeAddress { type_: kind.into(), address: address.into() }
}

fn conditions(now: Timestamp) -> Vec<NodeCondition> {
    [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    .into_iter()
    .map(|(kind, status, reason, message)| NodeCondition {
        type_: kind.into(),
        status: status.into(),
        reason: Some(reason.into()),
        message: Some(message.into()),
        last_heartbeat_time: Some(Time(now)),
        last_transition_time: Some(Time(now)),
    })
    .collect()
}
