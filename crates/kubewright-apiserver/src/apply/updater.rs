//! Who owns which fields after a write, and what an apply makes of the live object.
//!
//! The rules are those of structured merge diff; Kubernetes' own are in
//! [`field_manager`](super::field_manager).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use kubewright_schema::error::go;

use super::path::Path;
use super::set::Set;
use super::typed::{Comparison, TypeErrors, TypedValue};
use super::value;

/// The fields of one manager, in the API version it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionedSet {
    /// The fields.
    pub set: Set,
    /// The `apiVersion` in which the paths are to be read.
    pub api_version: String,
    /// Whether the manager applied them, rather than having written them in another way.
    pub applied: bool,
}

/// The fields of every manager.
pub type ManagedFields = BTreeMap<String, VersionedSet>;

/// Converts objects between the API versions that managers wrote.
pub trait Converter {
    /// The object in the given version; itself if it is in that version already.
    fn convert<'a>(
        &self,
        object: &'a TypedValue<'a>,
        api_version: &str,
    ) -> Result<Cow<'a, TypedValue<'a>>, ConvertError>;
}

/// Why an object could not be converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The version is not known (any more). Managers that wrote it are dropped.
    #[error("no type is known for {0}")]
    UnknownVersion(String),
    /// The conversion failed.
    #[error("{0}")]
    Failed(String),
}

/// Why an update or apply was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// Other managers own fields that the apply would change.
    #[error("{0}")]
    Conflicts(Conflicts),
    /// Objects could not be compared, merged or converted.
    #[error("{action}: {reason}")]
    Failed {
        /// What could not be done.
        action: &'static str,
        /// Why.
        reason: String,
    },
}

/// The conflicts of one apply, by manager and path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts(pub Vec<Conflict>);

/// A field that the apply would change and another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The other manager.
    pub manager: String,
    /// The field.
    pub path: Path,
}

/// Computes owners and merged objects.
#[derive(Debug)]
pub struct Updater<C> {
    converter: C,
    /// For each API version the fields that nobody owns, because the endpoint ignores them.
    ignored: BTreeMap<String, Set>,
}

type Result<T, E = UpdateError> = std::result::Result<T, E>;

// === impl Updater ===

impl<C: Converter> Updater<C> {
    /// An updater that never lets a manager own the `ignored` fields of a version.
    pub fn new(converter: C, ignored: BTreeMap<String, Set>) -> Self {
        Self { converter, ignored }
    }

    /// The converter in use.
    pub fn converter(&self) -> &C {
        &self.converter
    }

    /// The owners after `manager` wrote `new` by other means than apply. Nothing conflicts: the
    /// writer takes the fields it changed from whoever owned them.
    pub fn update(
        &self,
        live: &TypedValue<'_>,
        new: &TypedValue<'_>,
        api_version: &str,
        managers: ManagedFields,
        manager: &str,
    ) -> Result<ManagedFields> {
        let managers = self.reconcile(live, managers)?;
        let (mut managers, comparison) = self.transfer(live, new, api_version, managers, manager, true)?;
        let own = managers.remove(manager).map(|own| own.set).unwrap_or_default();
        let own = own.difference(&comparison.removed).union(&comparison.modified).union(&comparison.added);
        let own = self.without_ignored(own, api_version);
        if !own.is_empty() {
            let own = VersionedSet { set: own, api_version: api_version.to_owned(), applied: false };
            managers.insert(manager.to_owned(), own);
        }
        Ok(managers)
    }

    /// The object and owners after `manager` applied `config`. The object is `None` if it stays as
    /// it is; the owners may change all the same.
    ///
    /// Without `force`, a change to a field that another manager owns is a conflict.
    pub fn apply(
        &self,
        live: &TypedValue<'_>,
        config: &TypedValue<'_>,
        api_version: &str,
        managers: ManagedFields,
        manager: &str,
        force: bool,
    ) -> Result<(Option<TypedValue<'static>>, ManagedFields)> {
        let mut managers = self.reconcile(live, managers)?;
        let merged = live.merge(config).map_err(failed("failed to merge config"))?;
        let set = config.field_set().map_err(failed("failed to get field set"))?;
        let own = VersionedSet {
            set: self.without_ignored(set, api_version),
            api_version: api_version.to_owned(),
            applied: true,
        };
        let last = managers.insert(manager.to_owned(), own);
        let new = match last.filter(|last| !last.set.is_empty()) {
            Some(last) => self.prune(merged, &managers, api_version, &last)?,
            None => merged,
        };
        let (managers, _) = self.transfer(live, &new, api_version, managers, manager, force)?;
        let changed = !value::equal(live.value(), new.value());
        Ok((changed.then_some(new), managers))
    }

