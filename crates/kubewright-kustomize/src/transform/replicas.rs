//! `replicas`.

use crate::{
    field_spec::visit,
    id::Id,
    kustomization::{FieldSpec, Replicas},
    node::{Kind, Scalar, Shape},
    objects::Objects,
};

/// Sets the number of replicas of the objects that have or had a name.
pub(crate) fn set(objects: &mut Objects, replicas: &Replicas, fields: &[FieldSpec]) -> Result<(), String> {
    let Replicas { name, count } = replicas;
    let mut is_found = false;
    for field in fields {
        let has_it = |id: &Id| id.name == *name && id.gvk.is_selected_by(&field.gvk);
        for resource in objects.list.iter_mut().filter(|resource| resource.ids().any(|id| has_it(&id))) {
            is_found = true;
            visit(&mut resource.body, field, Some(Shape::Scalar), &mut |node| {
                node.set_scalar(Scalar::of(count.to_string(), Kind::Int)).map_err(|error| error.to_string())
            })
            .map_err(|why| format!("{}: {why}", resource.id()))?;
        }
    }
    if is_found {
        return Ok(());
    }
    let kinds: Vec<&str> = fields.iter().map(|field| field.gvk.kind.as_str()).collect();
    Err(format!("there is no {name} among the objects with replicas ({})", kinds.join(", ")))
}
