//! The way of a request through the server.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, Method, Response, StatusCode, header, request::Parts};
use kubewright_world::Random;
use serde_json::Value;
use tokio::sync::Semaphore;

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
    admission::Admitters,
    authn::impersonation,
    authz::{Attributes, Target},
    discovery,
    feature_gates::FeatureGates,
    registry::{
        Deleted, Edit, Patch, Presented, Registry, Request, Served, Warnings, WatchSettings,
        access::AccessObjects, connect,
    },
    status::Status,
    types::Types,
    user::User,
};

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) registry: Arc<Registry>,
    pub(crate) version: Version,
    pub(crate) feature_gates: FeatureGates,
    pub(crate) watch_settings: WatchSettings,
    /// Where audit ids come from, apart from the randomness that ends up in objects.
    pub(crate) audit: Random,
    /// Who may send a body in pieces.
    pub(crate) uploads: Semaphore,
}

/// One request for a resource on its way.
struct Call<'a> {
    registry: &'a Arc<Registry>,
    feature_gates: FeatureGates,
    watch_settings: WatchSettings,
    info: RequestInfo,
    headers: HeaderMap,
    body: Bytes,
    request: Request,
    writer: Writer,
}

// === impl Handler ===

impl Handler {
    /// Answers a request. Who makes it is read from its head.
    pub(crate) async fn handle(&self, parts: Parts, body: Result<Bytes, Status>) -> Response<ApiBody> {
        let info = RequestInfo::parse(&parts.method, parts.uri.path(), parts.uri.query());
        let accept = parts.headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
        // A refusal is written in any case, and in YAML if that is wanted.
        let accepted = Accepted::negotiate(accept, false).unwrap_or(Accepted::JSON).untransformed();
        let plain = self.writer(accepted, &parts.headers, &info);
        let warnings = Warnings::default();
        let is_resource = info.is_resource;
        let mut result = match self.identify(&info, &parts) {
            Err(status) => Ok(plain.refusal(&status)),
            Ok(_) if !info.is_resource => Ok(self.answer_root(&info, &parts, &plain)),
            Ok(user) => self.answer(user, info, parts, body, warnings.clone()).await,
        };
        let store = &self.registry.store;
        if is_resource
            && store.is_journaled()
            && let Err(error) = store.kept(store.revision()).await
        {
            // What the answer tells of may be gone after a restart.
            result = Err(Status::internal(error));
        }
        let response = result.unwrap_or_else(|status| plain.status(&status));
        respond::finish(response, &self.audit.uid(), &warnings.take())
    }

    /// Who makes the request, or as whom, if that may be done.
    fn identify(&self, info: &RequestInfo, parts: &Parts) -> Result<User, Status> {
        let objects = AccessObjects(self.registry.store.clone());
        let user = self.registry.authenticator.authenticate(&parts.headers, &parts.extensions, &objects)?;
        let mut attributes = attributes(info, user);
        if let Some(wanted) = impersonation::requested(&parts.headers)? {
            attributes.user = impersonation::authorize(&self.registry.authorizer, &attributes, &wanted)?;
        }
        self.registry.authorizer.require(&attributes)?;
        Ok(attributes.user)
    }

    fn writer(&self, accepted: Accepted, headers: &HeaderMap, info: &RequestInfo) -> Writer {
        let writer = Writer::new(accepted, headers, &info.query);
        if self.feature_gates.api_response_compression { writer } else { writer.uncompressed() }
    }

    fn answer_root(&self, info: &RequestInfo, parts: &Parts, writer: &Writer) -> Response<ApiBody> {
        let catalog = self.registry.catalog();
        let now = self.registry.clock.now();
        if let Some(response) = catalog.open_api.answer(&parts.uri, &parts.headers, now) {
            return response.map(ApiBody::whole);
        }
        let is_read = parts.method == Method::GET;
        match catalog.discovery.answer(&parts.uri, &parts.headers) {
            Some(discovery::Answer::Aggregated(_) | discovery::Answer::Object(_))
                if !is_read && root::is_only_read(&info.path, |group| catalog.is_built_in_group(group)) =>
            {
                writer.status(&Status::method_not_allowed())
            }
            Some(discovery::Answer::Aggregated(response)) => response.map(ApiBody::whole),
            Some(discovery::Answer::Object(object)) => writer.value(StatusCode::OK, &object),
            Some(discovery::Answer::Refused(status)) => writer.status(&status),
            None if !is_read && root::is_only_read(&info.path, |_| false) => {
                writer.status(&Status::method_not_allowed())
            }
            None => root::answer(&info.path, info.query.find("verbose").is_some(), &self.version, writer),
        }
    }