    /// Takes from all managers but `manager` what changes between the objects.
    fn transfer(
        &self,
        live: &TypedValue<'_>,
        new: &TypedValue<'_>,
        api_version: &str,
        mut managers: ManagedFields,
        manager: &str,
        force: bool,
    ) -> Result<(ManagedFields, Comparison)> {
        let comparison = self.compare(live, new, api_version)?;
        let mut by_version = BTreeMap::from([(api_version.to_owned(), comparison)]);
        let mut unknown = Vec::new();
        let mut conflicts = Vec::new();
        for (other, fields) in managers.iter().filter(|(other, _)| *other != manager) {
            let comparison = match by_version.entry(fields.api_version.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) => match self.compare_at(live, new, &fields.api_version)? {
                    Some(comparison) => vacant.insert(comparison),
                    None => {
                        unknown.push(other.clone());
                        continue;
                    }
                },
            };
            let changed = comparison.modified.union(&comparison.added);
            let conflict = fields.set.intersection(&changed);
            if !conflict.is_empty() {
                conflicts.push((other.clone(), conflict));
            }
        }
        if !force && !conflicts.is_empty() {
            return Err(UpdateError::Conflicts(Conflicts::new(&conflicts)));
        }
        for other in unknown {
            managers.remove(&other);
        }
        for (other, conflict) in conflicts {
            if let Some(fields) = managers.get_mut(&other) {
                fields.set = fields.set.difference(&conflict);
            }
        }
        for (other, fields) in &mut managers {
            if other != manager
                && let Some(comparison) = by_version.get(&fields.api_version)
            {
                fields.set = fields.set.difference(&comparison.removed);
            }
        }
        managers.retain(|_, fields| !fields.set.is_empty());
        Ok((managers, by_version.remove(api_version).unwrap_or_default()))
    }

    /// The comparison in another version; `None` if that version is not known.
    fn compare_at(
        &self,
        live: &TypedValue<'_>,
        new: &TypedValue<'_>,
        api_version: &str,
    ) -> Result<Option<Comparison>> {
        let Some(live) = self.convert(live, api_version, "failed to convert old object")? else {
            return Ok(None);
        };
        let Some(new) = self.convert(new, api_version, "failed to convert new object")? else {
            return Ok(None);
        };
        self.compare(&live, &new, api_version).map(Some)
    }

    fn compare(&self, live: &TypedValue<'_>, new: &TypedValue<'_>, api_version: &str) -> Result<Comparison> {
        let comparison = live.compare(new).map_err(failed("failed to compare objects"))?;
        Ok(comparison.without(self.ignored.get(api_version)))
    }

    /// The object in a version; `None` if that version is not known.
    fn convert<'a>(
        &self,
        object: &'a TypedValue<'a>,
        api_version: &str,
        action: &'static str,
    ) -> Result<Option<Cow<'a, TypedValue<'a>>>> {
        match self.converter.convert(object, api_version) {
            Ok(converted) => Ok(Some(converted)),
            Err(ConvertError::UnknownVersion(_)) => Ok(None),
            Err(ConvertError::Failed(reason)) => Err(UpdateError::Failed { action, reason }),
        }
    }

    fn without_ignored(&self, set: Set, api_version: &str) -> Set {
        match self.ignored.get(api_version) {
            Some(ignored) => set.recursive_difference(ignored),
            None => set,
        }
    }

    /// Removes what the manager applied last time (`last`), does not apply now, and nobody else owns.
    fn prune(
        &self,
        merged: TypedValue<'static>,
        managers: &ManagedFields,
        api_version: &str,
        last: &VersionedSet,
    ) -> Result<TypedValue<'static>> {
        let last_version = &last.api_version;
        let action = "failed to convert merged object to last applied version";
        let Some(at_last) = self.convert(&merged, last_version, action)? else {
            return Ok(merged);
        };
        let pruned = at_last.without(&at_last.with_named_fields(&last.set));
        let pruned = self.add_back_owned(&at_last, pruned, last_version, managers)?;
        let pruned_at_last = self.require(&pruned, last_version)?;
        let pruned = add_back_dangling(&at_last, pruned_at_last.as_ref(), last)?;
        let converted = match self.require(&pruned, api_version)? {
            Cow::Borrowed(_) => None,
            Cow::Owned(converted) => Some(converted.into_static()),
        };
        Ok(converted.unwrap_or(pruned))
    }

    /// Adds back what was pruned but somebody owns, the applying manager's new fields included. The
    /// result is in the version of the manager that came last.
    fn add_back_owned(
        &self,
        merged: &TypedValue<'_>,
        mut pruned: TypedValue<'static>,
        pruned_version: &str,
        managers: &ManagedFields,
    ) -> Result<TypedValue<'static>> {
        let mut by_version: BTreeMap<&str, Set> = BTreeMap::new();
        for fields in managers.values() {
            let owned = by_version.entry(&fields.api_version).or_default();
            *owned = owned.union(&fields.set);
        }
        // The pruned version first: a field that a conversion needs may be among its fields.
        let first = by_version.remove(pruned_version).map(|owned| (pruned_version, owned));
        for (version, owned) in first.into_iter().chain(by_version) {
            let action = "failed to convert merged object";
            let Some(merged) = self.convert(merged, version, action)? else { continue };
            let action = "failed to convert pruned object";
            let Some(pruned_at) = self.convert(&pruned, version, action)? else { continue };
            let keep = field_set(&pruned_at)?.union(&merged.with_named_fields(&owned));
            pruned = merged.without(&field_set(&merged)?.difference(&keep));
        }
        Ok(pruned)
    }

    fn require<'a>(&self, object: &'a TypedValue<'a>, api_version: &str) -> Result<Cow<'a, TypedValue<'a>>> {
        self.converter
            .convert(object, api_version)
            .map_err(failed("failed to convert pruned object to last applied version"))
    }

    /// Adapts the owners to changes of the schema, and drops those whose version is not known.
    fn reconcile(&self, live: &TypedValue<'_>, managers: ManagedFields) -> Result<ManagedFields> {
        let mut reconciled = ManagedFields::new();
        for (manager, mut fields) in managers {
            let action = "failed to convert live object";
            let Some(live) = self.convert(live, &fields.api_version, action)? else { continue };
            if let Some(set) = live.reconcile(&fields.set) {
                fields.set = set;
            }
            reconciled.insert(manager, fields);
        }
        Ok(reconciled)
    }
}

