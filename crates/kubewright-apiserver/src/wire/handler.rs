//! The way of a request through the server.

use std::{cell::RefCell, sync::Arc};

use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, Method, Response, StatusCode, header, request::Parts};
use kubewright_world::Random;
use serde_json::Value;

use super::{
    body::ApiBody,
    decode,
    media::{self, Accepted},
    options::{DeleteOptions, ListOptions, WriteOptions},
    request_info::RequestInfo,
    respond::{self, Writer},
    root::{self, Version},
    watch::Lines,
};
use crate::{
    discovery,
    registry::{Deleted, Edit, Patch, Presented, Registry, Request, Served, WatchSettings},
    status::Status,
    user::User,
};

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) registry: Arc<Registry>,
    pub(crate) version: Version,
    pub(crate) watch_settings: WatchSettings,
    /// Where audit ids come from, apart from the randomness that ends up in objects.
    pub(crate) audit: Random,
}

/// One request on its way.
struct Call<'a> {
    handler: &'a Handler,
    info: RequestInfo,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
    warnings: Vec<String>,
}

// === impl Handler ===

impl Handler {
    /// Answers a request of `user`.
    pub(crate) async fn handle(
        &self,
        _user: User,
        parts: Parts,
        body: Result<Bytes, Status>,
    ) -> Response<ApiBody> {
        let info = RequestInfo::parse(&parts.method, parts.uri.path(), parts.uri.query());
        let pretty = info.query.find("pretty").map(|_| info.query.is_true("pretty"));
        let plain = Writer::new(Accepted::JSON, &parts.headers, pretty);
        let mut warnings = Vec::new();
        let result = match body {
            Err(status) => Err(status),
            Ok(_) if !info.is_resource => Ok(self.answer_root(&info, &parts, &plain)),
            Ok(body) => {
                let mut call = Call {
                    handler: self,
                    info,
                    method: parts.method,
                    headers: parts.headers,
                    body,
                    warnings: Vec::new(),
                };
                let result = call.answer(pretty).await;
                warnings = call.warnings;
                result
            }
        };
        let response = result.unwrap_or_else(|status| plain.status(&status));
        respond::finish(response, &self.audit.uid(), &warnings)
    }

    fn answer_root(&self, info: &RequestInfo, parts: &Parts, writer: &Writer) -> Response<ApiBody> {
        match self.registry.catalog().discovery.answer(&parts.uri, &parts.headers) {
            Some(discovery::Answer::Aggregated(response)) => response.map(ApiBody::whole),
            Some(discovery::Answer::Object(object)) => writer.value(StatusCode::OK, &object),
            Some(discovery::Answer::Refused(status)) => writer.status(&status),
            None => root::answer(&info.path, info.query.find("verbose").is_some(), &self.version, writer),
        }
    }
}

// === impl Call ===

