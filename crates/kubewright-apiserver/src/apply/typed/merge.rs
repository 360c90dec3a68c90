//! Laying a configuration over a value.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::super::path::PathElement;
use super::super::schema::{ListType, MapType, Resolved, Schema, TypeRef};
use super::{Result, TypeErrors, item, validate};

/// Merges `over` onto `under`; a leaf that both have is that of `over`, null included. `None` only
/// when both sides are.
pub(super) fn merge(
    schema: &Schema,
    ty: &TypeRef,
    under: Option<&Value>,
    over: Option<&Value>,
) -> Result<Option<Value>> {
    let (Some(under), Some(over)) = (under, over) else {
        return Ok(over.or(under).cloned());
    };
    let kinds = schema.resolve(ty);
    let (under_kinds, over_kinds) = (kinds.narrow(Some(under)), kinds.narrow(Some(over)));
    if !under_kinds.same_kinds(&over_kinds) {
        // The kind changes: check what was, keep what comes.
        merge_kind(schema, under_kinds, under, over)?;
    }
    merge_kind(schema, over_kinds, under, over)
}

fn merge_kind(schema: &Schema, kinds: Resolved<'_>, under: &Value, over: &Value) -> Result<Option<Value>> {
    if let Some(map) = kinds.map {
        merge_map(schema, map, under, over)
    } else if let Some(scalar) = kinds.scalar {
        let checks =
            (validate::check_scalar(scalar, Some(under)), validate::check_scalar(scalar, Some(over)));
        if let (Err(under), Err(over)) = checks {
            let mut errors = TypeErrors::one(format!("lhs: {under}"));
            errors.push(format!("rhs: {over}"));
            return Err(errors);
        }
        Ok(Some(over.clone()))
    } else if let Some(list) = kinds.list {
        merge_list(schema, list, under, over)
    } else {
        Err(TypeErrors::one(validate::INVALID_ATOM))
    }
}

fn merge_map(schema: &Schema, map: MapType<'_>, under: &Value, over: &Value) -> Result<Option<Value>> {
    let empty = Map::new();
    let under_entries = under.as_object().unwrap_or(&empty);
    let over_entries = over.as_object().unwrap_or(&empty);
    // Two empty sides are a leaf, so that null and {} are told apart.
    if map.is_atomic() || (under_entries.is_empty() && over_entries.is_empty()) {
        return Ok(Some(over.clone()));
    }
    let mut errors = TypeErrors::default();
    let mut merged = under_entries.clone();
    for (name, over) in over_entries {
        let Some(ty) = map.type_of(name) else {
            errors.extend_within(&PathElement::field(name.as_str()), TypeErrors::one(validate::INVALID_ATOM));
            continue;
        };
        match merge(schema, ty, under_entries.get(name), Some(over)) {
            Ok(Some(value)) => {
                merged.insert(name.clone(), value);
            }
            Ok(None) => {
                merged.remove(name);
            }
            Err(inner) => errors.extend_within(&PathElement::field(name.as_str()), inner),
        }
    }
    errors.into_result(Some(Value::Object(merged)))
}

fn merge_list(schema: &Schema, list: ListType<'_>, under: &Value, over: &Value) -> Result<Option<Value>> {
    let under_items = under.as_array().map_or(&[][..], Vec::as_slice);
    let over_items = over.as_array().map_or(&[][..], Vec::as_slice);
    if list.is_atomic() || (under_items.is_empty() && over_items.is_empty()) {
        return Ok(Some(over.clone()));
    }
    let mut errors = TypeErrors::default();
    let under = index(schema, list, under_items, true, &mut errors);
    let over = index(schema, list, over_items, false, &mut errors);
    errors.into_result(())?;
    ListMerge { schema, list, under, over, merged: BTreeSet::new(), out: Vec::new() }
        .run()
        .map(|items| if items.is_empty() { None } else { Some(Value::Array(items)) })
}

/// The items of one side in order, and by path element.
struct Indexed<'v> {
    items: Vec<(PathElement, &'v Value)>,
    /// `None` for an element that several items share: such items are not merged, they are replaced.
    by_element: BTreeMap<PathElement, Option<&'v Value>>,
}

fn index<'v>(
    schema: &Schema,
    list: ListType<'_>,
    items: &'v [Value],
    allow_duplicates: bool,
    errors: &mut TypeErrors,
) -> Indexed<'v> {
    let mut indexed = Indexed { items: Vec::with_capacity(items.len()), by_element: BTreeMap::new() };
    for (i, item) in items.iter().enumerate() {
        let element = match item::path_element(schema, list, item) {
            Ok(element) => element,
            Err(message) => {
                errors.push(format!("element {i}: {message}"));
                continue;
            }
        };
        let known = indexed.by_element.contains_key(&element);
        if known && !allow_duplicates {
            errors.push(format!("duplicate entries for key {element}"));
            continue;
        }
        indexed.by_element.insert(element.clone(), (!known).then_some(item));
        indexed.items.push((element, item));
    }
    indexed
}

struct ListMerge<'s, 'v> {
    schema: &'s Schema,
    list: ListType<'s>,
    under: Indexed<'v>,
    over: Indexed<'v>,
    /// Elements of `over` that are in the output.
    merged: BTreeSet<PathElement>,
    out: Vec<Value>,
}

impl ListMerge<'_, '_> {
    /// Walks both lists. Items of both come in the order of `over`; an item that only `under` has
    /// stays before the shared item it stood before.
    fn run(mut self) -> Result<Vec<Value>> {
        let under = std::mem::take(&mut self.under.items);
        let over = std::mem::take(&mut self.over.items);
        let mut shared: VecDeque<&PathElement> = over
            .iter()
            .map(|(element, _)| element)
            .filter(|element| self.under.by_element.contains_key(element))
            .collect();
        let (mut u, mut o) = (0, 0);
        while u < under.len() || o < over.len() {
            if let (Some((element, _)), Some((next, item))) = (under.get(u), over.get(o)) {
                if element == next {
                    self.take(element, item)?;
                    u += 1;
                    o += 1;
                    shared.pop_front();
                    continue;
                }
                let in_over = self.over.by_element.contains_key(element);
                if in_over && shared.front().is_some_and(|next| *next != element) {
                    // It is shared, but its turn comes later.
                    u += 1;
                    continue;
                }
            }
            if let Some((element, item)) = under.get(u) {
                if !self.over.by_element.contains_key(element) {
                    self.out.push((*item).clone());
                    u += 1;
                    continue;
                }
                if self.merged.contains(element) {
                    u += 1;
                }
            }
            if let Some((element, item)) = over.get(o) {
                self.take(element, item)?;
                o += 1;
                if shared.front().is_some_and(|next| *next == element) {
                    shared.pop_front();
                }
            }
        }
        Ok(self.out)
    }

    /// Puts an item of `over` out, merged with its counterpart.
    fn take(&mut self, element: &PathElement, over: &Value) -> Result<()> {
        self.merged.insert(element.clone());
        let null = Value::Null;
        let under = self.under.by_element.get(element).map(|item| item.unwrap_or(&null));
        match merge(self.schema, self.list.element(), under, Some(over)) {
            Ok(Some(item)) => self.out.push(item),
            Ok(None) => {}
            Err(inner) => {
                let mut errors = TypeErrors::default();
                errors.extend_within(element, inner);
                return Err(errors);
            }
        }
        Ok(())
    }
}
