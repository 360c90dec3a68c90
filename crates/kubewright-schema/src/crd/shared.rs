//! What all versions share stands at the top of the spec, what they do not share in each version.

use serde_json::Value;

use super::shown;

/// The parts of a version that move.
const PARTS: [&str; 4] = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"];

pub(super) struct Spec<'a> {
    pub(super) spec: &'a Value,
    pub(super) versions: Vec<Version<'a>>,
    /// The values that all versions share, in the order of `PARTS`; absent and null are shared as well.
    shared: [Option<&'a Value>; 4],
}

pub(super) struct Version<'a> {
    pub(super) version: &'a Value,
    own: [Option<&'a Value>; 4],
}

#[derive(Clone, Copy)]
pub(super) enum Part {
    Schema,
    Subresources,
    Columns,
    SelectableFields,
}

impl<'a> Spec<'a> {
    pub(super) fn new(spec: &'a Value) -> Self {
        let values: Vec<[Option<&'a Value>; 4]> = super::items(spec.get("versions"))
            .iter()
            .map(|version| PARTS.map(|part| present(version, part)))
            .collect();
        let mut shared = [None; 4];
        let mut is_shared = [false; 4];
        if let Some(first) = values.first() {
            for (index, value) in first.iter().enumerate() {
                is_shared[index] = values.iter().all(|version| version[index] == *value);
                shared[index] = value.filter(|_| is_shared[index]);
            }
        }
        let versions = super::items(spec.get("versions"))
            .iter()
            .zip(values)
            .map(|(version, mut own)| {
                for (value, is_shared) in own.iter_mut().zip(is_shared) {
                    if is_shared {
                        *value = None;
                    }
                }
                Version { version, own }
            })
            .collect();
        Self { spec, versions, shared }
    }

    pub(super) fn part(&self, part: Part) -> Option<&'a Value> {
        self.shared[part as usize]
    }
}

impl<'a> Version<'a> {
    pub(super) fn part(&self, part: Part) -> Option<&'a Value> {
        self.own[part as usize]
    }

    /// The version as it is in the internal form, as Go's JSON.
    pub(super) fn shown(&self) -> String {
        let mut version = self.version.clone();
        if let Some(fields) = version.as_object_mut() {
            for (part, own) in PARTS.into_iter().zip(self.own) {
                match own {
                    Some(own) => fields.insert(part.to_owned(), own.clone()),
                    None => fields.remove(part),
                };
            }
        }
        shown::version(&version)
    }
}

/// A part that is there. Empty lists are not.
fn present<'a>(version: &'a Value, part: &str) -> Option<&'a Value> {
    version.get(part).filter(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()))
}
