//! Finds reconcilers that write the same object again and again.
//!
//! A reconciler that is level-triggered comes to rest: the write that changes nothing is none, and no event follows. Two
//! mistakes keep it going. It writes what differs each time, as the present time. Or somebody else, an autoscaler or
//! another controller, sets the same field to another value each time, and the two answer each other for ever. Both look
//! like work: nothing fails, and the load is all that shows.
//!
//! [`HotLoops`] counts the writes of each object that changed it (`detector.rs`). Of one that is written too often, the next
//! write is looked at: the object is read before, and compared with the answer (`fields.rs`). So the fields can be
//! named, and, from the managed fields, who had set them in between.

mod detector;
mod fields;

use bytes::Bytes;
use http::Method;
use serde_json::Value;

use self::detector::Object;
pub use self::detector::{HotLoop, HotLoops};
use super::{Client, Operation, Result, transport::Call};

impl HotLoops {
    /// Sends a request, and looks at it if it changes an object.
    pub(super) async fn send(&self, client: &Client, call: Call) -> Result<Bytes> {
        let Some(object) = written_by(client, &call) else { return client.send_once(call).await };
        let attempt = self.begin(&object, &call.body);
        let before = if attempt.is_watched { read(client, &call).await } else { None };
        let answer = client.send_once(call).await?;
        self.wrote(&object, &attempt, before.as_ref(), &answer);
        Ok(answer)
    }
}

/// The object that a request changes. What creates one, or deletes it, does not come back to the same.
fn written_by(client: &Client, call: &Call) -> Option<Object> {
    let Operation { group, resource, subresource, namespace, name, .. } = &call.operation;
    let changes = matches!(call.method, Method::PUT | Method::PATCH);
    if !changes || call.query.iter().any(|(name, _)| *name == "dryRun") {
        return None;
    }
    let mut resource = resource.clone();
    for (separator, part) in
        [(".", Some(group).filter(|group| !group.is_empty())), ("/", subresource.as_ref())]
    {
        if let Some(part) = part {
            resource.push_str(separator);
            resource.push_str(part);
        }
    }
    let name = name.as_deref()?;
    let key = namespace.as_ref().map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
    Some(Object { resource, key, manager: client.field_manager().to_owned() })
}

/// The object as it is before the request. One that cannot be read is no reason not to write it.
async fn read(client: &Client, call: &Call) -> Option<Value> {
    let operation = Operation { verb: "get", subresource: None, ..call.operation.clone() };
    let path = match &call.operation.subresource {
        Some(subresource) => call.path.strip_suffix(&format!("/{subresource}"))?,
        None => &call.path,
    };
    let answer = client.send_once(Call::new(operation, Method::GET, path.to_owned())).await.ok()?;
    serde_json::from_slice(&answer).ok()
}
