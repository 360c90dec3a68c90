use std::sync::Arc;

use kubewright_schema::{ErrorList, FieldError, FieldPath, names};
use serde_json::Value;

use super::{Presented, Registry, Request, Served, metadata, read::parse_uint, strategy};
use crate::{
    admission::{Attributes, Options},
    apply::field_manager::keep_times_if_unchanged,
    status::{Cause, GroupKind, Status},
    store::{CommitError, Object},
    validation,
    wire::options::WriteOptions,
};

/// How often a patch is applied anew when others change the object meanwhile.
const TRIES: usize = 5;

/// What an update does: the new object, or a view of it.
pub(crate) type Make<'a> = dyn Fn(Option<&Value>) -> Result<Value, Status> + Sync + 'a;

/// How an update makes the new object.
pub(crate) struct Edit<'a> {
    /// Makes it from the object as it is, in the version of the request; from `None` if it is missing. It is called
    /// again whenever the object has changed meanwhile.
    pub(crate) make: &'a Make<'a>,
    /// Whether a missing object is created.
    pub(crate) create_missing: bool,
    /// Whether what `make` gives has its managed fields already.
    pub(crate) tracked: bool,
    /// Whether it is a whole object from the client, whose uid says which object it is to replace.
    pub(crate) is_replacement: bool,
    /// What `make` and admission see in place of the object, if they do not see the object itself.
    pub(crate) view: Option<&'a (dyn View + Sync)>,
}

/// What a subresource shows of an object.
pub(crate) trait View {
    /// The object as the subresource shows it.
    fn show(&self, object: &Value) -> Value;

    /// The object with what was changed in the view.
    ///
    /// # Errors
    /// If the object cannot be like that.
    fn apply(&self, object: &Value, shown: &Value) -> Result<Value, Status>;
}

/// What came of an attempt to store a changed object.
enum Changed {
    Stored(Arc<Object>),
    /// Nothing was stored: it is what would be, or the object is gone now.
    Made(Value),
    /// Somebody else has changed the object meanwhile.
    Meanwhile,
    /// It can be stored once a webhook has converted it.
    Unconverted(Value),
}

/// What an update came to.
#[derive(Debug)]
pub(crate) struct Updated {
    pub(crate) object: Presented,
    /// Whether the object was not there before.
    pub(crate) created: bool,
}

impl Registry {
    /// Replaces an object by what `edit` makes of it.
    ///
    /// # Errors
    /// With what `edit` refuses, and with the `Status` that says what is wrong with the change.
    pub(crate) async fn update(
        &self,
        request: &Request,
        options: &WriteOptions,
        edit: &Edit<'_>,
    ) -> Result<Updated, Status> {
        let served = &request.served;
        let key = request.key();
        let mut tries = TRIES;
        loop {
            tries = tries.saturating_sub(1);
            let Some(current) = self.store.get(&served.bucket, &key) else {
                if !edit.create_missing || !request.subresource.is_empty() {
                    return Err(request.not_found());
                }
                let mut object = (edit.make)(None)?;
                self.match_namespace(request, &mut object)?;
                check_name(request, &object)?;
                metadata::set(&mut object, "resourceVersion", None);
                let object = if edit.tracked {
                    self.create_tracked(request, options, object).await?
                } else {
                    self.create(request, options, object).await?
                };
                return Ok(Updated { object, created: true });
            };
            let old = self.present(served, &current).await?;
            match self.replace(request, options, &current, old.value(), edit).await? {
                Some(object) => return Ok(Updated { object, created: false }),
                // The next try finds out whether the client means the object as it was. What replaces it whatever it
                // is is tried until it is in: each time it is not, somebody else's change is.
                None if tries == 0 && !edit.is_replacement => return Err(request.modified()),
                None => {}
            }
        }
    }

