//! What several schemas have in common, and what is left of each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Unions;
use crate::schema::{
    cel,
    known::int_or_string,
    node::{DOCUMENTATION, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, Node, PRESERVE, Rule, Site},
};

/// The parts of a structure that only it may say, beside types.
const STRUCTURAL: [&str; 5] =
    ["x-kubernetes-embedded-resource", LIST_TYPE, LIST_MAP_KEYS, MAP_TYPE, "nullable"];

/// Alternatives, taken apart.
#[derive(Debug, Default)]
pub(super) struct United {
    /// What holds in all of them, and all of their structure.
    pub(super) common: Node,
    /// What each says in addition, one per alternative.
    pub(super) rests: Vec<Node>,
    /// Whether none of them is an alternative as well.
    pub(super) or_none: bool,
}

// === impl United ===

impl United {
    /// Whether the alternatives restrict anything that the common part does not say already.
    pub(super) fn tells_apart(&self) -> bool {
        !self.or_none && self.rests.iter().all(|rest| *rest != Node::default()) && !only_one_enum(&self.rests)
    }
}

// === impl Unions ===

impl Unions<'_> {
    pub(super) fn unite(&mut self, mut variants: Vec<Node>, site: &Site) -> United {
        // A branch that says nothing is the absence of a flattened enum: nothing is required then.
        let count = variants.len();
        variants.retain(|variant| !variant.says_nothing());
        let has_empty = variants.len() < count;
        let Some(mut common) = self.common_type(&mut variants, site) else {
            return United { common: Node { site: Some(site.clone()), ..Node::any() }, ..United::default() };
        };
        common.site = Some(site.clone());
        let mut rests = vec![Node::default(); variants.len()];

        if common.is(INT_OR_STRING) {
            either(&mut common, &variants);
            return United { common, ..United::default() };
        }
        documented_values(&mut common, &variants);
        self.keywords(&mut common, &mut rests, &variants, site);
        self.properties(&mut common, &mut rests, &variants, site);
        required(&mut common, &mut rests, &variants, has_empty);
        self.rules(&mut common, &rests, &variants, site);
        for (rest, variant) in rests.iter_mut().zip(&mut variants) {
            rest.all_of.append(&mut variant.all_of);
            rest.any_of.append(&mut variant.any_of);
            rest.one_of.append(&mut variant.one_of);
            rest.not = variant.not.take();
        }
        let items: Vec<(usize, Node)> = take_children(&mut variants, |variant| variant.items.take());
        if !items.is_empty() {
            let (indices, nodes): (Vec<usize>, Vec<Node>) = items.into_iter().unzip();
            let united = self.unite(nodes, site);
            for (index, rest) in indices.into_iter().zip(united.rests) {
                rests[index].items = Some(Box::new(rest)).filter(|rest| **rest != Node::default());
            }
            common.items = Some(Box::new(united.common));
        }
        self.additional(&mut common, &mut variants, site);
        United { common, rests, or_none: has_empty }
    }

    /// The type that all variants have. Tells the fault if there is none.
    fn common_type(&mut self, variants: &mut [Node], site: &Site) -> Option<Node> {
        let mut types = BTreeSet::new();
        for variant in variants.iter() {
            match variant.own_type() {
                Some(own_type) => types.insert(own_type),
                None if variant.is(INT_OR_STRING) => types.insert(INT_OR_STRING),
                // Any value is allowed in one variant, so it is in all of them together.
                None if variant.is(PRESERVE) => return None,
                None => false,
            };
        }
        let types: Vec<&str> = types.into_iter().collect();
        match *types.as_slice() {
            [INT_OR_STRING]
            | ["integer", "string"]
            | [_, INT_OR_STRING]
            | ["integer", "string", INT_OR_STRING]
                if types.iter().all(|name| ["integer", "string", INT_OR_STRING].contains(name)) =>
            {
                Some(int_or_string())
            }
            [own_type] => Some(Node::of_type(own_type)),
            ["integer", "number"] => Some(Node::of_type("number")),
            [] => Some(Node::default()),
            _ => {
                self.faults.error(
                    "several-types",
                    site,
                    format!(
                        "`{site}` is written as {} depending on the variant, but a field of a CRD has one type",
                        join_or(&types)
                    ),
                    "give the enum a tag with `#[serde(tag = \"type\")]` and its variants fields, or take any value with `+kubebuilder:validation:Schemaless` and `+kubebuilder:pruning:PreserveUnknownFields`",
                );
                None
            }
        }
    }

    fn keywords(&mut self, common: &mut Node, rests: &mut [Node], variants: &[Node], site: &Site) {
        let names: BTreeSet<&String> = variants.iter().flat_map(|variant| variant.keywords.keys()).collect();
        for name in names {
            if name == "type" || DOCUMENTATION.contains(&name.as_str()) {
                continue;
            }
            let values: Vec<Option<&Value>> = variants.iter().map(|variant| variant.get(name)).collect();
            let first = values.iter().flatten().copied().next();
            let agree = values.iter().all(|value| *value == first);
            if let Some(first) = first
                && (agree || STRUCTURAL.contains(&name.as_str()) || name == PRESERVE)
            {
                common.keywords.insert(name.clone(), first.clone());
                continue;
            }
            match name.as_str() {
                "default" => self.faults.warning(
                    "default-of-variant",
                    site,
                    format!(
                        "`{site}` has no one default, because its variants differ in it: none is written"
                    ),
                    "",
                ),
                "enum" => {
                    // The values of all variants together; each variant keeps its own.
                    if values.iter().all(Option::is_some) {
                        let mut all: Vec<Value> = Vec::new();
                        for value in values.iter().flatten().filter_map(|value| value.as_array()).flatten() {
                            if !all.contains(value) {
                                all.push(value.clone());
                            }
                        }
                        common.set("enum", all);
                    }
                    keep(rests, &values, name);
                }
                // An integer of one size beside one of another.
                "format" if common.own_type() != Some("string") => {}
                name if name.starts_with("x-") => {}
                name => keep(rests, &values, name),
            }
        }
    }

    fn properties(&mut self, common: &mut Node, rests: &mut [Node], variants: &[Node], site: &Site) {
        let mut owners: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
        for (index, variant) in variants.iter().enumerate() {
            for name in variant.properties.keys() {
                owners.entry(name).or_default().push(index);
            }
        }
        for (name, owners) in owners {
            let mut nodes: Vec<Node> =
                owners.iter().filter_map(|index| variants[*index].properties.get(name).cloned()).collect();
            if owners.len() < variants.len() {
                // The API server would put it into the other variants as well.
                for node in &mut nodes {
                    if node.keywords.remove("default").is_some() {
                        node.markers.remove("default");
                        let site = node.site.clone().unwrap_or_else(|| site.clone());
                        self.faults.warning(
                            "default-of-variant",
                            &site,
                            format!("the default of `{site}` is not written: the API server would set it in every variant"),
                            "set it when the object is read, as `#[serde(default)]` does",
                        );
                    }
                }
            }
            let property = match <[Node; 1]>::try_from(nodes) {
                Ok([only]) => only,
                Err(nodes) => {
                    let site =
                        nodes.iter().find_map(|node| node.site.clone()).unwrap_or_else(|| site.clone());
                    let mut documentation = Node::default();
                    for keyword in DOCUMENTATION {
                        if let Some(value) = nodes.iter().find_map(|node| node.get(keyword)) {
                            documentation.set(keyword, value.clone());
                        }
                    }
                    let united = self.unite(nodes, &site);
                    for (index, rest) in owners.into_iter().zip(united.rests) {
                        // Nothing may be said of metadata inside of a value validation.
                        if rest != Node::default() && name != "metadata" {
                            rests[index].properties.insert(name.clone(), rest);
                        }
                    }
                    let mut property = united.common;
                    property.keywords.extend(documentation.keywords);
                    property
                }
            };
            common.properties.insert(name.clone(), property);
        }
    }

    /// Rules of a variant hold for it alone. The tag says which it is.
    fn rules(&mut self, common: &mut Node, rests: &[Node], variants: &[Node], site: &Site) {
        for (variant, rest) in variants.iter().zip(rests) {
            for rule in &variant.rules {
                let is_common = variants.iter().all(|other| other.rules.contains(rule));
                if is_common {
                    if !common.rules.contains(rule) {
                        common.rules.push(rule.clone());
                    }
                } else if let Some((tag, value)) = tag(rest, common) {
                    common.rules.push(guarded(rule, tag, value));
                } else {
                    self.faults.error(
                        "rule-of-variant",
                        site,
                        format!("a rule of one variant of `{site}` cannot be told from those of the others"),
                        "give the enum a tag with `#[serde(tag = \"type\")]`, or put the rule on a field of the variant",
                    );
                }
            }
        }
    }

    fn additional(&mut self, common: &mut Node, variants: &mut [Node], site: &Site) {
        let values: Vec<Node> = take_children(variants, |variant| variant.additional.take())
            .into_iter()
            .map(|(_, node)| node)
            .collect();
        if values.is_empty() {
            return;
        }
        if common.properties.is_empty() {
            common.additional = Some(Box::new(self.unite(values, site).common));
        } else {
            self.faults.warning(
                "map-variant",
                site,
                format!("`{site}` is a map or a struct depending on the variant: the API server will take any fields"),
                "make the map a field of its variant",
            );
            common.set(PRESERVE, true);
        }
    }
}

