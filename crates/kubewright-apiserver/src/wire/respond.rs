use std::{io::Write, str::FromStr, sync::Arc};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    body::ApiBody,
    list::{Item, ListText, metadata_of},
    media::{Accepted, Format, JSON, Transform, YAML},
    request_info::Query,
};
use crate::{
    registry::{List, Presented, Served, metadata},
    status::{Reason, Status},
    table::{IncludeObject, TableOptions},
    types::Types,
};

/// Answers larger than this are compressed for clients that can read that.
const COMPRESSION_THRESHOLD: usize = 128 * 1024;

/// How the answer to one request is written.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) accepted: Accepted,
    pretty: bool,
    gzip: bool,
    tables: Option<Tables>,
}

/// How objects are shown as tables.
#[derive(Clone, Debug)]
struct Tables {
    served: Arc<Served>,
    options: TableOptions,
    now: Timestamp,
}

impl Writer {
    /// A writer for a client that sent these headers and this query.
    pub(crate) fn new(accepted: Accepted, headers: &HeaderMap, query: &Query) -> Self {
        let pretty = query.find("pretty").map(|_| query.is_true("pretty"));
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let agent = text(header::USER_AGENT);
        let is_person = ["curl", "Wget", "Mozilla/5.0"].iter().any(|person| agent.starts_with(person));
        Self {
            accepted,
            pretty: pretty.unwrap_or(accepted.pretty || is_person),
            gzip: text(header::ACCEPT_ENCODING).split(',').any(|coding| coding.trim() == "gzip"),
            tables: None,
        }
    }

    /// The same, for a server that compresses nothing.
    pub(crate) fn uncompressed(self) -> Self {
        Self { gzip: false, ..self }
    }

    /// Shows objects of this resource as tables, if that is accepted.
    ///
    /// # Errors
    /// 400 if the query asks to include what does not exist.
    pub(crate) fn show_tables_of(
        &mut self,
        served: &Arc<Served>,
        query: &Query,
        now: Timestamp,
    ) -> Result<(), Status> {
        if self.accepted.transform == Transform::Table {
            let include_object = IncludeObject::from_str(query.get("includeObject"))
                .map_err(|error| Status::bad_request(error.to_string()))?;
            let options =
                TableOptions { include_object, beta: self.accepted.beta, ..TableOptions::default() };
            self.tables = Some(Tables { served: served.clone(), options, now });
        }
        Ok(())
    }

    /// An object as the table of one row, if tables are accepted.
    pub(crate) fn table(&self, object: &Value, no_headers: bool) -> Option<Value> {
        let Tables { served, options, now } = self.tables.as_ref()?;
        Some(served.printer().object_table(object, TableOptions { no_headers, ..*options }, *now))
    }

    /// An object.
    pub(crate) fn object(&self, code: StatusCode, object: &Presented) -> Response<ApiBody> {
        if let Some(table) = self.table(object.value(), false) {
            return self.value(code, &table);
        }
        match self.accepted.transform {
            Transform::Metadata => self.value(code, &self.partial(object.value())),
            Transform::MetadataList => {
                let internal = internal_type(object.value());
                let why = format!(
                    "you requested PartialObjectMetadataList, but the requested object is not a list (*{internal})"
                );
                self.status(&Status::new(406, Reason::NotAcceptable, why))
            }
            Transform::None | Transform::Table => match object {
                Presented::Stored(stored) if self.is_plain() => self.json(code, stored.json().clone()),
                _ => self.value(code, object.value()),
            },
        }
    }

    /// A list.
    pub(crate) fn list(&self, list: List) -> Result<Response<ApiBody>, Status> {
        if let Some(Tables { served, options, now }) = &self.tables {
            let items = list.items.iter().map(Presented::value);
            let table = served.printer().list_table(list_metadata(&list), items, *options, *now);
            return Ok(self.value(StatusCode::OK, &table));
        }
        let definition = &list.served.definition;
        let is_custom = list.served.custom.is_some();
        let mut metadata = list_metadata(&list);
        let (head, item) = match self.accepted.transform {
            Transform::None | Transform::Table => {
                if is_custom && list.continue_token.is_none() {
                    // What has no Go type is not left out where it is empty.
                    metadata["continue"] = json!("");
                }
                let (kind, version) = (&definition.list_kind, definition.api_version());
                let head = json!({"kind": kind, "apiVersion": version, "metadata": metadata});
                (head, if is_custom { Item::Whole } else { Item::WithoutKind })
            }
            Transform::MetadataList => {
                let version = self.accepted.meta_version();
                let kind = "PartialObjectMetadataList";
                let head = json!({"kind": kind, "apiVersion": version, "metadata": metadata});
                (head, Item::Metadata(version))
            }
            Transform::Metadata => {
                let internal = if is_custom {
                    "unstructured.UnstructuredList".to_owned()
                } else {
                    let group = definition.group.split('.').next().unwrap_or_default();
                    let package = if group.is_empty() { "core" } else { group };
                    format!("{package}.{}", definition.list_kind)
                };
                let why = format!(
                    "you requested PartialObjectMetadata, but the requested object is a list (*{internal})"
                );
                return Err(Status::new(406, Reason::NotAcceptable, why));
            }
        };
        let mut text = ListText::new(&head, list.items, item, COMPRESSION_THRESHOLD);
        let first = text.next().unwrap_or_default();
        if !self.is_plain() {
            let rest: Vec<Bytes> = text.collect();
            // It is JSON, so it can be read.
            let value: Value = serde_json::from_slice(&[&first, rest.concat().as_slice()].concat())
                .map_err(Status::internal)?;
            return Ok(self.value(StatusCode::OK, &value));
        }
        if text.is_over() {
            return Ok(self.json(StatusCode::OK, first));
        }
        let mut response = Response::new(ApiBody::stream(text.into_stream(first, self.gzip)));
        Self::describe(&mut response, JSON, self.gzip);
        Ok(response)
    }

