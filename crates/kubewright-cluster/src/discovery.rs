//! Which resources the API server has, for the controllers that work on all of them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResource;
use kube::core::ApiResource;

/// A resource at the version the server prefers.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Resource {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
    verbs: Vec<String>,
}

/// What discovery found, and what it could not ask for.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    pub(crate) resources: Vec<Resource>,
    /// One message for each group version that failed.
    pub(crate) failures: Vec<String>,
}

impl Resource {
    /// A resource of the core group that every server has, with a namespace.
    pub(crate) fn core(kind: &str, plural: &str) -> Self {
        Self {
            group: String::new(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced: true,
            verbs: Vec::new(),
        }
    }

    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    pub(crate) fn supports(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| own == verb)
    }

    pub(crate) fn api_resource(&self) -> ApiResource {
        ApiResource {
            group: self.group.clone(),
            version: self.version.clone(),
            api_version: self.api_version(),
            kind: self.kind.clone(),
            plural: self.plural.clone(),
        }
    }

    /// `pods.` or `deployments.apps`, as the conditions of a namespace name it.
    pub(crate) fn qualified_name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

/// Asks for the resources of all groups, each at its preferred version, or at the first other version for a
/// resource that the preferred one does not have. A group version that fails does not hide the others.
///
/// # Errors
///
/// If the list of groups itself cannot be read.
pub(crate) async fn discover(client: &kube::Client) -> Result<Discovered, kube::Error> {
    let mut discovered = Discovered::default();
    for version in client.list_core_api_versions().await?.versions {
        let resources = client.list_core_api_resources(&version).await.map(|list| list.resources);
        discovered.take("", &version, resources);
    }
    for group in client.list_api_groups().await?.groups {
        let preferred = group.preferred_version.as_ref().map(|preferred| preferred.version.clone());
        let mut versions: Vec<_> = group.versions.into_iter().map(|version| version.version).collect();
        versions.sort_by_key(|version| Some(version) != preferred.as_ref());
        for version in versions {
            let group_version = format!("{}/{version}", group.name);
            let resources = client.list_api_group_resources(&group_version).await.map(|list| list.resources);
            discovered.take(&group.name, &version, resources);
        }
    }
    Ok(discovered)
}

impl Discovered {
    fn take(&mut self, group: &str, version: &str, resources: Result<Vec<APIResource>, kube::Error>) {
        let resources = match resources {
            Ok(resources) => resources,
            Err(error) => {
                self.failures.push(format!("{group}/{version}: {error}"));
                return;
            }
        };
        for resource in resources {
            // A subresource belongs to its resource.
            if resource.name.contains('/') {
                continue;
            }
            let known = |known: &Resource| known.group == group && known.plural == resource.name;
            if !self.resources.iter().any(known) {
                self.resources.push(Resource {
                    group: group.to_owned(),
                    version: version.to_owned(),
                    kind: resource.kind,
                    plural: resource.name,
                    namespaced: resource.namespaced,
                    verbs: resource.verbs,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api_resource(name: &str) -> APIResource {
        APIResource { name: name.into(), verbs: vec!["list".into()], ..APIResource::default() }
    }

    #[test]
    fn the_preferred_version_wins_and_subresources_are_left_out() {
        let mut discovered = Discovered::default();
        discovered.take(
            "apps",
            "v1",
            Ok(vec![api_resource("deployments"), api_resource("deployments/scale")]),
        );
        discovered.take("apps", "v1beta1", Ok(vec![api_resource("deployments"), api_resource("toys")]));
        let names: Vec<_> =
            discovered.resources.iter().map(|r| (r.qualified_name(), r.api_version())).collect();
        assert_eq!(
            names,
            [("deployments.apps".into(), "apps/v1".into()), ("toys.apps".into(), "apps/v1beta1".into())]
        );
        assert!(discovered.resources[0].supports("list") && !discovered.resources[0].supports("delete"));
    }
}
