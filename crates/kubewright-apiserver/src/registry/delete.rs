use std::sync::Arc;

use serde_json::{Value, json};

use super::{List, Presented, Registry, Request, Served, metadata};
use crate::{
    admission::{Attributes, Options},
    crd,
    status::Status,
    store::{CommitError, Object},
    wire::options::{DeleteOptions, ListOptions},
};

/// What a delete came to.
#[derive(Debug)]
pub(crate) enum Deleted {
    /// The object is gone; the success `Status` that says so.
    Gone(Value),
    /// The object: it is about to go, held back by finalizers or a grace period, or of a kind that answers with it.
    Going(Presented),
}

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

impl Registry {
    /// Deletes the object that the request names, or begins to.
    ///
    /// # Errors
    /// 404, 409 if a precondition does not hold, or what the kind or admission has against it.
    pub(crate) async fn delete(&self, request: &Request, options: &DeleteOptions) -> Result<Deleted, Status> {
        self.delete_as(request, options, true).await
    }

    /// Deletes an object. `is_named` tells whether the client has named it.
    async fn delete_as(
        &self,
        request: &Request,
        options: &DeleteOptions,
        is_named: bool,
    ) -> Result<Deleted, Status> {
        loop {
            let current = self.find_deletable(request, options)?;
            let old = self.present(&request.served, &current).await?;
            let mut attributes = Attributes::new(request, Options::Delete(options), Some(old.value()));
            if !is_named {
                attributes = attributes.unnamed();
            }
            self.admit(&attributes, None).await?;
            self.allow(&attributes, None).await?;
            match self.try_delete(request, options, &current)? {
                Some(Deleted::Going(Presented::Stored(object))) => {
                    return self.present(&request.served, &object).await.map(Deleted::Going);
                }
                Some(deleted) => return Ok(deleted),
                None => {}
            }
        }
    }

    /// Deletes the object that the request names, without admission.
    ///
    /// # Errors
    /// As [`Registry::delete`].
    pub(super) fn delete_now(&self, request: &Request, options: &DeleteOptions) -> Result<Deleted, Status> {
        loop {
            let current = self.find_deletable(request, options)?;
            if let Some(deleted) = self.try_delete(request, options, &current)? {
                return Ok(deleted);
            }
        }
    }

    fn find_deletable(&self, request: &Request, options: &DeleteOptions) -> Result<Arc<Object>, Status> {
        let served = &request.served;
        let current = self.store.get(&served.bucket, &request.key()).ok_or_else(|| request.not_found())?;
        if options.orphan_dependents.is_none() && options.propagation_policy.is_none() {
            request.warnings.extend(served.strategy.delete_warning(served));
        }
        self.check_preconditions(request, options, current.value())?;
        Ok(current)
    }

    /// Deletes an object as it was found; `None` if it has changed meanwhile.
    fn try_delete(
        &self,
        request: &Request,
        options: &DeleteOptions,
        current: &Arc<Object>,
    ) -> Result<Option<Deleted>, Status> {
        let served = &request.served;
        let key = request.key();
        let (marked, is_held) = self.mark_deleted(served, options, current.value());
        let result = if is_held {
            if options.dry_run {
                return Ok(Some(Deleted::Going(Presented::Made(marked))));
            }
            let replaced = self.store.replace(&served.bucket, &key, current.revision(), marked);
            replaced.map(|object| (Deleted::Going(Presented::Stored(object)), None))
        } else if options.dry_run {
            return Ok(Some(gone(request, current, marked)));
        } else if served.strategy.grace_period(current.value(), None).is_some() {
            // What has a grace period is marked before it goes, even if that is over.
            let replaced = self.store.replace(&served.bucket, &key, current.revision(), marked);
            replaced.and_then(|last| {
                let removed = self.store.remove(&served.bucket, &key, last.revision())?;
                Ok((Deleted::Going(Presented::Stored(last)), Some(removed)))
            })
        } else {
            let removed = self.store.remove(&served.bucket, &key, current.revision());
            removed.map(|removed| (gone(request, &removed, marked), Some(removed)))
        };
        match result {
            Ok((deleted, removed)) => {
                if removed.is_some() {
                    served.converted.forget(&key);
                }
                self.committed(served, removed.as_deref());
                if &*served.bucket == crd::BUCKET {
                    self.delete_custom_resources(&request.name);
                }
                Ok(Some(deleted))
            }
            // Without a precondition a delete is meant for whatever is there.
            Err(CommitError::Modified(_)) => Ok(None),
            Err(error) => Err(request.commit_error(&error)),
        }
    }