/// An integer or a string: what restricts one of them says nothing about the other, so both may stand side by side.
fn either(common: &mut Node, variants: &[Node]) {
    let keywords = variants.iter().flat_map(|variant| &variant.keywords);
    let mut seen: BTreeMap<&String, Vec<&Value>> = BTreeMap::new();
    for (name, value) in keywords {
        seen.entry(name).or_default().push(value);
    }
    for (name, values) in seen {
        let restricts_both = ["enum", "format", "type", "default"].contains(&name.as_str());
        if let [value] = *values.as_slice()
            && !restricts_both
            && !DOCUMENTATION.contains(&name.as_str())
        {
            common.keywords.insert(name.clone(), value.clone());
        }
    }
}

fn documented_values(common: &mut Node, variants: &[Node]) {
    for variant in variants {
        common.variants.extend(variant.variants.iter().cloned());
        if let Some([Value::String(value)]) = variant.get("enum").and_then(Value::as_array).map(Vec::as_slice)
            && let Some(text) = variant.text("description")
        {
            common.variants.push((value.clone(), text.to_owned()));
        }
    }
}

/// What all variants require, and what each requires beside it.
fn required(common: &mut Node, rests: &mut [Node], variants: &[Node], has_empty: bool) {
    let mut shared = variants.first().map(|variant| variant.required.clone()).unwrap_or_default();
    for variant in variants {
        shared.retain(|name| variant.required.contains(name));
    }
    if has_empty {
        shared.clear();
    }
    for (rest, variant) in rests.iter_mut().zip(variants) {
        rest.required = variant.required.difference(&shared).cloned().collect();
    }
    common.required = shared;
}

