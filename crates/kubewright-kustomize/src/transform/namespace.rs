//! `namespace`.

use crate::{
    field_spec::visit,
    kustomization::FieldSpec,
    node::{Map, Node, Scalar, Shape},
    objects::Objects,
};

/// Moves all objects into a namespace, and renames a Namespace to it.
pub(crate) fn move_to(objects: &mut Objects, namespace: &str, fields: &[FieldSpec]) -> Result<(), String> {
    for at in 0..objects.list.len() {
        let resource = &mut objects.list[at];
        resource.remember_id();
        let id = resource.id();
        let api_version = resource.api_version().to_owned();
        let result =
            set_in(&mut resource.body, &api_version, id.is_cluster_scoped(), &id.gvk.kind, namespace, fields);
        result.map_err(|why| format!("{id}: {why}"))?;
        let id = objects.list[at].id();
        if objects.list.iter().filter(|other| other.name() == id.name && other.id().is(&id)).count() > 1 {
            return Err(format!("in the namespace {namespace} there would be two {id}"));
        }
    }
    Ok(())
}

fn set_in(
    body: &mut Map,
    api_version: &str,
    is_cluster_scoped: bool,
    kind: &str,
    namespace: &str,
    fields: &[FieldSpec],
) -> Result<(), String> {
    let mut set =
        |node: &mut Node| node.set_scalar(Scalar::string(namespace)).map_err(|error| error.to_string());
    if !is_cluster_scoped {
        let own = FieldSpec { path: "metadata/namespace".to_owned(), create: true, ..FieldSpec::default() };
        visit(body, &own, Some(Shape::Scalar), &mut set)?;
    }
    let is_binding = matches!(kind, "RoleBinding" | "ClusterRoleBinding");
    if is_binding && let Some(subjects) = body.get_mut("subjects").filter(|subjects| !subjects.is_null()) {
        let Node::List(subjects) = subjects else { return Err("the field `subjects` is no list".to_owned()) };
        // Others are moved when references to them are: with the service accounts of the kustomization.
        let default = subjects
            .iter_mut()
            .filter_map(Node::as_map_mut)
            .filter(|subject| subject.get("name").is_some_and(|name| name.text() == "default"));
        for subject in default {
            set(subject.get_or_insert("namespace", Shape::Scalar))?;
        }
    }
    for field in fields {
        let is_done = field.path == "metadata/namespace"
            || field.path == "metadata/name" && api_version != "v1"
            || is_binding && field.path == "subjects/namespace" && field.gvk.kind == kind;
        if !is_done {
            visit(body, field, Some(Shape::Scalar), &mut set)?;
        }
    }
    Ok(())
}
