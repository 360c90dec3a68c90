//! `patches`, `patchesStrategicMerge` and `patchesJson6902`.

use super::json_patch::JsonPatch;
use crate::{
    kustomization::{PatchOptions, Selector},
    merge::merge,
    node::{Dialect, read},
    objects::{self, Duplicate, Objects},
    resource::Resource,
    selector::Matcher,
};

/// A patch whose text was read.
#[derive(Debug)]
pub(crate) enum Patch {
    Merge {
        patches: Vec<Resource>,
        target: Option<Matcher>,
        options: PatchOptions,
    },
    Json {
        patch: JsonPatch,
        target: Matcher,
        remembers: bool,
    },
    /// A text with nothing in it.
    Nothing,
}

impl Patch {
    /// An entry of `patches`. A list is a JSON patch, objects are strategic merge patches.
    pub(crate) fn new(text: &str, target: Option<&Selector>, options: PatchOptions) -> Result<Self, String> {
        let target = target.map(Matcher::new).transpose()?;
        let first = read(text, Dialect::Version1).map_err(|error| error.to_string())?;
        let Some(first) = first else { return Ok(Self::Nothing) };
        if first.as_list().is_some() {
            let target = target.ok_or("a JSON patch needs a `target`: the objects that it changes")?;
            return Ok(Self::Json { patch: JsonPatch::parse(text)?, target, remembers: true });
        }
        let patches = objects::parse(text)?;
        if target.is_some() && patches.len() > 1 {
            return Err(
                "it has a `target` and more than one patch: make each patch an entry of its own".to_owned()
            );
        }
        Ok(Self::Merge { patches, target, options })
    }

    /// An entry of `patchesJson6902`.
    pub(crate) fn json(text: &str, target: Option<&Selector>) -> Result<Self, String> {
        let target = target.filter(|target| !target.name.is_empty());
        let target = Matcher::new(target.ok_or("it needs a `target` with a name")?)?;
        let patch = JsonPatch::parse(text)?;
        if patch.is_empty() {
            return Err("the patch is empty".to_owned());
        }
        Ok(Self::Json { patch, target, remembers: false })
    }

    pub(crate) fn apply(&self, objects: &mut Objects) -> Result<(), String> {
        match self {
            Self::Nothing => Ok(()),
            Self::Json { patch, target, remembers } => {
                for at in objects.select(target) {
                    if *remembers {
                        objects.list[at].remember_id();
                    }
                    patch.apply(&mut objects.list[at])?;
                }
                Ok(())
            }
            Self::Merge { patches, target: None, options } => {
                let mut deleted = Vec::new();
                for patch in patches {
                    let at = objects.only(&patch.original_id())?;
                    if deleted.contains(&at) {
                        return Err(format!(
                            "there is no {} any more: an earlier patch deletes it",
                            patch.id()
                        ));
                    }
                    if !apply_to(&mut objects.list[at], patch.clone(), *options)? {
                        deleted.push(at);
                    }
                }
                remove(objects, &deleted);
                Ok(())
            }
            Self::Merge { patches, target: Some(target), options } => match patches.first() {
                Some(patch) => apply_to_all(objects, &objects.select(target), patch, *options),
                None => Ok(()),
            },
        }
    }
}

/// Applies the texts of `patchesStrategicMerge`, each of which may have several patches.
pub(crate) fn merge_all(objects: &mut Objects, patches: &[Resource]) -> Result<(), String> {
    for patch in patches {
        let at = objects.only(&patch.original_id())?;
        apply_to_all(objects, &[at], patch, PatchOptions::default())?;
    }
    Ok(())
}

/// Applies a patch that does not name its object itself.
fn apply_to_all(
    objects: &mut Objects,
    at: &[usize],
    patch: &Resource,
    options: PatchOptions,
) -> Result<(), String> {
    let mut deleted = Vec::new();
    for at in at.iter().copied() {
        let resource = &mut objects.list[at];
        let mut patch = patch.clone();
        let kind = patch.kind().to_owned();
        // Labels and annotations of such a patch are strings, even null: so kustomize has it.
        patch.set_labels(&patch.labels());
        patch.set_annotations(&patch.annotations());
        patch.set_gvk(&resource.gvk());
        patch.set_kind(&kind);
        if !apply_to(resource, patch, options)? {
            deleted.push(at);
        }
    }
    remove(objects, &deleted);
    let list = std::mem::take(&mut objects.list);
    list.into_iter()
        .try_for_each(|resource| objects.push(resource))
        .map_err(|Duplicate(id)| format!("the patch makes a second {id}"))
}

/// Says whether the object is still there.
fn apply_to(resource: &mut Resource, patch: Resource, options: PatchOptions) -> Result<bool, String> {
    let id = resource.id();
    let namespace = resource.namespace().to_owned();
    if options.allow_name_change || options.allow_kind_change {
        resource.remember_id();
    }
    let body = std::mem::take(&mut resource.body);
    let Some(merged) = merge(body, patch.body).map_err(|why| format!("{id}: {why}"))? else {
        return Ok(false);
    };
    resource.body = merged;
    if resource.body.is_empty() {
        return Ok(false);
    }
    if !options.allow_kind_change {
        resource.set_kind(&id.gvk.kind);
    }
    if !options.allow_name_change {
        resource.set_name(&id.name);
    }
    resource.set_namespace(&namespace);
    Ok(true)
}

fn remove(objects: &mut Objects, at: &[usize]) {
    let mut index = 0;
    objects.list.retain(|_| {
        index += 1;
        !at.contains(&(index - 1))
    });
}