fn keep(rests: &mut [Node], values: &[Option<&Value>], name: &str) {
    for (rest, value) in rests.iter_mut().zip(values) {
        if let Some(value) = value {
            rest.set(name, (*value).clone());
        }
    }
}

/// Whether the alternatives differ in one `enum` at most, which the common schema has as a whole.
fn only_one_enum(rests: &[Node]) -> bool {
    fn is_enum(node: &Node, depth: usize) -> bool {
        let alone = Node { keywords: BTreeMap::new(), properties: BTreeMap::new(), ..node.clone() };
        if alone != Node::default() || depth > 8 {
            return false;
        }
        match (node.keywords.len(), node.properties.len()) {
            (0, 1) => node.properties.values().all(|child| is_enum(child, depth + 1)),
            (1, 0) => node.get("enum").is_some(),
            _ => false,
        }
    }
    fn path(node: &Node) -> Vec<&String> {
        let mut names = Vec::new();
        let mut node = node;
        while let Some((name, child)) = node.properties.first_key_value() {
            names.push(name);
            node = child;
        }
        names
    }
    rests.iter().all(|rest| is_enum(rest, 0)) && rests.windows(2).all(|pair| path(&pair[0]) == path(&pair[1]))
}

/// The property that has another value in each variant, and its value in this one.
fn tag<'a>(rest: &'a Node, common: &Node) -> Option<(&'a str, &'a str)> {
    rest.properties.iter().find_map(|(name, node)| {
        let [Value::String(value)] = node.get("enum")?.as_array()?.as_slice() else { return None };
        let is_required = rest.required.contains(name) || common.required.contains(name);
        is_required.then_some((name.as_str(), value.as_str()))
    })
}

fn guarded(rule: &Rule, tag: &str, value: &str) -> Rule {
    let mut rule = rule.clone();
    if let Some(text) = rule.value.get("rule").and_then(Value::as_str) {
        let text = format!("self.{} != {} || ({text})", cel::field(tag), Value::from(value));
        if let Some(object) = rule.value.as_object_mut() {
            object.insert("rule".to_owned(), text.into());
        }
    }
    rule
}

fn take_children(variants: &mut [Node], take: impl Fn(&mut Node) -> Option<Box<Node>>) -> Vec<(usize, Node)> {
    variants
        .iter_mut()
        .enumerate()
        .filter_map(|(index, variant)| take(variant).map(|node| (index, *node)))
        .collect()
}

fn join_or(types: &[&str]) -> String {
    let names: Vec<String> = types
        .iter()
        .map(|name| match *name {
            INT_OR_STRING => "a number or a string".to_owned(),
            name if name.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {name}"),
            name => format!("a {name}"),
        })
        .collect();
    names.join(" or ")
}
