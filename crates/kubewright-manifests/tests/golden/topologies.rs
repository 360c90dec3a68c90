use schemars::JsonSchema;

use crate::comparison::Golden;

/// A kind.
///
/// +kubebuilder:deprecatedversion:warning="use another"
/// +kubebuilder:resource:scope=Cluster,shortName={topo}
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

mod v1beta1 {
    use schemars::JsonSchema;

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

    /// A level.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase")]
    pub(super) struct TopologyLevel {
        /// A label.
        ///
        /// After a blank line.
        ///
        /// +required
        /// +kubebuilder:validation:Required
        /// +kubebuilder:validation:MinLength=1
        /// +kubebuilder:validation:MaxLength=316
        /// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
        pub(super) node_label: String,
    }
}

mod v1beta2 {
    use schemars::JsonSchema;

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

    /// A level.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase")]
    pub(super) struct TopologyLevel {
        /// A label.
        ///
        /// After a blank line.
        ///
        /// +required
        /// +kubebuilder:validation:MinLength=1
        /// +kubebuilder:validation:MaxLength=316
        /// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
        pub(super) node_label: String,
    }
}

#[test]
fn topologies() {
    Golden::of::<V1beta1>(
        "extra/kueue/kueue.x-k8s.io_topologies.yaml",
        ("kueue.x-k8s.io", "v1beta1", "Topology"),
        &["sigs.k8s.io/kueue/apis/kueue/v1beta1"],
    )
    .version::<V1beta2>("v1beta2", &["sigs.k8s.io/kueue/apis/kueue/v1beta2"])
    .assert();
}