    /// Commits what `edit` makes of `old` in its place; `None` if the object changed meanwhile.
    async fn replace(
        &self,
        request: &Request,
        options: &WriteOptions,
        current: &Arc<Object>,
        old: &Value,
        edit: &Edit<'_>,
    ) -> Result<Option<Presented>, Status> {
        let served = &request.served;
        let shown_old = edit.view.map(|view| view.show(old));
        let shown_old = shown_old.as_ref().unwrap_or(old);
        let attributes = Attributes::new(request, Options::Update(options), Some(shown_old));
        let mut new = (edit.make)(Some(shown_old))?;
        if let Some(view) = edit.view {
            let shown = self.mutate_object(&attributes, new).await?;
            new = view.apply(old, &shown)?;
        }
        self.match_namespace(request, &mut new)?;
        request.warnings.extend(metadata::drop_equal_owners(&mut new));
        check_name(request, &new)?;
        if edit.is_replacement {
            check_uid(request, old, &new)?;
        }
        if !edit.tracked {
            let manager = served.field_manager(&request.subresource);
            new = manager.update(old, new, &options.field_manager, self.clock.now());
        }
        if served.writes_as_stored()
            && let Some(stored) = request.as_stored(&self.catalog())
        {
            let new = served.store(new);
            let make = |_: Option<&Value>| Ok(new.clone());
            let edit = Edit { make: &make, create_missing: false, tracked: true, ..*edit };
            let updated = Box::pin(self.replace(&stored, options, current, current.value(), &edit)).await?;
            return Ok(updated.map(|updated| served.represent(updated)));
        }
        if edit.view.is_none() {
            new = self.mutate_object(&attributes, new).await?;
            self.match_namespace(request, &mut new)?;
        }
        check_version(request, old, &mut new)?;

        restore_system_fields(&mut new, old);
        if served.custom.is_none() {
            keep_absent(&mut new, old);
        }
        match request.subresource.as_str() {
            "" | "scale" => served.strategy.prepare_update(served, &mut new, old, &self.now()),
            "status" => served.strategy.prepare_status_update(served, &mut new, old, &self.now()),
            subresource => strategy::prepare_subresource_update(subresource, &mut new, old, &self.now()),
        }
        if request.subresource.is_empty() {
            // It is only taken when the object is stored.
            self.allocate(served, &mut new)?;
        }
        let errors = validate_update(request, &new, old);
        Status::check(&group_kind(served, &new), metadata::name(&new), &errors)?;
        if served.custom.is_none() && request.subresource.is_empty() {
            let definition = &served.definition;
            let warnings = validation::warnings(&definition.group, &definition.plural, &new, Some(old));
            request.warnings.extend(warnings);
        }
        if request.subresource == "status" {
            let definition = &served.definition;
            let warnings = validation::status_warnings(&definition.group, &definition.plural, &new);
            request.warnings.extend(warnings);
        }
        self.check_escalation(request, &new, Some(old))?;
        let shown_new = edit.view.map(|view| view.show(&new));
        let shown_new = shown_new.as_ref().unwrap_or(&new);
        self.allow(&attributes, Some(shown_new)).await?;
        self.charge(&attributes, shown_new)?;
        let stored = self.store_changed(request, options, current, old, new)?;
        match stored {
            Changed::Stored(object) => self.present(served, &object).await.map(Some),
            Changed::Made(object) => Ok(Some(Presented::Made(object))),
            Changed::Meanwhile => Ok(None),
            Changed::Unconverted(object) => {
                let stored = self.to_storage(served, object).await?;
                match self.commit_changed(request, current, stored)? {
                    Some(object) => self.present(served, &object).await.map(Some),
                    None => Ok(None),
                }
            }
        }
    }

