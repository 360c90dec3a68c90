//! `labels`, `commonLabels` and `commonAnnotations`: texts in maps.

use std::collections::BTreeMap;

use crate::{
    config::{Config, add, add_all},
    field_spec::visit,
    kustomization::{FieldSpec, Label},
    node::Shape,
    objects::Objects,
};

/// Puts each text into each of the maps that `fields` names.
pub(crate) fn set_texts(
    objects: &mut Objects,
    texts: &BTreeMap<String, String>,
    fields: &[FieldSpec],
) -> Result<(), String> {
    for resource in &mut objects.list {
        for (key, value) in texts {
            for field in fields {
                let set = visit(&mut resource.body, field, Some(Shape::Map), &mut |node| {
                    node.expect_map_mut().map_err(|error| error.to_string())?.set_string(key, value);
                    Ok(())
                });
                set.map_err(|why| format!("{}: {why}", resource.id()))?;
            }
        }
    }
    Ok(())
}

/// The fields that an entry of `labels` is about.
pub(crate) fn fields(label: &Label, config: &Config) -> Result<Vec<FieldSpec>, String> {
    let mut fields = label.fields.clone();
    add_all(&mut fields, config.labels.clone())?;
    if label.include_selectors {
        add_all(&mut fields, config.common_labels.clone())?;
    } else {
        if label.include_templates {
            add_all(&mut fields, config.template_labels.clone())?;
        }
        add(
            &mut fields,
            FieldSpec { path: "metadata/labels".to_owned(), create: true, ..FieldSpec::default() },
        )?;
    }
    Ok(fields)
}
