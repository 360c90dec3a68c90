use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, OnceLock},
};

use serde_json::Value;

use super::{
    ResourceDefinition, Resources, autoscaling, convert::Converted, events, metadata, strategy::Strategy,
};
use crate::{
    admission::{KindName, ResourceName},
    apply::{
        ObjectType,
        field_manager::{FieldManager, GroupVersionKind, Versions},
    },
    crd::{self, CustomVersion},
    discovery,
    openapi::{CustomResource, OpenApi},
    selector::{SelectableFields, Selection},
    status::GroupResource,
    store::{Listing, Object},
    table::Printer,
    types::canonical,
};

/// A resource at one version, with all that its verbs need to know.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) definition: ResourceDefinition,
    /// The bucket of the store that holds the objects. Several resources may be views of one bucket.
    pub(crate) bucket: Arc<str>,
    /// The `apiVersion` in which objects are stored.
    pub(crate) storage_api_version: String,
    pub(crate) selectable: SelectableFields,
    pub(crate) strategy: Strategy,
    /// What the CRD says, for a custom resource.
    pub(crate) custom: Option<Arc<CustomVersion>>,
    view: View,
    /// The field managers of the object itself and of its subresources by name, made when first asked for.
    managers: Managers,
    printer: OnceLock<Printer>,
    /// What webhooks made of stored objects in this version.
    pub(super) converted: Converted,
}

#[derive(Debug)]
struct Managers {
    main: OnceLock<FieldManager>,
    of_subresources: BTreeMap<String, OnceLock<FieldManager>>,
}

/// How a served object differs from the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// Not at all.
    Same,
    /// `events.k8s.io/v1` over the core group's events.
    Events,
    /// `autoscaling/v1` over the autoscalers of `autoscaling/v2`.
    Autoscaling,
    /// A version of a custom resource: `apiVersion` differs, and its schema's defaults hold.
    Custom,
}

/// What the server serves at one moment.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) discovery: discovery::Catalog,
    pub(crate) open_api: OpenApi,
    /// By group, version and plural.
    served: BTreeMap<(String, String, String), Arc<Served>>,
    /// The custom resources by the name of their CRD, with the revision of the CRD.
    custom: BTreeMap<String, Declared>,
}

/// What a CRD at a revision makes the server serve.
#[derive(Clone, Debug)]
struct Declared {
    revision: u64,
    served: Vec<Arc<Served>>,
}

/// An object in the version that the client asked for.
#[derive(Clone, Debug)]
pub(crate) enum Presented {
    /// As it is stored, with its JSON at hand.
    Stored(Arc<Object>),
    /// Made for this answer.
    Made(Value),
}

// === impl Managers ===

impl Managers {
    fn of(definition: &ResourceDefinition) -> Self {
        let subresources = definition.subresources.iter();
        Self {
            main: OnceLock::new(),
            of_subresources: subresources
                .map(|subresource| (subresource.name.clone(), OnceLock::new()))
                .collect(),
        }
    }
}

// === impl Served ===

impl Served {
    fn built_in(definition: &ResourceDefinition, storage_version: &str) -> Self {
        let is_event_view = definition.group == "events.k8s.io";
        let storage_group = if is_event_view { "" } else { definition.group.as_str() };
        let storage = ResourceDefinition {
            group: storage_group.to_owned(),
            version: storage_version.to_owned(),
            ..ResourceDefinition::default()
        };
        Self {
            bucket: bucket(storage_group, &definition.plural),
            storage_api_version: storage.api_version(),
            selectable: SelectableFields::built_in(&definition.group, &definition.version, &definition.kind),
            strategy: Strategy::of(&definition.group, &definition.plural),
            custom: None,
            view: match (definition.group.as_str(), definition.version.as_str(), definition.kind.as_str()) {
                ("events.k8s.io", ..) => View::Events,
                ("autoscaling", "v1", "HorizontalPodAutoscaler") => View::Autoscaling,
                _ => View::Same,
            },
            managers: Managers::of(definition),
            printer: OnceLock::new(),
            converted: Converted::default(),
            definition: definition.clone(),
        }
    }

