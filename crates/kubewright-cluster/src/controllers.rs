//! The controllers of the cluster: one ordered table from which selection, help and start-up come.

use kubewright_runtime::{Result, manager::Manager};

use crate::{
    cluster::Settings, cron_job, daemon_set, deployment, endpoint_slice, garbage_collector, job, kubelet,
    load_balancer, namespace, node_lifecycle, persistent_volume, pod_garbage_collector, replica_set,
    resource_quota, scheduler, service_account, stateful_set, storage_protection,
    validating_admission_policy,
};

/// One controller of the cluster.
///
/// ```
/// // The help of a flag that takes a list of controllers.
/// for controller in kubewright_cluster::controllers() {
///     println!("{:42} {}", controller.name, controller.about);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Descriptor {
    /// Its name, that of kube-controller-manager where there is one.
    pub name: &'static str,
    /// The short name that older versions of kube-controller-manager have for it.
    pub alias: Option<&'static str>,
    /// What it does, in one sentence without a full stop.
    pub about: &'static str,
    pub(crate) run: fn(&Manager, &Settings) -> Result<()>,
}

/// The controllers, in the order in which they start.
#[must_use]
pub fn controllers() -> &'static [Descriptor] {
    CONTROLLERS
}

pub(crate) const CONTROLLERS: &[Descriptor] = &[
    Descriptor {
        name: "namespace-controller",
        alias: Some("namespace"),
        about: "deletes the contents of namespaces that are being deleted",
        run: namespace::run,
    },
    Descriptor {
        name: "serviceaccount-controller",
        alias: Some("serviceaccount"),
        about: "keeps a ServiceAccount \"default\" in every namespace",
        run: service_account::run_default_account,
    },
    Descriptor {
        name: "root-ca-certificate-publisher-controller",
        alias: Some("root-ca-cert-publisher"),
        about: "keeps a ConfigMap \"kube-root-ca.crt\" in every namespace",
        run: service_account::run_root_ca,
    },
    Descriptor {
        name: "garbage-collector-controller",
        alias: Some("garbagecollector"),
        about: "deletes objects whose owners are gone",
        run: garbage_collector::run,
    },
    Descriptor {
        name: "deployment-controller",
        alias: Some("deployment"),
        about: "rolls Deployments out over ReplicaSets",
        run: deployment::run,
    },
    Descriptor {
        name: "replicaset-controller",
        alias: Some("replicaset"),
        about: "keeps the pods of ReplicaSets",
        run: replica_set::run,
    },
    Descriptor {
        name: "statefulset-controller",
        alias: Some("statefulset"),
        about: "keeps the pods of StatefulSets, in order",
        run: stateful_set::run,
    },
    Descriptor {
        name: "daemonset-controller",
        alias: Some("daemonset"),
        about: "keeps a pod of each DaemonSet on every node",
        run: daemon_set::run,
    },
    Descriptor {
        name: "job-controller",
        alias: Some("job"),
        about: "runs the pods of Jobs until enough have succeeded",
        run: job::run,
    },
    Descriptor {
        name: "cronjob-controller",
        alias: Some("cronjob"),
        about: "creates Jobs at the times of CronJobs",
        run: cron_job::run,
    },
    Descriptor {
        name: "endpointslice-controller",
        alias: Some("endpointslice"),
        about: "writes the addresses behind Services as EndpointSlices",
        run: endpoint_slice::run,
    },
    Descriptor {
        name: "endpoints-controller",
        alias: Some("endpoint"),
        about: "writes the addresses behind Services as Endpoints",
        run: endpoint_slice::run_legacy,
    },
    Descriptor {
        name: "service-lb-controller",
        alias: Some("service"),
        about: "gives Services of type LoadBalancer an address",
        run: load_balancer::run,
    },
    Descriptor {
        name: "persistentvolume-binder-controller",
        alias: Some("persistentvolume-binder"),
        about: "gives PersistentVolumeClaims their volumes",
        run: persistent_volume::run,
    },
    Descriptor {
        name: "persistentvolumeclaim-protection-controller",
        alias: Some("pvc-protection"),
        about: "keeps PersistentVolumeClaims that are deleted while pods use them",
        run: storage_protection::run_claims,
    },
    Descriptor {
        name: "persistentvolume-protection-controller",
        alias: Some("pv-protection"),
        about: "keeps PersistentVolumes that are deleted while claims are bound to them",
        run: storage_protection::run_volumes,
    },
    Descriptor {
        name: "volumeattributesclass-protection-controller",
        alias: None,
        about: "keeps VolumeAttributesClasses that are deleted while volumes have them",
        run: storage_protection::run_attributes_classes,
    },
    Descriptor {
        name: "resourcequota-controller",
        alias: Some("resourcequota"),
        about: "counts what is used of ResourceQuotas",
        run: resource_quota::run,
    },
    Descriptor {
        name: "pod-garbage-collector-controller",
        alias: Some("podgc"),
        about: "deletes pods that no kubelet can end",
        run: pod_garbage_collector::run,
    },
    Descriptor {
        name: "validatingadmissionpolicy-status-controller",
        alias: None,
        about: "checks the types of the expressions of ValidatingAdmissionPolicies",
        run: validating_admission_policy::run,
    },
    Descriptor {
        name: "node-lifecycle-controller",
        alias: Some("nodelifecycle"),
        about: "taints nodes by their conditions",
        run: node_lifecycle::run,
    },
    Descriptor { name: "scheduler", alias: None, about: "binds pods to nodes", run: scheduler::run },
    Descriptor {
        name: "kubelet",
        alias: None,
        about: "simulates a node on which pods run without a process",
        run: kubelet::run,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_aliases_are_unique() {
        let names: Vec<_> = CONTROLLERS
            .iter()
            .flat_map(|controller| [Some(controller.name), controller.alias])
            .flatten()
            .collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
