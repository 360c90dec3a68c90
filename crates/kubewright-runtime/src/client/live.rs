use bytes::Bytes;
use http::Method;
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    Client, ClientError, Kind, ListOptions, Operation, Result, Target,
    transport::{Call, JSON, METADATA, METADATA_LIST, decode},
};
use crate::Request;

/// Reads from the API server. Made by [`Client::live`].
///
/// Reading `PartialObjectMeta<K>` transfers the metadata of objects alone.
#[derive(Clone, Debug)]
pub struct Live {
    client: Client,
}

/// As many objects are asked for at a time, as client-go does.
const PAGE: &str = "500";

// === impl Live ===

impl Live {
    pub(super) fn new(client: Client) -> Self {
        Self { client }
    }

    /// The object, or `None` if there is none of that name.
    ///
    /// # Errors
    ///
    /// Any failure but a missing object. A kind that the server does not serve is an error.
    pub async fn get<K: Kind>(&self, key: impl Into<Request>) -> Result<Option<K>> {
        let target = Target::of::<K>();
        let key = key.into();
        let operation = target.on("get", &key);
        let body = self.client.read(&target, &key).await?;
        body.map(|body| decode(&operation, &body)).transpose()
    }

    /// The objects that `options` select, in pages of 500 of one and the same version of the server's
    /// data, in the order of namespaces and names.
    ///
    /// # Errors
    ///
    /// Any failure; an object that does not fit the type fails the whole list.
    pub async fn list<K: Kind>(&self, options: ListOptions) -> Result<Vec<K>> {
        self.client.read_all(&Target::of::<K>(), &options).await
    }
}

// === impl Client ===

impl Client {
    /// The object as the server sent it, or `None` if there is none.
    pub(super) async fn read(&self, target: &Target, key: &Request) -> Result<Option<Bytes>> {
        let operation = target.on("get", key);
        let path = object_path(target, &operation, key)?;
        let accept = if target.metadata_only { METADATA } else { JSON };
        match self.send(Call::new(operation, Method::GET, path).accept(accept)).await {
            Ok(body) => Ok(Some(body)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All pages of a list.
    pub(super) async fn read_all<K: DeserializeOwned>(
        &self,
        target: &Target,
        options: &ListOptions,
    ) -> Result<Vec<K>> {
        let mut items = Vec::new();
        let mut next = Page::First;
        loop {
            let operation = target.on_all("list", options.namespace.as_deref());
            let body = match self.read_page(target, options, operation.clone(), &next).await {
                Ok(body) => body,
                // The server forgot the version that the pages are of, so ask for all at once.
                Err(error) if is_expired(&error) && matches!(next, Page::Continue(_)) => {
                    items.clear();
                    next = Page::All;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let list: List<K> = decode(&operation, &body)?;
            items.extend(list.items.into_iter().flatten());
            match list.metadata.and_then(|metadata| metadata.continue_) {
                Some(token) if !token.is_empty() => next = Page::Continue(token),
                _ => return Ok(items),
            }
        }
    }

    async fn read_page(
        &self,
        target: &Target,
        options: &ListOptions,
        operation: Operation,
        page: &Page,
    ) -> Result<Bytes> {
        if let Some((index, _)) = &options.index {
            let reason = format!("the index {index:?} is one of the cache: list with `client.list()`");
            return Err(ClientError::BadObject { operation: Box::new(operation), reason });
        }
        if let Some(namespace) = &options.namespace {
            check_segment(&operation, "namespace", namespace)?;
        }
        let path = target.path(options.namespace.as_deref());
        let accept = if target.metadata_only { METADATA_LIST } else { JSON };
        let mut call = Call::new(operation, Method::GET, path).accept(accept);
        call.query = options.query();
        call = match page {
            Page::First => call.query("limit", PAGE),
            Page::Continue(token) => call.query("limit", PAGE).query("continue", token),
            Page::All => call,
        };
        self.send(call).await
    }
}

enum Page {
    First,
    Continue(String),
    All,
}

#[derive(Deserialize)]
struct List<K> {
    metadata: Option<ListMetadata>,
    // A list of nothing may be written as `null`.
    items: Option<Vec<K>>,
}

#[derive(Deserialize)]
struct ListMetadata {
    #[serde(rename = "continue")]
    continue_: Option<String>,
}

fn is_expired(error: &ClientError) -> bool {
    error.status().is_some_and(|status| status.code == 410)
}

/// The path of one object, if its key fits the kind.
pub(super) fn object_path(target: &Target, operation: &Operation, key: &Request) -> Result<String> {
    let mut path = collection_path(target, operation, key.namespace.as_deref())?;
    check_segment(operation, "name", &key.name)?;
    path.push('/');
    path.push_str(&key.name);
    Ok(path)
}

/// The path of the collection that an object is in, if its namespace fits the kind.
pub(super) fn collection_path(
    target: &Target,
    operation: &Operation,
    namespace: Option<&str>,
) -> Result<String> {
    if target.scope == super::kind::Scope::Namespaced {
        let Some(namespace) = namespace else {
            let reason = format!("{} is a namespaced kind, and no namespace is given", target.kind);
            return Err(ClientError::BadObject { operation: Box::new(operation.clone()), reason });
        };
        check_segment(operation, "namespace", namespace)?;
    }
    Ok(target.path(namespace))
}

/// Kubernetes' rule for names in paths. It keeps a name from reaching another object.
fn check_segment(operation: &Operation, what: &str, segment: &str) -> Result<()> {
    let reason = match segment {
        "" => format!("the {what} is empty"),
        "." | ".." => format!("the {what} may not be {segment:?}"),
        _ if segment.contains(['/', '%', '?', '#']) => {
            format!("the {what} {segment:?} may not contain any of '/', '%', '?', '#'")
        }
        _ => return Ok(()),
    };
    Err(ClientError::BadObject { operation: Box::new(operation.clone()), reason })
}
