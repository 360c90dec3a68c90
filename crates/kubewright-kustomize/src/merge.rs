//! Strategic merge patches, as kustomize applies them.
//!
//! This is not quite what a server does. kustomize knows only the kinds of [`Type`], puts what a patch adds to a list
//! before what is there, knows the directives `$patch: delete`, `replace` and `merge` alone, and leaves others in the
//! result. Where it goes through an object, it also merges lists with themselves, which removes duplicates. Each of
//! this shows in what comes out, so it is the same here.

use std::collections::BTreeSet;

use crate::{
    kinds::Type,
    node::{Map, Node, Scalar, Shape},
};

const DIRECTIVE: &str = "$patch";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// What became of a node.
#[derive(Debug)]
enum Merged {
    /// It is not in the result.
    Gone,
    /// The node that was there, changed.
    Changed(Node),
    /// The patch took its place.
    Replaced(Node),
}

/// What a node is merged with.
#[derive(Debug)]
enum Other {
    /// The patch does not mention it.
    Nothing,
    /// It came from the patch itself.
    Itself,
    Patch(Node),
}

/// Merges `patch` into `object`; nothing is left if the patch deletes it.
pub(crate) fn merge(object: Map, patch: Map) -> Result<Option<Map>, String> {
    match walk(Some(Node::Map(object)), Other::Patch(Node::Map(patch)), None)? {
        Merged::Changed(Node::Map(map)) | Merged::Replaced(Node::Map(map)) => Ok(Some(map)),
        _ => Ok(None),
    }
}

fn walk(node: Option<Node>, other: Other, of: Option<&'static Type>) -> Result<Merged, String> {
    let patch = match &other {
        Other::Patch(patch) => Some(patch),
        Other::Nothing | Other::Itself => None,
    };
    let own = |node: Option<&Node>| node.and_then(type_of);
    let of = of.or_else(|| own(node.as_ref())).or_else(|| own(patch));
    let shape = [node.as_ref(), patch].into_iter().flatten().find(|node| !node.is_null()).map(Node::shape);
    if let (Some(shape), Some(patch)) = (shape, patch)
        && !patch.is_null()
        && patch.shape() != shape
    {
        let expected = match shape {
            Shape::Scalar => "a scalar",
            Shape::List => "a list",
            Shape::Map => "a map",
        };
        return Err(format!("the patch has another kind of value: {}", patch.wrong_shape(expected)));
    }
    match shape {
        Some(Shape::Map) => walk_map(node, other, of),
        Some(Shape::List) => walk_list(node, other, of),
        Some(Shape::Scalar) => Ok(match (node, other) {
            (_, Other::Patch(patch)) if patch.is_null() => Merged::Gone,
            (_, Other::Patch(patch)) => Merged::Replaced(patch),
            (Some(node), _) => Merged::Changed(node),
            (None, _) => Merged::Gone,
        }),
        // A null that is spelled out stays where the patch does not touch it.
        None => Ok(match (node, other) {
            (Some(node), Other::Nothing) if !node.text().is_empty() => Merged::Changed(node),
            _ => Merged::Gone,
        }),
    }
}

/// The type of an object, which may also stand within another of unknown type.
fn type_of(node: &Node) -> Option<&'static Type> {
    let text = |field| node.get(field).map_or("", Node::text);
    Type::of(text("apiVersion"), text("kind"))
}

