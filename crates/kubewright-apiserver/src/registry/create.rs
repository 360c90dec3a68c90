use std::sync::Arc;

use futures::FutureExt;
use kubewright_schema::{ErrorList, FieldPath, names};
use serde_json::Value;

use super::{
    Presented, Registry, Request, metadata,
    strategy::Strategy,
    update::{deduplicate, group_kind, kind_errors},
};
use crate::{
    admission::{Attributes, Options},
    status::Status,
    store::{CommitError, Object},
    validation,
    wire::options::WriteOptions,
};

/// The letters of generated names: no vowels and no look-alikes, so that no words come about.
const SUFFIX_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
const GENERATED_NAME_LIMIT: usize = 63;
const GENERATED_NAME_TRIES: usize = 8;

/// How often others may take meanwhile what the server has chosen for an object.
const ALLOCATION_TRIES: usize = 16;

/// Whether the object has a resource version that the store can read; others are overwritten.
fn has_version(object: &Value) -> bool {
    let version = metadata::resource_version(object);
    version.bytes().all(|byte| byte.is_ascii_digit())
        && version.parse::<u64>().is_ok_and(|number| number != 0)
}

impl Registry {
    /// Creates an object, in the version of the request.
    ///
    /// # Errors
    /// With the `Status` that says what is wrong with the object, or that it is there.
    pub(crate) async fn create(
        &self,
        request: &Request,
        options: &WriteOptions,
        mut object: Value,
    ) -> Result<Presented, Status> {
        self.match_namespace(request, &mut object)?;
        wipe_system_fields(&mut object);
        let manager = request.served.field_manager("");
        let object = manager.update(&Value::Null, object, &options.field_manager, self.clock.now());
        self.create_tracked(request, options, object).await
    }

    /// Creates an object that has its managed fields already.
    pub(super) async fn create_tracked(
        &self,
        request: &Request,
        options: &WriteOptions,
        mut object: Value,
    ) -> Result<Presented, Status> {
        let served = &request.served;
        if served.writes_as_stored()
            && let Some(stored) = request.as_stored(&self.catalog())
        {
            let created = Box::pin(self.create_tracked(&stored, options, served.store(object))).await?;
            return Ok(served.represent(created));
        }
        self.match_namespace(request, &mut object)?;
        request.warnings.extend(metadata::drop_equal_owners(&mut object));
        wipe_system_fields(&mut object);
        self.admit_create(request, &object)?;
        let attributes = Attributes::new(request, Options::Create(options), None);
        let mut object = self.mutate_object(&attributes, object).await?;
        self.match_namespace(request, &mut object)?;
        self.set_system_fields(&mut object);

        let generate_name = metadata::text(&object, "generateName").to_owned();
        let generates = metadata::name(&object).is_empty() && !generate_name.is_empty();
        let mut tries = if generates { GENERATED_NAME_TRIES } else { 1 };
        loop {
            tries -= 1;
            // Only a generated name may need another try.
            let mut object = if generates { object.clone() } else { std::mem::take(&mut object) };
            if generates {
                let name = self.generate_name(&generate_name);
                metadata::set(&mut object, "name", Some(Value::from(name)));
            }
            if metadata::name(&object).is_empty() && Strategy::names_itself(served) {
                metadata::set(&mut object, "name", Some(self.uid()));
            }
            let name = metadata::name(&object).to_owned();
            Strategy::note_creator(served, &mut object, &request.user);
            served.strategy.prepare_create(served, &mut object, &request.warnings);
            served.canonicalize(&mut object);
            let there = match self.commit_new(&attributes, options, &name, object).await? {
                Ok(created) => return Ok(created),
                Err(there) => there,
            };
            if tries == 0 {
                let resource = served.group_resource();
                return Err(if generates {
                    Status::generate_name_exhausted(&resource, &name)
                } else if metadata::is_deleting(there.value()) {
                    Status::being_deleted(&resource, &name)
                } else {
                    Status::already_exists(&resource, &name)
                });
            }
        }
    }

