//! Enums: from alternatives, each a whole schema, to one structure and what each alternative says in addition.
//!
//! A structural schema states types, properties and defaults once, outside of `oneOf` and `anyOf`; inside, only values are
//! restricted. So the properties of all variants are put side by side, and each variant keeps what it requires. The API
//! server drops what is in no variant, and refuses what fits none:
//!
//! | serde | schema |
//! |---|---|
//! | unit variants | a string with `enum`; what the variants' docs say is added to the description |
//! | externally tagged | a property per variant, `oneOf` of `required` |
//! | internally or adjacently tagged | the tag is a string with `enum`; `oneOf` of the tag's value and what it requires |
//! | untagged | `anyOf` of what the variants require; a number or a string is an int-or-string |
//!
//! A variant that is a string beside one that is an object has no structure, and is an error.

mod unite;

use serde_json::Value;

use super::{
    faults::Faults,
    node::{INT_OR_STRING, Node, PRESERVE, Site},
};

/// Makes alternatives structural.
#[derive(Debug)]
pub(super) struct Unions<'a> {
    pub(super) faults: &'a mut Faults,
}

// === impl Unions ===

impl Unions<'_> {
    /// Gives the node, whose children are done, one structure.
    pub(super) fn structure(&mut self, node: &mut Node) {
        if node.is(INT_OR_STRING) && is_int_or_string(&node.any_of) {
            return;
        }
        // A flattened enum that is not the only one stands in an `allOf`.
        for part in std::mem::take(&mut node.all_of) {
            if !has_structure(&part.any_of) && !has_structure(&part.one_of) {
                node.all_of.push(part);
                continue;
            }
            for (variants, is_one_of) in [(part.any_of, false), (part.one_of, true)] {
                self.alternatives(node, variants, is_one_of);
            }
        }
        for is_one_of in [false, true] {
            let list = if is_one_of { &mut node.one_of } else { &mut node.any_of };
            if has_structure(list) || list.iter().any(Node::says_nothing) {
                let variants = std::mem::take(list);
                self.alternatives(node, variants, is_one_of);
            }
        }
    }

    fn alternatives(&mut self, node: &mut Node, mut variants: Vec<Node>, is_one_of: bool) {
        if variants.is_empty() {
            return;
        }
        // Beside the fields of a struct, a branch that says nothing is a flattened `Option`; alone, it is any value.
        if node.own_type().is_none() && node.properties.is_empty() && variants.iter().any(Node::says_nothing)
        {
            node.set(PRESERVE, true);
            return;
        }
        let site = node.site.clone().unwrap_or_else(|| Site::of_type(""));
        for variant in &mut variants {
            if let Some(name) = external_variant(variant).map(str::to_owned) {
                self.describe_property(variant, &name);
            }
        }
        let united = self.unite(variants, &site);
        let rests = if united.tells_apart() { united.rests } else { Vec::new() };
        let common = united.common;
        if node.own_type().is_none() && !node.is(PRESERVE) {
            for keyword in ["type", INT_OR_STRING, PRESERVE] {
                if let Some(value) = common.get(keyword) {
                    node.set(keyword, value.clone());
                }
            }
        }
        for (keyword, value) in common.keywords {
            node.keywords.entry(keyword).or_insert(value);
        }
        for (name, property) in common.properties {
            node.properties.entry(name).or_insert(property);
        }
        node.required.extend(common.required);
        node.items = node.items.take().or(common.items);
        node.additional = node.additional.take().or(common.additional);
        node.rules.extend(common.rules);
        node.variants.extend(common.variants);
        node.optional |= common.optional;
        if node.any_of.is_empty() {
            node.any_of = common.any_of;
        }
        if rests.is_empty() {
            return;
        }
        let list = if is_one_of { &mut node.one_of } else { &mut node.any_of };
        if list.is_empty() {
            *list = rests;
        } else if is_one_of {
            node.all_of.push(Node { one_of: rests, ..Node::default() });
        } else {
            node.all_of.push(Node { any_of: rests, ..Node::default() });
        }
    }

    /// The documentation of a variant is that of its property.
    fn describe_property(&mut self, variant: &mut Node, name: &str) {
        let Some(property) = variant.properties.get_mut(name) else { return };
        for keyword in super::node::DOCUMENTATION {
            if let Some(value) = variant.keywords.remove(keyword) {
                property.keywords.insert(keyword.to_owned(), value);
            }
        }
    }
}

/// The name of the variant, if this is how serde writes an externally tagged one.
pub(super) fn external_variant(variant: &Node) -> Option<&str> {
    let mut names = variant.properties.keys();
    let name = names.next()?;
    (variant.closed && names.next().is_none() && variant.required.contains(name)).then_some(name)
}

/// Whether these are types to choose from, and not mere restrictions of values.
pub(super) fn has_structure(branches: &[Node]) -> bool {
    branches.iter().any(|branch| {
        branch.own_type().is_some()
            || branch.reference.is_some()
            || branch.is(INT_OR_STRING)
            || branch.is(PRESERVE)
            || has_structure(&branch.any_of)
            || has_structure(&branch.one_of)
    })
}

/// The form in which a structural schema may name types inside `anyOf`.
fn is_int_or_string(branches: &[Node]) -> bool {
    branches.len() == 2
        && [Node::of_type("integer"), Node::of_type("string")].iter().all(|branch| branches.contains(branch))
}

/// The documentation of values, added to a description in the way Kubernetes documents its own enums.
pub(super) fn describe_variants(description: &mut String, variants: &[(String, String)]) {
    if variants.is_empty() {
        return;
    }
    if !description.is_empty() {
        description.push_str("\n\n");
    }
    description.push_str("Possible enum values:");
    for (value, text) in variants {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        description.push_str(&format!("\n - `{}` {text}", Value::from(value.as_str())));
    }
}
