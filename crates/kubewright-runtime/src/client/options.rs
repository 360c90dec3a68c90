use std::time::Duration;

use kube::core::Selector;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::create_or_patch::merge_patch;

/// Which objects of a kind a list returns: all of them unless narrowed.
///
/// ```
/// use kubewright_runtime::client::ListOptions;
///
/// let options = ListOptions::in_namespace("shop").label("app", "cart");
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ListOptions {
    pub(crate) namespace: Option<String>,
    pub(crate) labels: Selector,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) index: Option<(String, String)>,
}

/// How an object is deleted. The default leaves everything to the kind's own rules.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct DeleteOptions {
    propagation: Option<Propagation>,
    grace_period: Option<Duration>,
    uid: Option<String>,
    resource_version: Option<String>,
    dry_run: bool,
}

/// What becomes of the objects that the deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// The object goes at once, its dependents soon after.
    Background,
    /// The object goes after its dependents.
    Foreground,
    /// The dependents stay.
    Orphan,
}

/// A change to an object, in one of the three forms that the API server takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Patch {
    /// A JSON merge patch (RFC 7386): given fields are set, `null` removes one, a list is replaced whole.
    Merge(Value),
    /// A JSON patch (RFC 6902). A `test` operation guards the rest.
    Json(json_patch::Patch),
    /// A strategic merge patch: as a merge patch, with lists merged by key. For built-in kinds only.
    Strategic(Value),
}

// === impl ListOptions ===

impl ListOptions {
    /// All objects of the kind.
    pub fn all() -> Self {
        Self::default()
    }

    /// The objects of one namespace.
    pub fn in_namespace(namespace: impl Into<String>) -> Self {
        Self {
            namespace: Some(namespace.into()).filter(|namespace| !namespace.is_empty()),
            ..Self::default()
        }
    }

    /// Only objects with this label.
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.extend(kube::core::Expression::Equal(name.into(), value.into()));
        self
    }

    /// Only objects that the selector matches, besides what was asked for before.
    pub fn labels(mut self, selector: impl Into<Selector>) -> Self {
        self.labels.extend(selector.into());
        self
    }

    /// Only objects whose field has this value. The server offers few fields (`metadata.name`,
    /// `spec.nodeName` of pods, the selectable fields of a custom resource), the cache none: use an
    /// [`index`](Self::index) there.
    pub fn field(mut self, path: impl Into<String>, value: impl Into<String>) -> Self {
        self.fields.push((path.into(), value.into()));
        self
    }

    /// Only objects that the named index of the cache has under `value`. For cached lists only.
    pub fn index(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.index = Some((name.into(), value.into()));
        self
    }

    pub(crate) fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = Vec::new();
        if !self.labels.selects_all() {
            query.push(("labelSelector", self.labels.to_string()));
        }
        if !self.fields.is_empty() {
            let fields: Vec<_> =
                self.fields.iter().map(|(path, value)| format!("{path}={}", escape_field(value))).collect();
            query.push(("fieldSelector", fields.join(",")));
        }
        query
    }
}

/// As `fields.EscapeValue` of apimachinery: the three characters that mean something in a field selector.
fn escape_field(value: &str) -> String {
    value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=")
}

// === impl DeleteOptions ===

impl DeleteOptions {
    /// Deletes dependents in the background, which is the default of nearly all kinds.
    pub fn background() -> Self {
        Self { propagation: Some(Propagation::Background), ..Self::default() }
    }

    /// Deletes dependents first.
    pub fn foreground() -> Self {
        Self { propagation: Some(Propagation::Foreground), ..Self::default() }
    }

    /// Leaves dependents alone.
    pub fn orphan() -> Self {
        Self { propagation: Some(Propagation::Orphan), ..Self::default() }
    }

    /// How long the object may take to stop, in whole seconds. Zero deletes a pod without waiting for the
    /// kubelet.
    pub fn grace_period(mut self, grace_period: Duration) -> Self {
        self.grace_period = Some(grace_period);
        self
    }

    /// Deletes only the object with this uid, not a later one of the same name. Anything else is a conflict.
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// Deletes only if the object is at this version. Anything else is a conflict.
    pub fn resource_version(mut self, resource_version: impl Into<String>) -> Self {
        self.resource_version = Some(resource_version.into());
        self
    }

    /// Checks everything and deletes nothing.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(crate) fn body(&self, dry_run: bool) -> Value {
        let mut body = Map::new();
        body.insert("apiVersion".into(), "v1".into());
        body.insert("kind".into(), "DeleteOptions".into());
        if let Some(propagation) = self.propagation {
            body.insert("propagationPolicy".into(), propagation.as_str().into());
        }
        if let Some(grace_period) = self.grace_period {
            body.insert("gracePeriodSeconds".into(), grace_period.as_secs().into());
        }
        let mut preconditions = Map::new();
        if let Some(uid) = &self.uid {
            preconditions.insert("uid".into(), uid.as_str().into());
        }
        if let Some(resource_version) = &self.resource_version {
            preconditions.insert("resourceVersion".into(), resource_version.as_str().into());
        }
        if !preconditions.is_empty() {
            body.insert("preconditions".into(), preconditions.into());
        }
        if self.dry_run || dry_run {
            body.insert("dryRun".into(), json!(["All"]));
        }
        body.into()
    }
}

