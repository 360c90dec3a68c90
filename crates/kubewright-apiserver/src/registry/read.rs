use std::{num::IntErrorKind, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::coop::consume_budget;

use super::{Presented, Registry, Request, Served};
use crate::{
    selector::Selection,
    status::Status,
    store::{Listing, ReadError},
    types::strict,
    wire::options::ListOptions,
};

/// The answer to a list.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) served: Arc<Served>,
    pub(crate) revision: u64,
    pub(crate) continue_token: Option<String>,
    pub(crate) remaining: Option<usize>,
    pub(crate) items: Vec<Presented>,
}

/// How long a read waits for a revision that has not been reached.
const FUTURE_REVISION_PATIENCE: Duration = Duration::from_secs(3);

impl Registry {
    /// The object that the request names.
    ///
    /// # Errors
    /// 404, or for a resource version that is no number or not reached 500 or 504.
    pub(crate) async fn get(&self, request: &Request, resource_version: &str) -> Result<Presented, Status> {
        if !resource_version.is_empty() {
            let revision = parse_revision(resource_version).map_err(Status::untyped)?;
            self.wait_until_reached(revision).await?;
        }
        let object =
            self.store.get(&request.served.bucket, &request.key()).ok_or_else(|| request.not_found())?;
        self.present(&request.served, &object).await
    }

    /// The objects of a collection that the options select, page by page.
    ///
    /// # Errors
    /// 400 for selectors, tokens and versions that cannot be read, 410 for what is forgotten, 504 for what has
    /// not been reached.
    pub(crate) async fn list(&self, request: &Request, options: &ListOptions) -> Result<List, Status> {
        let served = &request.served;
        let selection = self.selection(request, options)?;
        let prefix = served.prefix(&request.namespace);
        let (listing, start) = self.listing(served, options, &prefix).await?;

        let limit = usize::try_from(options.limit).unwrap_or(usize::MAX);
        let mut objects = listing.range(&prefix, &start);
        let mut items = Vec::new();
        let mut last = None;
        for (key, object) in objects.by_ref() {
            // Others get their turn in the middle of a large collection.
            consume_budget().await;
            if !may_select(&selection, key) {
                continue;
            }
            let presented = self.present(served, &object.undecoded()).await?;
            if presented.is_selected(&selection) {
                items.push(presented);
            }
            if limit > 0 && items.len() == limit {
                last = Some(key);
                break;
            }
        }
        let mut list = List {
            served: served.clone(),
            revision: listing.revision,
            continue_token: None,
            remaining: None,
            items,
        };
        if let Some(last) = last {
            let mut remaining = 0;
            for _ in objects {
                consume_budget().await;
                remaining += 1;
            }
            if remaining > 0 {
                let next = format!("/{}\0", last.get(prefix.len()..).unwrap_or_default());
                list.continue_token = Some(Token::new(listing.revision, next).encode());
                list.remaining = selection.is_everything().then_some(remaining);
            }
        }
        Ok(list)
    }

    /// The selectors of the options, bound to the kind.
    pub(super) fn selection(&self, request: &Request, options: &ListOptions) -> Result<Selection, Status> {
        let selectable = &request.served.selectable;
        Selection::parse(&options.label_selector, &options.field_selector, selectable)
            .map_err(|error| Status::bad_request(error.to_string()))
    }

