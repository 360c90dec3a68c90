//! What an API server would refuse, or what no object could fulfil, though each part of it is right.

use serde_json::Value;

use super::{
    faults::Faults,
    node::{INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, Node, Site},
};
use crate::{diagnostic::Severity, marker::nearest::nearest};

/// Pairs of bounds, the lower one first.
const BOUNDS: [(&str, &str); 4] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
];

/// Checks a resolved tree.
pub(super) fn check(root: &Node, faults: &mut Faults) {
    Checker { faults, site: Site::of_type("") }.node(root);
}

struct Checker<'a> {
    faults: &'a mut Faults,
    /// The nearest type or field around the node.
    site: Site,
}

// === impl Checker ===

impl Checker<'_> {
    fn node(&mut self, node: &Node) {
        let around = self.site.clone();
        if let Some(site) = &node.site {
            self.site = site.clone();
        }
        self.bounds(node);
        if let Some(Value::Array(values)) = node.get("enum")
            && values.is_empty()
        {
            let message =
                format!("no value of `{}` is left: its type and the field allow different ones", self.site);
            self.tell(node, "enum", "nothing-allowed", message, "");
        }
        match node.text(LIST_TYPE) {
            Some("map") => self.list_map(node),
            Some("set") => self.list_set(node),
            _ => {}
        }
        let children = node
            .properties
            .values()
            .chain(node.items.as_deref())
            .chain(node.additional.as_deref())
            .chain(&node.all_of)
            .chain(&node.any_of)
            .chain(&node.one_of)
            .chain(node.not.as_deref());
        for child in children {
            self.node(child);
        }
        self.site = around;
    }

    fn bounds(&mut self, node: &Node) {
        for (lower, upper) in BOUNDS {
            let (Some(low), Some(high)) =
                (node.get(lower).and_then(Value::as_f64), node.get(upper).and_then(Value::as_f64))
            else {
                continue;
            };
            let excludes = lower == "minimum" && (node.is("exclusiveMinimum") || node.is("exclusiveMaximum"));
            if low > high || (excludes && low >= high) {
                let message = format!(
                    "no value of `{}` is left between the {lower} {low} and the {upper} {high}",
                    self.site
                );
                let keyword = if node.markers.contains_key(upper) { upper } else { lower };
                self.tell(node, keyword, "nothing-allowed", message, "");
            }
        }
        for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            let is_bound =
                node.get(bound).is_some() || node.all_of.iter().any(|part| part.get(bound).is_some());
            if node.is(flag) && !is_bound {
                let message = format!("`{flag}` excludes the {bound} of `{}`, which has none", self.site);
                self.tell(node, flag, "flag-without-bound", message, "state the bound as well");
            }
        }
    }

    /// The keys of a list that is a map must be there in every item, and be values that can be compared.
    fn list_map(&mut self, node: &Node) {
        let keys: Vec<&str> = node
            .get(LIST_MAP_KEYS)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if keys.is_empty() {
            let message =
                format!("`{}` is a list whose items are told apart by keys, and has no keys", self.site);
            self.tell(
                node,
                LIST_TYPE,
                "map-without-key",
                message,
                "add `+listMapKey=` with the name of a field of the items",
            );
            return;
        }
        let Some(items) = node.items.as_deref() else { return };
        if items.own_type() != Some("object") {
            let message = format!("the items of `{}` are no objects, so no key tells them apart", self.site);
            self.tell(
                node,
                LIST_TYPE,
                "items-without-keys",
                message,
                "use `+listType=set` or `+listType=atomic`",
            );
            return;
        }
        for key in keys {
            let Some(property) = items.properties.get(key) else {
                let help = match nearest(key, items.properties.keys().map(String::as_str)) {
                    Some(right) => format!("write `{right}`"),
                    None => "fields are named as in JSON".to_owned(),
                };
                let message = format!("the items of `{}` have no field `{key}`", self.site);
                self.tell(node, LIST_MAP_KEYS, "unknown-key", message, &help);
                continue;
            };
            if !items.required.contains(key) && property.get("default").is_none() {
                let message = format!(
                    "items of `{}` may leave out their key `{key}`, and could not be told apart then",
                    self.site
                );
                self.tell(
                    node,
                    LIST_MAP_KEYS,
                    "optional-key",
                    message,
                    "make it required, or give it a default",
                );
            }
            if matches!(property.own_type(), Some("array" | "object"))
                || (property.own_type().is_none() && !property.is(INT_OR_STRING))
            {
                let message = format!("the key `{key}` of the items of `{}` is no plain value", self.site);
                self.tell(
                    node,
                    LIST_MAP_KEYS,
                    "compound-key",
                    message,
                    "use a field that is a string, a number or a boolean",
                );
            }
        }
    }

    /// The items of a set are compared as a whole.
    fn list_set(&mut self, node: &Node) {
        let Some(items) = node.items.as_deref() else { return };
        let is_whole = match items.own_type() {
            Some("object") => items.text(MAP_TYPE) == Some("atomic"),
            Some("array") => items.text(LIST_TYPE) == Some("atomic"),
            _ => true,
        };
        if !is_whole {
            let message = format!(
                "the items of the set `{}` are compared as a whole, but server-side apply merges them field by field",
                self.site
            );
            self.tell(
                node,
                LIST_TYPE,
                "set-of-parts",
                message,
                "use `+listType=map` with a `+listMapKey=`, or mark the type of the items with `+structType=atomic`",
            );
        }
    }

    /// Tells a fault at the marker that set the keyword, or at the type or field.
    fn tell(&mut self, node: &Node, keyword: &str, code: &str, message: String, help: &str) {
        match node.markers.get(keyword) {
            Some(source) => self.faults.marker(Severity::Error, code, source, None, message, help),
            None => self.faults.error(code, &self.site, message, help),
        }
    }
}
