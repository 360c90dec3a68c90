//! What markers do to the schema they stand on.
//!
//! Markers of one node take effect from the lowest priority of the table to the highest, equal ones in the order of the source;
//! those for the items of a list come last. A marker that cannot have its effect is told, and changes nothing.

mod bounds;
mod documentation;
mod lists;
mod presence;
mod rules;
mod types;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    KindMarker, MARKER_OF_KIND, Options, docs,
    faults::Faults,
    generate::Generated,
    kind,
    node::{INT_OR_STRING, Node, PRESERVE, Site},
    union::external_variant,
};
use crate::{
    Style,
    diagnostic::Severity,
    marker::{Effect, Marker, SchemaEffect, Target},
};

/// The definitions of Kubernetes' own types, whose descriptions hold no markers for us.
const KUBERNETES: &str = "io.k8s.";

/// What a type that is looked at from outside is known by while markers take effect.
#[derive(Debug)]
pub(super) struct Effects<'a> {
    options: &'a Options,
    faults: &'a mut Faults,
    /// Fields in the order of their declaration, by definition.
    order: &'a BTreeMap<String, Vec<String>>,
    /// The definitions with the types that markers on them state, but without any other effect.
    types: BTreeMap<String, Node>,
    /// The type that is the kind, and the type of its spec.
    kinds: Vec<String>,
    kind_markers: Vec<KindMarker>,
}

/// A marker, and what it stands on.
#[derive(Clone, Copy, Debug)]
struct Placed<'m> {
    marker: &'m Marker,
    site: &'m Site,
}

// === impl Effects ===

impl<'a> Effects<'a> {
    /// Gives every marker in the doc comments of these types its effect. Returns those about the kind.
    pub(super) fn apply(
        definitions: &mut BTreeMap<String, Node>,
        generated: &'a Generated,
        options: &'a Options,
        faults: &'a mut Faults,
    ) -> Vec<KindMarker> {
        let mut kinds = vec![generated.name.clone()];
        let spec =
            definitions.get(&generated.name).and_then(|node| node.properties.get("spec")?.reference.clone());
        kinds.extend(spec);
        let mut effects = Effects {
            options,
            faults,
            order: &generated.order,
            types: BTreeMap::new(),
            kinds,
            kind_markers: Vec::new(),
        };

        let mut markers: BTreeMap<String, Vec<Marker>> = BTreeMap::new();
        for (name, node) in definitions.iter_mut().filter(|(name, _)| !name.starts_with(KUBERNETES)) {
            let docs = effects.docs(node, &[Target::Type, Target::Kind], &Site::of_type(name));
            markers.insert(name.clone(), docs);
        }
        effects.types = definitions.clone();
        for (name, markers) in &markers {
            if let Some(node) = effects.types.get_mut(name) {
                state_type(node, markers);
            }
        }
        for (name, node) in definitions.iter_mut().filter(|(name, _)| !name.starts_with(KUBERNETES)) {
            let markers = markers.remove(name).unwrap_or_default();
            let site = Site::of_type(name);
            let one_of = rules::members(&markers);
            effects.below(node, &site, &one_of);
            effects.kind_markers(&markers, name);
            effects.markers(node, &markers, &site);
        }
        let order = |marker: &KindMarker| effects.kinds.iter().position(|kind| *kind == marker.type_name);
        let mut kind_markers = std::mem::take(&mut effects.kind_markers);
        kind_markers.sort_by_key(order);
        kind_markers
    }

    /// Takes the doc comment of a node apart.
    fn docs(&mut self, node: &mut Node, targets: &[Target], site: &Site) -> Vec<Marker> {
        let Some(text) = node.text("description") else { return Vec::new() };
        let docs = docs::read(text, targets, site, self.options.style, self.faults);
        if docs.text.is_empty() {
            node.keywords.remove("description");
        } else {
            node.set("description", docs.text);
        }
        docs.markers
    }

    /// Everything below a node of a definition. `one_of` are the fields that may not be required.
    fn below(&mut self, node: &mut Node, site: &Site, one_of: &BTreeSet<String>) {
        let order = self.order;
        let declared = order.get(&site.type_name).map(Vec::as_slice).unwrap_or_default();
        let mut properties: Vec<(String, Node)> = std::mem::take(&mut node.properties).into_iter().collect();
        properties.sort_by_key(|(name, _)| {
            declared.iter().position(|declared| declared == name).unwrap_or(declared.len())
        });
        for (name, mut property) in properties {
            self.field(node, &name, &mut property, &Site::of_field(&site.type_name, &name), one_of);
            node.properties.insert(name, property);
        }
        let inner = node.items.as_deref_mut().into_iter().chain(node.additional.as_deref_mut());
        for child in inner {
            self.inner(child, site);
        }
        for variant in node.any_of.iter_mut().chain(&mut node.one_of) {
            // What is said of the variant is said of the property that it is written as.
            if let Some(name) = external_variant(variant).map(str::to_owned)
                && let Some(text) = variant.keywords.remove("description")
                && let Some(property) = variant.properties.get_mut(&name)
            {
                property.keywords.entry("description".to_owned()).or_insert(text);
            }
            self.inner(variant, site);
        }
        for child in node.all_of.iter_mut().chain(node.not.as_deref_mut()) {
            self.below(child, site, one_of);
        }
    }

