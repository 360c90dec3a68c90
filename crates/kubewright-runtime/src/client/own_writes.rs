use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use serde::Deserialize;

use super::{Client, Result, Target, transport::Call};
use crate::{
    Request,
    cache::{End, Observer, Written},
};

/// A write that was announced to the informers of its kind. It is over when this is dropped.
struct Announced {
    informers: Vec<(Arc<dyn Observer>, u64)>,
    written: Vec<Written>,
}

/// What all answers to writes have in common: an object, a list of objects, or a `Status`.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    metadata: Option<Metadata>,
    /// Of a `Status`.
    #[serde(default)]
    details: Option<Details>,
}

#[derive(Deserialize)]
struct Deleted {
    #[serde(default)]
    items: Option<Vec<Answer>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: String,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    deletion_timestamp: Option<String>,
    deletion_grace_period_seconds: Option<i64>,
    finalizers: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    uid: Option<String>,
}

// === impl Client ===

impl Client {
    /// Sends a write of `key`, or of many objects, and tells the cache what the server answered, for those who read
    /// their own writes.
    pub(super) async fn write(&self, target: &Target, key: Option<&Request>, call: Call) -> Result<Bytes> {
        let informers = match self.cache() {
            Some(cache) if !self.settings().dry_run => cache.observers(&target.group, &target.plural),
            _ => Vec::new(),
        };
        if informers.is_empty() {
            return self.send(call).await;
        }
        let named = key.filter(|key| !key.name.is_empty());
        let begin = |informer: Arc<dyn Observer>| {
            let id = informer.begin_write(named);
            (informer, id)
        };
        let mut announced =
            Announced { informers: informers.into_iter().map(begin).collect(), written: Vec::new() };
        let deletes = call.method == http::Method::DELETE;
        let evicts = call.operation.subresource.as_deref() == Some("eviction");
        let answer = self.send(call).await?;
        announced.written = match key {
            Some(key) => one(target, key, &answer, deletes, evicts).into_iter().collect(),
            None => many(target, &answer),
        };
        Ok(answer)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        for (informer, id) in &self.informers {
            informer.end_write(*id, &self.written);
        }
    }
}

/// What an answer says of the one object that was written. An answer that is no object, or none that can be read, is
/// no failure of the write: it says nothing.
fn one(target: &Target, key: &Request, answer: &[u8], deletes: bool, evicts: bool) -> Option<Written> {
    let answer: Answer = serde_json::from_slice(answer).ok()?;
    if answer.kind != "Status" {
        return answer.metadata.and_then(|metadata| metadata.written(target, key, deletes));
    }
    let end = match (deletes, evicts) {
        (true, _) => End::Gone,
        (false, true) => End::Deleting,
        _ => return None,
    };
    let uid = answer.details.and_then(|details| details.uid).filter(|_| deletes);
    Some(Written { key: key.clone(), uid, end: Some(end), ..Written::default() })
}

/// What the answer to the deletion of a collection says: the objects as they were before.
fn many(target: &Target, answer: &[u8]) -> Vec<Written> {
    let deleted: Option<Deleted> = serde_json::from_slice(answer).ok();
    let items = deleted.and_then(|deleted| deleted.items).unwrap_or_default();
    let metadata = items.into_iter().filter_map(|item| item.metadata);
    let written = metadata.filter_map(|metadata| {
        let key = Request { namespace: metadata.namespace.clone(), name: metadata.name.clone() };
        // Those with finalizers stay; that they are being deleted is what can be awaited of all.
        let mut written = metadata.written(target, &key, false)?;
        written.end = Some(End::Deleting);
        Some(written)
    });
    written.collect()
}

// === impl Metadata ===

