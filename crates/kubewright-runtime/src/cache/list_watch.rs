use std::{borrow::Cow, fmt, time::Duration};

use futures::{StreamExt, stream::BoxStream};
use kube::{
    Client,
    api::{ListParams, WatchParams},
    core::{ApiResource, ListMeta, Request as Requests, WatchEvent},
};
use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use crate::client::Operation;

/// What a watch sends: undecoded objects, so that one that does not fit its type spoils no other.
pub(super) type WatchStream = BoxStream<'static, Result<WatchEvent<Value>, kube::Error>>;

/// The two requests of an informer, for one kind, namespace and selection.
#[derive(Clone)]
pub(super) struct ListWatch {
    pub(super) client: Client,
    pub(super) resource: ApiResource,
    pub(super) namespace: Option<String>,
    pub(super) labels: Option<String>,
    pub(super) fields: Option<String>,
    pub(super) metadata_only: bool,
    /// After how many seconds the server is to end a watch.
    pub(super) timeout_seconds: u32,
}

/// One page of a list, as it was sent.
pub(super) struct Page {
    text: String,
}

impl ListWatch {
    /// Lists at the most recent version, or goes on with a list.
    pub(super) async fn list(
        &self,
        limit: Option<u32>,
        continue_token: Option<String>,
    ) -> Result<Page, kube::Error> {
        let parameters = ListParams {
            label_selector: self.labels.clone(),
            field_selector: self.fields.clone(),
            limit,
            continue_token,
            ..Default::default()
        };
        let requests = self.requests();
        let request =
            if self.metadata_only { requests.list_metadata(&parameters) } else { requests.list(&parameters) };
        let text = self.client.request_text(request.map_err(kube::Error::BuildRequest)?).await?;
        Ok(Page { text })
    }

    /// Watches from a version on. With `initial_events`, the stream begins with the objects as they are now and
    /// `version` is empty.
    pub(super) async fn watch(
        &self,
        version: &str,
        initial_events: bool,
    ) -> Result<WatchStream, kube::Error> {
        let parameters = WatchParams {
            label_selector: self.labels.clone(),
            field_selector: self.fields.clone(),
            timeout: Some(self.timeout_seconds),
            bookmarks: true,
            send_initial_events: initial_events,
        };
        let requests = self.requests();
        let request = if self.metadata_only {
            requests.watch_metadata(&parameters, version)
        } else {
            requests.watch(&parameters, version)
        };
        let request = request.map_err(kube::Error::BuildRequest)?;
        Ok(self.client.request_events(request).await?.boxed())
    }

    /// How long a watch may stay silent. The server ends it earlier; if the end does not arrive, then neither
    /// do events.
    pub(super) fn longest_silence(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout_seconds) + 5)
    }

    /// What a request is called in messages.
    pub(super) fn operation(&self, verb: &'static str) -> Operation {
        Operation {
            verb,
            group: self.resource.group.clone(),
            resource: self.resource.plural.clone(),
            subresource: None,
            namespace: self.namespace.clone(),
            name: None,
        }
    }

    fn requests(&self) -> Requests {
        let ApiResource { group, api_version, plural, .. } = &self.resource;
        let prefix = if group.is_empty() { "api" } else { "apis" };
        Requests::new(match &self.namespace {
            Some(namespace) => format!("/{prefix}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("/{prefix}/{api_version}/{plural}"),
        })
    }
}

impl Page {
    /// Gives each item to `take` as soon as it is parsed, so that not all of them are in memory as values at once.
    pub(super) fn read(&self, take: impl FnMut(Value)) -> serde_json::Result<ListMeta> {
        let mut deserializer = serde_json::Deserializer::from_str(&self.text);
        let metadata = List { take }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(metadata)
    }
}

/// Reads a list, and returns its metadata.
struct List<F> {
    take: F,
}

/// Reads the items of a list.
struct Items<'a, F> {
    take: &'a mut F,
}

impl<'de, F: FnMut(Value)> DeserializeSeed<'de> for List<F> {
    type Value = ListMeta;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ListMeta, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(Value)> Visitor<'de> for List<F> {
    type Value = ListMeta;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<ListMeta, A::Error> {
        let mut metadata = ListMeta::default();
        while let Some(field) = fields.next_key::<Cow<'_, str>>()? {
            match &*field {
                "metadata" => metadata = fields.next_value()?,
                "items" => fields.next_value_seed(Items { take: &mut self.take })?,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(metadata)
    }
}

impl<'de, F: FnMut(Value)> DeserializeSeed<'de> for Items<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, F: FnMut(Value)> Visitor<'de> for Items<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the items of a list")
    }

    /// A list of nothing may be written as `null`.
    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            (self.take)(item);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> serde_json::Result<(ListMeta, Vec<Value>)> {
        let mut items = Vec::new();
        let metadata = Page { text: text.to_owned() }.read(|item| items.push(item))?;
        Ok((metadata, items))
    }

    #[test]
    fn the_metadata_may_come_before_or_after_the_items() {
        for text in [
            r#"{"kind": "List", "metadata": {"resourceVersion": "7", "continue": "c"}, "items": [1, 2]}"#,
            r#"{"items": [1, 2], "apiVersion": "v1", "metadata": {"continue": "c", "resourceVersion": "7"}}"#,
        ] {
            let (metadata, items) = read(text).expect("a list");
            assert_eq!(metadata.resource_version.as_deref(), Some("7"));
            assert_eq!(metadata.continue_.as_deref(), Some("c"));
            assert_eq!(items, [1, 2]);
        }
    }

    #[test]
    fn a_list_of_nothing_may_be_null_or_missing_and_half_a_list_is_an_error() {
        for text in [r#"{"metadata": {}, "items": null}"#, r#"{"metadata": {}}"#] {
            assert!(read(text).expect("a list").1.is_empty());
        }
        for text in [r#"{"metadata": {}, "items": [1, 2"#, r#"[]"#, r#"{"items": 7}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
