//! Which resource an object is of, as the cluster says.

use kube::{
    Api, Client,
    api::DynamicObject,
    core::GroupVersionKind,
    discovery::{ApiCapabilities, ApiResource, Discovery, Scope},
};

use crate::{DeployError, name_of};

/// A kind, whatever its version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupKind {
    pub(crate) group: String,
    pub(crate) kind: String,
}

/// What the cluster serves.
pub(crate) struct Kinds {
    client: Client,
    discovery: Discovery,
}

impl Kinds {
    /// Asks the cluster.
    pub(crate) async fn ask(client: &Client) -> Result<Self, DeployError> {
        let discovery = Discovery::new(client.clone()).run_aggregated().await;
        let discovery = discovery.map_err(|error| DeployError::Discovery(error.to_string()))?;
        Ok(Self { client: client.clone(), discovery })
    }

    /// Where the objects like this one are, in its namespace.
    pub(crate) fn of(&self, object: &DynamicObject) -> Result<Api<DynamicObject>, DeployError> {
        let types = object.types.clone().unwrap_or_default();
        let kind = GroupVersionKind::try_from(&types).ok();
        let (resource, capabilities) =
            kind.and_then(|kind| self.discovery.resolve_gvk(&kind)).ok_or_else(|| {
                DeployError::UnknownKind { object: name_of(object), api_version: types.api_version }
            })?;
        Ok(self.api(&resource, &capabilities, object.metadata.namespace.as_deref()))
    }

    /// All objects of a kind, in every namespace, in its preferred version.
    pub(crate) fn all_of(&self, kind: &GroupKind) -> Option<(Api<DynamicObject>, ApiResource)> {
        let groups = self.discovery.groups().filter(|group| group.name() == kind.group);
        let mut found = groups.flat_map(kube::discovery::ApiGroup::recommended_resources);
        let (resource, _) = found.find(|(resource, _)| resource.kind == kind.kind)?;
        Some((Api::all_with(self.client.clone(), &resource), resource))
    }

    fn api(
        &self,
        resource: &ApiResource,
        capabilities: &ApiCapabilities,
        namespace: Option<&str>,
    ) -> Api<DynamicObject> {
        match capabilities.scope {
            Scope::Cluster => Api::all_with(self.client.clone(), resource),
            Scope::Namespaced => {
                Api::namespaced_with(self.client.clone(), namespace.unwrap_or("default"), resource)
            }
        }
    }
}
