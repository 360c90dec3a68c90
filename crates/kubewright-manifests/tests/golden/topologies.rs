use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::comparison::{Written, assert_golden};

/// A kind.
///
/// +kubebuilder:resource:scope=Cluster,shortName={topo}
/// +kubebuilder:deprecatedversion:warning="use another"
#[derive(JsonSchema)]
#[schemars(rename = "Topology")]
struct V1beta1 {
    /// What the field says.
    spec: Option<v1beta1::TopologySpec>,
}

/// A kind.
///
/// +kubebuilder:storageversion
/// +kubebuilder:resource:scope=Cluster,shortName={topo}
#[derive(JsonSchema)]
#[schemars(rename = "Topology")]
struct V1beta2 {
    /// What the field says.
    ///
    /// +optional
    spec: v1beta2::TopologySpec,
}

/// A level.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct TopologyLevel {
    /// A label.
    ///
    /// After a blank line.
    ///
    /// +required
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=316
    /// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
    node_label: String,
}

mod v1beta1 {
    use schemars::JsonSchema;

    use super::TopologyLevel;

    /// What the type says.
    #[derive(JsonSchema)]
    pub(super) struct TopologySpec {
        /// The levels.
        ///
        /// +required
        /// +listType=atomic
        /// +kubebuilder:validation:MinItems=1
        /// +kubebuilder:validation:MaxItems=16
        /// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="no changes"
        /// +kubebuilder:validation:XValidation:rule="size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0",message="unique"
        /// +kubebuilder:validation:XValidation:rule="size(self.filter(i, i.nodeLabel == 'kubernetes.io/hostname')) == 0 || self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname'",message="lowest"
        pub(super) levels: Option<Vec<TopologyLevel>>,
    }
}

mod v1beta2 {
    use schemars::JsonSchema;

    use super::TopologyLevel;

    /// What the type says.
    #[derive(JsonSchema)]
    pub(super) struct TopologySpec {
        /// The levels.
        ///
        /// +required
        /// +listType=atomic
        /// +kubebuilder:validation:MinItems=1
        /// +kubebuilder:validation:MaxItems=16
        /// +kubebuilder:validation:XValidation:rule="self == oldSelf || (self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname' && oldSelf[size(oldSelf) - 1].nodeLabel == 'kubernetes.io/hostname')",message="few changes"
        /// +kubebuilder:validation:XValidation:rule="size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0",message="unique"
        /// +kubebuilder:validation:XValidation:rule="size(self.filter(i, i.nodeLabel == 'kubernetes.io/hostname')) == 0 || self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname'",message="lowest"
        pub(super) levels: Option<Vec<TopologyLevel>>,
    }
}

#[test]
fn topologies() {
    let builder = CrdBuilder::of_root::<V1beta1>("kueue.x-k8s.io", "v1beta1", "Topology");
    let path = "extra/kueue/kueue.x-k8s.io_topologies.yaml";
    assert_golden(path, builder.root_version::<V1beta2>("v1beta2"), Written::ByMachine);
}
