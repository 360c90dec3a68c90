//! Connections to what runs: `exec`, `attach`, `portforward` and `proxy`.
//!
//! Nothing runs here, so that none comes about. But who may have one is decided as always, admission is asked about it, and what
//! could not be connected to in a cluster either is refused in the same words.

use std::sync::Arc;

use kubewright_schema::error::go;
use serde_json::{Map, Value, json};

use super::{Registry, Request, pod_log, read::parse_uint};
use crate::{
    admission::{Attributes, Options},
    authz,
    status::{GroupResource, Status},
    store::Object,
    wire::{Query, RequestInfo},
};

/// Whether a subresource of a built-in kind is one that clients connect to.
pub(crate) fn is_connection(subresource: &str) -> bool {
    matches!(subresource, "exec" | "attach" | "portforward" | "proxy")
}

impl Registry {
    /// Why a client is not connected: 400 for what cannot be, 403 where it may not, 404 for what is not there, 503 for a service
    /// without endpoints, 500 for what would be in a cluster.
    pub(crate) async fn connect(&self, request: &Request, info: &RequestInfo) -> Status {
        self.check_connection(request, info).await.err().unwrap_or_else(|| {
            Status::internal(
                "error dialing backend: containers are simulated here, so that there is nothing to connect to; use a cluster \
                 with a kubelet for this",
            )
        })
    }

    async fn check_connection(&self, request: &Request, info: &RequestInfo) -> Result<(), Status> {
        if !info.query.get("dryRun").is_empty() {
            return Err(Status::bad_request("dryRun is not supported"));
        }
        let options = options(request, info)?;
        let attributes = Attributes::new(request, Options::Connect, None);
        let options = self.mutate_object(&attributes, options).await?;
        self.allow(&attributes, Some(&options)).await?;
        match (request.served.definition.plural.as_str(), request.subresource.as_str()) {
            ("pods", "proxy") => self.check_pod_address(request),
            ("services", _) => self.check_service(request),
            ("nodes", _) => self.check_node(request),
            (_, subresource) => self.check_stream(request, &info.verb, subresource, &options),
        }
    }

    /// Checks that something could be run in a container, or attached or forwarded to it.
    fn check_stream(
        &self,
        request: &Request,
        verb: &str,
        subresource: &str,
        options: &Value,
    ) -> Result<(), Status> {
        if verb != "create" {
            // A websocket is opened by a GET, and does what a POST does.
            self.authorizer.require(&authz::Attributes {
                user: request.user.clone(),
                verb: "create".to_owned(),
                target: authz::Target::Resource {
                    group: String::new(),
                    version: "v1".to_owned(),
                    resource: "pods".to_owned(),
                    subresource: subresource.to_owned(),
                    namespace: request.namespace.clone(),
                    name: request.name.clone(),
                },
            })?;
        }
        let pod = self.there(request, &request.name)?;
        if subresource != "portforward" {
            let container = options.get("container").and_then(Value::as_str).unwrap_or_default();
            pod_log::check_container(&request.name, pod.value(), container)?;
        }
        let node = pod.value().pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
        if node.is_empty() {
            return Err(Status::bad_request(format!("pod {} does not have a host assigned", request.name)));
        }
        self.check_host(node)
    }

    fn check_pod_address(&self, request: &Request) -> Result<(), Status> {
        let Some((name, _)) = name_and_port(&request.name) else {
            return Err(Status::bad_request(format!("invalid pod request {}", go::quote(&request.name))));
        };
        let pod = self.there(request, name)?;
        let address = pod.value().pointer("/status/podIP").and_then(Value::as_str).unwrap_or_default();
        if address.is_empty() { Err(Status::bad_request("address not allowed")) } else { Ok(()) }
    }

