//! Kubernetes' rules around structured merge diff: managed fields as they stand in objects.
//!
//! One [`FieldManager`] serves one endpoint: a kind at a version, or one of its subresources. The
//! registry calls [`FieldManager::update`] after every write that is not an apply, before admission,
//! and [`FieldManager::apply`] for an apply. Then, knowing what is stored,
//! [`keep_times_if_unchanged`] makes a write that changes nothing really change nothing.

mod ancient;
mod entries;
mod error;
mod last_applied;
mod manager;
#[cfg(test)]
mod tests;
mod times;
mod versions;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::{Map, Value};

pub use error::{ApplyConflicts, ApplyError};
pub use times::keep_times_if_unchanged;
pub use versions::Versions;

use self::entries::Managed;
use self::manager::{ManagerId, Operation};
use super::path::Path;
use super::schema::builtin;
use super::set::Set;
use super::typed::{Duplicates, ObjectType, TypedValue};
use super::updater::{UpdateError, Updater};
use crate::types::{Type, Types, canonical};

/// A kind at a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupVersionKind {
    /// The API group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

/// Keeps the managed fields of the objects of one endpoint.
#[derive(Debug)]
pub struct FieldManager {
    kind: GroupVersionKind,
    subresource: String,
    updater: Updater<Versions>,
    /// The Go type of a built-in kind.
    go_type: Option<&'static Type>,
}

/// The manager that owns what existed before the first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// What no manager owns, because every object has it or only the server writes it.
static NEVER_OWNED: LazyLock<Set> = LazyLock::new(|| {
    let metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let top = ["apiVersion", "kind", "metadata"].map(|name| Path::fields([name]));
    top.into_iter().chain(metadata.map(|name| Path::fields(["metadata", name]))).collect()
});

// === impl GroupVersionKind ===

impl GroupVersionKind {
    /// A kind of a group at a version; the core group is empty.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// What stands in the `apiVersion` and `kind` of an object.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
        Self::new(group, version, text("kind"))
    }

    /// What stands in the `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// `apps/v1, Kind=Deployment`; the core group leaves `/v1, Kind=Pod`.
impl std::fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

// === impl FieldManager ===

impl FieldManager {
    /// The field manager of an endpoint that serves a built-in kind; `None` if there is no such kind.
    /// The other arguments are those of [`FieldManager::new`].
    pub fn builtin(kind: GroupVersionKind, subresource: &str, reset: &Set) -> Option<Self> {
        let ty = builtin::object_type(&kind.group, &kind.version, &kind.kind)?;
        let versions = Versions::one(&kind.api_version(), ty);
        Some(Self::new(kind, subresource, versions, reset))
    }

    /// The same for a kind whose versions differ, with a conversion between them.
    pub fn builtin_of(
        kind: GroupVersionKind,
        versions: &[&str],
        convert: fn(&Value, &str) -> Value,
        subresource: &str,
        reset: &Set,
    ) -> Option<Self> {
        let of_version = |version: &&str| {
            let own = GroupVersionKind::new(&kind.group, version, &kind.kind);
            Some((own.api_version(), builtin::object_type(&own.group, &own.version, &own.kind)?))
        };
        let types: Vec<_> = versions.iter().map(of_version).collect::<Option<_>>()?;
        let versions =
            Versions::several(types).with_conversion(move |object, version| Ok(convert(object, version)));
        Some(Self::new(kind, subresource, versions, reset))
    }

    /// The type of the objects of the endpoint.
    pub(crate) fn object_type(&self) -> Option<&ObjectType> {
        self.updater.converter().object_type(&self.kind.api_version())
    }

    /// The field manager of an endpoint that serves `kind`.
    ///
    /// `subresource` is empty for the object itself. `reset` are the fields that a write to the
    /// endpoint does not change, and so does not own: the status on the object's own endpoint, all
    /// else on the status endpoint.
    ///
    /// Objects of a built-in kind are returned in [`canonical`] form, and those given should be in it.
    pub fn new(kind: GroupVersionKind, subresource: &str, versions: Versions, reset: &Set) -> Self {
        let ignored: BTreeMap<String, Set> = if reset.is_empty() {
            BTreeMap::new()
        } else {
            versions.api_versions().map(|version| (version.to_owned(), reset.clone())).collect()
        };
        let updater = Updater::new(versions, ignored);
        let go_type = Types::get().kind(&kind.group, &kind.version, &kind.kind);
        Self { kind, subresource: subresource.to_owned(), updater, go_type }
    }

    /// What a write to an object's own endpoint does not own when the object has a status
    /// subresource.
    pub fn reset_status() -> Set {
        [Path::fields(["status"])].into_iter().collect()
    }