    /// Stores a changed object. What the server has handed out may have been taken meanwhile.
    fn store_changed(
        &self,
        request: &Request,
        options: &WriteOptions,
        current: &Arc<Object>,
        old: &Value,
        mut new: Value,
    ) -> Result<Changed, Status> {
        let served = &request.served;
        let allocates = request.subresource.is_empty();
        let _allocation = if allocates { self.lock_allocation(served) } else { None };
        if allocates && self.allocate(served, &mut new).is_err() {
            return Ok(Changed::Meanwhile);
        }
        served.settle(&mut new);
        let new = keep_times_if_unchanged(old, new);
        if is_last_finalizer_gone(&new) {
            return self.remove_finalized(request, options, current, new);
        }
        if options.dry_run {
            return Ok(Changed::Made(new));
        }
        if served.is_converted_by_webhook() {
            return Ok(Changed::Unconverted(new));
        }
        let stored = self.commit_changed(request, current, served.store(new))?;
        Ok(stored.map_or(Changed::Meanwhile, Changed::Stored))
    }

    /// Commits an object in place of another; `None` if that has changed meanwhile.
    fn commit_changed(
        &self,
        request: &Request,
        current: &Object,
        new: Value,
    ) -> Result<Option<Arc<Object>>, Status> {
        let served = &request.served;
        match self.store.replace(&served.bucket, &request.key(), current.revision(), new) {
            Ok(object) => {
                self.committed(served, None);
                Ok(Some(object))
            }
            Err(CommitError::Missing) => Err(request.not_found()),
            Err(CommitError::Modified(_) | CommitError::Exists(_)) => Ok(None),
        }
    }

    /// Removes an object whose last finalizer an update took away. The answer is the object.
    fn remove_finalized(
        &self,
        request: &Request,
        options: &WriteOptions,
        current: &Object,
        new: Value,
    ) -> Result<Changed, Status> {
        if !options.dry_run {
            match self.store.remove(&request.served.bucket, &request.key(), current.revision()) {
                Ok(_) => self.committed(&request.served, Some(current)),
                // Somebody else has removed it, which is what was asked for.
                Err(CommitError::Missing) => {}
                Err(CommitError::Modified(_) | CommitError::Exists(_)) => return Ok(Changed::Meanwhile),
            }
        }
        Ok(Changed::Made(new))
    }
}

/// Refuses to replace another object than the client means.
fn check_uid(request: &Request, old: &Value, new: &Value) -> Result<(), Status> {
    let (expected, uid) = (metadata::uid(new), metadata::uid(old));
    if expected.is_empty() || expected == uid {
        return Ok(());
    }
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{}/{}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {expected}, UID in object meta: {uid}",
        registry_path(request),
        request.key(),
    );
    Err(Status::conflict(&request.served.group_resource(), &request.name, &why))
}

/// Refuses to replace another version of the object than the client means, and names the one that is there.
fn check_version(request: &Request, old: &Value, new: &mut Value) -> Result<(), Status> {
    let definition = &request.served.definition;
    let resource = request.served.group_resource();
    let version = metadata::resource_version(new);
    // Zero is no version.
    if matches!(version, "" | "0") {
        if !definition.unconditional_update {
            let why = "must be specified for an update";
            let cause = Cause::invalid("metadata.resourceVersion", &Value::from(0), why);
            let kind = definition.group_kind();
            let mut status = Status::invalid(&kind, &request.name, vec![cause]);
            status.message = status.message.replacen(&kind.to_string(), &resource.to_string(), 1);
            if let Some(details) = &mut status.details {
                details.kind.clone_from(&resource.resource);
            }
            return Err(status);
        }
    } else if version != metadata::resource_version(old) {
        return Err(match parse_uint(version) {
            Ok(_) => Status::modified(&resource, &request.name),
            Err(why) => Status::untyped(why),
        });
    }
    let version = metadata::resource_version(old).to_owned();
    metadata::set(new, "resourceVersion", Some(Value::from(version)));
    Ok(())
}

/// Refuses an object that does not have the name of the request.
pub(super) fn check_name(request: &Request, object: &Value) -> Result<(), Status> {
    let name = metadata::name(object);
    if name.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            request.name
        )));
    }
    if name != request.name {
        return Err(Status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            request.name
        )));
    }
    Ok(())
}