    /// A schema that is neither a type of its own nor a field: the items of a list, or a variant.
    fn inner(&mut self, node: &mut Node, site: &Site) {
        let markers = self.docs(node, &[Target::Type], site);
        self.below(node, site, &BTreeSet::new());
        self.markers(node, &markers, site);
    }

    fn field(
        &mut self,
        parent: &mut Node,
        name: &str,
        node: &mut Node,
        site: &Site,
        one_of: &BTreeSet<String>,
    ) {
        let markers = self.docs(node, &[Target::Field], site);
        self.below(node, site, &BTreeSet::new());
        let was_required = parent.required.contains(name);
        self.require(parent, name, &markers, site, one_of);
        self.markers(node, &markers, site);
        self.presence(node, was_required && !parent.required.contains(name), &markers, site);
        if let Some(marker) = find(&markers, SchemaEffect::Immutable)
            && !parent.required.contains(name)
        {
            parent.rules.push(rules::immutable_once_set(name, Placed { marker, site }, self.options.style));
        }
    }

    fn markers(&mut self, node: &mut Node, markers: &[Marker], site: &Site) {
        let mut ordered: Vec<(SchemaEffect, &Marker)> = markers
            .iter()
            .filter_map(|marker| match marker.definition.effect {
                Effect::Schema(effect) => Some((effect, marker)),
                _ => None,
            })
            .collect();
        ordered.sort_by_key(|(effect, marker)| {
            // It gives way to an explicit bound, wherever that stands.
            let is_last = *effect == SchemaEffect::RequiredNotEmpty;
            (marker.on_items, marker.definition.priority, is_last)
        });
        for (effect, marker) in ordered {
            let placed = Placed { marker, site };
            if marker.on_items {
                self.on_items(node, effect, placed);
            } else {
                self.effect(node, effect, placed);
            }
        }
    }

    fn on_items(&mut self, node: &mut Node, effect: SchemaEffect, placed: Placed<'_>) {
        if self.kind(node).as_deref() != Some("array") {
            let found = self.describe(node);
            self.refuse(
                placed,
                "wrong-type",
                format!("`{}` is about the items of a list, but `{}` is {found}", placed.name(), placed.site),
            );
            return;
        }
        // If the list is behind a reference, what is said here is joined with its items later.
        let mut items = node.items.take().map(|items| *items).unwrap_or_default();
        let borrowed = if self.kind(&items).is_none() {
            kind::items(node, &self.types).and_then(|items| kind::kind(items, &self.types)).map(str::to_owned)
        } else {
            None
        };
        let (keyword, value) = match borrowed.as_deref() {
            Some(INT_OR_STRING) => (INT_OR_STRING, Value::Bool(true)),
            kind => ("type", kind.into()),
        };
        if borrowed.is_some() {
            items.keywords.insert(keyword.to_owned(), value);
        }
        self.effect(&mut items, effect, placed);
        if borrowed.is_some() && !items.markers.contains_key(keyword) {
            items.keywords.remove(keyword);
        }
        node.items = Some(Box::new(items));
    }

    fn effect(&mut self, node: &mut Node, effect: SchemaEffect, placed: Placed<'_>) {
        use SchemaEffect as S;
        match effect {
            S::Maximum | S::Minimum | S::MultipleOf => self.number(node, effect, placed),
            S::ExclusiveMaximum | S::ExclusiveMinimum => self.exclusive(node, effect, placed),
            S::MinLength | S::MaxLength | S::MinItems | S::MaxItems | S::MinProperties | S::MaxProperties => {
                self.size(node, effect, placed);
            }
            S::Pattern => self.pattern(node, placed),
            S::UniqueItems => self.unique_items(node, placed),
            S::Enum => self.enumeration(node, placed),
            S::EnumOfVariants => node.sorted_enum = Some(docs::source(placed.marker, placed.site)),
            S::Format => self.format(node, placed),
            S::Type => self.other_type(node, placed),
            S::PreserveUnknownFields => self.flag(node, PRESERVE, placed),
            S::EmbeddedResource => self.flag(node, "x-kubernetes-embedded-resource", placed),
            S::IntOrString => self.int_or_string(node, placed),
            S::Validation => self.rule(node, placed),
            S::AtMostOneOf | S::ExactlyOneOf | S::AtLeastOneOf => self.one_of(node, effect, placed),
            S::Immutable => rules::immutable(node, placed),
            S::RequiredNotEmpty => self.not_empty(node, placed),
            S::Nullable => self.flag(node, "nullable", placed),
            S::Default => self.default_value(node, placed),
            S::Example => self.example(node, placed),
            S::Schemaless => schemaless(node),
            S::Title => self.title(node, placed),
            S::ExternalDocs => self.external_docs(node, placed),
            S::ListType => self.list_type(node, placed),
            S::ListMapKey => self.list_map_key(node, placed),
            S::MapType => self.map_type(node, placed),
            S::StructType => self.map_type(node, placed),
            S::Description => self.description_limit(node, placed),
            S::Recursion => node.opens_recursion = true,
            // Said of the parent, before.
            S::Required | S::Optional => {}
        }
    }

