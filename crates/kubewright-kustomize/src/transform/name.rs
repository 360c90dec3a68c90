//! `namePrefix` and `nameSuffix`.

use crate::{
    field_spec::visit,
    id::Gvk,
    kustomization::FieldSpec,
    node::{Node, Scalar, Shape},
    objects::Objects,
};

/// Which end of a name is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Prefix,
    Suffix,
}

/// Adds `text` to the fields of `fields`, which are names.
pub(crate) fn affix(objects: &mut Objects, end: End, text: &str, fields: &[FieldSpec]) -> Result<(), String> {
    for resource in &mut objects.list {
        let original = resource.original_id().gvk;
        if is_fixed(&original) {
            continue;
        }
        for field in fields.iter().filter(|field| original.is_selected_by(&field.gvk)) {
            if field.path == "metadata/name" {
                match end {
                    End::Prefix => resource.prefixes.push(text.to_owned()),
                    End::Suffix => resource.suffixes.push(text.to_owned()),
                }
                resource.remember_id();
            }
            let set = visit(&mut resource.body, field, Some(Shape::Scalar), &mut |node: &mut Node| {
                let name = match end {
                    End::Prefix => format!("{text}{}", node.text()),
                    End::Suffix => format!("{}{text}", node.text()),
                };
                node.set_scalar(Scalar::plain(name)).map_err(|error| error.to_string())
            });
            set.map_err(|why| format!("{}: {why}", resource.id()))?;
        }
    }
    Ok(())
}

/// Whether the names of a kind mean something, so that they stay.
fn is_fixed(gvk: &Gvk) -> bool {
    matches!(gvk.kind.as_str(), "CustomResourceDefinition" | "Namespace")
        || gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io"
}
