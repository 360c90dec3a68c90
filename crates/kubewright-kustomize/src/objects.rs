//! The objects of a kustomization, in the order in which they came.

use crate::{
    id::Id,
    node::{Dialect, Map, Node, read_stream},
    resource::{Behavior, Resource},
    selector::Matcher,
};

/// Objects, no two of which have the same identity when they are added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    pub(crate) list: Vec<Resource>,
}

/// Two objects with one identity.
#[derive(Debug)]
pub(crate) struct Duplicate(pub(crate) Box<Id>);

impl Objects {
    pub(crate) fn push(&mut self, resource: Resource) -> Result<(), Duplicate> {
        let id = resource.id();
        if self.list.iter().any(|other| other.name() == id.name && other.id().is(&id)) {
            return Err(Duplicate(Box::new(id)));
        }
        self.list.push(resource);
        Ok(())
    }

    pub(crate) fn extend(&mut self, more: Self) -> Result<(), Duplicate> {
        more.list.into_iter().try_for_each(|resource| self.push(resource))
    }

    /// The places of the objects that have or had this identity.
    pub(crate) fn with_any_id(&self, id: &Id) -> Vec<usize> {
        let is_it =
            |resource: &Resource| resource.had_name(&id.name) && resource.ids().any(|own| id.is(&own));
        (0..self.list.len()).filter(|at| is_it(&self.list[*at])).collect()
    }

    /// The place of the one object that has or had this identity.
    pub(crate) fn only(&self, id: &Id) -> Result<usize, String> {
        match self.with_any_id(id).as_slice() {
            [at] => Ok(*at),
            [] => Err(format!(
                "there is no {id} to change: a patch without `target` names apiVersion, kind, name and namespace of its object{}",
                self.similar(id)
            )),
            _ => Err(format!("more than one object is or was {id}: choose one with `target`")),
        }
    }

    /// Objects that may be meant.
    fn similar(&self, id: &Id) -> String {
        let similar: Vec<String> = self
            .list
            .iter()
            .map(Resource::original_id)
            .filter(|own| own.name == id.name || own.gvk.kind == id.gvk.kind)
            .take(3)
            .map(|own| own.to_string())
            .collect();
        if similar.is_empty() { String::new() } else { format!("; there is {}", similar.join(", ")) }
    }

    pub(crate) fn select(&self, matcher: &Matcher) -> Vec<usize> {
        (0..self.list.len()).filter(|at| matcher.selects(&self.list[*at])).collect()
    }

    /// Adds a generated object: as a new one, or in place of or merged into the one that it names.
    pub(crate) fn absorb(&mut self, mut made: Resource) -> Result<(), String> {
        let id = made.id();
        let at = match (self.with_any_id(&id).as_slice(), made.behavior) {
            ([], Behavior::Create) => {
                return self.push(made).map_err(|Duplicate(id)| format!("{id} is there twice"));
            }
            ([], _) => {
                return Err(format!(
                    "there is no {id} to merge with or to replace: leave `behavior` out to create it"
                ));
            }
            ([at], Behavior::Replace | Behavior::Merge) => *at,
            ([_], Behavior::Create) => {
                return Err(format!(
                    "{id} is there already: set `behavior` to merge or replace, or take another name"
                ));
            }
            _ => return Err(format!("more than one object is or was {id}")),
        };
        let old = &self.list[at];
        let (name, namespace) = (old.name().to_owned(), old.namespace().to_owned());
        let mut labels = old.labels();
        labels.extend(made.labels());
        let mut annotations = old.annotations();
        annotations.extend(made.annotations());
        if made.behavior == Behavior::Merge {
            for field in ["data", "binaryData"] {
                let mut data = old.data(field);
                data.extend(made.data(field));
                made.set_data(field, &data);
            }
            made.origin.clone_from(&old.origin);
        }
        made.transformed_by.clone_from(&old.transformed_by);
        made.take_history(old);
        made.set_labels(&labels);
        made.set_annotations(&annotations);
        made.set_name(&name);
        made.set_namespace(&namespace);
        self.list[at] = made;
        Ok(())
    }
}

/// Reads the objects of a file. Lists are replaced by what is in them.
pub(crate) fn parse(text: &str) -> Result<Vec<Resource>, String> {
    let mut nodes: std::collections::VecDeque<Node> =
        read_stream(text).map_err(|error| error.to_string())?.into();
    let mut resources = Vec::new();
    while let Some(node) = nodes.pop_front() {
        if node.is_null_or_empty() {
            continue;
        }
        let Node::Map(mut body) = node else {
            return Err("an object is a map with apiVersion, kind and metadata.name".to_owned());
        };
        let is_list = body.get("kind").map_or("", Node::text).ends_with("List");
        if is_list && let Some(items) = body.remove("items") {
            match items {
                Node::List(items) => nodes.extend(items),
                items if items.is_null() => {}
                _ => return Err("`items` of a list is no list".to_owned()),
            }
            continue;
        }
        resources.push(identified(body, is_list)?);
    }
    Ok(resources)
}

fn identified(body: Map, is_list: bool) -> Result<Resource, String> {
    let resource = Resource::new(body);
    if resource.body.get("kind").is_none_or(Node::is_null_or_empty) || resource.kind().is_empty() {
        return Err(format!("an object has no kind{}", shown(&resource)));
    }
    if resource.name().is_empty() && !is_list {
        return Err(format!("a {} has no metadata.name", resource.kind()));
    }
    Ok(resource)
}

/// What there is to recognise an object by.
fn shown(resource: &Resource) -> String {
    match resource.name() {
        "" => {
            let keys: Vec<&str> = resource.body.keys().take(4).collect();
            format!(" (it begins with {})", keys.join(", "))
        }
        name => format!(" (its name is {name})"),
    }
}

impl Resource {
    pub(crate) fn to_json(&self) -> Result<serde_json::Value, String> {
        Node::Map(self.body.clone()).to_json(Dialect::Version2).map_err(|why| format!("{}: {why}", self.id()))
    }
}