    /// An object that has no other form: a `Status`, a discovery document.
    pub(crate) fn value(&self, code: StatusCode, value: &Value) -> Response<ApiBody> {
        match self.accepted.format {
            Format::Yaml => {
                let text = serde_saphyr::to_string(value).unwrap_or_default();
                self.answer(code, YAML, text.into())
            }
            Format::Json if self.pretty => {
                let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
                text.push('\n');
                self.answer(code, JSON, text.into())
            }
            Format::Json => self.json(code, value.to_string().into()),
        }
    }

    /// A refusal.
    pub(crate) fn status(&self, status: &Status) -> Response<ApiBody> {
        let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = self.value(code, &status.to_value());
        let headers = response.headers_mut();
        if let Some(details) = &status.details
            && details.retry_after_seconds > 0
        {
            headers.insert(header::RETRY_AFTER, details.retry_after_seconds.into());
        }
        response
    }

    /// A refusal of who makes the request, before it is looked at.
    pub(crate) fn refusal(&self, status: &Status) -> Response<ApiBody> {
        let mut response = self.status(status);
        if response.status() != StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        }
        response
    }

    /// What is left of an object of which only the metadata was asked for.
    pub(crate) fn partial(&self, object: &Value) -> Value {
        metadata_of(object, self.accepted.meta_version())
    }

    /// Whether JSON is written just as it is.
    fn is_plain(&self) -> bool {
        self.accepted.format == Format::Json && !self.pretty
    }

    fn json(&self, code: StatusCode, body: Bytes) -> Response<ApiBody> {
        self.answer(code, JSON, body)
    }

    fn answer(&self, code: StatusCode, media: &'static str, body: Bytes) -> Response<ApiBody> {
        let is_compressed = self.gzip && body.len() > COMPRESSION_THRESHOLD;
        let body = if is_compressed { compress(&body) } else { body };
        let mut response = Response::new(ApiBody::whole(body));
        *response.status_mut() = code;
        Self::describe(&mut response, media, is_compressed);
        response
    }

    fn describe(response: &mut Response<ApiBody>, media: &'static str, is_compressed: bool) {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        if is_compressed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        }
    }
}

/// What Kubernetes' own type of an object is called.
fn internal_type(object: &Value) -> String {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    if Types::get().kind(group, version, text("kind")).is_none() {
        return "unstructured.Unstructured".to_owned();
    }
    let package = group.split('.').next().filter(|first| !first.is_empty()).unwrap_or("core");
    format!("{package}.{}", text("kind"))
}

/// `metadata` of a list.
pub(crate) fn list_metadata(list: &List) -> Value {
    let mut metadata = json!({ "resourceVersion": list.revision.to_string() });
    let fields = metadata::as_map(&mut metadata);
    if let Some(token) = &list.continue_token {
        fields.insert("continue".to_owned(), Value::from(token.as_str()));
    }
    if let Some(remaining) = list.remaining {
        fields.insert("remainingItemCount".to_owned(), Value::from(remaining));
    }
    metadata
}

/// The text of a real server for what it does not know at all.
pub(crate) fn page_not_found() -> Response<ApiBody> {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// Nothing, where there is nothing to tell.
pub(crate) fn no_content() -> Response<ApiBody> {
    let mut response = Response::new(ApiBody::whole(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// A plain text.
pub(crate) fn text(code: StatusCode, text: impl Into<Bytes>) -> Response<ApiBody> {
    let mut response = Response::new(ApiBody::whole(text.into()));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Adds what every answer carries, and the warnings, each once.
pub(crate) fn finish(
    mut response: Response<ApiBody>,
    audit_id: &str,
    warnings: &[String],
) -> Response<ApiBody> {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(audit_id) {
        headers.insert("audit-id", id);
    }
    headers.entry(header::CACHE_CONTROL).or_insert_with(|| HeaderValue::from_static("no-cache, private"));
    for text in limited(warnings) {
        let escaped: String = text
            .chars()
            .flat_map(|c| matches!(c, '"' | '\\').then_some('\\').into_iter().chain([c]))
            .collect();
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{escaped}\"").as_bytes()) {
            headers.append(header::WARNING, value);
        }
    }
    response
}

/// The warnings that are sent: each once, without those that no header can hold, and shortened if they are too long
/// together.
fn limited(warnings: &[String]) -> Vec<String> {
    let mut sent: Vec<&str> = Vec::new();
    let (mut total, mut shortens) = (0, false);
    for warning in warnings {
        if warning.is_empty() || sent.contains(&warning.as_str()) {
            continue;
        }
        if shortens && total >= WARNINGS_LIMIT {
            break;
        }
        sent.push(warning);
        let length = warning.chars().count();
        total += if shortens { length.min(SHORT_WARNING) } else { length };
        if total > WARNINGS_LIMIT && !shortens {
            shortens = true;
            total = sent.iter().map(|warning| warning.chars().count().min(SHORT_WARNING)).sum();
        }
    }
    let limit = if shortens { SHORT_WARNING } else { usize::MAX };
    let fits = |warning: &&str| !warning.chars().any(char::is_control);
    sent.into_iter().filter(fits).map(|warning| warning.chars().take(limit).collect()).collect()
}

/// Clients refuse answers whose headers are too large, so what goes beyond is dropped.
const WARNINGS_LIMIT: usize = 4096;

/// How much of each warning is sent once all together are too long.
const SHORT_WARNING: usize = 256;

fn compress(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.unwrap_or_default().into()
}
