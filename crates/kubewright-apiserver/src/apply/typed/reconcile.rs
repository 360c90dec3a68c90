//! Adapting a stored set of fields to a schema that has since made a list or map atomic.
//!
//! A change the other way needs nothing: the owner of the atomic field keeps owning just that field.

use super::super::path::PathElement;
use super::super::schema::{ListType, MapType, Schema, TypeRef};
use super::super::set::Set;

/// The adapted set, or `None` if nothing changed.
pub(super) fn reconcile(schema: &Schema, ty: &TypeRef, fields: &Set) -> Option<Set> {
    let mut reconciler = Reconciler { schema, path: Vec::new(), now_atomic: Set::new() };
    reconciler.visit(ty, Some(fields), false);
    let now_atomic = reconciler.now_atomic;
    (!now_atomic.is_empty()).then(|| fields.recursive_difference(&now_atomic).union(&now_atomic))
}

struct Reconciler<'s> {
    schema: &'s Schema,
    path: Vec<PathElement>,
    /// Fields that are owned in parts but can only be owned as a whole.
    now_atomic: Set,
}

impl Reconciler<'_> {
    fn visit(&mut self, ty: &TypeRef, fields: Option<&Set>, owned_whole: bool) {
        let kinds = self.schema.resolve(ty);
        if let Some(map) = kinds.map {
            self.visit_map(map, fields, owned_whole);
        } else if kinds.scalar.is_none()
            && let Some(list) = kinds.list
        {
            self.visit_list(list, fields, owned_whole);
        }
    }

    fn visit_map(&mut self, map: MapType<'_>, fields: Option<&Set>, owned_whole: bool) {
        // Deduced types have no relationship that could have changed.
        if map.is_untyped() {
            return;
        }
        if !owned_whole && map.is_atomic() {
            if fields.is_some_and(|fields| !fields.is_empty()) {
                self.now_atomic.insert(&self.path);
            }
            return;
        }
        self.visit_elements(fields, |element| match element {
            PathElement::Field(name) => map.type_of(name),
            PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_) => map.element(),
        });
    }

    fn visit_list(&mut self, list: ListType<'_>, fields: Option<&Set>, owned_whole: bool) {
        if !owned_whole && list.is_atomic() {
            self.now_atomic.insert(&self.path);
            return;
        }
        self.visit_elements(fields, |_| Some(list.element()));
    }

    fn visit_elements<'t>(
        &mut self,
        fields: Option<&Set>,
        type_of: impl Fn(&PathElement) -> Option<&'t TypeRef>,
    ) {
        let Some(fields) = fields else { return };
        let only_children = fields.children().map(|(e, _)| e).filter(|e| !fields.has_member(e));
        let members = fields.members().iter();
        for element in only_children.chain(members) {
            let Some(ty) = type_of(element) else { continue };
            let below = fields.child(element);
            self.path.push(element.clone());
            self.visit(ty, below, fields.has_member(element) && below.is_none());
            self.path.pop();
        }
    }
}