    async fn answer(
        &self,
        user: User,
        info: RequestInfo,
        parts: Parts,
        body: Result<Bytes, Status>,
        warnings: Warnings,
    ) -> Result<Response<ApiBody>, Status> {
        let catalog = self.registry.catalog();
        let Some(served) = catalog.find(&info.group, &info.version, &info.resource).cloned() else {
            return if catalog.is_built_in_group(&info.group) {
                Err(Status::no_such_resource())
            } else {
                Ok(respond::page_not_found())
            };
        };
        if !is_in_scope(&served, &info) {
            return if served.custom.is_some() {
                Ok(respond::page_not_found())
            } else if served.definition.namespaced && info.name.is_empty() {
                // All namespaces together can be listed, and nothing else.
                Err(Status::method_not_allowed())
            } else {
                Err(Status::no_such_resource())
            };
        }
        if let Some(warning) = served.custom.as_ref().and_then(|custom| custom.deprecation.clone()) {
            warnings.extend([warning]);
        }
        check_verb(&served, &info, &parts.method)?;
        warnings.extend(served.definition.deprecation().map(str::to_owned));
        let accept = parts.headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
        if served.custom.is_none() {
            Accepted::check_types(accept, matches!(info.verb.as_str(), "list" | "watch"))?;
        }
        let accepted = Accepted::negotiate(accept, info.verb == "watch")?;
        let mut writer = self.writer(accepted, &parts.headers, &info);
        // A scale is shown as what it is, whatever it is the scale of.
        let scale = if info.subresource == "scale" { served.below("scale").map(Arc::new) } else { None };
        writer.show_tables_of(scale.as_ref().unwrap_or(&served), &info.query, self.registry.clock.now())?;
        let mut watch_settings = self.watch_settings;
        // As with a real server, watches that do not say when to end do not all end at once.
        watch_settings.default_timeout = watch_settings.default_timeout.mul_f64(1.0 + self.audit.unit());
        let request = Request {
            served,
            namespace: info.namespace.clone(),
            name: if matches!(info.verb.as_str(), "list" | "watch") {
                String::new()
            } else {
                info.name.clone()
            },
            subresource: info.subresource.clone(),
            user,
            warnings,
            admitters: Admitters::All,
        };
        let call = Call {
            registry: &self.registry,
            feature_gates: self.feature_gates,
            watch_settings,
            info,
            headers: parts.headers,
            body: body?,
            request,
            writer,
        };
        call.answer().await
    }
}

