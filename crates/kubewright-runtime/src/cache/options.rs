use std::{any::TypeId, fmt, sync::Arc};

use k8s_openapi::ClusterResourceScope;
use kube::{
    Resource,
    core::{ApiResource, Selector},
    discovery::Scope,
};

/// What an informer watches, and what it keeps of it.
///
/// Whoever declares the same kind with the same namespaces and selectors shares one informer.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use kube::core::Expression;
/// use kubewright_runtime::cache::InformerOptions;
///
/// let options = InformerOptions::<Secret>::new()
///     .namespace("shop")
///     .labels(Expression::Equal("app".into(), "cart".into()))
///     .transform(|secret| secret.data = None);
/// # let _ = options;
/// ```
pub struct InformerOptions<K> {
    pub(super) resource: ApiResource,
    pub(super) scope: Scope,
    pub(super) metadata_only: bool,
    pub(super) namespaces: Option<Vec<String>>,
    pub(super) labels: Selector,
    pub(super) fields: Option<String>,
    pub(super) transform: Option<Transform<K>>,
    pub(super) page_size: Option<u32>,
    pub(super) streaming_lists: bool,
}

pub(super) type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;

/// By what informers are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) kind: TypeId,
    pub(super) resource: ApiResource,
    pub(super) namespaces: Vec<String>,
    pub(super) labels: Option<String>,
    pub(super) fields: Option<String>,
}

// === impl InformerOptions ===

impl<K> InformerOptions<K>
where
    K: Resource + 'static,
    K::DynamicType: Default,
{
    /// All objects of the kind, in the namespaces of the cache.
    #[must_use]
    pub fn new() -> Self {
        let scope = if TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
            Scope::Cluster
        } else {
            Scope::Namespaced
        };
        Self::dynamic(&K::DynamicType::default(), scope)
    }
}

impl<K: Resource> InformerOptions<K> {
    /// All objects of a kind that is known at run time only, in the namespaces of the cache. For
    /// `DynamicObject` and `PartialObjectMeta<DynamicObject>`.
    #[must_use]
    pub fn dynamic(kind: &K::DynamicType, scope: Scope) -> Self {
        Self {
            resource: ApiResource::erase::<K>(kind),
            scope,
            metadata_only: K::metadata_api(),
            namespaces: None,
            labels: Selector::default(),
            fields: None,
            transform: None,
            page_size: Some(500),
            streaming_lists: false,
        }
    }

    /// Watches this namespace, and the others given so, instead of the namespaces of the cache. Each namespace
    /// is a watch of its own. Has no effect on a cluster-scoped kind.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespaces.get_or_insert_default().push(namespace.into());
        self
    }

    /// Watches all namespaces, whatever the namespaces of the cache are.
    #[must_use]
    pub fn all_namespaces(mut self) -> Self {
        self.namespaces = Some(Vec::new());
        self
    }

    /// Watches only objects with matching labels. An object that stops to match is a deleted one here.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<Selector>) -> Self {
        self.labels = selector.into();
        self
    }

    /// Watches only objects with matching fields, as `metadata.name=cart,spec.nodeName!=worker-1`. The server
    /// knows few fields of each kind.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into()).filter(|text| !text.is_empty());
        self
    }

    /// Passes each object through `transform` before it is stored, to drop what nobody reads. Mind that a field
    /// that is dropped here is missing in an object that is read from the cache and written back by update.
    #[must_use]
    pub fn transform(mut self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        self.transform = Some(Arc::new(transform));
        self
    }

    /// Asks for at most so many objects at once when listing; `None` for all. The default is 500.
    #[must_use]
    pub fn page_size(mut self, page_size: Option<u32>) -> Self {
        self.page_size = page_size;
        self
    }

    /// Gets the initial objects through the watch instead of through lists, which is easier on the server for
    /// large collections. Needs Kubernetes 1.32 with its defaults; falls back to lists where that is refused.
    #[must_use]
    pub fn streaming_lists(mut self) -> Self {
        self.streaming_lists = true;
        self
    }

    /// What this selects, in a cache of these namespaces. No namespace means all.
    pub(super) fn selection(&self, namespaces_of_cache: &[String]) -> Selection
    where
        K: 'static,
    {
        let mut namespaces = match (&self.scope, &self.namespaces) {
            (Scope::Cluster, _) => Vec::new(),
            (Scope::Namespaced, Some(namespaces)) => namespaces.clone(),
            (Scope::Namespaced, None) => namespaces_of_cache.to_vec(),
        };
        namespaces.sort();
        namespaces.dedup();
        Selection {
            kind: TypeId::of::<K>(),
            resource: self.resource.clone(),
            namespaces,
            labels: (!self.labels.selects_all()).then(|| self.labels.to_string()),
            fields: self.fields.clone(),
        }
    }
}

impl<K> Default for InformerOptions<K>
where
    K: Resource + 'static,
    K::DynamicType: Default,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for InformerOptions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerOptions")
            .field("kind", &self.resource.kind)
            .field("namespaces", &self.namespaces)
            .field("labels", &self.labels.to_string())
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

// === impl Selection ===

impl Selection {
    /// Whether all objects of the kind are selected, in these namespaces.
    pub(super) fn is_unfiltered(&self) -> bool {
        self.labels.is_none() && self.fields.is_none()
    }

    /// The selectors as one text, for metrics and messages.
    pub(super) fn selector(&self) -> String {
        let selectors = [self.labels.as_deref(), self.fields.as_deref()];
        selectors.into_iter().flatten().collect::<Vec<_>>().join(";")
    }
}
