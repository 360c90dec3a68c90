//! The changes from one schema to another.
//!
//! Both trees are walked together. A structural schema states types, fields and bounds once and outside of `allOf`,
//! `anyOf`, `oneOf` and `not`, so along the walk looser is always looser; the combinations are compared as wholes.
//!
//! | file | idea |
//! |---|---|
//! | `fields.rs` | declared and undeclared fields, required ones, items |
//! | `presence.rs` | nulls and defaults: what is there when nothing was written |
//! | `bounds.rs` | lengths, counts, ranges |
//! | `values.rs` | formats, patterns, enums |
//! | `combinations.rs` | `allOf`, `anyOf`, `oneOf`, `not` |
//! | `rules.rs` | CEL rules |
//! | `ownership.rs` | list types, map types, keys: what server-side apply goes by |

mod bounds;
mod combinations;
mod fields;
mod ownership;
mod presence;
mod rules;
mod values;

use kubewright_schema::{ListType, Schema, Structural};
use serde_json::Value;

use super::{
    change::Change,
    rule::{EMBEDDED_RESOURCE_CHANGED, Rule, TYPE_CHANGED},
};

/// Finds the changes from the schema `old` to `new` of a version.
pub(super) fn compare(
    crd: &str,
    version: &str,
    old: &Structural,
    new: &Structural,
    changes: &mut Vec<Change>,
) {
    let mut walk = Walk { crd, version, path: String::new(), changes };
    walk.node(old, new, Surroundings { is_object: true, ..Surroundings::default() });
}

/// What stands around a node of the new schema.
#[derive(Clone, Copy, Debug, Default)]
struct Surroundings {
    /// Whether the node is a whole Kubernetes object, at the root.
    is_object: bool,
    /// Whether a rule, a count, a combination or a uniqueness around the node may tell whether it is there.
    watched: bool,
}

struct Walk<'a> {
    crd: &'a str,
    version: &'a str,
    path: String,
    changes: &'a mut Vec<Change>,
}

impl Walk<'_> {
    fn node(&mut self, old: &Schema, new: &Schema, around: Surroundings) {
        if old == new {
            return;
        }
        self.presence(old, new, around);
        if (old.schema_type, old.int_or_string) != (new.schema_type, new.int_or_string) {
            // Bounds of another type are no news any more.
            self.add(TYPE_CHANGED, Some("type"), Some(type_of(old)), Some(type_of(new)));
            return;
        }
        if old.embedded_resource != new.embedded_resource {
            self.add(EMBEDDED_RESOURCE_CHANGED, Some("x-kubernetes-embedded-resource"), None, None);
        }
        self.bounds(old, new);
        self.values(old, new);
        self.combinations(old, new);
        self.rules(old, new);
        self.ownership(old, new);
        let below = Surroundings { is_object: false, watched: around.watched || watches(new) };
        self.fields(old, new, around, below);
        self.items(old, new, below);
    }

    fn add(
        &mut self,
        rule: &'static Rule,
        keyword: Option<&'static str>,
        old: Option<Value>,
        new: Option<Value>,
    ) {
        let path = if self.path.is_empty() { "$" } else { &self.path };
        let mut change = Change::new(rule, self.crd, path).values(old, new);
        change.version = Some(self.version.to_owned());
        change.keyword = keyword;
        self.changes.push(change);
    }

    /// [`Walk::add`] for the field `name`.
    fn add_field(&mut self, rule: &'static Rule, name: &str, keyword: Option<&'static str>) {
        self.below_field(name, |walk| walk.add(rule, keyword, None, None));
    }

    fn below_field(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        push_field(&mut self.path, name);
        visit(self);
        self.path.truncate(length);
    }

    /// Visits the items of a list or the values of a map.
    fn below_all(&mut self, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str("[*]");
        visit(self);
        self.path.truncate(length);
    }
}

/// Extends a JSON path by a field, in quotes if it is no plain name.
pub(super) fn push_field(path: &mut String, name: &str) {
    let plain = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if plain {
        path.push('.');
        path.push_str(name);
    } else {
        path.push_str("['");
        path.push_str(&name.replace('\\', "\\\\").replace('\'', "\\'"));
        path.push_str("']");
    }
}

/// Whether the schema of a value has something that may tell which fields are below.
fn watches(schema: &Schema) -> bool {
    let combinations = [&schema.all_of, &schema.any_of, &schema.one_of];
    !schema.validations.is_empty()
        || !schema.enumeration.is_empty()
        || combinations.iter().any(|members| !members.is_empty())
        || schema.max_properties.is_some()
        || schema.not.is_some()
        || schema.list_type == Some(ListType::Set)
}

fn type_of(schema: &Schema) -> Value {
    match schema.schema_type {
        _ if schema.int_or_string => "int-or-string".into(),
        Some(schema_type) => schema_type.as_str().into(),
        None => "any".into(),
    }
}