    pub(crate) fn custom(definition: ResourceDefinition, version: Arc<CustomVersion>) -> Self {
        Self {
            bucket: bucket(&definition.group, &definition.plural),
            storage_api_version: format!("{}/{}", definition.group, version.storage_version),
            selectable: SelectableFields::custom(
                definition.namespaced,
                version.selectable_fields.iter().map(String::as_str),
            ),
            strategy: Strategy::Custom,
            view: View::Custom,
            custom: Some(version),
            managers: Managers::of(&definition),
            printer: OnceLock::new(),
            converted: Converted::default(),
            definition,
        }
    }

    /// The kind that a subresource answers, if it is another one than the resource's own. Its objects are read from
    /// requests and never stored.
    pub(crate) fn below(&self, subresource: &str) -> Option<Self> {
        let own = self.definition.subresource(subresource)?;
        let definition = ResourceDefinition {
            group: own.group.clone(),
            version: own.version.clone(),
            kind: own.kind.clone(),
            plural: own.name.clone(),
            namespaced: self.definition.namespaced,
            ..ResourceDefinition::default()
        };
        Some(Self::built_in(&definition, &own.version))
    }

    /// What OpenAPI tells of a custom resource.
    fn published(&self) -> Option<CustomResource> {
        let custom = self.custom.as_ref()?;
        Some(CustomResource {
            definition: self.definition.clone(),
            schema: custom.published_schema.clone(),
            selectable_fields: custom.selectable_fields.clone(),
        })
    }

    /// The resource as messages name it.
    pub(crate) fn group_resource(&self) -> GroupResource {
        self.definition.group_resource()
    }