/// Takes back what no client may change.
fn restore_system_fields(new: &mut Value, old: &Value) {
    metadata::restore(new, old, &["generation", "creationTimestamp"]);
    if metadata::uid(new).is_empty() {
        metadata::restore(new, old, &["uid"]);
    }
    metadata::set(new, "selfLink", None);
    if metadata::is_deleting(old) {
        metadata::restore(new, old, &["deletionTimestamp"]);
    }
    if metadata::grace_period(old).is_some() && metadata::grace_period(new).is_none() {
        metadata::restore(new, old, &["deletionGracePeriodSeconds"]);
    }
}

/// The kind of an object as messages name it. A custom resource may claim to be of another kind.
pub(super) fn group_kind(served: &Served, object: &Value) -> GroupKind {
    if served.custom.is_none() {
        let kind = served.definition.group_kind();
        // The newer group's events are checked as those of the core group.
        let group = if kind.kind == "Event" { String::new() } else { kind.group };
        return GroupKind::new(group, kind.kind);
    }
    let text = |field| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    GroupKind::new(group, text("kind"))
}

/// Says nothing twice of an object of kube-apiserver itself. Extensions and aggregation have servers of their own, which
/// do.
pub(super) fn deduplicate(served: &Served, errors: &mut ErrorList) {
    let is_extension =
        matches!(served.definition.group.as_str(), "apiextensions.k8s.io" | "apiregistration.k8s.io");
    if served.custom.is_none() && !is_extension {
        errors.deduplicate();
    }
}

/// What is wrong with the kind that a custom resource claims to be of.
pub(super) fn kind_errors(served: &Served, object: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let api_version = served.definition.api_version();
    for (field, expected) in [("apiVersion", &api_version), ("kind", &served.definition.kind)] {
        let own = object.get(field).and_then(Value::as_str).unwrap_or_default();
        if own != expected {
            errors.push(FieldError::invalid(&FieldPath::new(field), own, format!("must be {expected}")));
        }
    }
    errors
}

/// Lets lists that were not there be absent where the new object has them without anything in them: that is no change.
fn keep_absent(new: &mut Value, old: &Value) {
    match (new, old) {
        (new @ Value::Array(_), Value::Null) if new.as_array().is_some_and(Vec::is_empty) => {
            *new = Value::Null;
        }
        (Value::Array(new), Value::Array(old)) => {
            new.iter_mut().zip(old).for_each(|(new, old)| keep_absent(new, old));
        }
        (Value::Object(new), Value::Object(old)) => {
            for (name, new) in new {
                if let Some(old) = old.get(name) {
                    keep_absent(new, old);
                }
            }
        }
        _ => {}
    }
}

fn validate_update(request: &Request, new: &Value, old: &Value) -> ErrorList {
    let served = &request.served;
    let meta = |object| Value::get(object, "metadata").unwrap_or(&Value::Null);
    let mut errors = ErrorList::new();
    if served.strategy.name_rule(served).is_some() {
        errors = names::validate_object_meta_update(meta(new), meta(old), &FieldPath::new("metadata"));
        if served.custom.is_some() {
            // Those of custom resources are looked at twice, and what is wrong is told twice.
            errors.extend(names::validate_object_meta_update(
                meta(new),
                meta(old),
                &FieldPath::new("metadata"),
            ));
        }
    }
    if let Some(custom) = &served.custom {
        request.warnings.extend(names::finalizer_warnings(meta(new), Some(meta(old))));
        let is_status = request.subresource == "status";
        errors =
            custom.validate(kind_errors(served, new), errors, new, Some(old), is_status, &request.warnings);
    }
    errors.extend(match request.subresource.as_str() {
        "" | "scale" => served.strategy.validate_update(new, old, &request.warnings),
        "status" => served.strategy.validate_status_update(new, old),
        _ => ErrorList::new(),
    });
    if served.custom.is_none() {
        let definition = &served.definition;
        // Who scales changes the object itself.
        let subresource = if request.subresource == "scale" { "" } else { &request.subresource };
        errors.extend(validation::update(&definition.group, &definition.plural, subresource, new, old));
    }
    deduplicate(served, &mut errors);
    errors
}

