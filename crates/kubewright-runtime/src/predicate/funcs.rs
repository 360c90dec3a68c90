use std::fmt;

use super::Predicate;
use crate::event::Event;

/// A predicate of one function per kind of event. An event without a function passes.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::predicate::Funcs;
///
/// let data_changed = Funcs::<ConfigMap>::new().update(|old, new| old.data != new.data).delete(|_, _| false);
/// # let _ = data_changed;
/// ```
pub struct Funcs<K: ?Sized> {
    create: Option<FlagFn<K>>,
    update: Option<UpdateFn<K>>,
    delete: Option<FlagFn<K>>,
    generic: Option<ObjectFn<K>>,
}

type FlagFn<K> = Box<dyn Fn(&K, bool) -> bool + Send + Sync>;
type UpdateFn<K> = Box<dyn Fn(&K, &K) -> bool + Send + Sync>;
type ObjectFn<K> = Box<dyn Fn(&K) -> bool + Send + Sync>;

impl<K: ?Sized> Funcs<K> {
    /// Lets everything pass.
    #[must_use]
    pub fn new() -> Self {
        Self { create: None, update: None, delete: None, generic: None }
    }

    /// Asks `function` about a created object, and whether it was there from the start.
    #[must_use]
    pub fn create(mut self, function: impl Fn(&K, bool) -> bool + Send + Sync + 'static) -> Self {
        self.create = Some(Box::new(function));
        self
    }

    /// Asks `function` about the old and the new object of an update.
    #[must_use]
    pub fn update(mut self, function: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> Self {
        self.update = Some(Box::new(function));
        self
    }

    /// Asks `function` about a deleted object, and whether its last state is unknown.
    #[must_use]
    pub fn delete(mut self, function: impl Fn(&K, bool) -> bool + Send + Sync + 'static) -> Self {
        self.delete = Some(Box::new(function));
        self
    }

    /// Asks `function` about the object of a generic event.
    #[must_use]
    pub fn generic(mut self, function: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        self.generic = Some(Box::new(function));
        self
    }
}

impl<K: ?Sized + 'static> Predicate<K> for Funcs<K> {
    fn allows(&self, event: &Event<K>) -> bool {
        match event {
            Event::Create { object, initial } => {
                self.create.as_ref().is_none_or(|allows| allows(object, *initial))
            }
            Event::Update { old, new } => self.update.as_ref().is_none_or(|allows| allows(old, new)),
            Event::Delete { object, state_unknown } => {
                self.delete.as_ref().is_none_or(|allows| allows(object, *state_unknown))
            }
            Event::Generic { object } => self.generic.as_ref().is_none_or(|allows| allows(object)),
        }
    }
}

impl<K: ?Sized> Default for Funcs<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: ?Sized> fmt::Debug for Funcs<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Funcs")
            .field("create", &self.create.is_some())
            .field("update", &self.update.is_some())
            .field("delete", &self.delete.is_some())
            .field("generic", &self.generic.is_some())
            .finish()
    }
}
