//! `vars`: `$(NAME)` in texts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    field_spec::visit,
    id::Id,
    kustomization::{FieldSpec, Variable},
    node::{Dialect, Kind, Node, Path, Scalar},
    objects::Objects,
};

/// Notes the variables on the objects that have their values.
pub(crate) fn note(objects: &mut Objects, variables: &[Variable]) -> Result<(), String> {
    for variable in variables {
        let reference = &variable.objref;
        let id = Id::current(reference.gvk(), &reference.name, &reference.namespace);
        let is_it = |own: &Id| {
            own.name == id.name
                && own.gvk == id.gvk
                && (id.namespace.is_empty() && !id.is_cluster_scoped() || own.scope() == id.scope())
        };
        let mut found = objects.list.iter_mut().filter(|resource| resource.ids().any(|own| is_it(&own)));
        if let Some(resource) = found.next() {
            if found.next().is_some() {
                return Err(format!(
                    "more than one object is or was {id}, which has the variable {}",
                    variable.name
                ));
            }
            resource.variables.push(variable.name.clone());
        }
    }
    Ok(())
}

/// Puts the values of variables into the texts that name them.
pub(crate) fn resolve(
    objects: &mut Objects,
    variables: &[Variable],
    fields: &[FieldSpec],
) -> Result<(), String> {
    let mut values = BTreeMap::new();
    for variable in variables {
        values.insert(variable.name.as_str(), value_of(objects, variable)?);
    }
    if values.is_empty() {
        return Ok(());
    }
    for resource in &mut objects.list {
        for field in fields {
            let set = visit(&mut resource.body, field, None, &mut |node| replace(node, &values));
            set.map_err(|why| format!("{}: {why}", resource.id()))?;
        }
    }
    Ok(())
}

fn value_of(objects: &Objects, variable: &Variable) -> Result<Value, String> {
    let name = &variable.name;
    let Some(resource) = objects.list.iter().find(|resource| resource.variables.contains(name)) else {
        return Err(format!("no object has the value of the variable {name}: its `objref` names none"));
    };
    let path = match variable.fieldref.field_path.as_str() {
        "" => "metadata.name",
        path => path,
    };
    let root = Node::Map(resource.body.clone());
    let value = indexed(path).find(&root).ok().flatten();
    value
        .ok_or_else(|| {
            format!("{} has no field `{path}`, which is the value of the variable {name}", resource.id())
        })?
        .to_json(Dialect::Version2)
}

/// The path with `name[0]` as two steps.
fn indexed(path: &str) -> Path {
    let mut parts = Vec::new();
    for part in crate::node::split_smart(path) {
        match part.strip_suffix(']').and_then(|part| part.rsplit_once('[')) {
            Some((name, index)) if index.bytes().all(|b| b.is_ascii_digit()) => {
                parts.extend([name.to_owned(), index.to_owned()].into_iter().filter(|part| !part.is_empty()));
            }
            _ => parts.push(part),
        }
    }
    Path::new(&parts)
}

fn replace(node: &mut Node, values: &BTreeMap<&str, Value>) -> Result<(), String> {
    match node {
        Node::Scalar(scalar) => {
            if scalar.is_string() {
                *scalar = expanded(scalar, values);
            }
            Ok(())
        }
        Node::Map(map) => {
            for (_, value) in map.iter_mut() {
                if let Node::Scalar(scalar) = value
                    && scalar.is_string()
                {
                    *scalar = expanded(scalar, values);
                }
            }
            Ok(())
        }
        Node::List(items) => items.iter_mut().try_for_each(|item| match item {
            Node::Scalar(scalar) if scalar.is_string() => {
                *scalar = expanded(scalar, values);
                Ok(())
            }
            _ => Err("a variable can stand in strings only, and an item is none".to_owned()),
        }),
    }
}

/// The scalar with the values of variables. One that is nothing but a variable becomes what its value is.
fn expanded(scalar: &Scalar, values: &BTreeMap<&str, Value>) -> Scalar {
    let text = scalar.text();
    if let Some(name) = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'))
        && let Some(value) = values.get(name)
        && !matches!(value, Value::Array(_) | Value::Object(_) | Value::Null)
    {
        return match value {
            Value::String(text) => Scalar::string(text.clone()),
            value => Scalar::of(
                value.to_string(),
                if value.is_boolean() {
                    Kind::Bool
                } else if value.is_f64() {
                    Kind::Float
                } else {
                    Kind::Int
                },
            ),
        };
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, after) = rest.split_at(at);
        result.push_str(before);
        let after = &after[1..];
        let mut characters = after.chars();
        match characters.next() {
            None => {
                result.push('$');
                rest = "";
            }
            Some('$') => {
                result.push('$');
                rest = characters.as_str();
            }
            Some('(') => match after.split_once(')') {
                Some((name, more)) => {
                    let name = &name[1..];
                    match values.get(name) {
                        Some(Value::String(value)) => result.push_str(value),
                        Some(value @ (Value::Bool(_) | Value::Number(_))) => {
                            result.push_str(&value.to_string());
                        }
                        _ => result.push_str(&format!("$({name})")),
                    }
                    rest = more;
                }
                None => {
                    result.push_str("$(");
                    rest = characters.as_str();
                }
            },
            Some(other) => {
                result.push('$');
                result.push(other);
                rest = characters.as_str();
            }
        }
    }
    result.push_str(rest);
    Scalar::string(result)
}
