//! Objects of a kind from one version to another, by way of the hub.

use std::{
    any::type_name,
    collections::{BTreeMap, BTreeSet},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::review::ConversionRequest;
use crate::{Error, Result, client::Kind, panics};

/// A version of a kind that is converted through another version, the hub.
///
/// With one hub, each further version takes two functions, however many there are. The hub is most often the version that is
/// stored.
///
/// ```
/// use kubewright_runtime::{Result, webhook::Spoke};
/// # use kube::CustomResource;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
/// # #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
/// # pub struct MemcachedSpec { pub replicas: i32 }
/// # mod v1alpha1 {
/// #     use kube::CustomResource;
/// #     use schemars::JsonSchema;
/// #     use serde::{Deserialize, Serialize};
/// #     #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
/// #     #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
/// #     pub struct MemcachedSpec { pub size: i32 }
/// # }
///
/// // `spec.size` is called `spec.replicas` from v1 on.
/// impl Spoke for v1alpha1::Memcached {
///     type Hub = Memcached;
///
///     fn into_hub(self) -> Result<Memcached> {
///         Ok(Memcached::new("", MemcachedSpec { replicas: self.spec.size }))
///     }
///
///     fn from_hub(hub: Memcached) -> Result<Self> {
///         Ok(Self::new("", v1alpha1::MemcachedSpec { size: hub.spec.replicas }))
///     }
/// }
/// ```
///
/// # Metadata
///
/// is taken over: the API server allows a conversion to change labels and annotations alone, so all else in the metadata of
/// the result does not matter. Labels and annotations of the result count where it has some; set
/// `Some(BTreeMap::new())` to have none.
///
/// # Losses
///
/// An object that is read and written back in an older version goes through both functions. What the older version has no
/// field for is lost on the way, unless it is kept in an annotation. [`round_trip`](super::round_trip) tests
/// for that.
pub trait Spoke: Kind {
    /// The version that all others are converted through.
    type Hub: Kind;

    /// This object in the version of the hub.
    ///
    /// # Errors
    ///
    /// If it cannot be expressed there. The request of the user fails with the message.
    fn into_hub(self) -> Result<Self::Hub>;

    /// The hub's object in this version.
    ///
    /// # Errors
    ///
    /// As of [`into_hub`](Self::into_hub). An object that cannot be converted cannot be read in this version, and neither can a
    /// list with it.
    fn from_hub(hub: Self::Hub) -> Result<Self>;
}

type Convert = Box<dyn Fn(&Value) -> Result<Value> + Send + Sync>;

/// Converts the objects of one kind.
pub(super) struct Converter {
    group: String,
    kind: String,
    plural: String,
    hub: String,
    /// By version.
    spokes: BTreeMap<String, Functions>,
}

struct Functions {
    to_hub: Convert,
    from_hub: Convert,
}

// === impl Converter ===

impl Converter {
    pub(super) fn new<H: Kind>() -> Self {
        Self {
            group: H::group(&()).into_owned(),
            kind: H::kind(&()).into_owned(),
            plural: H::plural(&()).into_owned(),
            hub: H::version(&()).into_owned(),
            spokes: BTreeMap::new(),
        }
    }

    /// Adds a version.
    pub(super) fn add<H: Kind, S: Kind>(
        &mut self,
        to_hub: impl Fn(S) -> Result<H> + Send + Sync + 'static,
        from_hub: impl Fn(H) -> Result<S> + Send + Sync + 'static,
    ) -> Result<()> {
        let (group, kind, version) = (S::group(&()), S::kind(&()), S::version(&()));
        let mistake =
            |what: String| Err(Error::setup(format!("cannot convert {}: {what}", type_name::<S>())));
        if (&*group, &*kind) != (&*self.group, &*self.kind) {
            return mistake(format!(
                "it is the kind {kind} of the group {group:?}, and the hub is {} of {:?}",
                self.kind, self.group
            ));
        }
        if version == self.hub {
            return mistake(format!("it has the version of the hub, {version}"));
        }
        let functions = Functions { to_hub: typed(to_hub), from_hub: typed(from_hub) };
        match self.spokes.insert(version.to_string(), functions) {
            None => Ok(()),
            Some(_) => mistake(format!("the version {version} has a converter already")),
        }
    }

    pub(super) fn group_kind(&self) -> (&str, &str) {
        (&self.group, &self.kind)
    }

    /// The name of the definition of the kind.
    pub(super) fn definition(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// Whether every one of these versions can be converted, as the API server will ask for.
    pub(super) fn check(&self, versions: &BTreeSet<String>) -> Result<()> {
        let missing: Vec<_> = versions
            .iter()
            .filter(|version| **version != self.hub && !self.spokes.contains_key(*version))
            .map(String::as_str)
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::setup(format!(
            "{} of the group {:?} has versions that cannot be converted: {}; implement `Spoke` for them and add \
             `.spoke::<..>()` to the webhook of its hub, {}",
            self.kind,
            self.group,
            missing.join(", "),
            self.hub
        )))
    }

    /// An object in another version.
    pub(super) fn convert(&self, object: &Value, to: &str) -> Result<Value> {
        let from = version_of(object);
        if from == to {
            return Ok(object.clone());
        }
        let spoke = |version: &str| {
            self.spokes.get(version).ok_or_else(|| {
                Error::other(format!("this operator does not know the version {version} of {}", self.kind))
            })
        };
        let mut converted = match (from == self.hub, to == self.hub) {
            (true, _) => (spoke(to)?.from_hub)(object)?,
            (_, true) => (spoke(from)?.to_hub)(object)?,
            _ => (spoke(to)?.from_hub)(&(spoke(from)?.to_hub)(object)?)?,
        };
        keep_metadata(&object["metadata"], &mut converted);
        Ok(converted)
    }
}

impl fmt::Debug for Converter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Converter")
            .field("kind", &self.kind)
            .field("hub", &self.hub)
            .field("spokes", &self.spokes.keys())
            .finish_non_exhaustive()
    }
}