    /// Checks a new object, shows it to those who validate, and stores it; gives what is there in its place, if something
    /// is.
    async fn commit_new(
        &self,
        attributes: &Attributes<'_>,
        options: &WriteOptions,
        name: &str,
        mut object: Value,
    ) -> Result<Result<Presented, Arc<Object>>, Status> {
        let request = attributes.request;
        if !request.served.strategy.allocates() {
            self.validate_create(request, &object)?;
            request.served.settle(&mut object);
            self.allow(attributes, Some(&object)).await?;
            self.charge(attributes, &object)?;
            if request.served.is_converted_by_webhook() && !options.dry_run {
                let stored = self.to_storage(&request.served, object).await?;
                return self.store_converted(request, name, stored).await;
            }
            return self.store_new(request, options, name, object);
        }
        // What the server hands out is checked and shown as well. It is only taken when the object is stored, and may be
        // gone by then.
        let (mut tries, mut is_charged) = (ALLOCATION_TRIES, false);
        loop {
            tries -= 1;
            let mut shown = object.clone();
            self.allocate(&request.served, &mut shown)?;
            self.validate_create(request, &shown)?;
            request.served.settle(&mut shown);
            self.allow(attributes, Some(&shown)).await?;
            if !is_charged {
                self.charge(attributes, &shown)?;
                is_charged = true;
            }
            match self.store_new(request, options, name, shown) {
                Err(_) if tries > 0 => {}
                stored => return stored,
            }
        }
    }

    /// Stores a new object of a resource that a webhook converts, and gives it in the version of the request.
    async fn store_converted(
        &self,
        request: &Request,
        name: &str,
        object: Value,
    ) -> Result<Result<Presented, Arc<Object>>, Status> {
        let served = &request.served;
        if has_version(&object) {
            return Err(Status::untyped("resourceVersion should not be set on objects to be created"));
        }
        match self.store.create(&served.bucket, &served.key(&request.namespace, name), object) {
            Ok(created) => {
                self.committed(served, None);
                self.present(served, &created).await.map(Ok)
            }
            Err(CommitError::Exists(there) | CommitError::Modified(there)) => Ok(Err(there)),
            Err(CommitError::Missing) => Err(request.not_found()),
        }
    }

    fn store_new(
        &self,
        request: &Request,
        options: &WriteOptions,
        name: &str,
        mut object: Value,
    ) -> Result<Result<Presented, Arc<Object>>, Status> {
        let served = &request.served;
        let _allocation = self.lock_allocation(served);
        self.allocate(served, &mut object)?;
        // The store refuses it, which a dry run does not reach: such an object comes back with the version it was sent with.
        if !options.dry_run && has_version(&object) {
            return Err(Status::untyped("resourceVersion should not be set on objects to be created"));
        }
        let key = served.key(&request.namespace, name);
        if options.dry_run {
            return Ok(match self.store.get(&served.bucket, &key) {
                None => Ok(Presented::Made(object)),
                Some(there) => Err(there),
            });
        }
        match self.store.create(&served.bucket, &key, served.store(object)) {
            Ok(created) => {
                self.committed(served, None);
                Ok(Ok(served.present(&created)))
            }
            Err(CommitError::Exists(there) | CommitError::Modified(there)) => Ok(Err(there)),
            Err(CommitError::Missing) => Err(request.not_found()),
        }
    }

    /// An object that is not stored, such as a `Binding` or an `Eviction`, as admission makes it and allows it.
    pub(crate) async fn admit_question(
        &self,
        request: &Request,
        options: &WriteOptions,
        object: Value,
    ) -> Result<Value, Status> {
        let attributes = Attributes::new(request, Options::Create(options), None);
        let object = self.mutate_object(&attributes, object).await?;
        self.allow(&attributes, Some(&object)).await?;
        Ok(object)
    }

    /// The object as admission makes it.
    pub(super) async fn mutate_object(
        &self,
        attributes: &Attributes<'_>,
        object: Value,
    ) -> Result<Value, Status> {
        // There is an object, so there is one afterwards.
        Ok(self.admit(attributes, Some(object)).await?.unwrap_or_default())
    }

    /// Creates an object of whatever kind, as the server itself.
    pub(crate) fn create_internal(&self, mut object: Value) -> Result<Value, Status> {
        let request = self.internal_request(&object)?;
        request.served.coerce(&mut object, false);
        let options = WriteOptions::internal();
        // Nobody else is asked, so there is nothing to wait for.
        let created = self.create(&request, &options, object).now_or_never();
        let created =
            created.unwrap_or_else(|| Err(Status::internal("the object cannot be created at once")));
        Ok(created?.into_value())
    }