fn walk_map(node: Option<Node>, other: Other, of: Option<&'static Type>) -> Result<Merged, String> {
    let there = node.filter(|node| !node.is_null());
    let (mut map, mut patch, replaced) = match (there, other) {
        (Some(Node::Map(map)), Other::Nothing) => (map, None, false),
        (Some(Node::Map(mut map)), Other::Itself) => match directive(&mut map)? {
            Directive::Delete => return Ok(Merged::Gone),
            Directive::Merge | Directive::Replace => (map, Some(Other::Itself), false),
        },
        (Some(Node::Map(map)), Other::Patch(Node::Map(mut patch))) => match directive(&mut patch)? {
            Directive::Delete => return Ok(Merged::Gone),
            Directive::Replace => (patch, Some(Other::Itself), true),
            Directive::Merge => (map, Some(Other::Patch(Node::Map(patch))), false),
        },
        // New: a directive that is none is taken for a field.
        (None, Other::Patch(Node::Map(mut patch))) => match directive(&mut patch) {
            Ok(Directive::Delete) => return Ok(Merged::Gone),
            _ => (patch, Some(Other::Itself), true),
        },
        _ => return Ok(Merged::Gone),
    };
    let mut names: BTreeSet<String> = map.keys().map(str::to_owned).collect();
    if let Some(Other::Patch(patch)) = &patch {
        names.extend(patch.as_map().into_iter().flat_map(Map::keys).map(str::to_owned));
    }
    for name in names {
        let other = match &mut patch {
            None => Other::Nothing,
            Some(Other::Patch(patch)) => {
                patch.as_map_mut().and_then(|patch| patch.remove(&name)).map_or(Other::Nothing, Other::Patch)
            }
            Some(_) => Other::Itself,
        };
        let of = of.and_then(|of| of.field(&name));
        let before = map.get(&name).cloned();
        match walk(before, other, of).map_err(|why| below(&name, &why))? {
            Merged::Gone => {
                map.remove(&name);
            }
            Merged::Changed(value) => map.insert(name, value),
            Merged::Replaced(value) => replace(&mut map, name, value),
        }
    }
    Ok(if replaced { Merged::Replaced(Node::Map(map)) } else { Merged::Changed(Node::Map(map)) })
}

/// `why`, with the name of the field around it.
fn below(name: &str, why: &str) -> String {
    match why.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        Some((path, rest)) => format!("`{name}.{path}`{rest}"),
        None => format!("`{name}`: {why}"),
    }
}

/// Puts a value into a field. What stood in quotes stays in quotes.
fn replace(map: &mut Map, name: String, value: Node) {
    if let (Some(old @ Node::Scalar(_)), Node::Scalar(new)) = (map.get_mut(&name), &value) {
        // Both are scalars, so it cannot fail.
        let _ = old.set_scalar(new.clone());
    } else {
        map.insert(name, value);
    }
}

/// Takes the directive out of a map of a patch.
fn directive(map: &mut Map) -> Result<Directive, String> {
    let Some(value) = map.get(DIRECTIVE) else { return Ok(Directive::Merge) };
    let directive = Directive::parse(value.text())?;
    map.remove(DIRECTIVE);
    Ok(directive)
}

impl Directive {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "merge" => Ok(Self::Merge),
            "replace" => Ok(Self::Replace),
            "delete" => Ok(Self::Delete),
            other => Err(format!("the directive `$patch: {other}` is none of merge, replace and delete")),
        }
    }
}

/// Takes the directive out of a list of a patch, where it is an item of its own.
fn list_directive(items: &mut Vec<Node>) -> Result<Directive, String> {
    let found = items.iter().find_map(|item| item.as_map().filter(|map| map.contains(DIRECTIVE)));
    let Some(map) = found.filter(|map| map.len() == 1) else { return Ok(Directive::Merge) };
    let text = map.get(DIRECTIVE).map_or("", Node::text).to_owned();
    let directive = Directive::parse(&text)?;
    set_item(items, &[DIRECTIVE.to_owned()], &[text], None)?;
    Ok(directive)
}