/// What authorization decides on.
fn attributes(info: &RequestInfo, user: User) -> Attributes {
    let target = if info.is_resource {
        Target::Resource {
            group: info.group.clone(),
            version: info.version.clone(),
            resource: info.resource.clone(),
            subresource: info.subresource.clone(),
            namespace: info.namespace.clone(),
            name: info.name.clone(),
        }
    } else {
        Target::Path(info.path.clone())
    };
    Attributes { user, verb: info.verb.clone(), target }
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

/// Refuses a verb that the resource does not answer.
fn check_verb(served: &Served, info: &RequestInfo, method: &Method) -> Result<(), Status> {
    let definition = &served.definition;
    let is_custom = served.custom.is_some();
    let refuse = || {
        if is_custom {
            Status::method_not_supported(&served.group_resource(), &info.verb)
        } else {
            Status::method_not_allowed()
        }
    };
    if !info.subresource.is_empty() {
        let Some(subresource) = definition.subresource(&info.subresource) else {
            return Err(if is_custom {
                Status::not_found(&served.group_resource(), &info.name)
            } else {
                Status::no_such_resource()
            });
        };
        return if subresource.answers(&info.verb) { Ok(()) } else { Err(refuse()) };
    }
    let is_single = matches!(info.verb.as_str(), "get" | "update" | "patch" | "delete");
    if is_custom {
        if info.name.is_empty() && is_single {
            return Err(Status::bad_request("name must be provided"));
        }
    } else if method == Method::HEAD
        || (is_single && info.name.is_empty())
        || (info.verb == "create" && !info.name.is_empty())
    {
        return Err(refuse());
    }
    if definition.answers(&info.verb) { Ok(()) } else { Err(refuse()) }
}

// === impl Call ===

impl Call<'_> {
    async fn answer(&self) -> Result<Response<ApiBody>, Status> {
        match (self.info.verb.as_str(), self.request.subresource.as_str()) {
            (_, "scale") => self.scale().await,
            (_, subresource) if connect::is_connection(subresource) => {
                Err(self.registry.connect(&self.request, &self.info).await)
            }
            ("create", "") => self.create().await,
            ("create", subresource) => self.create_below(subresource).await,
            ("get", "log") => {
                self.registry.check_log(&self.request, &self.info.query)?;
                Ok(respond::no_content())
            }
            ("get", _) => {
                let version = self.info.query.get("resourceVersion");
                let object = self.registry.get(&self.request, version).await?;
                Ok(self.writer.object(StatusCode::OK, &object))
            }
            ("list", _) => {
                let options = ListOptions::parse(&self.info.query, false)?;
                self.writer.list(self.registry.list(&self.request, &options).await?)
            }
            ("watch", _) => self.watch(),
            ("update", _) => self.update().await,
            ("patch", _) => self.patch().await,
            ("delete", _) => {
                let options = self.delete_options()?;
                Ok(match self.registry.delete(&self.request, &options).await? {
                    Deleted::Gone(status) => self.writer.value(StatusCode::OK, &status),
                    Deleted::Going(object) => self.writer.object(StatusCode::OK, &object),
                })
            }
            ("deletecollection", _) => {
                let list = ListOptions::parse(&self.info.query, false)?;
                let options = self.delete_options()?;
                self.writer.list(self.registry.delete_collection(&self.request, &list, &options).await?)
            }
            (verb, _) => Err(Status::method_not_supported(&self.request.served.group_resource(), verb)),
        }
    }

    async fn create(&self) -> Result<Response<ApiBody>, Status> {
        let options = self.write_options("CreateOptions", false)?;
        let object = self.decode(&options)?;
        if self.request.served.definition.kind == "Binding" {
            return self.bind(&options, object).await;
        }
        if self.request.served.is_question() {
            let answer = self.registry.review(&self.request, &options, object)?;
            return Ok(self.writer.value(StatusCode::CREATED, &answer));
        }
        let created = self.registry.create(&self.request, &options, object).await?;
        Ok(self.writer.object(StatusCode::CREATED, &created))
    }

    /// Binds the pod that a `Binding` names itself.
    async fn bind(&self, options: &WriteOptions, mut binding: Value) -> Result<Response<ApiBody>, Status> {
        self.registry.match_namespace(&self.request, &mut binding)?;
        let binding = self.registry.admit_question(&self.request, options, binding).await?;
        let catalog = self.registry.catalog();
        let pods = catalog.find("", "v1", "pods").cloned().ok_or_else(Status::no_such_resource)?;
        let name = crate::registry::metadata::name(&binding).to_owned();
        let pod = Request { served: pods, name, ..self.request.clone() };
        let bound = self.registry.bind(&pod, options, &binding).await?;
        Ok(self.writer.value(StatusCode::CREATED, &bound))
    }

    /// A POST to a subresource, whose kind is another one than that of the object.
    async fn create_below(&self, subresource: &str) -> Result<Response<ApiBody>, Status> {
        let options = self.write_options("CreateOptions", false)?;
        let kind = self.request.served.below(subresource).ok_or_else(Status::no_such_resource)?;
        let mut body = self.decode_as(&kind, &options)?;
        self.registry.match_namespace(&self.request, &mut body)?;
        if subresource == "token" {
            let answer = self.registry.request_token(&self.request, &options, body).await?;
            return Ok(self.writer.value(StatusCode::CREATED, &answer));
        }
        let body = self.registry.admit_question(&self.request, &options, body).await?;
        let answer = match subresource {
            "binding" => self.registry.bind(&self.request, &options, &body).await?,
            "eviction" => self.registry.evict(&self.request, &options, &body)?,
            _ => return Err(Status::no_such_resource()),
        };
        Ok(self.writer.value(StatusCode::CREATED, &answer))
    }

    fn watch(&self) -> Result<Response<ApiBody>, Status> {
        let mut options = ListOptions::parse(&self.info.query, true)?;
        if !self.feature_gates.watch_list {
            options.refuse_initial_events()?;
        }
        if options.field_selector.is_empty() && !self.info.name.is_empty() {
            // The path of an old kind of watch names the object.
            options.field_selector = format!("metadata.name={}", self.info.name);
        }
        let events = self.registry.watch(&self.request, &options, self.watch_settings)?;
        let lines = Lines::new(events, self.writer.clone());
        let mut response = Response::new(ApiBody::stream(lines.boxed()));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(media::JSON));
        Ok(response)
    }

    async fn update(&self) -> Result<Response<ApiBody>, Status> {
        let options = self.write_options("UpdateOptions", false)?;
        let object = self.decode(&options)?;
        let make = |_: Option<&Value>| Ok(object.clone());
        let create_missing = self.request.served.definition.create_on_update;
        let edit = Edit { make: &make, create_missing, tracked: false, is_replacement: true, view: None };
        self.edit(&options, &edit).await
    }

    async fn patch(&self) -> Result<Response<ApiBody>, Status> {
        let patch = Patch::parse(self.content_type(), &self.body, self.request.served.custom.is_some())?;
        let options = self.write_options("PatchOptions", patch.is_apply())?;
        let now = self.registry.clock.now();
        let make = |old: Option<&Value>| patch.apply(&self.request, &options, old, now);
        let is_apply = patch.is_apply();
        let edit = Edit {
            make: &make,
            create_missing: is_apply,
            tracked: is_apply,
            is_replacement: false,
            view: None,
        };
        self.edit(&options, &edit).await
    }

    async fn edit(&self, options: &WriteOptions, edit: &Edit<'_>) -> Result<Response<ApiBody>, Status> {
        let updated = self.registry.update(&self.request, options, edit).await?;
        let code = if updated.created { StatusCode::CREATED } else { StatusCode::OK };
        Ok(self.writer.object(code, &updated.object))
    }

    async fn scale(&self) -> Result<Response<ApiBody>, Status> {
        let kind = self.request.served.below("scale").ok_or_else(Status::no_such_resource)?;
        let scale = match self.info.verb.as_str() {
            "get" => self.registry.scale(&self.request).await?,
            "update" => {
                let options = self.write_options("UpdateOptions", false)?;
                let scale = self.decode_as(&kind, &options)?;
                self.registry.update_scale(&self.request, &options, &|_| Ok(scale.clone()), true).await?
            }
            _ => {
                let is_custom = self.request.served.custom.is_some();
                let patch = Patch::parse(self.content_type(), &self.body, is_custom)?;
                let options = self.write_options("PatchOptions", patch.is_apply())?;
                let request = Request { served: kind.into(), ..self.request.clone() };
                let make = |scale: &Value| patch.apply_to_scale(&request, &options, scale, is_custom);
                self.registry.update_scale(&self.request, &options, &make, false).await?
            }
        };
        Ok(self.writer.object(StatusCode::OK, &Presented::Made(scale)))
    }

    fn write_options(&self, kind: &str, apply: bool) -> Result<WriteOptions, Status> {
        let agent = self.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        WriteOptions::parse(&self.info.query, kind, apply, agent.unwrap_or_default())
    }

    fn delete_options(&self) -> Result<DeleteOptions, Status> {
        if self.body.is_empty() {
            return DeleteOptions::parse(&self.info.query, None);
        }
        // What is no object at all is refused before its fields are looked at.
        let body = decode::document(&self.body, self.content_type(), None)?;
        if !body.is_object() {
            return DeleteOptions::parse(&self.info.query, Some(&body));
        }
        let ty = Types::get().named("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
        let body = decode::document(&self.body, self.content_type(), ty)?;
        DeleteOptions::parse(&self.info.query, Some(&body))
    }

    fn decode(&self, options: &WriteOptions) -> Result<Value, Status> {
        self.decode_as(&self.request.served, options)
    }

    fn decode_as(&self, served: &Served, options: &WriteOptions) -> Result<Value, Status> {
        let warnings = &self.request.warnings;
        decode::object(served, &self.body, self.content_type(), options.field_validation, warnings)
    }

    fn content_type(&self) -> &str {
        media::content_type(self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()))
    }
}
