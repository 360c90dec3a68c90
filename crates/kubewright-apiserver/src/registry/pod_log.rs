use kubewright_schema::{ErrorList, FieldError, FieldPath};
use serde_json::Value;

use super::{Registry, Request};
use crate::{
    status::{GroupKind, Status},
    wire::Query,
};

impl Registry {
    /// Checks that a container of the pod could be asked for its log. There is none to give: what runs nowhere, as here, writes none.
    ///
    /// # Errors
    /// 404 for a pod or a node that is not there, 400 for a container that is not, 422 for options that make no sense.
    pub(crate) fn check_log(&self, request: &Request, query: &Query) -> Result<(), Status> {
        check_options(request, query)?;
        let pod =
            self.store.get(&request.served.bucket, &request.key()).ok_or_else(|| request.not_found())?;
        check_container(&request.name, pod.value(), query.get("container"))?;
        let node = pod.value().pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
        if !node.is_empty() && self.store.get("/nodes", node).is_none() {
            // In the words of a real server, which says pod.
            return Err(Status::not_found(&request.served.group_resource(), node));
        }
        Ok(())
    }
}

pub(super) fn check_container(name: &str, pod: &Value, container: &str) -> Result<(), Status> {
    let names = |field: &str| {
        let containers = pod.get("spec").and_then(|spec| spec.get(field)).and_then(Value::as_array);
        let names = containers.into_iter().flatten().filter_map(|container| container.get("name"));
        names.filter_map(Value::as_str).collect::<Vec<_>>()
    };
    let all = [names("initContainers"), names("containers"), names("ephemeralContainers")].concat();
    match (container, all.as_slice()) {
        ("", [_]) => Ok(()),
        ("", several) => Err(Status::bad_request(format!(
            "a container name must be specified for pod {name}, choose one of: [{}]",
            several.join(" ")
        ))),
        (container, all) if all.contains(&container) => Ok(()),
        (container, _) => {
            Err(Status::bad_request(format!("container {container} is not valid for pod {name}")))
        }
    }
}

fn check_options(request: &Request, query: &Query) -> Result<(), Status> {
    let mut errors = ErrorList::new();
    for (name, least) in [("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1)] {
        let Some(text) = query.find(name).filter(|text| !text.is_empty()) else { continue };
        let number: i64 = text.parse().map_err(|_| {
            Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))
        })?;
        if number < least {
            let detail =
                if least == 0 { "must be greater than or equal to 0" } else { "must be greater than 0" };
            errors.push(FieldError::invalid(&FieldPath::new(name), number, detail));
        }
    }
    Status::check(&GroupKind::new("", "PodLogOptions"), &request.name, &errors)
}