/// Whether nothing holds back an object that is being deleted.
fn is_last_finalizer_gone(object: &Value) -> bool {
    metadata::is_deleting(object)
        && metadata::finalizers(object).is_empty()
        && metadata::grace_period(object).unwrap_or_default() == 0
        // A namespace has finalizers of its own.
        && object
            .get("spec")
            .and_then(|spec| spec.get("finalizers"))
            .and_then(Value::as_array)
            .is_none_or(Vec::is_empty)
}

/// The part of kube-apiserver's storage key that names the resource.
fn registry_path(request: &Request) -> String {
    let definition = &request.served.definition;
    if request.served.custom.is_some() {
        format!("{}/{}", definition.group, definition.plural)
    } else {
        definition.plural.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt;
    use kubewright_world::{Clock, Random};
    use serde_json::json;

    use super::*;
    use crate::{
        admission::{Admission, AdmissionPlugins},
        authn::{Authenticator, TokenIssuer},
        authz::{AuthorizationMode, Authorizer},
        registry::{ServiceRanges, access::AccessObjects},
        store::Store,
        webhook::{ServiceAddresses, WebhookClient},
    };

    fn registry() -> Registry {
        let (clock, random) = (Clock::default(), Random::seeded(1));
        let authenticator = Authenticator::new(TokenIssuer::new(clock.clone(), &random));
        let store = Store::new(1, 16);
        let (client, addresses) = (WebhookClient::network(), ServiceAddresses::default());
        let admission =
            Admission::new(client, addresses, store.clone(), random.fork(), AdmissionPlugins::default());
        let authorizer = Authorizer::new(Arc::new(AccessObjects(store.clone())))
            .with_modes(vec![AuthorizationMode::AlwaysAllow]);
        Registry::new(store, clock, random, authenticator, authorizer, admission, ServiceRanges::default())
    }

    /// Replaces a ConfigMap which others change during each of the first tries.
    fn replace_amid_changes(changes: usize, named_version: bool) -> Result<Value, Status> {
        let registry = registry();
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
        registry.create_internal(namespace)?;
        let map = |data: Value| {
            let metadata = json!({"name": "a", "namespace": "default"});
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
        };
        let created = registry.create_internal(map(json!({})))?;
        let catalog = registry.catalog();
        let served = catalog.by_kind("v1", "ConfigMap").expect("it is built in");
        let request = Request::internal(served.clone(), &created);
        let options = WriteOptions::internal();
        let replace = |make: &Make<'_>| {
            let edit = Edit { make, create_missing: false, tracked: false, is_replacement: true, view: None };
            let updated = registry.update(&request, &options, &edit).now_or_never().expect("nobody is asked");
            Ok::<_, Status>(updated?.object.into_value())
        };
        let tries = AtomicUsize::new(0);
        replace(&|_| {
            let number = tries.fetch_add(1, Ordering::Relaxed) + 1;
            if number <= changes {
                replace(&|_| Ok(map(json!({"other": number.to_string()}))))?;
            }
            let mut new = map(json!({"own": "1"}));
            if named_version {
                let version = metadata::resource_version(&created);
                metadata::set(&mut new, "resourceVersion", Some(Value::from(version)));
            }
            Ok(new)
        })
    }

    #[test]
    fn a_replacement_that_names_no_version_outlasts_other_writers() {
        let replaced = replace_amid_changes(2 * TRIES, false).expect("replaced");
        assert_eq!(replaced["data"], json!({"own": "1"}));
    }

    #[test]
    fn a_replacement_of_a_version_that_is_gone_is_refused() {
        let refused = replace_amid_changes(1, true).expect_err("refused");
        assert_eq!(refused.code, 409, "{refused:?}");
    }
}
