//! Changing the fields that a [`FieldSpec`] names.

use crate::{
    id::Gvk,
    kustomization::FieldSpec,
    node::{Map, Node, Shape, split_path},
};

/// Calls `change` with each field that `spec` names in an object, if it is for objects of this kind.
///
/// Lists on the way are gone through. With `create` in the spec, what is missing is made, and the field itself as
/// `shape`; without a shape nothing is made.
pub(crate) fn visit(
    body: &mut Map,
    spec: &FieldSpec,
    shape: Option<Shape>,
    change: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<(), String> {
    let text = |field| body.get(field).map_or("", Node::text);
    if !Gvk::new(text("apiVersion"), text("kind")).is_selected_by(&spec.gvk) {
        return Ok(());
    }
    let path = split_path(&spec.path, '/');
    let shape = shape.filter(|_| spec.create);
    in_map(body, &path, shape, change).map_err(|why| format!("the field `{}`: {why}", spec.path))
}

fn descend(
    node: &mut Node,
    path: &[String],
    shape: Option<Shape>,
    change: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<(), String> {
    if path.is_empty() {
        return change(node);
    }
    match node {
        Node::Map(map) => in_map(map, path, shape, change),
        Node::List(items) => items.iter_mut().try_for_each(|item| descend(item, path, shape, change)),
        Node::Scalar(scalar) if scalar.is_null() => Ok(()),
        Node::Scalar(_) => Err(format!("`{}` is looked for in a scalar", path[0])),
    }
}

fn in_map(
    map: &mut Map,
    path: &[String],
    shape: Option<Shape>,
    change: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<(), String> {
    let Some((name, rest)) = path.split_first() else { return Ok(()) };
    // `name[]` is a list, which is not made.
    let (name, is_list) = name.strip_suffix("[]").map_or((name.as_str(), false), |name| (name, true));
    if name.is_empty() {
        return Err("it has an empty name in its path".to_owned());
    }
    let made = match shape {
        _ if is_list => None,
        Some(shape) if rest.is_empty() => Some(shape),
        Some(_) => Some(Shape::Map),
        None => None,
    };
    let field = match made {
        Some(shape) => map.get_or_insert(name, shape),
        None => match map.get_mut(name) {
            Some(field) => field,
            None => return Ok(()),
        },
    };
    if field.is_null()
        && let Some(shape) = if is_list { Some(Shape::List) } else { made }
    {
        *field = Node::empty(shape);
    }
    descend(field, rest, shape, change)
}