    /// The objects at the revision that the options ask for, and the key to start from.
    async fn listing(
        &self,
        served: &Served,
        options: &ListOptions,
        prefix: &str,
    ) -> Result<(Listing, String), Status> {
        let bucket = &served.bucket;
        if !options.continue_token.is_empty() {
            let token = Token::decode(&options.continue_token)?;
            if !options.resource_version.is_empty() && options.resource_version != "0" {
                let message = "specifying resource version is not allowed when using continue";
                return Err(Status::bad_request(message));
            }
            let start = format!("{prefix}{}", token.start.trim_start_matches('/'));
            let Ok(revision) = u64::try_from(token.rv) else { return Ok((self.store.list(bucket), start)) };
            let listing = self.store.list_at(bucket, revision).map_err(|error| match error {
                ReadError::Expired { .. } => {
                    Status::continue_expired(Token { rv: -1, ..token.clone() }.encode())
                }
                ReadError::Future { current } => Status::resource_version_too_large(revision, current),
            })?;
            return Ok((listing, start));
        }
        let text = options.resource_version.as_str();
        let revision = if text.is_empty() {
            0
        } else {
            parse_revision(text)
                .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?
        };
        let matching = options.resource_version_match.as_str();
        // Without a word on the matching, a page at a version is a page of exactly that version.
        let exact = matching == "Exact" || (matching.is_empty() && options.limit > 0);
        if revision == 0 {
            Ok((self.store.list(bucket), String::new()))
        } else if exact {
            match self.store.list_at(bucket, revision) {
                Ok(listing) => Ok((listing, String::new())),
                Err(ReadError::Expired { .. }) => {
                    Err(Status::expired("The resourceVersion for the provided list is too old."))
                }
                Err(ReadError::Future { current }) => {
                    Err(Status::resource_version_too_large(revision, current))
                }
            }
        } else {
            self.wait_until_reached(revision).await?;
            Ok((self.store.list(bucket), String::new()))
        }
    }

    /// Waits for a revision for as long as kube-apiserver does.
    pub(super) async fn wait_until_reached(&self, revision: u64) -> Result<(), Status> {
        if revision <= self.store.revision() {
            return Ok(());
        }
        let reached = self.store.reached(revision);
        tokio::time::timeout(FUTURE_REVISION_PATIENCE, reached)
            .await
            .map_err(|_| Status::resource_version_too_large(revision, self.store.revision()))
    }
}

/// Whether the object at a key of the store can be selected, judging by its name.
pub(super) fn may_select(selection: &Selection, key: &str) -> bool {
    let own = key.rsplit('/').next().unwrap_or(key);
    selection.required_name().is_none_or(|name| name == own)
}

/// Reads a resource version.
///
/// # Errors
/// With the text that Kubernetes has for it.
pub(super) fn parse_revision(text: &str) -> Result<u64, String> {
    parse_uint(text).map_err(|why| format!("resourceVersion: Invalid value: {}: {why}", Value::from(text)))
}

/// Reads a number as Go's `strconv.ParseUint` does: of digits alone.
///
/// # Errors
/// With the text of Go's error.
pub(super) fn parse_uint(text: &str) -> Result<u64, String> {
    let why = match text.parse() {
        // Rust would take a sign.
        _ if text.starts_with('+') => "invalid syntax",
        Ok(number) => return Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => "value out of range",
        Err(_) => "invalid syntax",
    };
    Err(format!("strconv.ParseUint: parsing {}: {why}", Value::from(text)))
}

/// Where the next page of a list starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Token {
    #[serde(default)]
    v: String,
    /// The revision of all pages; negative if each page is of its own moment.
    #[serde(default)]
    rv: i64,
    /// The first key of the page, without the prefix of the collection.
    #[serde(default)]
    start: String,
}

impl Token {
    const VERSION: &'static str = "meta.k8s.io/v1";

    fn new(revision: u64, start: String) -> Self {
        Self { v: Self::VERSION.to_owned(), rv: i64::try_from(revision).unwrap_or(i64::MAX), start }
    }

    fn encode(&self) -> String {
        // The token has string keys alone, so it always serialises.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    fn decode(text: &str) -> Result<Self, Status> {
        let refuse = |why: &str| {
            Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|error| match error {
            base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => {
                refuse(&format!("illegal base64 data at input byte {at}"))
            }
            _ => refuse(&format!("illegal base64 data at input byte {}", text.len())),
        })?;
        let decoded = strict::decode(&bytes, None).map_err(|error| refuse(&error.to_string()))?;
        let token: Self =
            serde_json::from_value(decoded.value).map_err(|error| refuse(&error.to_string()))?;
        if token.v != Self::VERSION {
            return Err(refuse(&format!("server does not recognize this encoded version {}", token.v)));
        }
        if token.rv == 0 {
            return Err(refuse(&format!(
                "incorrect encoded start resourceVersion (version {})",
                Self::VERSION
            )));
        }
        if token.start.is_empty() {
            return Err(refuse(&format!("encoded start key empty (version {})", Self::VERSION)));
        }
        if token.start.split('/').any(|segment| segment == "..") {
            return Err(refuse(&token.start));
        }
        Ok(token)
    }
}
