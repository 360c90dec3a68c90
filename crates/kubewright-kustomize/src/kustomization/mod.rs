//! The kustomization file, and the files that belong to it.

mod form;

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    id::Gvk,
    node::{Dialect, read, read_once},
};

pub(crate) use form::{Form, Unknown};

/// The names of the file, of which a folder has one.
pub(crate) const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A `kustomization.yaml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Kustomization {
    api_version: String,
    pub(crate) kind: String,
    openapi: BTreeMap<String, String>,
    pub(crate) name_prefix: String,
    pub(crate) name_suffix: String,
    pub(crate) namespace: String,
    pub(crate) common_labels: Option<BTreeMap<String, String>>,
    pub(crate) labels: Vec<Label>,
    pub(crate) common_annotations: BTreeMap<String, String>,
    pub(crate) patches_strategic_merge: Option<Vec<String>>,
    pub(crate) patches_json6902: Option<Vec<Patch>>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) images: Vec<Image>,
    image_tags: Option<Vec<Image>>,
    pub(crate) replacements: Vec<ReplacementEntry>,
    pub(crate) replicas: Vec<Replicas>,
    pub(crate) vars: Option<Vec<Variable>>,
    pub(crate) sort_options: Option<SortOptions>,
    pub(crate) resources: Vec<String>,
    pub(crate) components: Vec<String>,
    pub(crate) crds: Vec<String>,
    bases: Option<Vec<String>>,
    pub(crate) config_map_generator: Vec<Generator>,
    pub(crate) secret_generator: Vec<Generator>,
    pub(crate) generator_options: Option<GeneratorOptions>,
    pub(crate) configurations: Vec<String>,
    pub(crate) build_metadata: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Label {
    pub(crate) pairs: BTreeMap<String, String>,
    pub(crate) include_selectors: bool,
    pub(crate) include_templates: bool,
    pub(crate) fields: Vec<FieldSpec>,
}

/// Fields of some kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct FieldSpec {
    #[serde(flatten)]
    pub(crate) gvk: Gvk,
    pub(crate) path: String,
    pub(crate) create: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Patch {
    pub(crate) path: String,
    pub(crate) patch: String,
    pub(crate) target: Option<Selector>,
    pub(crate) options: PatchOptions,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PatchOptions {
    pub(crate) allow_name_change: bool,
    pub(crate) allow_kind_change: bool,
}

/// A choice of objects, by patterns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Selector {
    #[serde(flatten)]
    pub(crate) gvk: Gvk,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) label_selector: String,
    pub(crate) annotation_selector: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) new_name: String,
    pub(crate) tag_suffix: String,
    pub(crate) new_tag: String,
    pub(crate) digest: String,
}

/// An entry of `replacements`: itself, or a file with some.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReplacementEntry {
    pub(crate) path: String,
    #[serde(flatten)]
    pub(crate) replacement: Replacement,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Replacement {
    pub(crate) source: Option<ReplacementSource>,
    pub(crate) source_value: Option<String>,
    pub(crate) targets: Option<Vec<ReplacementTarget>>,
}

/// One object, by its exact identity, and a field of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ReplacementSource {
    #[serde(flatten)]
    pub(crate) gvk: Gvk,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) field_path: String,
    pub(crate) options: FieldOptions,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ReplacementTarget {
    pub(crate) select: Option<Selector>,
    pub(crate) reject: Vec<Selector>,
    pub(crate) field_paths: Vec<String>,
    pub(crate) options: FieldOptions,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FieldOptions {
    pub(crate) delimiter: String,
    pub(crate) index: i64,
    pub(crate) create: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Replicas {
    pub(crate) name: String,
    pub(crate) count: i64,
}

/// The old way of replacements: `$(NAME)` in texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) objref: ObjectReference,
    pub(crate) fieldref: FieldReference,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ObjectReference {
    api_version: String,
    #[serde(flatten)]
    gvk: Gvk,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct FieldReference {
    pub(crate) field_path: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SortOptions {
    pub(crate) order: String,
    pub(crate) legacy_sort_options: Option<KindOrder>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct KindOrder {
    pub(crate) order_first: Vec<String>,
    pub(crate) order_last: Vec<String>,
}

/// An entry of `configMapGenerator` or `secretGenerator`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Generator {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) behavior: String,
    pub(crate) literals: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) envs: Vec<String>,
    env: String,
    pub(crate) options: Option<GeneratorOptions>,
    /// Of a Secret.
    #[serde(rename = "type")]
    pub(crate) secret_type: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct GeneratorOptions {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) disable_name_suffix_hash: bool,
    pub(crate) immutable: bool,
}

/// Kinds whose objects others refer to, and the fields in which they do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct NameReference {
    #[serde(flatten)]
    pub(crate) gvk: Gvk,
    pub(crate) field_specs: Vec<FieldSpec>,
}

pub(crate) const COMPONENT: &str = "Component";
const KUSTOMIZATION: &str = "Kustomization";

impl Kustomization {
    /// Reads a file. Besides, gives what is deprecated in it.
    pub(crate) fn parse(text: &str) -> Result<(Self, Vec<String>), String> {
        let value = read(text, Dialect::Version1).map_err(|error| error.to_string())?;
        let mut value = match value {
            Some(node) => node.to_json(Dialect::Version1)?,
            None => serde_json::json!({}),
        };
        form::KUSTOMIZATION.fit(&mut value, Unknown::Refused)?;
        let is_empty = value
            .as_object()
            .is_some_and(|map| map.keys().all(|key| matches!(key.as_str(), "apiVersion" | "kind")));
        if is_empty {
            return Err("it is empty: name the files to build in `resources`".to_owned());
        }
        let mut this: Self = from_value(value)?;
        this.check()?;
        let deprecated = this.modernise();
        Ok((this, deprecated))
    }

    fn check(&mut self) -> Result<(), String> {
        if self.kind.is_empty() {
            KUSTOMIZATION.clone_into(&mut self.kind);
        }
        let version = match self.kind.as_str() {
            KUSTOMIZATION => "kustomize.config.k8s.io/v1beta1",
            COMPONENT => "kustomize.config.k8s.io/v1alpha1",
            other => return Err(format!("the kind is `{other}`: it is {KUSTOMIZATION} or {COMPONENT}")),
        };
        if !self.api_version.is_empty() && self.api_version != version {
            return Err(format!(
                "the apiVersion is `{}`: that of a {} is {version}",
                self.api_version, self.kind
            ));
        }
        if self.openapi.contains_key("path") {
            return Err("`openapi.path` is not supported: lists in custom resources are replaced by patches"
                .to_owned());
        }
        match self.openapi.get("version").map(String::as_str) {
            None | Some("" | "v1.21.2") => Ok(()),
            Some(other) => Err(format!("`openapi.version` is `{other}`: only v1.21.2 is built in")),
        }
    }

    /// Moves what stands in old fields into those of today.
    fn modernise(&mut self) -> Vec<String> {
        let mut deprecated = Vec::new();
        let mut warn = |is_there: bool, old: &str, new: &str| {
            if is_there {
                deprecated.push(format!("`{old}` is deprecated, use `{new}`"));
            }
        };
        warn(self.bases.is_some(), "bases", "resources");
        warn(self.common_labels.is_some(), "commonLabels", "labels");
        warn(self.image_tags.is_some(), "imageTags", "images");
        warn(self.patches_json6902.is_some(), "patchesJson6902", "patches");
        warn(self.patches_strategic_merge.is_some(), "patchesStrategicMerge", "patches");
        warn(self.vars.is_some(), "vars", "replacements");
        self.resources.extend(self.bases.take().unwrap_or_default());
        self.images.extend(self.image_tags.take().unwrap_or_default());
        for generator in self.config_map_generator.iter_mut().chain(&mut self.secret_generator) {
            if !generator.env.is_empty() {
                generator.envs.push(std::mem::take(&mut generator.env));
            }
        }
        deprecated
    }

    pub(crate) fn has_build_metadata(&self, option: &str) -> bool {
        self.build_metadata.iter().any(|given| given == option)
    }
}

impl ObjectReference {
    pub(crate) fn gvk(&self) -> Gvk {
        if self.api_version.is_empty() {
            return self.gvk.clone();
        }
        let mut gvk = Gvk::new(&self.api_version, &self.gvk.kind);
        if !self.api_version.contains('/') {
            gvk.group.clone_from(&self.gvk.group);
        }
        gvk
    }
}

impl GeneratorOptions {
    /// These options, with those of all generators where they say nothing.
    pub(crate) fn or(mut self, all: &Self) -> Self {
        for (own, more) in [(&mut self.labels, &all.labels), (&mut self.annotations, &all.annotations)] {
            for (key, value) in more {
                own.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        self.disable_name_suffix_hash |= all.disable_name_suffix_hash;
        self.immutable |= all.immutable;
        self
    }
}

/// Reads a file that a kustomization names. Where unknown fields are refused, fields that stand twice are too.
pub(crate) fn parse_part<T: DeserializeOwned>(
    text: &str,
    form: &Form,
    unknown: Unknown,
) -> Result<T, String> {
    let node = match unknown {
        Unknown::Refused => read_once(text),
        Unknown::Ignored => read(text, Dialect::Version1),
    };
    let node = node.map_err(|error| error.to_string())?;
    let mut value = node.map_or(Ok(serde_json::Value::Null), |node| node.to_json(Dialect::Version1))?;
    if !value.is_null() {
        form.fit(&mut value, unknown)?;
    }
    from_value(value)
}

/// Replacements of a file: a list of them, or one.
pub(crate) fn parse_replacements(text: &str) -> Result<Vec<Replacement>, String> {
    let node = read(text, Dialect::Version1).map_err(|error| error.to_string())?;
    match node {
        Some(node) if node.as_list().is_some() => parse_part(text, &form::REPLACEMENTS, Unknown::Ignored),
        Some(node) if node.as_map().is_some() => {
            Ok(vec![parse_part(text, &form::REPLACEMENT, Unknown::Ignored)?])
        }
        _ => Err("it has no replacement, or list of replacements".to_owned()),
    }
}

/// Reads a file of `crds`, whose form is that of OpenAPI.
pub(crate) fn parse_definitions<T: DeserializeOwned + Default>(text: &str) -> Result<T, String> {
    let node = read(text, Dialect::Version1).map_err(|error| error.to_string())?;
    let Some(node) = node else { return Ok(T::default()) };
    T::deserialize(node.to_json(Dialect::Version1)?)
        .map_err(|error| format!("it has no OpenAPI definitions (CRDs belong into `resources`): {error}"))
}

/// Its form was checked, so that this fails only if the form is wrong.
fn from_value<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| error.to_string())
}

pub(crate) fn config_form() -> &'static Form {
    &form::CONFIGURATION
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Kustomization::parse(text).unwrap_err()
    }

    #[test]
    fn an_unknown_field_is_refused_with_the_nearest_name() {
        assert_eq!(error("resorces: []"), "unknown field `resorces`: did you mean `resources`?");
        assert_eq!(error("patches: [{pach: x}]"), "unknown field `patches[0].pach`: did you mean `patch`?");
        assert_eq!(
            error("images: [{name: a, zzz: b}]"),
            "unknown field `images[0].zzz`: there are `name`, `newName`, `newTag`, `digest`, `tagSuffix`"
        );
    }

    #[test]
    fn a_value_of_another_type_is_refused_with_what_to_write() {
        assert_eq!(
            error("images: [{name: a, newTag: 1.0}]"),
            "`images[0].newTag` is a string, not 1.0: put it into quotes"
        );
        assert_eq!(
            error("commonLabels: {a: yes}"),
            "`commonLabels.a` is a string, not true: put it into quotes"
        );
        assert_eq!(error("resources: a.yaml"), "`resources` is a list, not \"a.yaml\"");
        assert_eq!(
            error("replicas: [{name: a, count: many}]"),
            "`replicas[0].count` is an integer, not \"many\""
        );
        assert_eq!(error("- a"), "it is a map, not [\"a\"]");
    }

    #[test]
    fn what_is_no_kustomization_is_refused() {
        assert!(error("").starts_with("it is empty"));
        assert!(error("kind: Kustomization").starts_with("it is empty"));
        assert!(error("kind: Deployment\nresources: []").contains("it is Kustomization or Component"));
        assert!(error("apiVersion: v1\nresources: []").contains("kustomize.config.k8s.io/v1beta1"));
        assert!(error("resources: [").starts_with("line "));
        assert!(error("helmCharts: [{name: x}]").contains("`helmCharts`"));
        assert!(error("openapi: {path: x}").contains("openapi.path"));
    }

    #[test]
    fn names_are_taken_in_any_case_and_nothing_is_nothing() {
        let (k, deprecated) =
            Kustomization::parse("Resources: [a]\nnameprefix: x\nbases: [b]\nlabels:\ntransformers: []")
                .unwrap();
        assert_eq!(k.resources, ["a", "b"]);
        assert_eq!(k.name_prefix, "x");
        assert_eq!(deprecated, ["`bases` is deprecated, use `resources`"]);
    }
}
