//! What is lost between versions that are not converted.
//!
//! With conversion strategy None the API server changes nothing but `apiVersion`. Objects are stored in one version and
//! served in others, so every served version is compared with the stored one. Only what is new is told: what was lost
//! before is nothing that the change breaks.

use std::collections::BTreeMap;

use kubewright_schema::Schema;

use super::{
    change::Change,
    definition::Definition,
    rule::{FIELD_LOST_BETWEEN_VERSIONS, Rule, TYPE_DIFFERS_BETWEEN_VERSIONS},
};

/// A difference: the served version, where, and what.
type Losses = BTreeMap<(String, String, &'static str), (String, &'static Rule)>;

pub(super) fn compare(old: &Definition, new: &Definition, changes: &mut Vec<Change>) {
    let known = losses(old);
    for ((version, path, id), (text, rule)) in losses(new) {
        // A swap of the stored version alone makes no new loss.
        if known.keys().any(|(_, known_path, known_id)| *known_path == path && *known_id == id) {
            continue;
        }
        let mut change = Change::new(rule, &new.name, path).values(None, Some(text.into()));
        change.version = Some(version);
        changes.push(change);
    }
}

fn losses(definition: &Definition) -> Losses {
    let mut losses = Losses::new();
    let Some(storage) = definition.storage() else { return losses };
    if definition.converts() {
        return losses;
    }
    for version in definition.versions.iter().filter(|version| version.served && version.name != storage.name)
    {
        let mut walk = Walk {
            names: [&version.name, &storage.name],
            version: &version.name,
            path: String::new(),
            losses: &mut losses,
        };
        walk.node(&version.schema, &storage.schema);
    }
    losses
}

struct Walk<'a> {
    names: [&'a str; 2],
    version: &'a str,
    path: String,
    losses: &'a mut Losses,
}

impl Walk<'_> {
    fn node(&mut self, a: &Schema, b: &Schema) {
        if (a.schema_type, a.int_or_string) != (b.schema_type, b.int_or_string) {
            let text = format!("{} in {}, {} in {}", type_of(a), self.names[0], type_of(b), self.names[1]);
            self.add(TYPE_DIFFERS_BETWEEN_VERSIONS, text);
            return;
        }
        for (name, property) in &a.properties {
            self.below(name, |walk| match b.field(name) {
                Some(other) => walk.node(property, other),
                None if b.preserve_unknown_fields => {}
                None => walk.missing(0),
            });
        }
        for name in b.properties.keys() {
            if a.field(name).is_none() && !a.preserve_unknown_fields {
                self.below(name, |walk| walk.missing(1));
            }
        }
        if let (Some(a), Some(b)) = (&a.items, &b.items) {
            self.indexed(|walk| walk.node(a, b));
        }
        if let (Some(a), Some(b)) = (a.additional_schema(), b.additional_schema()) {
            self.indexed(|walk| walk.node(a, b));
        }
    }

    fn missing(&mut self, has: usize) {
        let [first, second] = self.names;
        let (has, lacks) = if has == 0 { (first, second) } else { (second, first) };
        self.add(FIELD_LOST_BETWEEN_VERSIONS, format!("in {has}, not in {lacks}"));
    }

    fn add(&mut self, rule: &'static Rule, text: String) {
        self.losses.insert((self.version.to_owned(), self.path.clone(), rule.id), (text, rule));
    }

    fn below(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        super::schema::push_field(&mut self.path, name);
        visit(self);
        self.path.truncate(length);
    }

    fn indexed(&mut self, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str("[*]");
        visit(self);
        self.path.truncate(length);
    }
}

fn type_of(schema: &Schema) -> &'static str {
    match schema.schema_type {
        _ if schema.int_or_string => "int-or-string",
        Some(schema_type) => schema_type.as_str(),
        None => "any value",
    }
}
