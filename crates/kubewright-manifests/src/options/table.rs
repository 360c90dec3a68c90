//! The generators and their options.

use std::fmt;

use crate::marker::{
    Argument,
    ValueKind::{Bool, Integer, List, String as Text},
};

/// What makes one kind of manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Generator {
    /// CustomResourceDefinitions, from the operator's types.
    Crd,
    /// Roles, from `+kubebuilder:rbac` markers.
    Rbac,
    /// Webhook configurations, from `+kubebuilder:webhook` markers.
    Webhook,
}

// === impl Generator ===

impl Generator {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Crd, Self::Rbac, Self::Webhook];

    /// Its name, as the command line has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Crd => "crd",
            Self::Rbac => "rbac",
            Self::Webhook => "webhook",
        }
    }

    /// The generator with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|generator| generator.name() == name)
    }

    /// Where its files go in a project, below the folder of the package: where Kubebuilder has them.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Crd => "config/crd/bases",
            Self::Rbac => "config/rbac",
            Self::Webhook => "config/webhook",
        }
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The options of a generator, in the order of the help.
#[must_use]
pub fn options(generator: Generator) -> &'static [Argument] {
    match generator {
        Generator::Crd => CRD,
        Generator::Rbac => RBAC,
        Generator::Webhook => WEBHOOK,
    }
}

const HEADER_FILE: Argument = Argument::optional(
    "headerFile",
    Text,
    "A file with comments for the top of each file, such as a licence.",
);
const YEAR: Argument = Argument::optional("year", Text, "What takes the place of YEAR in the header.");

const CRD: &[Argument] = &[
    Argument::optional(
        "maxDescLen",
        Integer,
        "The longest description in bytes; longer ones are cut at a sentence or word, 0 leaves all out. None is cut unless given.",
    ),
    Argument::optional(
        "maxDescLenOf",
        List(&Text),
        "The longest descriptions of the types of a module, or of one type, each as `k8s_openapi::api::core=0` or \
         `my_operator::api::v1=60`.",
    ),
    Argument::optional(
        "generateEmbeddedObjectMeta",
        Bool,
        "Whether the metadata of embedded objects keeps name, namespace, labels, annotations and finalizers; true unless \
         in controller-gen's style.",
    ),
    Argument::optional(
        "allowDangerousTypes",
        Bool,
        "Allows floats in controller-gen's style, which some languages read differently.",
    ),
    Argument::optional(
        "omitToolVersion",
        Bool,
        "Leaves the annotation with the generator's version out in controller-gen's style; ours has none.",
    ),
    Argument::optional(
        "crdVersions",
        List(&Text),
        "The API versions of the CRDs; `v1` is the only one there is.",
    ),
    Argument::optional(
        "ignoreUnexportedFields",
        Bool,
        "Has no effect: in Rust, serde decides what a field is.",
    ),
    Argument::optional(
        "deprecatedV1beta1CompatibilityPreserveUnknownFields",
        Bool,
        "Writes `spec.preserveUnknownFields` in controller-gen's style. API servers refuse `true`, and `false` is the default.",
    ),
    HEADER_FILE,
    YEAR,
];

const RBAC: &[Argument] = &[
    Argument::optional(
        "roleName",
        Text,
        "The name of the role for markers that name none; `manager-role` unless given.",
    ),
    Argument::optional("fileName", Text, "The file; `role.yaml` unless given."),
    Argument::optional(
        "userRoles",
        Bool,
        "Adds roles to view, edit and administer each kind of the operator, for its users; they are not made unless \
         asked for.",
    ),
    HEADER_FILE,
    YEAR,
];

const WEBHOOK: &[Argument] = &[HEADER_FILE, YEAR];
