//! Which fields the transformers change: those that kustomize knows, and those that `configurations` and `crds` add.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    id::Gvk,
    kustomization::{FieldSpec, NameReference, Unknown, config_form, parse_part},
};

static DEFAULT: LazyLock<Config> = LazyLock::new(|| {
    // It is a part of the program, and a test reads it.
    let mut config: Config = serde_json::from_str(include_str!("../data/fields.json")).unwrap_or_default();
    config.sort();
    config
});

/// The fields of each transformer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Config {
    pub(crate) name_prefix: Vec<FieldSpec>,
    pub(crate) name_suffix: Vec<FieldSpec>,
    pub(crate) namespace: Vec<FieldSpec>,
    pub(crate) common_labels: Vec<FieldSpec>,
    pub(crate) labels: Vec<FieldSpec>,
    pub(crate) template_labels: Vec<FieldSpec>,
    pub(crate) common_annotations: Vec<FieldSpec>,
    pub(crate) name_reference: Vec<NameReference>,
    pub(crate) var_reference: Vec<FieldSpec>,
    pub(crate) images: Vec<FieldSpec>,
    pub(crate) replicas: Vec<FieldSpec>,
}

impl Config {
    pub(crate) fn built_in() -> Self {
        DEFAULT.clone()
    }

    /// Reads a file of `configurations`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut config: Self =
            parse_part::<Option<Self>>(text, config_form(), Unknown::Refused)?.unwrap_or_default();
        config.sort();
        Ok(config)
    }

    /// Reads a file of `crds`: OpenAPI definitions, whose extensions tell what is a name.
    pub(crate) fn parse_definitions(text: &str) -> Result<Self, String> {
        let definitions: BTreeMap<String, Definition> = crate::kustomization::parse_definitions(text)?;
        let mut config = Self::default();
        for (name, definition) in &definitions {
            if ["kind", "apiVersion", "metadata"]
                .iter()
                .all(|field| definition.schema.properties.contains_key(*field))
            {
                let kind = name.rsplit('.').next().unwrap_or(name);
                let gvk = Gvk { kind: kind.to_owned(), ..Gvk::default() };
                let mut own = Self::default();
                own.add_definition(&gvk, &definitions, name, &mut Vec::new())?;
                config.merge(own)?;
            }
        }
        Ok(config)
    }

    fn add_definition(
        &mut self,
        gvk: &Gvk,
        definitions: &BTreeMap<String, Definition>,
        name: &str,
        path: &mut Vec<String>,
    ) -> Result<(), String> {
        let Some(definition) = definitions.get(name) else { return Ok(()) };
        if path.len() > 64 {
            return Err(format!("the definitions of {} refer to each other in a circle", gvk.kind));
        }
        for (field, property) in &definition.schema.properties {
            path.push(field.clone());
            let spec = |more: Option<&str>| {
                let path: Vec<&str> = path.iter().map(String::as_str).chain(more).collect();
                FieldSpec { gvk: gvk.clone(), path: path.join("/"), create: false }
            };
            let extension = |name: &str| property.get(format!("x-kubernetes-{name}")).and_then(Value::as_str);
            if extension("annotation").is_some() {
                add(&mut self.common_annotations, spec(None))?;
            }
            if extension("label-selector").is_some() {
                add(&mut self.common_labels, spec(None))?;
            }
            if extension("identity").is_some() {
                add(&mut self.name_prefix, spec(None))?;
            }
            if let (Some(version), Some(kind)) =
                (extension("object-ref-api-version"), extension("object-ref-kind"))
            {
                let key = extension("object-ref-name-key").unwrap_or("name");
                let gvk = Gvk { kind: kind.to_owned(), version: version.to_owned(), group: String::new() };
                self.add_reference(NameReference { gvk, field_specs: vec![spec(Some(key))] })?;
            }
            if let Some(reference) = property.get("$ref").and_then(Value::as_str) {
                self.add_definition(gvk, definitions, reference, path)?;
            }
            path.pop();
        }
        Ok(())
    }

    /// Adds the fields of `other`.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), String> {
        let lists = [
            (&mut self.name_prefix, other.name_prefix),
            (&mut self.name_suffix, other.name_suffix),
            (&mut self.namespace, other.namespace),
            (&mut self.common_labels, other.common_labels),
            (&mut self.labels, other.labels),
            (&mut self.template_labels, other.template_labels),
            (&mut self.common_annotations, other.common_annotations),
            (&mut self.var_reference, other.var_reference),
            (&mut self.images, other.images),
            (&mut self.replicas, other.replicas),
        ];
        for (own, more) in lists {
            add_all(own, more)?;
        }
        other.name_reference.into_iter().try_for_each(|more| self.add_reference(more))?;
        self.sort();
        Ok(())
    }

    fn add_reference(&mut self, more: NameReference) -> Result<(), String> {
        match self.name_reference.iter_mut().find(|own| own.gvk == more.gvk) {
            Some(own) => add_all(&mut own.field_specs, more.field_specs),
            None => {
                self.name_reference.push(more);
                Ok(())
            }
        }
    }

    fn sort(&mut self) {
        for list in [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.common_annotations,
            &mut self.var_reference,
            &mut self.images,
            &mut self.replicas,
        ] {
            list.sort_by_cached_key(|spec| spec.gvk.order());
        }
        self.name_reference.sort_by_cached_key(|reference| reference.gvk.order());
    }
}

/// Adds a field, unless it is there, or is a part of what is.
pub(crate) fn add(list: &mut Vec<FieldSpec>, more: FieldSpec) -> Result<(), String> {
    match list.iter().find(|own| own.path == more.path && own.gvk.is_selected_by(&more.gvk)) {
        Some(own) if own.create == more.create => Ok(()),
        Some(_) => {
            Err(format!("the field `{}` is given twice, once with `create` and once without", more.path))
        }
        None => {
            list.push(more);
            Ok(())
        }
    }
}

pub(crate) fn add_all(
    list: &mut Vec<FieldSpec>,
    more: impl IntoIterator<Item = FieldSpec>,
) -> Result<(), String> {
    more.into_iter().try_for_each(|spec| add(list, spec))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Definition {
    #[serde(rename = "Schema", alias = "schema")]
    schema: Schema,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Schema {
    properties: BTreeMap<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let config: Config = serde_json::from_str(include_str!("../data/fields.json")).unwrap();
        assert!(config.name_reference.len() > 15);
        assert!(
            !config.images.is_empty()
                && !config.var_reference.is_empty()
                && !config.template_labels.is_empty()
        );
    }

    #[test]
    fn fields_are_added_once() {
        let mut config = Config::built_in();
        let before = config.images.len();
        config
            .merge(
                Config::parse(
                    "images: [{path: 'spec/containers[]/image', create: true}, {path: spec/image, kind: X}]",
                )
                .unwrap(),
            )
            .unwrap();
        assert_eq!(config.images.len(), before + 1);
        let error =
            config.merge(Config::parse("images: [{path: 'spec/containers[]/image'}]").unwrap()).unwrap_err();
        assert!(error.contains("given twice"), "{error}");
        assert_eq!(
            Config::parse("nameRefrence: []").unwrap_err(),
            "unknown field `nameRefrence`: did you mean `nameReference`?"
        );
    }
}