/// The fields of a value with the named fields above them.
fn field_set(object: &TypedValue<'_>) -> Result<Set> {
    let set = object.field_set().map_err(failed("failed to create field set"))?;
    Ok(object.with_named_fields(&set))
}

/// Adds back what was pruned without the manager having owned it: a field that goes because its
/// parent went, and such.
fn add_back_dangling(
    merged: &TypedValue<'_>,
    pruned: &TypedValue<'_>,
    last: &VersionedSet,
) -> Result<TypedValue<'static>> {
    let last = merged.with_named_fields(&last.set);
    Ok(merged.without(&field_set(merged)?.difference(&field_set(pruned)?).intersection(&last)))
}

fn failed<E: fmt::Display>(action: &'static str) -> impl Fn(E) -> UpdateError {
    move |error| UpdateError::Failed { action, reason: error.to_string() }
}

// === impl Conflicts ===

impl Conflicts {
    fn new(conflicts: &[(String, Set)]) -> Self {
        let conflicts = conflicts.iter().flat_map(|(manager, set)| {
            set.paths().into_iter().map(|path| Conflict { manager: manager.clone(), path })
        });
        Self(conflicts.collect())
    }

    /// The fields in conflict, whoever owns them.
    pub fn fields(&self) -> Set {
        self.0.iter().map(|conflict| &conflict.path).collect()
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, conflict) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{conflict}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conflict with {}: {}", go::quote(&self.manager), self.path)
    }
}

// === impl VersionedSet ===

impl From<TypeErrors> for ConvertError {
    fn from(errors: TypeErrors) -> Self {
        Self::Failed(errors.to_string())
    }
}