    /// What a write to the status subresource of an object does not own.
    pub fn reset_all_but_status() -> Set {
        [Path::fields(["metadata"]), Path::fields(["spec"])].into_iter().collect()
    }

    /// The object `new` as it is to be stored after `manager` wrote it by other means than apply:
    /// with `metadata.managedFields` that give the manager what it changed of `live`.
    ///
    /// `live` is null for a create. A client that sends a list of one empty entry ends the tracking of
    /// the object; an empty list does so for built-in kinds only, because the metadata of custom
    /// resources is decoded without empty lists. Objects whose tracking ended, or that were created
    /// without, are not tracked until the next apply. Nothing here fails: if the objects do not fit
    /// their type, the managed fields of `live` stay.
    pub fn update(&self, live: &Value, mut new: Value, manager: &str, now: Timestamp) -> Value {
        let Some(managed) = self.managed_of_request(live, &new) else { return new };
        entries::remove(&mut new);
        self.canonicalize(&mut new);
        let empty = self.empty_object();
        let live = if live.is_null() { &empty } else { live };
        match self.track_update(live, &new, managed, manager, now) {
            Ok(managed) => managed.write_to(&mut new),
            Err(reason) => {
                tracing::warn!(kind = %self.kind, %reason, "managed fields are kept as they were");
                entries::copy(live, &mut new);
            }
        }
        new
    }

    /// The object that `manager` makes of `live` by applying `config`, with its managed fields.
    ///
    /// `live` is `None` if the object does not exist. `force` takes fields in conflict from their
    /// managers. The result is not defaulted. It equals `live` in all but the managed fields if the
    /// configuration changes nothing.
    pub fn apply(
        &self,
        live: Option<&Value>,
        config: &Value,
        manager: &str,
        force: bool,
        now: Timestamp,
    ) -> Result<Value, ApplyError> {
        let kind = GroupVersionKind::of(config);
        if kind != self.kind {
            return Err(ApplyError::BadRequest(format!("invalid object type: {kind}")));
        }
        let empty = self.empty_object();
        let live = live.unwrap_or(&empty);
        let managed = Managed::read(live)
            .map_err(|reason| ApplyError::Internal(format!("failed to decode managed fields: {reason}")))?;
        let (mut object, managed) =
            self.apply_over_last_applied(live, config, managed, manager, force, now)?;
        if manager == last_applied::MANAGER {
            last_applied::refresh(&mut object, config);
        }
        managed.write_to(&mut object);
        Ok(object)
    }

    /// The managed fields to start from; `None` if the object cannot have any.
    fn managed_of_request(&self, live: &Value, new: &Value) -> Option<Managed> {
        // A subresource cannot change the managed fields by hand.
        if !self.subresource.is_empty() {
            return Some(Managed::read(live).unwrap_or_default());
        }
        new.as_object()?;
        if entries::is_reset(new, self.go_type.is_some()) {
            return Some(Managed::default());
        }
        // Clients that do not know managed fields must not lose them by leaving them out.
        match Managed::read(new) {
            Ok(managed) if !managed.fields.is_empty() => Some(managed),
            _ => Some(Managed::read(live).unwrap_or_default()),
        }
    }

    fn track_update(
        &self,
        live: &Value,
        new: &Value,
        managed: Managed,
        manager: &str,
        now: Timestamp,
    ) -> Result<Managed, String> {
        let is_create = live.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default().is_empty();
        if managed.fields.is_empty() && !is_create {
            return Ok(managed);
        }
        self.update_entries(live, new, managed, manager, now)
    }

    /// Gives `manager` what changes between the objects.
    fn update_entries(
        &self,
        live: &Value,
        new: &Value,
        mut managed: Managed,
        manager: &str,
        now: Timestamp,
    ) -> Result<Managed, String> {
        // The operation first stands for itself: what it owns afterwards is what it changed.
        const OPERATION: &str = "current-operation";
        let typed = |object| self.typed(object, Duplicates::Allow).map_err(|e| e.to_string());
        let (live, new) = (typed(live)?, typed(new)?);
        let api_version = self.kind.api_version();
        managed.fields = self
            .updater
            .update(&live, &new, &api_version, managed.fields, OPERATION)
            .map_err(|error| error.to_string())?;
        managed.strip(OPERATION);
        if let Some(mut changed) = managed.fields.remove(OPERATION) {
            let id = self.manager_id(manager, Operation::Update);
            if let Some(previous) = managed.fields.get(&id) {
                changed.set = changed.set.union(&previous.set);
            }
            managed.fields.insert(id.clone(), changed);
            managed.times.insert(id, now);
        }
        ancient::merge_oldest(&mut managed);
        Ok(managed)
    }

