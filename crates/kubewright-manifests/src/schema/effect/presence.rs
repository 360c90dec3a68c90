//! Whether a field may be left out, or be null.

use std::collections::BTreeSet;

use super::{Effects, Placed, find};
use crate::{
    Style,
    marker::{Effect, Marker, SchemaEffect},
    schema::{
        kind::follow,
        node::{Node, PRESERVE, Site},
    },
};

// === impl Effects ===

impl Effects<'_> {
    /// Which word counts: kubebuilder's `Optional`, kubebuilder's `Required`, `optional`, `required`, what the Rust type says.
    pub(super) fn require(
        &mut self,
        parent: &mut Node,
        name: &str,
        markers: &[Marker],
        site: &Site,
        one_of: &BTreeSet<String>,
    ) {
        let of_kubebuilder = |effect| {
            markers.iter().find(|marker| {
                marker.definition.effect == Effect::Schema(effect) && marker.name.starts_with("kubebuilder:")
            })
        };
        let required =
            || find(markers, SchemaEffect::Required).or(find(markers, SchemaEffect::RequiredNotEmpty));
        if self.options.style == Style::Kubewright
            && let (Some(optional), Some(required)) = (find(markers, SchemaEffect::Optional), required())
        {
            self.warn(
                Placed { marker: required, site },
                "optional-and-required",
                format!("`{site}` is said to be both optional and required, by `{}` as well", optional.name),
                "leave one of the two out",
            );
        }
        let (is_required, marker) = if let Some(marker) = of_kubebuilder(SchemaEffect::Optional) {
            (false, marker)
        } else if let Some(marker) = of_kubebuilder(SchemaEffect::Required) {
            (true, marker)
        } else if let Some(marker) = find(markers, SchemaEffect::Optional) {
            (false, marker)
        } else if let Some(marker) = required() {
            (true, marker)
        } else {
            return;
        };
        if !is_required {
            parent.required.remove(name);
        } else if one_of.contains(name) {
            self.refuse(
                Placed { marker, site },
                "required-member",
                format!("`{site}` is one of several fields to choose from, so it cannot be required"),
            );
        } else {
            parent.required.insert(name.to_owned());
        }
    }

    /// A schema that allows what the Rust type cannot hold makes objects that the operator cannot read.
    pub(super) fn presence(&mut self, node: &mut Node, made_optional: bool, markers: &[Marker], site: &Site) {
        if self.options.style != Style::Kubewright {
            return;
        }
        if node.says_nothing() {
            node.set(PRESERVE, true);
        }
        if made_optional
            && node.get("default").is_none()
            && let Some(marker) = find(markers, SchemaEffect::Optional)
        {
            self.warn(
                Placed { marker, site },
                "optional-without-default",
                format!("objects may leave `{site}` out, but then its Rust type does not decode"),
                "make it an `Option`, or add `#[serde(default)]`",
            );
        }
        if follow(node, &self.types, |node| (node.optional || node.is(PRESERVE)).then_some(())).is_none()
            && let Some(marker) = find(markers, SchemaEffect::Nullable)
        {
            self.warn(
                Placed { marker, site },
                "nullable-without-option",
                format!("objects may have null for `{site}`, but then its Rust type does not decode"),
                "make it an `Option`",
            );
        }
    }
}
