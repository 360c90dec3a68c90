//! Objects in another version than they are stored in.
//!
//! For most resources that is done at once ([`Served::present`] and [`Served::store`]). Where a CRD names a webhook,
//! it is asked, and its answers are kept for as long as the object does not change.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;

use super::{Presented, Registry, Served, metadata};
use crate::{
    crd::{self, Conversion},
    status::Status,
    store::Object,
};

/// How long a webhook may take to convert an object.
const PATIENCE: Duration = Duration::from_secs(30);

/// Objects in the version of a resource, by key, with their revisions.
#[derive(Debug, Default)]
pub(super) struct Converted {
    known: Mutex<BTreeMap<String, (u64, Value)>>,
}

impl Registry {
    /// A stored object in the version of a resource.
    ///
    /// # Errors
    /// 500 if a webhook does not convert it.
    pub(crate) async fn present(&self, served: &Served, object: &Arc<Object>) -> Result<Presented, Status> {
        // Most objects need not be looked into.
        let is_converted = served.is_converted_by_webhook();
        let conversion = if is_converted { served.conversion_from(object.value()) } else { None };
        let Some(conversion) = conversion else {
            // It is stored in the version that is asked for, be that the storage version now or not.
            let is_former = served.conversion_to_storage().is_some();
            return Ok(if is_former { Presented::Stored(object.clone()) } else { served.present(object) });
        };
        let key = served.key(metadata::namespace(object.value()), metadata::name(object.value()));
        if let Some(known) = served.converted.find(&key, object.revision()) {
            return Ok(Presented::Made(known));
        }
        let mut stored = object.value().clone();
        metadata::set(&mut stored, "resourceVersion", None);
        let api_version = served.definition.api_version();
        let mut new = self.ask_to_convert(conversion, &stored, &api_version).await.map_err(|why| {
            let definition = &served.definition;
            Status::internal(format!(
                "StorageError: corrupt object, Code: 7, Key: /{}/{}/{key}, ResourceVersion: 0, AdditionalErrorMsg: object \
                 not decodable revision={}: {why}",
                definition.group,
                definition.plural,
                object.revision()
            ))
        })?;
        if let Some(custom) = &served.custom {
            custom.prune(&mut new);
        }
        metadata::set(&mut new, "resourceVersion", Some(Value::from(object.revision().to_string())));
        served.converted.keep(key, object.revision(), &new);
        Ok(Presented::Made(new))
    }

    /// An object of a resource's version as it is stored.
    ///
    /// # Errors
    /// 500 if a webhook does not convert it.
    pub(super) async fn to_storage(&self, served: &Served, object: Value) -> Result<Value, Status> {
        let Some(conversion) = served.conversion_to_storage() else { return Ok(served.store(object)) };
        let converted = self.ask_to_convert(conversion, &object, &served.storage_api_version).await;
        Ok(served.store(converted.map_err(Status::untyped)?))
    }

    /// An object of one version of a resource in another one.
    ///
    /// # Errors
    /// 500 if a webhook does not convert it.
    pub(crate) async fn convert(&self, from: &Served, to: &Served, object: Value) -> Result<Value, Status> {
        if from.resource_name() == to.resource_name() {
            return Ok(object);
        }
        let Some(conversion) = to.conversion_from(&object) else { return Ok(from.convert(to, object)) };
        let api_version = to.definition.api_version();
        let mut new =
            self.ask_to_convert(conversion, &object, &api_version).await.map_err(Status::internal)?;
        if let Some(custom) = &to.custom {
            custom.prune(&mut new);
        }
        Ok(new)
    }

    async fn ask_to_convert(
        &self,
        conversion: &Conversion,
        object: &Value,
        api_version: &str,
    ) -> Result<Value, String> {
        let uid = self.admission.uid();
        let question = conversion.question(&uid, object, api_version);
        let webhooks = &self.admission.webhooks;
        let answered = webhooks.post(&conversion.client, PATIENCE, &question, conversion.review_kind()).await;
        let answered = answered.map_err(|error| format!("{} failed: {error}", crd::blame(object)))?;
        crd::answer(&answered, &uid, object, api_version)
    }
}

impl Served {
    /// Who is asked to make an object one of this version, if somebody is.
    pub(super) fn conversion_from(&self, object: &Value) -> Option<&Conversion> {
        let conversion = self.custom.as_ref()?.conversion.as_ref()?;
        let own = object["apiVersion"].as_str().unwrap_or_default();
        (own != self.definition.api_version()).then_some(conversion)
    }

    /// Who is asked to make objects of this version such that are stored, if somebody is.
    fn conversion_to_storage(&self) -> Option<&Conversion> {
        let conversion = self.custom.as_ref()?.conversion.as_ref()?;
        (self.storage_api_version != self.definition.api_version()).then_some(conversion)
    }

    /// Whether stored objects may have to be converted by a webhook.
    pub(super) fn is_converted_by_webhook(&self) -> bool {
        self.custom.as_ref().is_some_and(|custom| custom.conversion.is_some())
    }
}

impl Converted {
    fn find(&self, key: &str, revision: u64) -> Option<Value> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).filter(|(own, _)| *own == revision).map(|(_, object)| object.clone())
    }

    /// Keeps an object, unless a later state of it is known.
    fn keep(&self, key: String, revision: u64, object: &Value) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.get(&key).is_none_or(|(own, _)| *own < revision) {
            known.insert(key, (revision, object.clone()));
        }
    }

    /// Forgets an object that is gone.
    pub(super) fn forget(&self, key: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