fn walk_list(node: Option<Node>, other: Other, of: Option<&'static Type>) -> Result<Merged, String> {
    let Some(keys) = of.and_then(Type::merged_by) else {
        return Ok(match (node, other) {
            (_, Other::Patch(patch)) if patch.is_null() => Merged::Gone,
            (_, Other::Patch(patch)) => Merged::Replaced(patch),
            (Some(node), _) => Merged::Changed(node),
            (None, _) => Merged::Gone,
        });
    };
    let there = node.filter(|node| !node.is_null());
    let (items, other, replaced) = match (there, other) {
        (Some(Node::List(items)), Other::Nothing) => (items, Items::Nothing, false),
        (Some(Node::List(mut items)), Other::Itself) => match list_directive(&mut items)? {
            Directive::Delete => return Ok(Merged::Gone),
            Directive::Merge | Directive::Replace => (items, Items::Same, false),
        },
        (Some(Node::List(items)), Other::Patch(Node::List(mut patch))) => match list_directive(&mut patch)? {
            Directive::Delete => return Ok(Merged::Gone),
            Directive::Replace => (patch, Items::Same, true),
            Directive::Merge => (items, Items::Patch(patch), false),
        },
        (None, Other::Patch(Node::List(patch))) => (patch, Items::Same, true),
        _ => return Ok(Merged::Gone),
    };
    let no_key = [String::new()];
    let keys = if keys.is_empty() { &no_key } else { keys };
    let items = Node::List(merge_items(items, &other, keys, of.and_then(Type::items))?);
    Ok(if replaced { Merged::Replaced(items) } else { Merged::Changed(items) })
}

/// What the items of a list are merged with.
#[derive(Debug)]
enum Items {
    Nothing,
    Same,
    Patch(Vec<Node>),
}

/// Merges the items of a list by their keys. The empty key stands for an item that is a scalar.
fn merge_items(
    mut items: Vec<Node>,
    other: &Items,
    keys: &[String],
    of: Option<&'static Type>,
) -> Result<Vec<Node>, String> {
    let mut identities: Vec<Vec<String>> = Vec::new();
    let patched: &[Node] = match other {
        Items::Patch(patch) => patch,
        Items::Nothing | Items::Same => &[],
    };
    for item in patched.iter().chain(&items) {
        let identity = identity(item, keys);
        if !identities.contains(&identity) {
            identities.push(identity);
        }
    }
    if keys.len() > 1 {
        complete(&mut identities);
    }
    let mut added: Vec<Node> = Vec::new();
    let mut used: Vec<String> = Vec::new();
    for identity in &identities {
        let (names, values) = used_keys(&identities, identity, keys);
        used.clone_from(&names);
        let (own_names, own_values) = used_keys(std::slice::from_ref(&values), &values, &names);
        let at = find(&items, &own_names, &own_values);
        let with = match other {
            Items::Nothing => Other::Nothing,
            Items::Same => Other::Itself,
            Items::Patch(patch) => find(patch, &own_names, &own_values)
                .map_or(Other::Nothing, |from| Other::Patch(patch[from].clone())),
        };
        let result = walk(at.map(|at| items[at].clone()), with, of)?;
        let mut value = match result {
            Merged::Changed(value) => {
                if let Some(at) = at {
                    items[at] = value.clone();
                }
                Some(value)
            }
            // The list has the item as it was, which comes back below.
            Merged::Replaced(value) => Some(value),
            Merged::Gone => None,
        };
        value = value.filter(|value| !value.is_null() && value.as_map().is_none_or(|map| !map.is_empty()));
        let Some(mut value) = value else {
            set_item(&mut items, &names, &values, None)?;
            continue;
        };
        if let Some(map) = value.as_map_mut() {
            for (name, text) in names.iter().zip(&values) {
                if !map.contains(name) && !text.is_empty() {
                    map.insert(name.clone(), Node::Scalar(Scalar::plain(text.clone())));
                }
            }
        }
        set_item(&mut added, &names, &values, Some(&value))?;
    }
    if identities.is_empty() {
        return Ok(items);
    }
    append(&mut added, &items, &used)?;
    Ok(added)
}

/// The values of an item's keys.
fn identity(item: &Node, keys: &[String]) -> Vec<String> {
    keys.iter()
        .map(|key| {
            let value = if key.is_empty() {
                Some(item)
            } else {
                item.get(key).filter(|value| !value.is_null_or_empty())
            };
            value.map_or("", Node::text).to_owned()
        })
        .collect()
}

/// Gives identities that leave something out what another has that agrees with them otherwise.
fn complete(identities: &mut [Vec<String>]) {
    for i in 0..identities.len() {
        for j in 0..identities.len() {
            if let Some(both) = agreed(&identities[i], &identities[j]) {
                identities[i].clone_from(&both);
                identities[j] = both;
            }
        }
    }
}