    fn check_service(&self, request: &Request) -> Result<(), Status> {
        let Some((name, port)) = name_and_port(&request.name) else {
            return Err(Status::bad_request(format!("invalid service request {}", go::quote(&request.name))));
        };
        if let Ok(number) = port.parse::<i64>() {
            let service = self.there(request, name)?;
            let ports = service.value().pointer("/spec/ports").and_then(Value::as_array);
            if !ports.into_iter().flatten().any(|port| port["port"] == number) {
                return Err(Status::service_unavailable(format!(
                    "no service port {number} found for service {}",
                    go::quote(name)
                )));
            }
        }
        let slices = self.store.list("discovery.k8s.io/endpointslices");
        let prefix = format!("{}/", request.namespace);
        let serves = |slice: &Value| {
            slice.pointer("/metadata/labels/kubernetes.io~1service-name") == Some(&json!(name))
        };
        if slices.range(&prefix, "").any(|(_, slice)| serves(slice.value())) {
            return Ok(());
        }
        Err(Status::service_unavailable(format!("no endpoints available for service {}", go::quote(name))))
    }

    fn check_node(&self, request: &Request) -> Result<(), Status> {
        match name_and_port(&request.name) {
            Some((name, _)) => self.check_host(name),
            None => Err(Status::bad_request(format!("invalid node request {}", go::quote(&request.name)))),
        }
    }

    fn check_host(&self, node: &str) -> Result<(), Status> {
        match self.store.get("/nodes", node) {
            Some(_) => Ok(()),
            None => Err(Status::not_found(&GroupResource::new("", "nodes"), node)),
        }
    }

    fn there(&self, request: &Request, name: &str) -> Result<Arc<Object>, Status> {
        let key = request.served.key(&request.namespace, name);
        let object = self.store.get(&request.served.bucket, &key);
        object.ok_or_else(|| Status::not_found(&request.served.group_resource(), name))
    }
}

/// What a client wants of the connection, as an object: the query, and the path behind a proxy.
fn options(request: &Request, info: &RequestInfo) -> Result<Value, Status> {
    let kind = request.served.kind_name(&request.subresource);
    let mut fields = Map::new();
    let query = &info.query;
    match request.subresource.as_str() {
        "proxy" => {
            if !info.rest.is_empty() {
                fields.insert("path".to_owned(), Value::from(format!("/{}", info.rest.join("/"))));
            }
        }
        "portforward" => {
            let ports = numbers(query, "ports")?;
            if !ports.is_empty() {
                fields.insert("ports".to_owned(), Value::Array(ports));
            }
        }
        _ => {
            for flag in ["stdin", "stdout", "stderr", "tty"] {
                if query.is_true(flag) {
                    fields.insert(flag.to_owned(), Value::Bool(true));
                }
            }
            let container = query.get("container");
            if !container.is_empty() {
                fields.insert("container".to_owned(), Value::from(container));
            }
            if request.subresource == "exec" {
                let command: Vec<Value> = query.all("command").map(Value::from).collect();
                fields.insert(
                    "command".to_owned(),
                    if command.is_empty() { Value::Null } else { command.into() },
                );
            }
        }
    }
    fields.insert("kind".to_owned(), Value::from(kind.kind));
    fields.insert("apiVersion".to_owned(), Value::from("v1"));
    Ok(Value::Object(fields))
}

fn numbers(query: &Query, name: &str) -> Result<Vec<Value>, Status> {
    let number = |text: &str| match parse_uint(text) {
        Ok(number) => Ok(Value::from(number)),
        Err(why) => Err(Status::bad_request(format!("cannot convert to []int32: {why}"))),
    };
    query.all(name).map(number).collect()
}

/// The parts of `name`, `name:port` or `scheme:name:port`, but for the scheme.
fn name_and_port(id: &str) -> Option<(&str, &str)> {
    let parts: Vec<&str> = id.split(':').collect();
    let (scheme, name, port) = match parts.as_slice() {
        [name] => ("", *name, ""),
        [name, port] => ("", *name, *port),
        [scheme, name, port] => (*scheme, *name, *port),
        _ => return None,
    };
    (!name.is_empty() && matches!(scheme, "" | "http" | "https")).then_some((name, port))
}
