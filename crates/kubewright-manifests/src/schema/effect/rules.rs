//! CEL rules.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Effects, Placed};
use crate::{
    Style,
    marker::{Effect, Marker, SchemaEffect, nearest::nearest},
    schema::{
        cel, docs,
        node::{Node, Rule},
    },
};

// === impl Effects ===

impl Effects<'_> {
    pub(super) fn rule(&mut self, node: &mut Node, placed: Placed<'_>) {
        let mut value = Map::new();
        for argument in &placed.marker.arguments {
            if argument.value != Value::String(String::new()) {
                value.insert(argument.name.to_owned(), argument.value.clone());
            }
        }
        node.rules.push(rule(value.into(), placed));
    }

    pub(super) fn one_of(&mut self, node: &mut Node, effect: SchemaEffect, placed: Placed<'_>) {
        let members = placed.marker.texts("");
        if members.is_empty() {
            return;
        }
        let mut is_right = true;
        for member in &members {
            let fault = self.member(node, member, placed);
            is_right &= fault.is_none();
            if let Some((code, message, help)) = fault {
                self.refuse_with(placed, code, message, &help);
            }
        }
        if !is_right && self.options.style == Style::Kubewright {
            return;
        }
        let has = |member: &&str| match self.options.style {
            Style::Kubewright => format!("has(self.{})", cel::field(member)),
            Style::ControllerGen => format!("has(self.{member})"),
        };
        let sum =
            || members.iter().map(|member| format!("({}?1:0)", has(member))).collect::<Vec<_>>().join("+");
        let names = members.join(" ");
        let (text, message) = match effect {
            SchemaEffect::AtMostOneOf => {
                (format!("{} <= 1", sum()), format!("at most one of the fields in [{names}] may be set"))
            }
            SchemaEffect::ExactlyOneOf => {
                (format!("{} == 1", sum()), format!("exactly one of the fields in [{names}] must be set"))
            }
            _ => (
                members.iter().map(has).collect::<Vec<_>>().join("||"),
                format!("at least one of the fields in [{names}] must be set"),
            ),
        };
        node.rules.push(rule(json!({"rule": text, "message": message}), placed));
    }

    /// What is wrong with a field that may be chosen: the code, the message, and help.
    fn member(
        &self,
        node: &Node,
        member: &str,
        placed: Placed<'_>,
    ) -> Option<(&'static str, String, String)> {
        if member.contains('.') {
            let message = format!("`{member}` is no field of `{}` itself", placed.site);
            return Some((
                "nested-member",
                message,
                "put the marker on the type that has the field".to_owned(),
            ));
        }
        if node.required.contains(member) {
            return Some((
                "required-member",
                format!("`{member}` is required, so there is no choice whether it is set"),
                "make it an `Option`".to_owned(),
            ));
        }
        let is_open = node.reference.is_some()
            || !node.one_of.is_empty()
            || !node.any_of.is_empty()
            || !node.all_of.is_empty();
        if is_open || node.properties.contains_key(member) {
            return None;
        }
        let help = match nearest(member, node.properties.keys().map(String::as_str)) {
            Some(right) => format!("write `{right}`"),
            None => "fields are named as in JSON".to_owned(),
        };
        Some(("unknown-member", format!("`{}` has no field `{member}`", placed.site), help))
    }
}

/// The fields of which one is to be chosen.
pub(super) fn members(markers: &[Marker]) -> BTreeSet<String> {
    markers
        .iter()
        .filter(|marker| {
            matches!(
                marker.definition.effect,
                Effect::Schema(
                    SchemaEffect::AtMostOneOf | SchemaEffect::ExactlyOneOf | SchemaEffect::AtLeastOneOf
                )
            )
        })
        .flat_map(|marker| marker.texts(""))
        .map(str::to_owned)
        .collect()
}

pub(super) fn immutable(node: &mut Node, placed: Placed<'_>) {
    node.rules.push(rule(json!({"rule": "self == oldSelf", "message": "field is immutable"}), placed));
}

/// The rule on the object around an optional field: a field that is taken away has no value that a rule could refuse.
pub(super) fn immutable_once_set(name: &str, placed: Placed<'_>, style: Style) -> Rule {
    let field = match style {
        Style::Kubewright => cel::field(name),
        Style::ControllerGen => name.to_owned(),
    };
    rule(
        json!({
            "rule": format!("!has(oldSelf.{field}) || has(self.{field})"),
            "message": format!("field {name} is immutable once set"),
        }),
        placed,
    )
}

fn rule(value: Value, placed: Placed<'_>) -> Rule {
    Rule { value, source: Some(docs::source(placed.marker, placed.site)) }
}