/// A conversion of types as one of documents.
fn typed<F: DeserializeOwned, T: Serialize>(
    convert: impl Fn(F) -> Result<T> + Send + Sync + 'static,
) -> Convert {
    Box::new(move |object| {
        let from = serde_path_to_error::deserialize(object)
            .map_err(|error| Error::other(format!("it does not fit {}: {error}", type_name::<F>())))?;
        let mut to = serde_json::to_value(convert(from)?)?;
        // A spoke is often between two others.
        keep_metadata(&object["metadata"], &mut to);
        Ok(to)
    })
}

/// Gives the converted object the metadata that the API server wants to see again.
fn keep_metadata(original: &Value, converted: &mut Value) {
    let mut metadata = original.clone();
    for field in ["labels", "annotations"] {
        let own = converted["metadata"].get(field).filter(|value| !value.is_null());
        if let (Some(own), Some(metadata)) = (own, metadata.as_object_mut()) {
            metadata.insert(field.to_owned(), own.clone());
        }
    }
    converted["metadata"] = metadata;
}

fn version_of(object: &Value) -> &str {
    version(object["apiVersion"].as_str().unwrap_or_default())
}

fn version(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or(api_version, |(_, version)| version)
}

/// Why objects were not converted.
pub(super) struct ConversionFailure {
    pub(super) message: String,
    pub(super) panicked: bool,
}

/// How many objects are converted before others have their turn: a list comes as one request.
const BATCH: usize = 64;

/// Converts all objects of a request, each with the converter that `find` knows for its group and kind.
pub(super) async fn convert(
    request: &ConversionRequest,
    find: impl Fn(&str, &str) -> Option<std::sync::Arc<Converter>>,
) -> Result<Vec<Value>, ConversionFailure> {
    let desired = &request.desired_api_version;
    let mut converted = Vec::with_capacity(request.objects.len());
    for (index, object) in request.objects.iter().enumerate() {
        if index % BATCH == BATCH - 1 {
            tokio::task::yield_now().await;
        }
        let (group, kind) = (group_of(desired), object["kind"].as_str().unwrap_or_default());
        let failure = |why: String, panicked| {
            let metadata = &object["metadata"];
            let name = metadata["name"].as_str().unwrap_or_default();
            let name = match metadata["namespace"].as_str() {
                Some(namespace) => format!("{namespace}/{name}"),
                None => name.to_owned(),
            };
            let from = object["apiVersion"].as_str().unwrap_or_default();
            let message = format!("cannot convert {kind} {name} from {from} to {desired}: {why}");
            ConversionFailure { message, panicked }
        };
        if group_of(object["apiVersion"].as_str().unwrap_or_default()) != group {
            return Err(failure("the groups differ".to_owned(), false));
        }
        let Some(converter) = find(group, kind) else {
            return Err(failure("this operator has no converter of that kind".to_owned(), false));
        };
        match catch_unwind(AssertUnwindSafe(|| converter.convert(object, version(desired)))) {
            Ok(Ok(object)) => converted.push(object),
            Ok(Err(error)) => return Err(failure(error.to_string(), false)),
            Err(panic) => {
                return Err(failure(format!("panic: {} [recovered]", panics::message(&*panic)), true));
            }
        }
    }
    Ok(converted)
}

fn group_of(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}