    /// For kubectl, conflicts with nothing but its own client-side apply are forced.
    fn apply_over_last_applied(
        &self,
        live: &Value,
        config: &Value,
        managed: Managed,
        manager: &str,
        force: bool,
        now: Timestamp,
    ) -> Result<(Value, Managed), ApplyError> {
        if manager != last_applied::MANAGER || force {
            return self.apply_tracked(live, config, managed, manager, force, now);
        }
        match self.apply_tracked(live, config, managed.clone(), manager, force, now) {
            Err(ApplyError::Conflicts(conflicts)) => {
                let Some(own) = self.last_applied_fields(live) else {
                    return Err(ApplyError::Conflicts(conflicts));
                };
                match conflicts.outside(&own) {
                    Some(conflicts) => Err(ApplyError::Conflicts(conflicts)),
                    None => self.apply_tracked(live, config, managed, manager, true, now),
                }
            }
            result => result,
        }
    }

    fn apply_tracked(
        &self,
        live: &Value,
        config: &Value,
        mut managed: Managed,
        manager: &str,
        force: bool,
        now: Timestamp,
    ) -> Result<(Value, Managed), ApplyError> {
        if managed.fields.is_empty() {
            let empty = self.empty_object();
            let bare = entries::without(live);
            managed =
                self.update_entries(&empty, &bare, managed, BEFORE_FIRST_APPLY, now).map_err(|reason| {
                    ApplyError::Internal(format!("failed to create manager for existing fields: {reason}"))
                })?;
        }
        if !config.pointer("/metadata/managedFields").unwrap_or(&Value::Null).is_null() {
            return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
        }
        let typed_config = self.typed(config, Duplicates::Refuse).map_err(|errors| {
            let name = object_name(config);
            ApplyError::Internal(format!("failed to create typed patch object ({name}): {errors}"))
        })?;
        let typed_live = self.typed(live, Duplicates::Allow).map_err(|errors| {
            let name = object_name(live);
            ApplyError::Internal(format!("failed to create typed live object ({name}): {errors}"))
        })?;
        let id = self.manager_id(manager, Operation::Apply);
        let api_version = self.kind.api_version();
        let applied =
            self.updater.apply(&typed_live, &typed_config, &api_version, managed.fields, &id, force);
        let (object, fields) = applied.map_err(|error| match error {
            UpdateError::Conflicts(conflicts) => ApplyError::Conflicts(ApplyConflicts::new(conflicts)),
            other => ApplyError::Internal(other.to_string()),
        })?;
        managed.fields = fields;
        managed.strip(&id);
        let object = match object {
            Some(object) => {
                managed.times.insert(id, now);
                let mut object = object.into_value();
                self.canonicalize(&mut object);
                object
            }
            None => live.clone(),
        };
        Ok((object, managed))
    }

    /// The fields that client-side apply last wrote and nobody has changed since.
    fn last_applied_fields(&self, live: &Value) -> Option<Set> {
        let config = last_applied::configuration(live)?;
        if GroupVersionKind::of(&config).api_version() != self.kind.api_version() {
            return None;
        }
        let live = self.typed(live, Duplicates::Refuse).ok()?;
        let config = self.typed(&config, Duplicates::Refuse).ok()?;
        let changed = config.compare(&live).ok()?;
        let fields = config.field_set().ok()?;
        Some(fields.difference(&changed.modified).difference(&changed.added).difference(&changed.removed))
    }

    fn typed<'v>(
        &self,
        object: &'v Value,
        duplicates: Duplicates,
    ) -> Result<TypedValue<'v>, super::typed::TypeErrors> {
        self.updater.converter().typed(&self.kind.api_version(), Cow::Borrowed(object), duplicates)
    }

    /// What an object of the kind is before anything is set.
    fn empty_object(&self) -> Value {
        let mut object = self.go_type.map_or_else(|| Value::Object(Map::new()), canonical::zero);
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".to_owned(), Value::String(self.kind.api_version()));
            fields.insert("kind".to_owned(), Value::String(self.kind.kind.clone()));
        }
        object
    }

    fn canonicalize(&self, object: &mut Value) {
        if let Some(ty) = self.go_type {
            canonical::canonicalize(ty, object);
        }
    }

    fn manager_id(&self, manager: &str, operation: Operation) -> String {
        ManagerId {
            manager: if manager.is_empty() { "unknown" } else { manager }.to_owned(),
            operation,
            api_version: self.kind.api_version(),
            subresource: self.subresource.clone(),
        }
        .encode()
    }
}

/// `namespace/name; group/version, Kind=kind`, as errors name objects.
fn object_name(object: &Value) -> String {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let kind = GroupVersionKind::of(object);
    format!("{}/{}; {kind}", text("/metadata/namespace"), text("/metadata/name"))
}