// === impl Propagation ===

impl Propagation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

// === impl Patch ===

impl Patch {
    /// A JSON merge patch.
    #[must_use]
    pub fn merge(patch: Value) -> Self {
        Self::Merge(patch)
    }

    /// The merge patch that makes `after` of `before`: what differs, and nothing else. Lists are replaced whole.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubewright_runtime::client::Patch;
    ///
    /// # fn example(read: &ConfigMap) -> kubewright_runtime::Result<()> {
    /// let mut config = read.clone();
    /// config.data.get_or_insert_default().insert("currency".into(), "EUR".into());
    /// let patch = Patch::merge_from(read, &config)?;
    /// # let _ = patch;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Changes that others made meanwhile to other fields stay. If the change depends on what was read, add
    /// [`at_version`](Self::at_version).
    ///
    /// # Errors
    ///
    /// If one of them cannot be written as JSON.
    pub fn merge_from<T: Serialize>(before: &T, after: &T) -> crate::Result<Self> {
        let value = |object: &T| serde_json::to_value(object).map_err(crate::Error::other);
        let patch = merge_patch(&value(before)?, &value(after)?);
        Ok(Self::Merge(patch.unwrap_or_else(|| Map::new().into())))
    }

    /// The same patch for an object at this version alone. At any other the server answers with a conflict.
    #[must_use]
    pub fn at_version(mut self, resource_version: impl Into<String>) -> Self {
        let version = Value::String(resource_version.into());
        match &mut self {
            Self::Merge(patch) | Self::Strategic(patch) => {
                json_patch::merge(patch, &json!({"metadata": {"resourceVersion": version}}));
            }
            Self::Json(patch) => {
                let path = json_patch::jsonptr::PointerBuf::from_tokens(["metadata", "resourceVersion"]);
                let test = json_patch::TestOperation { path, value: version };
                patch.0.insert(0, json_patch::PatchOperation::Test(test));
            }
        }
        self
    }

    /// A JSON patch.
    #[must_use]
    pub fn json(patch: json_patch::Patch) -> Self {
        Self::Json(patch)
    }

    /// A strategic merge patch.
    #[must_use]
    pub fn strategic(patch: Value) -> Self {
        Self::Strategic(patch)
    }

    pub(crate) fn content_type(&self) -> &'static str {
        match self {
            Self::Merge(_) => "application/merge-patch+json",
            Self::Json(_) => "application/json-patch+json",
            Self::Strategic(_) => "application/strategic-merge-patch+json",
        }
    }

    pub(crate) fn body(&self) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::Merge(patch) | Self::Strategic(patch) => serde_json::to_vec(patch),
            Self::Json(patch) => serde_json::to_vec(patch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_written_as_the_server_reads_them() {
        let options = ListOptions::all()
            .label("app", "cart")
            .labels(kube::core::Expression::Exists("tier".into()))
            .field("metadata.name", "a,b");
        assert_eq!(
            options.query(),
            [
                ("labelSelector", "app=cart,tier".to_owned()),
                ("fieldSelector", "metadata.name=a\\,b".to_owned())
            ]
        );
    }

    #[test]
    fn a_patch_has_the_difference_and_the_version_it_is_for() {
        let before = json!({"metadata": {"name": "a"}, "data": {"x": "1", "y": "2"}});
        let after = json!({"metadata": {"name": "a"}, "data": {"x": "3"}});
        let body = |patch: Patch| {
            serde_json::from_slice::<Value>(&patch.body().expect("JSON")).expect("what was written")
        };
        let patch = Patch::merge_from(&before, &after).expect("JSON");
        assert_eq!(body(patch.clone()), json!({"data": {"x": "3", "y": null}}));
        assert_eq!(
            body(patch.at_version("7")),
            json!({"data": {"x": "3", "y": null}, "metadata": {"resourceVersion": "7"}})
        );
        assert_eq!(body(Patch::merge_from(&before, &before).expect("JSON")), json!({}));
        assert_eq!(
            body(Patch::json(json_patch::Patch::default()).at_version("7")),
            json!([{"op": "test", "path": "/metadata/resourceVersion", "value": "7"}])
        );
    }

    #[test]
    fn delete_options_are_a_kubernetes_object() {
        let options = DeleteOptions::foreground().grace_period(Duration::from_secs(5)).uid("u-1").dry_run();
        assert_eq!(
            options.body(false),
            json!({
                "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
                "gracePeriodSeconds": 5, "preconditions": {"uid": "u-1"}, "dryRun": ["All"],
            })
        );
    }
}