    /// Puts an object that every cluster has into the store, unless it is there, as it is but for what the server sets. It must be in its
    /// canonical form: the table of types is large, and a server starts without reading it.
    pub(crate) fn seed(&self, mut object: Value) {
        let Ok(request) = self.internal_request(&object) else { return };
        wipe_system_fields(&mut object);
        self.set_system_fields(&mut object);
        let status = object.get("status").cloned();
        request.served.strategy.prepare_create(&request.served, &mut object, &request.warnings);
        if let Some(mut status) = status {
            let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
            for condition in conditions.into_iter().flatten() {
                condition["lastTransitionTime"] = self.now();
            }
            metadata::as_map(&mut object).insert("status".to_owned(), status);
        }
        // One that is there stays as it is.
        let _ = self.store.create(&request.served.bucket, &request.key(), object);
    }

    fn internal_request(&self, object: &Value) -> Result<Request, Status> {
        let text = |field| object.get(field).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let catalog = self.catalog();
        let served = catalog.by_kind(api_version, kind).ok_or_else(|| {
            Status::bad_request(format!("no matches for kind {kind:?} in version {api_version:?}"))
        })?;
        Ok(Request::internal(served.clone(), object))
    }

    /// Puts the object into the namespace of the request.
    ///
    /// # Errors
    /// 400 if it says that it is in another one.
    pub(crate) fn match_namespace(&self, request: &Request, object: &mut Value) -> Result<(), Status> {
        let own = metadata::namespace(object);
        if !request.served.definition.namespaced {
            // A namespace on an object outside namespaces is dropped without a word.
            metadata::set(object, "namespace", None);
        } else if own.is_empty() {
            metadata::set(object, "namespace", Some(Value::from(request.namespace.as_str())));
        } else if own != request.namespace {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        Ok(())
    }

    /// Sets what only the server may set.
    fn set_system_fields(&self, object: &mut Value) {
        metadata::set(object, "uid", Some(self.uid()));
        metadata::set(object, "creationTimestamp", Some(self.now()));
    }

    /// Refuses what cannot be created at the moment, whatever it is.
    fn admit_create(&self, request: &Request, object: &Value) -> Result<(), Status> {
        if let Some(custom) = &request.served.custom
            && custom.terminating
        {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(Status::forbidden(&request.served.group_resource(), metadata::name(object), why));
        }
        Ok(())
    }

    fn validate_create(&self, request: &Request, object: &Value) -> Result<(), Status> {
        let served = &request.served;
        let definition = &served.definition;
        let meta = object.get("metadata").unwrap_or(&Value::Null);
        let mut errors = match served.strategy.name_rule(served) {
            Some(rule) => {
                names::validate_object_meta(meta, definition.namespaced, rule, &FieldPath::new("metadata"))
            }
            None => ErrorList::new(),
        };
        if let Some(custom) = &served.custom {
            let kind_errors = kind_errors(served, object);
            errors = custom.validate(kind_errors, errors, object, None, false, &request.warnings);
        }
        errors.extend(served.strategy.validate_create(object, &request.warnings));
        if served.custom.is_none() {
            let own = validation::create(&definition.group, &definition.plural, object);
            // Kinds that do not look at metadata themselves have it looked at when all else is right.
            if served.strategy.checks_metadata_last(served) && !own.is_empty() {
                errors = ErrorList::new();
            }
            errors.extend(own);
        }
        deduplicate(served, &mut errors);
        Status::check(&group_kind(served, object), metadata::name(object), &errors)?;
        if served.custom.is_some() {
            request.warnings.extend(names::finalizer_warnings(meta, None));
        } else {
            let warnings = validation::warnings(&definition.group, &definition.plural, object, None);
            request.warnings.extend(warnings);
        }
        self.check_escalation(request, object, None)
    }

    /// A name that starts with `base` and is most likely free.
    pub(crate) fn generate_name(&self, base: &str) -> String {
        let mut end = base.len().min(GENERATED_NAME_LIMIT - SUFFIX_LENGTH);
        while !base.is_char_boundary(end) {
            end -= 1;
        }
        let mut name = base.get(..end).unwrap_or_default().to_owned();
        for _ in 0..SUFFIX_LENGTH {
            let index = usize::try_from(self.random.below(SUFFIX_LETTERS.len() as u64)).unwrap_or_default();
            name.extend(SUFFIX_LETTERS.get(index).map(|letter| char::from(*letter)));
        }
        name
    }
}

/// Takes away what only the server may set.
fn wipe_system_fields(object: &mut Value) {
    for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata::set(object, field, None);
    }
}
