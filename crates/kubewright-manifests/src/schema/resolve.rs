//! Puts definitions in the place of the references to them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Options,
    faults::Faults,
    merge::Merger,
    node::{INT_OR_STRING, LIST_TYPE, MAP_TYPE, Node, PRESERVE, Site},
    union::Unions,
};
use crate::diagnostic::Severity;

/// How many definitions are written out that cannot be kept for the next reference to them, because they are part of a cycle.
const LIMIT: usize = 10_000;

/// Resolves references, from the innermost types outward.
#[derive(Debug)]
pub(super) struct Resolver<'a> {
    definitions: &'a BTreeMap<String, Node>,
    options: &'a Options,
    faults: &'a mut Faults,
    resolved: BTreeMap<String, Node>,
    /// The definitions that are being written out, each with what referred to it.
    stack: Vec<(String, Option<Site>)>,
    /// How many fields around this place end a recursion.
    opened: usize,
    /// How often a cycle was met.
    cycles: usize,
    unkept: usize,
}

// === impl Resolver ===

impl<'a> Resolver<'a> {
    pub(super) fn new(
        definitions: &'a BTreeMap<String, Node>,
        options: &'a Options,
        faults: &'a mut Faults,
    ) -> Self {
        Self {
            definitions,
            options,
            faults,
            resolved: BTreeMap::new(),
            stack: Vec::new(),
            opened: 0,
            cycles: 0,
            unkept: 0,
        }
    }

    /// The definition without references.
    pub(super) fn definition(&mut self, name: &str, from: Option<&Site>) -> Node {
        if let Some(resolved) = self.resolved.get(name) {
            return resolved.clone();
        }
        let Some(definition) = self.definitions.get(name) else {
            let site = from.cloned().unwrap_or_else(|| Site::of_type(name));
            self.faults.error(
                "unknown-definition",
                &site,
                format!("`{site}` refers to `{name}`, which the schema of the type does not define"),
                "take references in a `schema_with` function from `SchemaGenerator::subschema_for`",
            );
            return Node::any();
        };
        if let Some(start) = self.stack.iter().position(|(above, _)| above == name) {
            return self.cycle(start, name, from);
        }
        let cycles = self.cycles;
        self.stack.push((name.to_owned(), from.cloned()));
        let node = self.node(definition.clone());
        self.stack.pop();
        if self.cycles == cycles {
            self.resolved.insert(name.to_owned(), node.clone());
        } else {
            self.unkept += 1;
        }
        node
    }

    fn node(&mut self, mut node: Node) -> Node {
        let opens = usize::from(node.opens_recursion);
        self.opened += opens;
        for child in node.children_mut() {
            *child = self.node(std::mem::take(child));
        }
        if let Some(reference) = node.reference.take() {
            let of_type = self.definition(&reference, node.site.as_ref());
            node = Merger { style: self.options.style, faults: self.faults }.field(of_type, node);
        }
        Unions { faults: self.faults }.structure(&mut node);
        only_sets_of_scalars(&mut node);
        self.sort_enum(&mut node);
        self.opened -= opens;
        node
    }

    /// `k8s:enum` on a type.
    fn sort_enum(&mut self, node: &mut Node) {
        let Some(source) = node.sorted_enum.take() else { return };
        match node.keywords.get_mut("enum").and_then(Value::as_array_mut) {
            Some(values) => values.sort_by_key(ToString::to_string),
            None => self.faults.marker(
                Severity::Error,
                "no-variants",
                &source,
                None,
                format!("`{}` is no enum whose variants are all units", source.site),
                "derive `JsonSchema` for an enum, or list the values with `+kubebuilder:validation:Enum`",
            ),
        }
    }

    /// A type that is being written out is referred to again.
    fn cycle(&mut self, start: usize, name: &str, from: Option<&Site>) -> Node {
        self.cycles += 1;
        if self.opened == 0 || self.unkept > LIMIT {
            let steps = self.stack.iter().skip(start + 1).filter_map(|(_, from)| from.as_ref()).chain(from);
            let steps: Vec<String> = steps.map(Site::to_string).collect();
            let site = from.cloned().unwrap_or_else(|| Site::of_type(name));
            self.faults.error(
                "recursive-type",
                &site,
                format!(
                    "`{name}` contains itself ({} -> {name}), and a CRD is finite: it cannot describe a type of any depth",
                    steps.join(" -> ")
                ),
                "mark the field with `+kubewright:recursion=preserveUnknownFields`: from there on the API server takes any value",
            );
        }
        let mut node = Node::default();
        if let Some(own_type) = self.definitions.get(name).and_then(Node::own_type)
            && own_type == "object"
        {
            node.set("type", own_type);
        }
        node.set(PRESERVE, true);
        node
    }
}

/// Rust's sets may hold anything; those of the API server what is compared as a whole.
fn only_sets_of_scalars(node: &mut Node) {
    if node.text(LIST_TYPE) != Some("set") || node.markers.contains_key(LIST_TYPE) {
        return;
    }
    let Some(items) = node.items.as_deref() else { return };
    let is_whole = match items.own_type() {
        Some("object") => items.text(MAP_TYPE) == Some("atomic"),
        Some("array") => items.text(LIST_TYPE) == Some("atomic"),
        Some(_) => true,
        None => items.is(INT_OR_STRING),
    };
    if !is_whole {
        node.keywords.remove(LIST_TYPE);
    }
}
