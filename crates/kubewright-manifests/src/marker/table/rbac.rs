//! What the operator may do.

use super::ANYWHERE;
use crate::marker::{
    Argument,
    Arguments::Named,
    Definition, Effect,
    ValueKind::{List, String as Text},
};

const RULE: &[Argument] = &[
    Argument::optional(
        "groups",
        List(&Text),
        "The API groups; `core` or `\"\"` is that of pods and services.",
    ),
    Argument::optional(
        "resources",
        List(&Text),
        "The resources by their plural names, such as `deployments/status`.",
    ),
    Argument::optional("resourceNames", List(&Text), "The names of the objects; all unless given."),
    Argument::required("verbs", List(&Text), "What may be done, such as `get;list;watch`, or `*`."),
    Argument::optional("urls", List(&Text), "Paths that are no resources, such as `/metrics`."),
    Argument::optional(
        "namespace",
        Text,
        "Gives the permission in this namespace alone: a Role, not a ClusterRole.",
    ),
    Argument::optional("roleName", Text, "The role the rule belongs to; that of the command unless given."),
];

pub(super) static ROWS: &[Definition] = &[Definition::new(
    "kubebuilder:rbac",
    ANYWHERE,
    Named(RULE),
    Effect::Rbac,
    "A permission that the operator needs. It may stand on any code, best where the permission is used.",
)
.example("+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch")];
