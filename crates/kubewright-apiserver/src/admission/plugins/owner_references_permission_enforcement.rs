//! Who makes an object go with another one has to be allowed to delete it, and who holds up the deletion of its owner to
//! finalize that.

use serde_json::Value;

use super::Attributes;
use crate::{
    admission::Operation,
    authz::{self, Decision, Target},
    registry::{Registry, metadata},
    status::Status,
};

pub(super) fn validate(
    registry: &Registry,
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> Result<(), Status> {
    let Some(object) = object else { return Ok(()) };
    // The status of a pod cannot change its owners.
    if attributes.is_of("", "pods", "status") || owners(object) == attributes.old.map_or(&[][..], owners) {
        return Ok(());
    }
    let request = attributes.request;
    let ask = |verb: &str, target: Target| -> Decision {
        let asked = authz::Attributes { user: attributes.user().clone(), verb: verb.to_owned(), target };
        registry.authorizer.authorize(&asked)
    };
    let refuse = |why: String| Err(attributes.forbidden(Some(object), &why));
    if attributes.operation() != Operation::Create {
        let own = attributes.resource();
        let decision = ask(
            "delete",
            Target::Resource {
                group: own.group.to_owned(),
                version: own.version.to_owned(),
                resource: own.resource.to_owned(),
                subresource: request.subresource.clone(),
                namespace: request.namespace.clone(),
                name: attributes.name(Some(object)).to_owned(),
            },
        );
        if !decision.allowed {
            let why = decision.reason;
            return refuse(format!("cannot set an ownerRef on a resource you can't delete: {why}, <nil>"));
        }
    }
    let blocking = newly_blocking(object, attributes.old);
    if blocking.is_empty() || ask("update", finalizers("*", "*", "*", "", "*")).allowed {
        return Ok(());
    }
    let catalog = registry.catalog();
    for owner in blocking {
        let text = |field: &str| owner[field].as_str().unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let Some(served) = catalog.by_kind(api_version, kind) else {
            return refuse(format!(
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {api_version} \
                 Kind {kind}: no matches for kind {kind:?} in version {api_version:?}"
            ));
        };
        let own = served.resource_name();
        // An owner in a namespace is in that of the object.
        let namespace = if served.definition.namespaced { request.namespace.as_str() } else { "" };
        let target = finalizers(own.group, own.version, own.resource, namespace, text("name"));
        let decision = ask("update", target);
        if !decision.allowed {
            let why = decision.reason;
            return refuse(format!(
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: \
                 {why}, <nil>"
            ));
        }
    }
    Ok(())
}

fn finalizers(group: &str, version: &str, resource: &str, namespace: &str, name: &str) -> Target {
    Target::Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: resource.to_owned(),
        subresource: "finalizers".to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

fn owners(object: &Value) -> &[Value] {
    let owners = metadata::get(object, "ownerReferences").and_then(Value::as_array);
    owners.map(Vec::as_slice).unwrap_or_default()
}

/// The owners whose deletion the object holds up and did not before.
fn newly_blocking<'a>(object: &'a Value, old: Option<&Value>) -> Vec<&'a Value> {
    let blocks = |owner: &&Value| owner["blockOwnerDeletion"] == true;
    let did_block = |owner: &Value| {
        let before = old.map(owners).unwrap_or_default();
        before.iter().any(|other| other["uid"] == owner["uid"] && blocks(&other))
    };
    owners(object).iter().filter(blocks).filter(|owner| !did_block(owner)).collect()
}