    /// The resource at its version.
    pub(crate) fn resource_name(&self) -> ResourceName<'_> {
        let own = &self.definition;
        ResourceName { group: &own.group, version: &own.version, resource: &own.plural }
    }

    /// The kind of the objects that are read and written at the resource itself or at one of its subresources.
    pub(crate) fn kind_name(&self, subresource: &str) -> KindName<'_> {
        let own = &self.definition;
        match own.subresource(subresource) {
            Some(below) => KindName { group: &below.group, version: &below.version, kind: &below.kind },
            None => KindName { group: &own.group, version: &own.version, kind: &own.kind },
        }
    }

    /// An object of this version as one of another version of the resource.
    pub(crate) fn convert(&self, to: &Self, object: Value) -> Value {
        match (self.view, to.view) {
            (View::Same, View::Events) => events::to_events_group(&object),
            (View::Events, View::Same) => events::to_core_group(&object),
            _ => {
                let mut object = object;
                relabel(&mut object, &to.definition.api_version());
                object
            }
        }
    }

    /// The object's key in the bucket.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.definition.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
    }

    /// What the keys of a namespace's objects start with; an empty namespace means all of them.
    pub(crate) fn prefix(&self, namespace: &str) -> String {
        if self.definition.namespaced && !namespace.is_empty() {
            format!("{namespace}/")
        } else {
            String::new()
        }
    }

    /// A stored object in this version, if nobody has to be asked how it looks like.
    pub(super) fn present(&self, object: &Arc<Object>) -> Presented {
        match self.view {
            View::Same => Presented::Stored(object.clone()),
            View::Events => Presented::Made(events::to_events_group(object.value())),
            View::Autoscaling => {
                Presented::Made(autoscaling::convert(object.value(), &self.definition.api_version()))
            }
            View::Custom => match &self.custom {
                Some(custom) if !custom.reads_as_stored(object.revision()) => {
                    let mut value = object.value().clone();
                    custom.read(&mut value, object.revision());
                    relabel(&mut value, &self.definition.api_version());
                    Presented::Made(value)
                }
                _ => Presented::Stored(object.clone()),
            },
        }
    }

    /// Whether its objects are questions, which are answered and not stored.
    pub(crate) fn is_question(&self) -> bool {
        self.custom.is_none()
            && ["authentication.k8s.io", "authorization.k8s.io"].contains(&self.definition.group.as_str())
    }

    /// Whether writes are done in the version that is stored, because this one does not show all that they look at.
    pub(super) fn writes_as_stored(&self) -> bool {
        self.view == View::Autoscaling
    }

    /// What a write in the version that is stored gave, in this version.
    pub(super) fn represent(&self, stored: Presented) -> Presented {
        match stored {
            Presented::Stored(object) => self.present(&object),
            Presented::Made(value) => {
                Presented::Made(autoscaling::convert(&value, &self.definition.api_version()))
            }
        }
    }

    /// An object in which nothing is set, as Go writes it.
    pub(super) fn empty(&self) -> Value {
        let mut object = self.go_type().map(canonical::zero).unwrap_or_default();
        match (self.definition.group.as_str(), self.definition.kind.as_str()) {
            // Go's own type counts the pods of these also where it is none; the versions of the API may leave the number out.
            ("apps", "Deployment" | "ReplicaSet" | "StatefulSet") => {
                object["spec"]["replicas"] = Value::from(0);
            }
            // And it counts the templates of this one, which the version of the API has in an annotation.
            ("apps", "DaemonSet") => {
                let annotations = metadata::child(metadata::edit(&mut object), "annotations");
                annotations.insert("deprecated.daemonset.template.generation".to_owned(), Value::from("0"));
            }
            _ => {}
        }
        let fields = metadata::as_map(&mut object);
        fields.insert("kind".to_owned(), Value::from(self.definition.kind.as_str()));
        fields.insert("apiVersion".to_owned(), Value::from(self.definition.api_version()));
        object
    }

    /// The table that shows objects of this version.
    pub(crate) fn printer(&self) -> &Printer {
        self.printer.get_or_init(|| match &self.custom {
            Some(custom) => custom.printer(),
            None => {
                let definition = &self.definition;
                Printer::built_in(&definition.group, &definition.version, &definition.kind)
            }
        })
    }

    /// Who keeps the managed fields of writes to the object itself or to one of its subresources.
    pub(crate) fn field_manager(&self, subresource: &str) -> &FieldManager {
        let manager = self.managers.of_subresources.get(subresource).unwrap_or(&self.managers.main);
        manager.get_or_init(|| {
            let definition = &self.definition;
            let kind = GroupVersionKind::new(&definition.group, &definition.version, &definition.kind);
            let reset = self.strategy.reset_fields(self, subresource);
            let built_in = match (definition.group.as_str(), definition.kind.as_str()) {
                ("autoscaling", "HorizontalPodAutoscaler") => {
                    let versions = ["v1", "v2"];
                    FieldManager::builtin_of(
                        kind.clone(),
                        &versions,
                        autoscaling::convert,
                        subresource,
                        &reset,
                    )
                }
                _ if self.custom.is_none() => FieldManager::builtin(kind.clone(), subresource, &reset),
                _ => None,
            };
            if let Some(manager) = built_in {
                return manager;
            }
            let versions = match &self.custom {
                Some(custom) => custom.field_versions.clone(),
                None => Versions::one(&definition.api_version(), ObjectType::deduced()),
            };
            FieldManager::new(kind, subresource, versions, &reset)
        })
    }

    /// An object of this version as it is stored, in the storage version or in one that differs by name alone.
    pub(super) fn store(&self, mut object: Value) -> Value {
        match self.view {
            View::Same => object,
            View::Events => events::to_core_group(&object),
            View::Autoscaling => autoscaling::convert(&object, &self.storage_api_version),
            View::Custom => {
                relabel(&mut object, &self.storage_api_version);
                if let Some(custom) = &self.custom {
                    custom.store(&mut object);
                }
                object
            }
        }
    }
}

fn relabel(object: &mut Value, api_version: &str) {
    metadata::as_map(object).insert("apiVersion".to_owned(), Value::from(api_version));
}

fn bucket(group: &str, plural: &str) -> Arc<str> {
    format!("{group}/{plural}").into()
}

// === impl Catalog ===