    /// Deletes what the options select, one by one, and gives what it was.
    ///
    /// # Errors
    /// With the first refusal of a delete; what was deleted before stays deleted.
    pub(crate) async fn delete_collection(
        &self,
        request: &Request,
        list: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<List, Status> {
        let list = self.list(request, list).await?;
        for item in &list.items {
            let one = Request {
                namespace: metadata::namespace(item.value()).to_owned(),
                name: metadata::name(item.value()).to_owned(),
                ..request.clone()
            };
            match self.delete_as(&one, options, false).await {
                Ok(_) => {}
                Err(status) if status.code == 404 => {}
                Err(status) => return Err(status),
            }
        }
        Ok(list)
    }

    fn check_preconditions(
        &self,
        request: &Request,
        options: &DeleteOptions,
        current: &Value,
    ) -> Result<(), Status> {
        let definition = &request.served.definition;
        let (uid, version) = (metadata::uid(current), metadata::resource_version(current));
        let why = match (&options.uid, &options.resource_version) {
            (Some(expected), _) if expected != uid => format!(
                "the UID in the precondition ({expected}) does not match the UID in record ({uid}). \
                 The object might have been deleted and then recreated"
            ),
            (_, Some(expected)) if expected != version => format!(
                "the ResourceVersion in the precondition ({expected}) does not match the ResourceVersion in record \
                 ({version}). The object might have been modified"
            ),
            _ => return Ok(()),
        };
        // Here Kubernetes names the kind where it names the resource elsewhere.
        let kind = crate::status::GroupResource::new(definition.group.as_str(), definition.kind.as_str());
        Err(Status::conflict(&kind, &request.name, &why))
    }

    /// The object with the marks of its deletion, and whether something holds it back.
    fn mark_deleted(&self, served: &Served, options: &DeleteOptions, current: &Value) -> (Value, bool) {
        let mut object = current.clone();
        let grace = served.strategy.grace_period(current, options.grace_period_seconds);
        let orphans = served.strategy.orphans_by_default(served);
        let finalizers = garbage_collection_finalizers(options, current, orphans);
        set_finalizers(&mut object, &finalizers);

        let was_deleting = metadata::is_deleting(current);
        if was_deleting {
            // A second delete can only shorten the grace period.
            if let (Some(asked), Some(left)) = (grace, metadata::grace_period(current))
                && asked < left
            {
                self.set_deletion(&mut object, asked);
            }
        } else {
            if &*served.bucket == crd::BUCKET {
                // The deletion of a definition is an affair of its own, which counts neither time nor generation.
                metadata::set(&mut object, "deletionTimestamp", Some(self.now()));
                crd::mark_terminating(&mut object, &self.now());
                return (object, true);
            }
            self.set_deletion(&mut object, grace.unwrap_or_default());
            if served.strategy == super::strategy::Strategy::Namespace {
                metadata::set(&mut object, "deletionGracePeriodSeconds", None);
                metadata::child(metadata::as_map(&mut object), "status")
                    .insert("phase".to_owned(), Value::from("Terminating"));
            }
            let generation = metadata::generation(current);
            if generation > 0 {
                metadata::set(&mut object, "generation", Some(Value::from(generation + 1)));
            }
        }
        let spec_finalizers =
            current.get("spec").and_then(|spec| spec.get("finalizers")).and_then(Value::as_array);
        let is_held = !metadata::finalizers(&object).is_empty()
            || metadata::grace_period(&object).unwrap_or_default() > 0
            || (served.strategy == super::strategy::Strategy::Namespace
                && spec_finalizers.is_some_and(|finalizers| !finalizers.is_empty()));
        (object, is_held)
    }

    fn set_deletion(&self, object: &mut Value, grace: i64) {
        let end = self.clock.now().saturating_add(jiff::SignedDuration::from_secs(grace));
        let end = end.unwrap_or(jiff::Timestamp::MAX);
        metadata::set(object, "deletionTimestamp", Some(metadata::time(end)));
        metadata::set(object, "deletionGracePeriodSeconds", Some(Value::from(grace)));
    }

    /// Deletes the objects of a CRD that is being deleted.
    fn delete_custom_resources(&self, crd_name: &str) {
        let Some(crd) = self.store.get(crd::BUCKET, crd_name) else { return };
        if !metadata::is_deleting(crd.value()) {
            return;
        }
        let Some(served) = self.catalog().declared_by(crd_name).cloned() else {
            // It was never served, so there is nothing to delete.
            self.finish_crd(&crd);
            return;
        };
        let listing = self.store.list(&served.bucket);
        for (_, object) in listing.range("", "") {
            let request = Request::internal(served.clone(), object.value());
            // What cannot be deleted now is waited for; nobody is there to hear why.
            let _ = self.delete_now(&request, &DeleteOptions::default());
        }
        self.finish_crd_deletion(&served);
    }

    /// Lets a CRD go that is being deleted once its last object is gone.
    pub(super) fn finish_crd_deletion(&self, served: &Served) {
        let name = served.group_resource().to_string();
        if let Some(crd) = self.store.get(crd::BUCKET, &name)
            && metadata::is_deleting(crd.value())
            && self.store.list(&served.bucket).range("", "").next().is_none()
        {
            self.finish_crd(&crd);
        }
    }

    fn finish_crd(&self, crd: &Arc<Object>) {
        let mut object = crd.value().clone();
        let mut finalizers: Vec<String> =
            metadata::finalizers(crd.value()).into_iter().map(str::to_owned).collect();
        finalizers.retain(|finalizer| finalizer != crd::FINALIZER);
        set_finalizers(&mut object, &finalizers);
        let (bucket, name) = (Arc::from(crd::BUCKET), metadata::name(crd.value()));
        // Of two concurrent writers one finishes; the other finds it done.
        let _ = if finalizers.is_empty() {
            self.store.remove(&bucket, name, crd.revision())
        } else {
            self.store.replace(&bucket, name, crd.revision(), object)
        };
        self.refresh_catalog();
    }
}

/// The answer for an object that is removed at once, or would be.
fn gone(request: &Request, object: &Arc<Object>, marked: Value) -> Deleted {
    let served = &request.served;
    if !served.strategy.returns_deleted(served) {
        let uid = metadata::uid(object.value());
        return Deleted::Gone(Status::deleted(&served.group_resource(), &request.name, uid));
    }
    if served.strategy.grace_period(object.value(), None).is_some() {
        return Deleted::Going(Presented::Made(marked));
    }
    Deleted::Going(served.present(object))
}

/// The finalizers of an object whose deletion is asked for with these options.
fn garbage_collection_finalizers(
    options: &DeleteOptions,
    object: &Value,
    orphans_by_default: bool,
) -> Vec<String> {
    let had = metadata::finalizers(object);
    let policy = options.propagation_policy.as_deref();
    let orphans = match (options.orphan_dependents, policy) {
        (Some(orphans), _) => orphans,
        (None, Some(policy)) => policy == "Orphan",
        (None, None) => had.contains(&ORPHAN) || (orphans_by_default && !had.contains(&FOREGROUND)),
    };
    let foreground = match (options.orphan_dependents, policy) {
        (Some(_), _) => false,
        (None, Some(policy)) => policy == "Foreground",
        (None, None) => had.contains(&FOREGROUND),
    };
    let mut finalizers: Vec<String> = had
        .into_iter()
        .filter(|finalizer| *finalizer != ORPHAN && *finalizer != FOREGROUND)
        .map(str::to_owned)
        .collect();
    if orphans {
        finalizers.push(ORPHAN.to_owned());
    }
    if foreground {
        finalizers.push(FOREGROUND.to_owned());
    }
    finalizers
}

fn set_finalizers(object: &mut Value, finalizers: &[String]) {
    metadata::set(object, "finalizers", (!finalizers.is_empty()).then(|| json!(finalizers)));
}
