//! What changes between two values of one type.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::path::PathElement;
use super::super::schema::{ListType, MapType, Resolved, Scalar, Schema, TypeRef};
use super::super::set::Set;
use super::super::value;
use super::{Result, TypeErrors, item, validate};

/// What changes when one value becomes another. No field is in more than one of the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Fields that only the old value has.
    pub removed: Set,
    /// Fields that both have, with different values.
    pub modified: Set,
    /// Fields that only the new value has.
    pub added: Set,
}

// === impl Comparison ===

impl Comparison {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// The comparison without `fields` and everything below them.
    #[must_use]
    pub fn without(self, fields: Option<&Set>) -> Self {
        let Some(fields) = fields.filter(|fields| !fields.is_empty()) else { return self };
        Self {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }
}

pub(super) fn compare(schema: &Schema, ty: &TypeRef, old: &Value, new: &Value) -> Result<Comparison> {
    let mut comparer = Comparer { schema, path: Vec::new(), result: Comparison::default() };
    let mut errors = TypeErrors::default();
    comparer.visit(ty, Some(old), Some(new), &mut errors);
    errors.into_result(comparer.result)
}

struct Comparer<'s> {
    schema: &'s Schema,
    path: Vec<PathElement>,
    result: Comparison,
}

impl Comparer<'_> {
    fn visit(&mut self, ty: &TypeRef, old: Option<&Value>, new: Option<&Value>, errors: &mut TypeErrors) {
        let kinds = self.schema.resolve(ty);
        let (old_kinds, new_kinds) = (kinds.narrow(old), kinds.narrow(new));
        let is_leaf = if new.is_none() {
            self.visit_kind(old_kinds, old, new, errors)
        } else if old.is_none() || old_kinds.same_kinds(&new_kinds) {
            self.visit_kind(new_kinds, old, new, errors)
        } else {
            // The value changes its kind: what the old kind had goes, what the new kind has comes.
            self.visit_kind(old_kinds, old, new, errors);
            self.visit_kind(new_kinds, old, new, errors)
        };
        if is_leaf {
            return;
        }
        if old.is_none() {
            self.result.added.insert(&self.path);
        } else if new.is_none() {
            self.result.removed.insert(&self.path);
        }
    }

    /// Whether the value was compared as a whole.
    fn visit_kind(
        &mut self,
        kinds: Resolved<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> bool {
        if let Some(map) = kinds.map {
            self.visit_map(map, old, new, errors)
        } else if let Some(scalar) = kinds.scalar {
            self.visit_scalar(scalar, old, new, errors)
        } else if let Some(list) = kinds.list {
            self.visit_list(list, old, new, errors)
        } else {
            errors.push(validate::INVALID_ATOM);
            false
        }
    }

    fn visit_leaf(&mut self, old: Option<&Value>, new: Option<&Value>) -> bool {
        match (old, new) {
            (None, _) => self.result.added.insert(&self.path),
            (Some(_), None) => self.result.removed.insert(&self.path),
            (Some(old), Some(new)) if !value::equal(old, new) => self.result.modified.insert(&self.path),
            (Some(_), Some(_)) => {}
        }
        true
    }

    fn visit_scalar(
        &mut self,
        scalar: Scalar,
        old: Option<&Value>,
        new: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> bool {
        if let (Err(old), Err(new)) =
            (validate::check_scalar(scalar, old), validate::check_scalar(scalar, new))
        {
            errors.push(format!("lhs: {old}"));
            errors.push(format!("rhs: {new}"));
            return false;
        }
        self.visit_leaf(old, new)
    }

    fn visit_map(
        &mut self,
        map: MapType<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> bool {
        let old_entries = old.and_then(Value::as_object).filter(|entries| !entries.is_empty());
        let new_entries = new.and_then(Value::as_object).filter(|entries| !entries.is_empty());
        // Two empty sides are a leaf, so that null and {} are told apart.
        if map.is_atomic() || (old_entries.is_none() && new_entries.is_none()) {
            return self.visit_leaf(old, new);
        }
        let empty = serde_json::Map::new();
        let (old_entries, new_entries) = (old_entries.unwrap_or(&empty), new_entries.unwrap_or(&empty));
        for (name, old) in old_entries {
            self.visit_entry(map, name, Some(old), new_entries.get(name), errors);
        }
        for (name, new) in new_entries {
            if !old_entries.contains_key(name) {
                self.visit_entry(map, name, None, Some(new), errors);
            }
        }
        false
    }

    fn visit_entry(
        &mut self,
        map: MapType<'_>,
        name: &str,
        old: Option<&Value>,
        new: Option<&Value>,
        errors: &mut TypeErrors,
    ) {
        if let (Some(old), Some(new)) = (old, new)
            && value::equal(old, new)
        {
            return;
        }
        let (element, ty) = match map.field_entry(name) {
            Some((name, field)) => (PathElement::Field(name.clone()), Some(&field.ty)),
            None => (PathElement::field(name), map.element()),
        };
        self.visit_within(element, ty, old, new, errors);
    }

    fn visit_within(
        &mut self,
        element: PathElement,
        ty: Option<&TypeRef>,
        old: Option<&Value>,
        new: Option<&Value>,
        errors: &mut TypeErrors,
    ) {
        let mut inner = TypeErrors::default();
        self.path.push(element);
        match ty {
            Some(ty) => self.visit(ty, old, new, &mut inner),
            None => inner.push(validate::INVALID_ATOM),
        }
        if let Some(element) = self.path.pop() {
            errors.extend_within(&element, inner);
        }
    }

    fn visit_list(
        &mut self,
        list: ListType<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> bool {
        let old_items = old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let new_items = new.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if list.is_atomic() || (old_items.is_empty() && new_items.is_empty()) {
            return self.visit_leaf(old, new);
        }
        let mut items: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for (i, item) in old_items.iter().enumerate() {
            match item::path_element(self.schema, list, item) {
                Ok(element) => items.entry(element).or_default().0.push(item),
                Err(message) => errors.push(format!("element {i}: {message}")),
            }
        }
        for (i, item) in new_items.iter().enumerate() {
            match item::path_element(self.schema, list, item) {
                Ok(element) => items.entry(element).or_default().1.push(item),
                Err(message) => errors.push(format!("element {i}: {message}")),
            }
        }
        for (element, (old, new)) in items {
            self.visit_items(list, element, &old, &new, errors);
        }
        false
    }

    /// Compares the items that share a path element; more than one on a side are duplicates, which
    /// count as one field.
    fn visit_items(
        &mut self,
        list: ListType<'_>,
        element: PathElement,
        old: &[&Value],
        new: &[&Value],
        errors: &mut TypeErrors,
    ) {
        let ty = Some(list.element());
        match (old, new) {
            ([], []) => {}
            ([] | [_], [] | [_]) => {
                let (old, new) = (old.first().copied(), new.first().copied());
                if let (Some(old), Some(new)) = (old, new)
                    && value::equal(old, new)
                {
                    return;
                }
                self.visit_within(element, ty, old, new, errors);
            }
            ([_, _, ..], [_, _, ..]) => {
                let same =
                    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| value::equal(old, new));
                if !same {
                    self.path.push(element);
                    self.result.modified.insert(&self.path);
                    self.path.pop();
                }
            }
            ([_, _, ..], _) => {
                if let Some(new) = new.first() {
                    self.visit_within(element.clone(), ty, None, Some(new), errors);
                }
                self.path.push(element);
                self.result.removed.insert(&self.path);
                self.path.pop();
            }
            (_, [_, _, ..]) => {
                if let Some(old) = old.first() {
                    self.visit_within(element.clone(), ty, Some(old), None, errors);
                }
                self.path.push(element);
                self.result.added.insert(&self.path);
                self.path.pop();
            }
        }
    }
}
