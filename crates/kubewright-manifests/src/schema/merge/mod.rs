//! A type, and what a field that has it says in addition.
//!
//! controller-gen joins the two with its own rules, which leave both bounds in an `allOf` where they differ. That hides them
//! from the API server's estimate of the cost of CEL rules, so in our style the tighter bound alone is written.

mod tighten;

use serde_json::Value;

use super::{
    faults::Faults,
    node::{DOCUMENTATION, LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, Node, PRESERVE, Site},
};
use crate::Style;

/// Keywords for which the field's word counts.
const OF_THE_FIELD: [&str; 5] = [PRESERVE, MAP_TYPE, LIST_TYPE, LIST_MAP_KEYS, "default"];

/// Bounds that controller-gen takes for different even if they are equal.
const NEVER_EQUAL: [&str; 7] =
    ["maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems", "multipleOf"];

/// Joins types and fields.
#[derive(Debug)]
pub(super) struct Merger<'a> {
    pub(super) style: Style,
    pub(super) faults: &'a mut Faults,
}

// === impl Merger ===

impl Merger<'_> {
    /// The type's schema with what the field says.
    pub(super) fn field(&mut self, of_type: Node, of_field: Node) -> Node {
        let site = of_field.site.clone().or_else(|| of_type.site.clone());
        let mut of_field = of_field;
        let mut documentation = Vec::new();
        for keyword in DOCUMENTATION {
            let Some(value) = of_field.keywords.remove(keyword) else { continue };
            let source = of_field.markers.remove(keyword);
            if value != Value::String(String::new()) {
                documentation.push((keyword, value, source));
            }
        }
        let mut merged = of_type;
        self.join(&mut merged, of_field, site.as_ref());
        for (keyword, value, source) in documentation {
            merged.set(keyword, value);
            match source {
                Some(source) => merged.markers.insert(keyword.to_owned(), source),
                None => merged.markers.remove(keyword),
            };
        }
        merged.site = site;
        merged
    }

    /// Adds what `source` says to `target`.
    fn join(&mut self, target: &mut Node, mut source: Node, site: Option<&Site>) {
        // What was set apart stays so; only then do the node's own keywords meet.
        for embedded in std::mem::take(&mut source.all_of) {
            self.join(target, embedded, site);
        }
        if self.style == Style::Kubewright {
            tighten::bounds(target, &mut source);
        }
        let mut theirs = Node::default();
        let mut ours = Node::default();
        let mut markers = source.markers;
        for (keyword, value) in source.keywords {
            let marker = markers.remove(&keyword);
            let Some(present) = target.keywords.get(&keyword) else {
                target.markers.extend(marker.map(|marker| (keyword.clone(), marker)));
                target.keywords.insert(keyword, value);
                continue;
            };
            if *present == value && !(self.style == Style::ControllerGen && NEVER_EQUAL.contains(&&*keyword))
            {
                continue;
            }
            let replaced = match keyword.as_str() {
                keyword if DOCUMENTATION.contains(&keyword) => None,
                keyword if OF_THE_FIELD.contains(&keyword) => Some(value),
                "type" => {
                    self.conflicting_types(present, &value, site);
                    None
                }
                "enum" if self.style == Style::ControllerGen => None,
                keyword => {
                    let tightened = match self.style {
                        Style::Kubewright => tighten::tighten(keyword, present, &value),
                        Style::ControllerGen if keyword.ends_with("Properties") && *present == value => {
                            continue;
                        }
                        Style::ControllerGen => None,
                    };
                    if tightened.is_none() {
                        theirs.keywords.insert(keyword.to_owned(), present.clone());
                        theirs.markers.extend(target.markers.remove_entry(keyword));
                        ours.keywords.insert(keyword.to_owned(), value);
                        ours.markers.extend(marker.map(|marker| (keyword.to_owned(), marker)));
                        target.keywords.remove(keyword);
                        continue;
                    }
                    tightened.filter(|tightened| tightened != present)
                }
            };
            if let Some(value) = replaced {
                match marker {
                    Some(marker) => target.markers.insert(keyword.clone(), marker),
                    None => target.markers.remove(&keyword),
                };
                target.keywords.insert(keyword, value);
            }
        }
        for (name, property) in source.properties {
            match target.properties.get_mut(&name) {
                Some(present) => self.join(present, property, site),
                None => {
                    target.properties.insert(name, property);
                }
            }
        }
        target.required.extend(source.required);
        self.join_child(&mut target.items, source.items, site);
        self.join_child(&mut target.additional, source.additional, site);
        for (present, added, theirs, ours) in [
            (&mut target.any_of, source.any_of, &mut theirs.any_of, &mut ours.any_of),
            (&mut target.one_of, source.one_of, &mut theirs.one_of, &mut ours.one_of),
        ] {
            if present.is_empty() {
                *present = added;
            } else if !added.is_empty() && *present != added {
                *theirs = std::mem::take(present);
                *ours = added;
            }
        }
        match (target.not.take(), source.not) {
            (Some(present), Some(added)) if present != added => {
                theirs.not = Some(present);
                ours.not = Some(added);
            }
            (present, added) => target.not = present.or(added),
        }
        let mut rules = source.rules;
        rules.append(&mut target.rules);
        target.rules = rules;
        target.closed |= source.closed;
        target.optional |= source.optional;
        target.description_limit = source.description_limit.or(target.description_limit);
        target.sorted_enum = target.sorted_enum.take().or(source.sorted_enum);
        target.opens_recursion |= source.opens_recursion;
        for part in [theirs, ours] {
            if part != Node::default() {
                target.all_of.push(part);
            }
        }
    }

    fn join_child(&mut self, target: &mut Option<Box<Node>>, source: Option<Box<Node>>, site: Option<&Site>) {
        match (target.as_deref_mut(), source) {
            (Some(present), Some(added)) => self.join(present, *added, site),
            (None, added @ Some(_)) => *target = added,
            (_, None) => {}
        }
    }

    fn conflicting_types(&mut self, of_type: &Value, of_field: &Value, site: Option<&Site>) {
        let Some(site) = site else { return };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.faults.error(
            "conflicting-types",
            site,
            format!("`{site}` is said to be of type {}, but its Rust type is of type {}", text(of_field), text(of_type)),
            "replace the schema of the field's type with `#[schemars(with = \"…\")]`, or use `+kubebuilder:validation:Schemaless`",
        );
    }
}