impl Metadata {
    fn written(self, target: &Target, key: &Request, deletes: bool) -> Option<Written> {
        let name = if key.name.is_empty() { self.name.clone() } else { key.name.clone() };
        // The kind of a subresource may have no version, and then the object's is not known.
        self.resource_version.as_ref().filter(|version| !version.is_empty())?;
        let is_gone = self.is_gone(target, deletes);
        Some(Written {
            key: Request { namespace: key.namespace.clone(), name },
            uid: self.uid,
            version: self.resource_version,
            labels: self.labels.unwrap_or_default(),
            end: is_gone.then_some(End::Gone),
        })
    }

    /// Whether the object is not there any more. A write that takes the last finalizer is answered with the object as
    /// it was before, and so are some deletions.
    fn is_gone(&self, target: &Target, deletes: bool) -> bool {
        if self.deletion_timestamp.is_none() {
            return deletes;
        }
        // Those of a namespace are in its spec.
        self.finalizers.as_ref().is_none_or(Vec::is_empty)
            && self.deletion_grace_period_seconds.unwrap_or_default() == 0
            && !(target.group.is_empty() && target.plural == "namespaces")
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{Namespace, Pod};
    use serde_json::{Value, json};

    use super::*;

    fn said(answer: &Value, deletes: bool, evicts: bool) -> Option<Written> {
        let key = Request::namespaced("shop", "cart");
        one(&Target::of::<Pod>(), &key, answer.to_string().as_bytes(), deletes, evicts)
    }

    fn object(metadata: &Value) -> Value {
        let mut object = json!({"kind": "Pod", "spec": "anything", "metadata": metadata});
        object["metadata"]["resourceVersion"] = json!("7");
        object["metadata"]["uid"] = json!("u");
        object
    }

    #[test]
    fn an_object_lives_at_its_version_unless_it_went() {
        let end = |metadata, deletes| said(&object(&metadata), deletes, false).expect("an object").end;
        assert_eq!(end(json!({}), false), None);
        assert_eq!(end(json!({}), true), Some(End::Gone));
        let deleted = "2030-01-01T00:00:00Z";
        for deletes in [false, true] {
            let graceful = json!({"deletionTimestamp": deleted, "deletionGracePeriodSeconds": 30});
            assert_eq!(end(graceful, deletes), None);
            assert_eq!(end(json!({"deletionTimestamp": deleted, "finalizers": ["a/b"]}), deletes), None);
            assert_eq!(
                end(json!({"deletionTimestamp": deleted, "finalizers": []}), deletes),
                Some(End::Gone)
            );
        }
        let namespace = object(&json!({"deletionTimestamp": deleted})).to_string();
        let key = Request::cluster("shop");
        let written = one(&Target::of::<Namespace>(), &key, namespace.as_bytes(), true, false);
        assert_eq!(written.expect("an object").end, None);
    }

    #[test]
    fn a_status_says_what_was_asked_for_and_nothing_else_is_an_error() {
        let status = json!({"kind": "Status", "metadata": {}, "status": "Success", "details": {"uid": "u"}});
        let deleted = said(&status, true, false).expect("a deletion");
        assert_eq!((deleted.end, deleted.uid.as_deref()), (Some(End::Gone), Some("u")));
        let evicted = said(&status, false, true).expect("an eviction");
        assert_eq!((evicted.end, evicted.uid), (Some(End::Deleting), None));
        assert!(said(&status, false, false).is_none(), "of a binding nothing is known");
        // A token has no version; a proxy may answer with anything.
        assert!(said(&json!({"kind": "TokenRequest", "metadata": {"name": "cart"}}), false, false).is_none());
        assert!(said(&json!("ok"), true, false).is_none());
    }

    #[test]
    fn a_name_that_the_server_made_is_that_of_the_answer() {
        let answer = object(&json!({"name": "cart-x7"})).to_string();
        let key = Request::namespaced("shop", "");
        let written = one(&Target::of::<Pod>(), &key, answer.as_bytes(), false, false).expect("an object");
        assert_eq!(written.key, Request::namespaced("shop", "cart-x7"));
    }
}
