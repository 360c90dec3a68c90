//! What an object is called: its group, version, kind, name and namespace.

use std::fmt;

use serde::Deserialize;

use crate::kinds;

/// A group, version and kind, or a choice of them where empty parts stand for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Gvk {
    #[serde(default)]
    pub(crate) group: String,
    #[serde(default)]
    pub(crate) version: String,
    #[serde(default)]
    pub(crate) kind: String,
}

/// The identity of an object, now or before it was renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    pub(crate) gvk: Gvk,
    pub(crate) name: String,
    pub(crate) namespace: String,
    cluster_scoped: bool,
}

/// In place of a namespace, where there is none.
const NO_NAMESPACE: &str = "_non_namespaceable_";

/// Kinds that come first in what is written, in this order; and those that come last.
const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

impl Gvk {
    pub(crate) fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Whether `choice` has this, where what it leaves out is any.
    pub(crate) fn is_selected_by(&self, choice: &Self) -> bool {
        let fits = |own: &str, wanted: &str| wanted.is_empty() || own == wanted;
        fits(&self.group, &choice.group)
            && fits(&self.version, &choice.version)
            && fits(&self.kind, &choice.kind)
    }

    /// The default order of kinds in what is written.
    pub(crate) fn order(&self) -> (i32, String) {
        (kind_order(&self.kind, &FIRST, &LAST), self.order_text())
    }

    pub(crate) fn order_text(&self) -> String {
        let or =
            |text: &str, missing: &str| if text.is_empty() { missing.to_owned() } else { text.to_owned() };
        format!("{}_{}_{}", or(&self.group, "~G"), or(&self.version, "~V"), or(&self.kind, "~K"))
    }
}

/// Where a kind stands: before the others, after them, or among them (0).
pub(crate) fn kind_order<T: AsRef<str>>(kind: &str, first: &[T], last: &[T]) -> i32 {
    let place =
        |list: &[T]| list.iter().rposition(|k| k.as_ref() == kind).and_then(|at| i32::try_from(at).ok());
    match (place(last), place(first)) {
        (Some(at), _) => 1 + at,
        (None, Some(at)) => at - i32::try_from(first.len()).unwrap_or(i32::MAX),
        (None, None) => 0,
    }
}

/// The lists of [`Gvk::order`].
pub(crate) fn default_order() -> (&'static [&'static str], &'static [&'static str]) {
    (&FIRST, &LAST)
}

impl Id {
    /// The identity that an object has.
    pub(crate) fn current(gvk: Gvk, name: &str, namespace: &str) -> Self {
        let cluster_scoped = kinds::is_cluster_scoped(&gvk);
        Self { gvk, name: name.to_owned(), namespace: namespace.to_owned(), cluster_scoped }
    }

    /// An identity that it had. `namespace` is what [`Self::scope`] gave.
    pub(crate) fn former(gvk: Gvk, name: &str, namespace: &str) -> Self {
        Self { gvk, name: name.to_owned(), namespace: namespace.to_owned(), cluster_scoped: false }
    }

    pub(crate) fn is_cluster_scoped(&self) -> bool {
        self.cluster_scoped
    }

    /// The namespace, `default` if none is given, or a word of its own for what is certainly in none.
    pub(crate) fn scope(&self) -> &str {
        match self.namespace.as_str() {
            _ if self.cluster_scoped => NO_NAMESPACE,
            "" => "default",
            namespace => namespace,
        }
    }

    pub(crate) fn has_no_namespace(scope: &str) -> bool {
        scope == NO_NAMESPACE
    }

    /// Whether both are the same object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.scope() == other.scope() && self.name == other.name && self.gvk == other.gvk
    }

    /// The order of objects of one kind in what is written.
    pub(crate) fn order(&self) -> String {
        let Gvk { group, version, kind } = &self.gvk;
        let or =
            |text: &str, missing: &str| if text.is_empty() { missing.to_owned() } else { text.to_owned() };
        format!(
            "{}.{}.{}|{}|{}",
            or(kind, "[noKind]"),
            or(version, "[noVer]"),
            or(group, "[noGrp]"),
            or(&self.namespace, "~X"),
            or(&self.name, "~N")
        )
    }
}

/// As in `apps/v1 Deployment system/manager`.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = if Self::has_no_namespace(&self.namespace) { "" } else { &self.namespace };
        if !self.gvk.version.is_empty() {
            write!(f, "{} ", self.gvk.api_version())?;
        }
        write!(f, "{} ", self.gvk.kind)?;
        if !namespace.is_empty() {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}
