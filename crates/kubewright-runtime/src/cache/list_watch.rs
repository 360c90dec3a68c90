use std::time::Duration;

use futures::{StreamExt, stream::BoxStream};
use kube::{
    Client,
    api::{ListParams, WatchParams},
    core::{ApiResource, ListMeta, Request as Requests, WatchEvent},
};
use serde::Deserialize;
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

/// One page of a list.
#[derive(Deserialize)]
pub(super) struct Page {
    #[serde(default)]
    pub(super) metadata: ListMeta,
    #[serde(default)]
    items: Option<Vec<Value>>,
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
        serde_json::from_str(&text).map_err(kube::Error::SerdeError)
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
    pub(super) fn take_items(&mut self) -> Vec<Value> {
        self.items.take().unwrap_or_default()
    }
}