impl Call<'_> {
    async fn answer(&mut self, pretty: Option<bool>) -> Result<Response<ApiBody>, Status> {
        let catalog = self.handler.registry.catalog();
        let info = &self.info;
        let Some(served) = catalog.find(&info.group, &info.version, &info.resource).cloned() else {
            return if catalog.is_built_in_group(&info.group) {
                Err(Status::no_such_resource())
            } else {
                Ok(respond::page_not_found())
            };
        };
        if !is_in_scope(&served, info) {
            return if served.custom.is_some() {
                Ok(respond::page_not_found())
            } else {
                Err(Status::no_such_resource())
            };
        }
        self.check_verb(&served)?;
        let accept = self.headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
        let accepted = Accepted::negotiate(accept, self.info.verb == "watch")?;
        let writer = Writer::new(accepted, &self.headers, pretty);
        if let Some(warning) = served.custom.as_ref().and_then(|custom| custom.deprecation.clone()) {
            self.warnings.push(warning);
        }
        let request = Request {
            served,
            namespace: self.info.namespace.clone(),
            name: self.info.name.clone(),
            subresource: self.info.subresource.clone(),
        };
        self.call_verb(request, writer).await
    }

    /// Refuses a verb that the resource does not answer.
    fn check_verb(&self, served: &Served) -> Result<(), Status> {
        let info = &self.info;
        let definition = &served.definition;
        let is_custom = served.custom.is_some();
        if !info.subresource.is_empty() {
            let Some(subresource) = definition.subresource(&info.subresource) else {
                return Err(if is_custom {
                    Status::not_found(&served.group_resource(), &info.name)
                } else {
                    Status::no_such_resource()
                });
            };
            return if subresource.answers(&info.verb) { Ok(()) } else { Err(self.refuse_verb(served)) };
        }
        let is_single = matches!(info.verb.as_str(), "get" | "update" | "patch" | "delete");
        if is_custom {
            if info.name.is_empty() && is_single {
                return Err(Status::bad_request("name must be provided"));
            }
        } else if (self.method == Method::HEAD)
            || (is_single && info.name.is_empty())
            || (info.verb == "create" && !info.name.is_empty())
        {
            return Err(self.refuse_verb(served));
        }
        if definition.answers(&info.verb) { Ok(()) } else { Err(self.refuse_verb(served)) }
    }

    fn refuse_verb(&self, served: &Served) -> Status {
        if served.custom.is_some() {
            Status::method_not_supported(&served.group_resource(), &self.info.verb)
        } else {
            Status::method_not_allowed()
        }
    }

    async fn call_verb(&mut self, request: Request, writer: Writer) -> Result<Response<ApiBody>, Status> {
        match request.subresource.as_str() {
            "" | "status" => self.call_generic_verb(request, writer).await,
            "scale" => self.call_scale(&request, &writer),
            _ => Err(Status::no_such_resource()),
        }
    }

    async fn call_generic_verb(
        &mut self,
        mut request: Request,
        writer: Writer,
    ) -> Result<Response<ApiBody>, Status> {
        let registry = self.handler.registry.clone();
        let query = &self.info.query;
        match self.info.verb.as_str() {
            "get" => {
                let object = registry.get(&request, query.get("resourceVersion")).await?;
                Ok(writer.object(StatusCode::OK, &object))
            }
            "list" => {
                request.name.clear();
                let options = ListOptions::parse(query, false)?;
                writer.list(&registry.list(&request, &options).await?)
            }
            "watch" => {
                request.name.clear();
                let options = ListOptions::parse(query, true)?;
                let mut settings = self.handler.watch_settings;
                // As with a real server, watches that do not say when to end do not all end at once.
                settings.default_timeout = settings.default_timeout.mul_f64(1.0 + self.handler.audit.unit());
                let events = registry.watch(&request, &options, settings)?;
                let mut response = Response::new(ApiBody::stream(Lines::new(events, writer).boxed()));
                let headers = response.headers_mut();
                headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(media::JSON));
                Ok(response)
            }
            "create" => {
                let options = self.write_options("CreateOptions", false)?;
                let object = self.decode(&request.served, &options)?;
                let created = registry.create(&request, &options, object)?;
                Ok(writer.object(StatusCode::CREATED, &created))
            }
            "update" => {
                let options = self.write_options("UpdateOptions", false)?;
                let object = self.decode(&request.served, &options)?;
                let create_missing = request.served.definition.create_on_update;
                let make = |_: Option<&Value>| Ok(object.clone());
                let edit = Edit { make: &make, create_missing, tracked: false };
                let updated = registry.update(&request, &options, &edit)?;
                let code = if updated.created { StatusCode::CREATED } else { StatusCode::OK };
                Ok(writer.object(code, &updated.object))
            }
            "patch" => self.patch(&request, &writer),
            "delete" => {
                let options = self.delete_options()?;
                Ok(match registry.delete(&request, &options)? {
                    Deleted::Gone(status) => writer.value(StatusCode::OK, &status),
                    Deleted::Going(object) => writer.object(StatusCode::OK, &object),
                })
            }
            "deletecollection" => {
                let list = ListOptions::parse(query, false)?;
                let options = self.delete_options()?;
                writer.list(&registry.delete_collection(&request, &list, &options).await?)
            }
            _ => Err(self.refuse_verb(&request.served)),
        }
    }

    fn call_scale(&mut self, request: &Request, writer: &Writer) -> Result<Response<ApiBody>, Status> {
        let registry = self.handler.registry.clone();
        let scale = match self.info.verb.as_str() {
            "get" => registry.scale(request)?,
            "update" => {
                let options = self.write_options("UpdateOptions", false)?;
                let scale =
                    decode::document(&self.body, self.content_type())?.map_err(Status::bad_request)?;
                registry.update_scale(request, &options, &|_| Ok(scale.value.clone()))?
            }
            _ => {
                let options = self.write_options("PatchOptions", false)?;
                let content_type = self.content_type().to_owned();
                let patch = Patch::parse(&content_type, &self.body, true)?;
                registry.update_scale(request, &options, &|scale| patch.edit(scale))?
            }
        };
        Ok(writer.object(StatusCode::OK, &Presented::Made(scale)))
    }

    fn patch(&mut self, request: &Request, writer: &Writer) -> Result<Response<ApiBody>, Status> {
        let content_type = self.content_type().to_owned();
        let served = request.served.clone();
        let patch = Patch::parse(&content_type, &self.body, served.custom.is_some())?;
        let options = self.write_options("PatchOptions", patch.is_apply())?;
        let now = self.handler.registry.clock.now();
        let warnings = RefCell::new(Vec::new());
        let make = |old: Option<&Value>| {
            let mut found = Vec::new();
            let new = patch.apply(request, &options, old, now, &mut found)?;
            // Only the last try counts.
            *warnings.borrow_mut() = found;
            Ok(new)
        };
        let edit = Edit { make: &make, create_missing: patch.is_apply(), tracked: patch.is_apply() };
        let updated = self.handler.registry.update(request, &options, &edit)?;
        self.warnings.extend(warnings.into_inner());
        let code = if updated.created { StatusCode::CREATED } else { StatusCode::OK };
        Ok(writer.object(code, &updated.object))
    }

    fn write_options(&self, kind: &str, apply: bool) -> Result<WriteOptions, Status> {
        let agent = self.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        WriteOptions::parse(&self.info.query, kind, apply, agent.unwrap_or_default())
    }

    fn delete_options(&self) -> Result<DeleteOptions, Status> {
        if self.body.is_empty() {
            return DeleteOptions::parse(&self.info.query, None);
        }
        let body = decode::document(&self.body, self.content_type())?.map_err(Status::bad_request)?;
        DeleteOptions::parse(&self.info.query, Some(&body.value))
    }

    fn decode(&mut self, served: &Served, options: &WriteOptions) -> Result<Value, Status> {
        let content_type = self.content_type().to_owned();
        decode::object(served, &self.body, &content_type, options.field_validation, &mut self.warnings)
    }

    fn content_type(&self) -> &str {
        media::content_type(self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()))
    }
}

/// Whether the path has a namespace where the resource has one, and none where it has none.
fn is_in_scope(served: &Served, info: &RequestInfo) -> bool {
    let definition = &served.definition;
    if definition.namespaced {
        !info.namespace.is_empty() || matches!(info.verb.as_str(), "list" | "watch")
    } else {
        info.namespace.is_empty() || (definition.group.is_empty() && definition.plural == "namespaces")
    }
}
