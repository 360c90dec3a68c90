//! What every controller of the cluster works with.

use k8s_openapi::api::core::v1::ObjectReference;
use kubewright_runtime::{
    Action, Error, Reconciler, Request, Result,
    client::{Client, ClientError, Kind},
    events::Recorder,
    manager::Manager,
};
use kubewright_world::Clock;

use crate::{cluster::Settings, note::Note};

/// The means of one controller.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) settings: Settings,
    events: Recorder,
}

impl Context {
    /// The means of the controller that reports events as `component`.
    pub(crate) fn new(manager: &Manager, settings: &Settings, component: &'static str) -> Self {
        Self {
            client: manager.client(),
            clock: settings.clock.clone(),
            settings: settings.clone(),
            events: manager.recorder(component),
        }
    }

    /// Records an event about `object`.
    pub(crate) fn tell<K: Kind>(&self, object: &K, note: &Note) {
        self.tell_reference(object.object_ref(&()), note);
    }

    /// Records an event about the object that `about` refers to.
    pub(crate) fn tell_reference(&self, about: ObjectReference, note: &Note) {
        let about = ObjectReference { field_path: note.field_path.clone(), ..about };
        self.events.record(note.kind, about, None, note.reason, note.action, note.message.clone());
    }

    /// Replaces the status of an object.
    ///
    /// # Errors
    ///
    /// Also a conflict, if the object changed in between; one that is gone needs no status.
    pub(crate) async fn write_status<K: Kind>(&self, object: &K) -> Result<()> {
        match self.client.status().update(object).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the server gave `cause` as a cause of its refusal.
pub(crate) fn has_cause(error: &ClientError, cause: &str) -> bool {
    let details = error.status().and_then(|status| status.details.as_ref());
    details.is_some_and(|details| details.causes.iter().any(|own| own.reason == cause))
}

/// Retries after conflicts without counting them as errors.
///
/// A controller that writes what it read from a cache meets a conflict whenever the cache is behind. That is
/// how it learns of it, not a failure. No more is a cache that has yet to show what the controller wrote.
pub(crate) struct RetryConflicts<R>(pub(crate) R);

impl<R: Reconciler> Reconciler for RetryConflicts<R> {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        match self.0.reconcile(request).await {
            Err(error) if is_outdated(&error) => Ok(Action::requeue()),
            result => result,
        }
    }
}

fn is_outdated(error: &Error) -> bool {
    let client_error = error.as_client_error();
    client_error.is_some_and(|error| error.is_conflict() || error.is_already_exists() || error.is_stale())
}
