//! How long the descriptions of which types may be.

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// The crates below `k8s_openapi` whose modules are named otherwise in the schemas of their types.
const KUBERNETES: [(&str, &str); 2] =
    [("apiextensions_apiserver", "apiextensions-apiserver"), ("kube_aggregator", "kube-aggregator")];

/// The longest descriptions of some types and of their fields, in bytes. 0 leaves descriptions out.
///
/// What a field of another type says of such a type is not the type's. The descriptions of embedded types of Kubernetes are most
/// of a CRD that has a pod template:
///
/// ```
/// use kubewright_manifests::schema::DescriptionLimits;
///
/// let mut limits = DescriptionLimits::default();
/// limits.set_module("k8s_openapi::api::core", 0);
/// assert_eq!(limits.of("io.k8s.api.core.v1.PodSpec"), Some(0));
/// assert_eq!(limits.of("io.k8s.api.apps.v1.DeploymentSpec"), None);
/// ```
///
/// A schema knows its types by name, not by module. Only the names of Kubernetes' types tell the module; the modules of an
/// operator are found in its sources, by `kubewright generate` and its option `maxDescLenOf`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescriptionLimits {
    types: BTreeMap<String, usize>,
    prefixes: BTreeMap<String, usize>,
}

// === impl DescriptionLimits ===

impl DescriptionLimits {
    /// For a type.
    pub fn set<T: JsonSchema + ?Sized>(&mut self, bytes: usize) {
        self.set_type(T::schema_name(), bytes);
    }

    /// For the type whose schema has this name.
    pub fn set_type(&mut self, name: impl Into<String>, bytes: usize) {
        self.types.insert(name.into(), bytes);
    }

    /// For all types whose names begin so. The longest prefix that fits counts, and the name of a type more than any.
    pub fn set_prefix(&mut self, prefix: impl Into<String>, bytes: usize) {
        self.prefixes.insert(prefix.into(), bytes);
    }

    /// For the types of a module of `k8s_openapi` and of those below, or for one type there, such as
    /// `k8s_openapi::api::core::v1::PodSpec`. False if it is a path of another crate, which changes nothing.
    pub fn set_module(&mut self, path: &str, bytes: usize) -> bool {
        let mut parts = path.split("::");
        if parts.next() != Some("k8s_openapi") {
            return false;
        }
        let mut name = String::from("io.k8s");
        let mut is_type = false;
        for part in parts {
            let known = KUBERNETES.iter().find(|(module, _)| *module == part);
            name.push('.');
            name.push_str(known.map_or(part, |(_, name)| name));
            is_type = part.starts_with(|c: char| c.is_ascii_uppercase());
        }
        if is_type {
            self.set_type(name, bytes);
        } else {
            self.set_prefix(name + ".", bytes);
        }
        true
    }

    /// The longest description of the type with this name; none if nothing is said of it.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<usize> {
        let fitting = || self.prefixes.iter().filter(|(prefix, _)| name.starts_with(*prefix));
        let by_prefix = || fitting().max_by_key(|(prefix, _)| prefix.len());
        self.types.get(name).or_else(|| by_prefix().map(|(_, bytes)| bytes)).copied()
    }

    /// What is said: names of types, and beginnings of names with a `*` after them.
    pub fn iter(&self) -> impl Iterator<Item = (String, usize)> {
        let prefixes = self.prefixes.iter().map(|(prefix, bytes)| (format!("{prefix}*"), *bytes));
        prefixes.chain(self.types.iter().map(|(name, bytes)| (name.clone(), *bytes)))
    }

    /// Takes over what another one says, which wins.
    pub fn extend(&mut self, other: Self) {
        self.types.extend(other.types);
        self.prefixes.extend(other.prefixes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_type_says_more_than_its_module() {
        let mut limits = DescriptionLimits::default();
        assert!(limits.set_module("k8s_openapi::api", 9));
        assert!(limits.set_module("k8s_openapi::api::core::v1", 0));
        assert!(limits.set_module("k8s_openapi::api::core::v1::PodSpec", 5));
        assert!(limits.set_module("k8s_openapi::apiextensions_apiserver::pkg", 7));
        assert!(!limits.set_module("my_operator::api", 1));
        for (name, bytes) in [
            ("io.k8s.api.core.v1.PodSpec", Some(5)),
            ("io.k8s.api.core.v1.PodSpecs", Some(0)),
            ("io.k8s.api.core.v1beta1.Pod", Some(9)),
            ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", None),
            ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", Some(7)),
            ("PodSpec", None),
        ] {
            assert_eq!(limits.of(name), bytes, "{name}");
        }
        limits.set::<String>(3);
        assert_eq!(limits.of("string"), Some(3));
    }

    #[test]
    fn all_of_kubernetes_is_a_module() {
        let mut limits = DescriptionLimits::default();
        assert!(limits.set_module("k8s_openapi", 1));
        assert_eq!(limits.of("io.k8s.apimachinery.pkg.util.intstr.IntOrString"), Some(1));
        assert_eq!(limits.iter().collect::<Vec<_>>(), [("io.k8s.*".to_owned(), 1)]);
    }
}
