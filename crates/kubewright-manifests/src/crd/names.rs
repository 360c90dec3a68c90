//! The names, the scope and the metadata of a kind.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::statement::{Statement, agreed, listed, quoted};
use crate::{
    diagnostic::{Diagnostic, Place},
    naming::plural,
    schema::Origin,
};

/// What is said of the names, the scope and the metadata of a kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) plural: Vec<Statement<String>>,
    pub(super) singular: Vec<Statement<String>>,
    pub(super) scope: Vec<Statement<String>>,
    pub(super) short_names: Vec<Statement<Vec<String>>>,
    pub(super) categories: Vec<Statement<Vec<String>>>,
    pub(super) annotations: BTreeMap<String, Vec<Statement<String>>>,
    pub(super) labels: BTreeMap<String, Vec<Statement<String>>>,
}

/// The names, the scope and the metadata on which all agree.
#[derive(Debug)]
pub(super) struct Agreed {
    pub(super) plural: String,
    pub(super) scope: String,
    pub(super) annotations: Map<String, Value>,
    pub(super) labels: Map<String, Value>,
    pub(super) names: Value,
}

// === impl Names ===

impl Names {
    /// Adds what another version says.
    pub(super) fn extend(&mut self, other: &Self) {
        self.plural.extend_from_slice(&other.plural);
        self.singular.extend_from_slice(&other.singular);
        self.scope.extend_from_slice(&other.scope);
        self.short_names.extend_from_slice(&other.short_names);
        self.categories.extend_from_slice(&other.categories);
        for (all, more) in [(&mut self.annotations, &other.annotations), (&mut self.labels, &other.labels)] {
            for (key, statements) in more {
                all.entry(key.clone()).or_default().extend_from_slice(statements);
            }
        }
    }

    /// Settles what is said, and what nobody said as the field does: the plural of English, the singular in lower
    /// case, `Namespaced`.
    pub(super) fn agree(&self, kind: &str, diagnostics: &mut Vec<Diagnostic>) -> Agreed {
        let plural = agreed("the plural name", &self.plural, |name| quoted(name), diagnostics)
            .unwrap_or_else(|| plural(kind));
        let singular = agreed("the singular name", &self.singular, |name| quoted(name), diagnostics)
            .unwrap_or_else(|| kind.to_lowercase());
        let scope = agreed("the scope", &self.scope, |name| quoted(name), diagnostics)
            .unwrap_or_else(|| "Namespaced".to_owned());
        let mut names = Map::new();
        names.insert("kind".to_owned(), kind.into());
        names.insert("listKind".to_owned(), format!("{kind}List").into());
        names.insert("plural".to_owned(), plural.as_str().into());
        names.insert("singular".to_owned(), singular.into());
        for (key, what, lists) in [
            ("shortNames", "the list of short names", &self.short_names),
            ("categories", "the list of categories", &self.categories),
        ] {
            if let Some(items) = agreed(what, lists, |items| listed(items), diagnostics)
                && !items.is_empty()
            {
                names.insert(key.to_owned(), without_repetition(items).into());
            }
        }
        let mut settle = |what: &str,
                          entries: &BTreeMap<String, Vec<Statement<String>>>|
         -> Map<String, Value> {
            entries
                .iter()
                .filter_map(|(key, statements)| {
                    let value =
                        agreed(&format!("the {what} `{key}`"), statements, |name| quoted(name), diagnostics)?;
                    Some((key.clone(), value.into()))
                })
                .collect()
        };
        Agreed {
            annotations: settle("annotation", &self.annotations),
            labels: settle("label", &self.labels),
            plural,
            scope,
            names: names.into(),
        }
    }

    /// Where the parts of the document come from that belong to the kind. Of those that nobody speaks of, `type_name` is to be
    /// asked: the type of the first version.
    pub(super) fn origins(&self, type_name: &str) -> Vec<Origin> {
        let origin = |path: &str, keyword: &str, place: Option<&Place>| {
            let (type_name, field, marker) = match place {
                None => (type_name.to_owned(), None, String::new()),
                Some(Place::Doc { type_name, field, marker, .. }) => {
                    (type_name.clone(), field.clone(), marker.clone())
                }
                Some(_) => return None,
            };
            Some(Origin { path: path.to_owned(), keyword: keyword.to_owned(), type_name, field, marker })
        };
        let usual = ["metadata", "spec.group", "spec.names", "spec.scope"];
        let usual = usual.into_iter().map(|path| origin(path, "", None));
        // The name of the definition is made of the plural.
        let names = [
            ("metadata", "name", places(&self.plural)),
            ("spec.names", "plural", places(&self.plural)),
            ("spec.names", "singular", places(&self.singular)),
            ("spec", "scope", places(&self.scope)),
            ("spec.names", "shortNames", places(&self.short_names)),
            ("spec.names", "categories", places(&self.categories)),
            ("metadata", "annotations", places(self.annotations.values().flatten())),
            ("metadata", "labels", places(self.labels.values().flatten())),
        ];
        let said = names
            .into_iter()
            .flat_map(|(path, keyword, places)| places.into_iter().map(move |place| (path, keyword, place)))
            .map(|(path, keyword, place)| origin(path, keyword, Some(place)));
        usual.chain(said).flatten().collect()
    }
}

fn places<'a, T: 'a>(statements: impl IntoIterator<Item = &'a Statement<T>>) -> Vec<&'a Place> {
    statements.into_iter().map(|statement| &statement.place).collect()
}

// === impl Agreed ===

impl Agreed {
    /// The metadata of the definition: its name, and annotations and labels if there are any.
    pub(super) fn metadata(self, group: &str) -> Value {
        let mut metadata = Map::new();
        metadata.insert("name".to_owned(), json!(format!("{}.{group}", self.plural)));
        for (key, entries) in [("annotations", self.annotations), ("labels", self.labels)] {
            if !entries.is_empty() {
                metadata.insert(key.to_owned(), entries.into());
            }
        }
        metadata.into()
    }
}

fn without_repetition(items: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter(|item| seen.insert(item.clone())).collect()
}