fn agreed(a: &[String], b: &[String]) -> Option<Vec<String>> {
    let mut in_common = false;
    let mut both = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        in_common |= a == b;
        if a != b && !a.is_empty() && !b.is_empty() {
            return None;
        }
        both.push(if a.is_empty() { b.clone() } else { a.clone() });
    }
    in_common.then_some(both)
}

/// The keys that some item has, and the values of `identity` for them.
fn used_keys(identities: &[Vec<String>], identity: &[String], keys: &[String]) -> (Vec<String>, Vec<String>) {
    let is_used =
        |at: usize| identities.iter().any(|identity| identity.get(at).is_some_and(|value| !value.is_empty()));
    let used: Vec<usize> = (0..keys.len()).filter(|at| is_used(*at)).collect();
    if used.is_empty() {
        return (keys.to_vec(), identity.to_vec());
    }
    let of = |list: &[String]| used.iter().filter_map(|at| list.get(*at).cloned()).collect();
    (of(keys), of(identity))
}

/// The first item with these values.
fn find(items: &[Node], keys: &[String], values: &[String]) -> Option<usize> {
    if keys.first().is_none_or(String::is_empty) {
        let wanted = values.first().map_or("", String::as_str);
        return items.iter().position(|item| item.text() == wanted);
    }
    items.iter().position(|item| {
        keys.len() == values.len()
            && item.as_map().is_some_and(|map| {
                keys.iter()
                    .zip(values)
                    .all(|(key, value)| map.get(key).is_some_and(|found| found.text() == value))
            })
    })
}

/// Puts `element` in place of each item with these values, or at the end. Without one, they are removed. An empty
/// value stands for any.
fn set_item(
    items: &mut Vec<Node>,
    keys: &[String],
    values: &[String],
    element: Option<&Node>,
) -> Result<(), String> {
    let sets_maps =
        keys.first().is_some_and(|key| !key.is_empty()) && values.first().is_some_and(|v| !v.is_empty());
    let mut result = Vec::with_capacity(items.len() + 1);
    let mut is_there = false;
    for item in std::mem::take(items) {
        if item.is_null() || item.as_map().is_some_and(Map::is_empty) {
            continue;
        }
        if sets_maps && item.as_map().is_none() {
            result.push(item);
            continue;
        }
        if has_values(&item, keys, values)? {
            is_there = true;
            result.extend(element.cloned());
        } else if !values.is_empty() {
            result.push(item);
        }
    }
    if let Some(element) = element.filter(|_| !is_there) {
        result.push(element.clone());
    }
    *items = result;
    Ok(())
}

fn has_values(item: &Node, keys: &[String], values: &[String]) -> Result<bool, String> {
    let mut fits = false;
    for (key, value) in keys.iter().zip(values) {
        fits = if key.is_empty() {
            if item.as_scalar().is_none() {
                return Err(format!("an item of a list of scalars: {}", item.wrong_shape("a scalar")));
            }
            item.text() == value
        } else {
            let Some(map) = item.as_map() else {
                return Err(format!("an item of a list: {}", item.wrong_shape("a map")));
            };
            map.get(key).is_some_and(|found| value.is_empty() || found.text() == value)
        };
        if !fits {
            break;
        }
    }
    Ok(fits)
}

/// Puts the items that were there after those that the patch has. Those that both have are already merged.
fn append(to: &mut Vec<Node>, items: &[Node], keys: &[String]) -> Result<(), String> {
    for item in items {
        if keys.first().is_none_or(String::is_empty) {
            set_item(to, &[String::new()], &[item.text().to_owned()], Some(item))?;
            continue;
        }
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            match item {
                Node::Map(map) => match map.get(key) {
                    Some(value) => values.push(value.text().to_owned()),
                    None => to.push(item.clone()),
                },
                item if item.is_null() => to.push(item.clone()),
                item => return Err(format!("an item of a list: {}", item.wrong_shape("a map"))),
            }
        }
        if keys.len() > 1 {
            set_item(to, keys, &values, None)?;
        }
        set_item(to, keys, &values, Some(item))?;
    }
    Ok(())
}
