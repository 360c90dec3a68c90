use kubewright_manifests::crd::CrdBuilder;

use crate::assert_recorded;

mod v1 {
    use schemars::JsonSchema;

    /// GadgetSpec of v1.
    #[derive(JsonSchema)]
    struct GadgetSpec {
        /// Size is how large.
        size: i32,
    }

    /// Gadget in version v1.
    ///
    /// +kubebuilder:resource:shortName=gd,scope=Cluster
    /// +kubebuilder:storageversion
    #[derive(JsonSchema)]
    pub(super) struct Gadget {
        spec: GadgetSpec,
    }
}

mod v2 {
    use schemars::JsonSchema;

    /// GadgetSpec of v2.
    #[derive(JsonSchema)]
    struct GadgetSpec {
        size: i64,
    }

    /// Gadget in version v2.
    ///
    /// +kubebuilder:resource:shortName=gd,scope=Cluster
    /// +kubebuilder:deprecatedversion:warning="use v1, v2 went too far"
    /// +kubebuilder:subresource:status
    #[derive(JsonSchema)]
    pub(super) struct Gadget {
        spec: GadgetSpec,
    }
}

mod v1beta1 {
    use schemars::JsonSchema;

    /// GadgetSpec of v1beta1.
    #[derive(JsonSchema)]
    struct GadgetSpec {
        size: Option<String>,
    }

    /// Gadget in version v1beta1.
    ///
    /// +kubebuilder:resource:shortName=gd,scope=Cluster
    /// +kubebuilder:deprecatedversion
    #[derive(JsonSchema)]
    pub(super) struct Gadget {
        spec: GadgetSpec,
    }
}

mod v1alpha1 {
    use schemars::JsonSchema;

    /// GadgetSpec of v1alpha1.
    #[derive(JsonSchema)]
    struct GadgetSpec {
        large: bool,
    }

    /// Gadget in version v1alpha1.
    ///
    /// +kubebuilder:resource:shortName=gd,scope=Cluster
    /// +kubebuilder:skipversion
    #[derive(JsonSchema)]
    pub(super) struct Gadget {
        spec: GadgetSpec,
    }
}

mod v10 {
    use schemars::JsonSchema;

    /// GadgetSpec of v10.
    #[derive(JsonSchema)]
    struct GadgetSpec {
        size: i64,
    }

    /// Gadget in version v10.
    ///
    /// +kubebuilder:resource:shortName=gd,scope=Cluster
    /// +kubebuilder:unservedversion
    /// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=.spec.size
    #[derive(JsonSchema)]
    pub(super) struct Gadget {
        spec: GadgetSpec,
    }
}

#[test]
fn versions() {
    let builder = CrdBuilder::of_root::<v2::Gadget>("parity.example.com", "v2", "Gadget")
        .root_version::<v1::Gadget>("v1")
        .root_version::<v10::Gadget>("v10")
        .root_version::<v1alpha1::Gadget>("v1alpha1")
        .root_version::<v1beta1::Gadget>("v1beta1");
    assert_recorded("versions", "parity.example.com_gadgets.yaml", builder);
}