    fn text(&mut self, node: &mut Node, keyword: &str, placed: Placed<'_>) {
        if let Some(value) = placed.marker.value() {
            self.set(node, keyword, value.clone(), placed);
        }
    }

    fn flag(&mut self, node: &mut Node, keyword: &str, placed: Placed<'_>) {
        self.set(node, keyword, Value::Bool(true), placed);
    }

    fn set(&mut self, node: &mut Node, keyword: &str, value: Value, placed: Placed<'_>) {
        node.markers.insert(keyword.to_owned(), docs::source(placed.marker, placed.site));
        node.keywords.insert(keyword.to_owned(), value);
    }

    /// Sets a keyword that a native attribute may have set as well: the two must say the same.
    fn agree(&mut self, node: &mut Node, keyword: &str, value: Value, placed: Placed<'_>) {
        if let Some(present) = node.get(keyword)
            && *present != value
            && !node.markers.contains_key(keyword)
            && self.options.style == Style::Kubewright
        {
            self.refuse(
                placed,
                "contradiction",
                format!(
                    "`{}` says that `{keyword}` is {value}, an attribute of `{}` that it is {present}",
                    placed.name(),
                    placed.site
                ),
            );
            return;
        }
        self.set(node, keyword, value, placed);
    }

    /// The JSON type of a node.
    fn kind(&self, node: &Node) -> Option<String> {
        kind::kind(node, &self.types).map(str::to_owned)
    }

    /// The JSON type of a node, for people.
    fn describe(&self, node: &Node) -> String {
        match self.kind(node).as_deref() {
            Some(INT_OR_STRING) => "a number or a string".to_owned(),
            Some(kind) if kind.starts_with(['a', 'i', 'o']) => format!("an {kind}"),
            Some(kind) => format!("a {kind}"),
            None => "of no known type".to_owned(),
        }
    }

    fn refuse(&mut self, placed: Placed<'_>, code: &str, message: String) {
        self.refuse_with(placed, code, message, "");
    }

    fn refuse_with(&mut self, placed: Placed<'_>, code: &str, message: String, help: &str) {
        self.tell(Severity::Error, placed, code, message, help);
    }

    fn warn(&mut self, placed: Placed<'_>, code: &str, message: String, help: &str) {
        self.tell(Severity::Warning, placed, code, message, help);
    }

    fn tell(&mut self, severity: Severity, placed: Placed<'_>, code: &str, message: String, help: &str) {
        let source = docs::source(placed.marker, placed.site);
        let range = match placed.marker.arguments.as_slice() {
            [only] if !only.range.is_empty() => Some(only.range.clone()),
            _ => None,
        };
        self.faults.marker(severity, code, &source, range, message, help);
    }

    fn kind_markers(&mut self, markers: &[Marker], name: &str) {
        for marker in markers.iter().filter(|marker| matches!(marker.definition.effect, Effect::Crd(_))) {
            if self.kinds.iter().any(|kind| kind == name) {
                self.kind_markers.push(KindMarker { type_name: name.to_owned(), marker: marker.clone() });
                continue;
            }
            let site = Site::of_type(name);
            self.warn(
                Placed { marker, site: &site },
                MARKER_OF_KIND,
                format!(
                    "`{}` is about a custom resource, and `{name}` is neither one nor the spec of this one",
                    marker.name
                ),
                "move it to the spec",
            );
        }
    }
}

// === impl Placed ===

impl Placed<'_> {
    /// The marker's name as it was written.
    fn name(&self) -> &str {
        self.marker.name
    }
}

fn find(markers: &[Marker], effect: SchemaEffect) -> Option<&Marker> {
    markers.iter().find(|marker| marker.definition.effect == Effect::Schema(effect))
}

/// A marker on a type that says which JSON type it has is seen by the markers on fields of that type.
fn state_type(node: &mut Node, markers: &[Marker]) {
    for marker in markers.iter().filter(|marker| !marker.on_items) {
        match marker.definition.effect {
            Effect::Schema(SchemaEffect::Type) => {
                if let Some(value) = marker.value() {
                    node.keywords.insert("type".to_owned(), value.clone());
                }
            }
            Effect::Schema(SchemaEffect::IntOrString) => node.set(INT_OR_STRING, true),
            Effect::Schema(SchemaEffect::ListType) => {
                if let Some(value) = marker.value() {
                    node.keywords.insert(super::node::LIST_TYPE.to_owned(), value.clone());
                }
            }
            _ => {}
        }
    }
}

/// Forgets all that the Rust type says.
fn schemaless(node: &mut Node) {
    let description = node.keywords.remove("description");
    *node = Node { site: node.site.take(), optional: node.optional, ..Node::default() };
    node.keywords.extend(description.map(|text| ("description".to_owned(), text)));
}
