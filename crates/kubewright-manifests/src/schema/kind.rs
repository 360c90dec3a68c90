//! What JSON type a schema has, before its references are resolved: markers must know what they stand on.

use std::collections::BTreeMap;

use super::node::{INT_OR_STRING, Node};

/// How many references are followed from one type to the next.
const DEPTH: usize = 64;

/// The JSON type of this schema, or `x-kubernetes-int-or-string`; none if it may be anything, or if that is not known.
pub(super) fn kind<'n>(node: &'n Node, definitions: &'n BTreeMap<String, Node>) -> Option<&'n str> {
    find(node, definitions, 0)
}

/// The schema of the items of this list, which may be behind references.
pub(super) fn items<'n>(node: &'n Node, definitions: &'n BTreeMap<String, Node>) -> Option<&'n Node> {
    follow(node, definitions, |node| node.items.as_deref())
}

/// The first answer of this schema or of one that it refers to.
pub(super) fn follow<'n, A>(
    mut node: &'n Node,
    definitions: &'n BTreeMap<String, Node>,
    ask: impl Fn(&'n Node) -> Option<A>,
) -> Option<A> {
    for _ in 0..DEPTH {
        if let Some(answer) = ask(node) {
            return Some(answer);
        }
        node = definitions.get(node.reference.as_deref()?)?;
    }
    None
}

fn find<'n>(node: &'n Node, definitions: &'n BTreeMap<String, Node>, depth: usize) -> Option<&'n str> {
    if depth > DEPTH {
        return None;
    }
    if let Some(own) = own(node) {
        return Some(own);
    }
    if let Some(definition) = node.reference.as_ref().and_then(|name| definitions.get(name)) {
        return find(definition, definitions, depth + 1);
    }
    let mut kinds = node
        .any_of
        .iter()
        .chain(&node.one_of)
        .filter(|branch| !branch.says_nothing())
        .map(|branch| find(branch, definitions, depth + 1));
    let first = kinds.next()??;
    let mut all = first;
    for kind in kinds {
        let kind = kind?;
        all = match (all, kind) {
            (all, kind) if all == kind => all,
            ("integer" | "string" | INT_OR_STRING, "integer" | "string" | INT_OR_STRING) => INT_OR_STRING,
            ("integer" | "number", "integer" | "number") => "number",
            _ => return None,
        };
    }
    Some(all)
}

fn own(node: &Node) -> Option<&str> {
    node.own_type().or_else(|| node.is(INT_OR_STRING).then_some(INT_OR_STRING))
}