impl Catalog {
    /// The built-in resources and those that the CRDs declare. What CRDs that have not changed since `previous`
    /// declare is taken from there.
    pub(crate) fn new(crds: &Listing, previous: &Self) -> Self {
        let built_in = built_in();
        let mut resources = built_in.resources.clone();
        let mut served = built_in.served.clone();
        let mut custom = BTreeMap::new();
        for (name, crd) in crds.range("", "") {
            let declared = match previous.custom.get(&**name) {
                Some(declared) if declared.revision == crd.revision() => declared.clone(),
                _ => Declared { revision: crd.revision(), served: crd::served(crd) },
            };
            for one in &declared.served {
                served.insert(id(&one.definition), one.clone());
                resources.insert(one.definition.clone());
            }
            custom.insert(name.to_string(), declared);
        }
        let published = custom.values().flat_map(|declared| &declared.served);
        let open_api = OpenApi::new(published.filter_map(|served| served.published()).collect());
        Self { discovery: discovery::Catalog::new(resources), open_api, served, custom }
    }

    /// The custom resource that a CRD declares, at one of its versions.
    pub(crate) fn declared_by(&self, crd_name: &str) -> Option<&Arc<Served>> {
        self.custom.get(crd_name)?.served.first()
    }

    /// The resource that a path names.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Served>> {
        self.served.get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
    }

    /// The other versions of a resource, and the other groups that have it.
    pub(crate) fn equivalents<'a>(&'a self, served: &'a Served) -> impl Iterator<Item = &'a Arc<Served>> {
        let is_other = |other: &&Arc<Served>| {
            other.bucket == served.bucket && other.resource_name() != served.resource_name()
        };
        self.served.values().filter(is_other)
    }

    /// Whether the server has the group without any CRD.
    pub(crate) fn is_built_in_group(&self, group: &str) -> bool {
        built_in().groups.contains(&group)
            && !self
                .custom
                .values()
                .flat_map(|declared| &declared.served)
                .any(|own| own.definition.group == group)
    }

    /// The resource of a kind.
    pub(crate) fn by_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Served>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_kind = |served: &&Arc<Served>| {
            let own = &served.definition;
            own.kind == kind && own.group == group && own.version == version && !own.verbs.is_empty()
        };
        self.served.values().find(is_kind)
    }
}

struct BuiltIn {
    resources: Resources,
    served: BTreeMap<(String, String, String), Arc<Served>>,
    groups: Vec<&'static str>,
}

fn built_in() -> &'static BuiltIn {
    static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(|| {
        let resources = Resources::built_in();
        let storage: BTreeMap<_, _> = resources
            .iter()
            .filter(|definition| definition.storage)
            .map(|own| ((own.group.as_str(), own.plural.as_str()), own.version.as_str()))
            .collect();
        let mut served = BTreeMap::new();
        let mut groups: Vec<&'static str> = Vec::new();
        for definition in resources.iter() {
            let version = storage.get(&(definition.group.as_str(), definition.plural.as_str()));
            let version = version.copied().unwrap_or(&definition.version);
            served.insert(id(definition), Arc::new(Served::built_in(definition, version)));
            if !groups.contains(&definition.group.as_str()) {
                groups.push(definition.group.as_str());
            }
        }
        BuiltIn { resources: resources.clone(), served, groups }
    });
    &BUILT_IN
}

fn id(definition: &ResourceDefinition) -> (String, String, String) {
    (definition.group.clone(), definition.version.clone(), definition.plural.clone())
}

// === impl Presented ===

impl Presented {
    /// The object.
    pub(crate) fn value(&self) -> &Value {
        match self {
            Self::Stored(object) => object.value(),
            Self::Made(value) => value,
        }
    }

    /// Whether it is one of those that are selected. A stored object is looked into only where its labels do not decide.
    pub(crate) fn is_selected(&self, selection: &Selection) -> bool {
        match self {
            Self::Stored(object) => {
                selection.labels().matches_each(|key| object.label(key))
                    && (selection.fields().is_everything() || selection.fields().matches(object.value()))
            }
            Self::Made(value) => selection.matches(value),
        }
    }

    /// The object, copied if it is shared.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Stored(object) => object.value().clone(),
            Self::Made(value) => value,
        }
    }
}
