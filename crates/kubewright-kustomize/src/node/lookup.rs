//! Finding the nodes at a path.

use regex::Regex;

use super::{Map, Node, Shape};

/// Divides a path. A delimiter after a backslash belongs to the name.
pub(crate) fn split_path(path: &str, delimiter: char) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut pieces = path.split(delimiter).peekable();
    // A path may begin with the delimiter.
    if pieces.peek() == Some(&"") && path.len() > 1 {
        pieces.next();
    }
    for piece in pieces {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts
}

/// Divides a path at dots, but not within brackets: `[name=a.b]` selects from a list, `[a.b]` is a name.
pub(crate) fn split_smart(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut pieces = split_path(path, '.').into_iter();
    while let Some(mut piece) = pieces.next() {
        if !piece.starts_with('[') || piece.ends_with(']') {
            parts.push(piece);
            continue;
        }
        for more in pieces.by_ref() {
            piece.push('.');
            piece.push_str(&more);
            if more.ends_with(']') {
                break;
            }
        }
        parts.push(if piece.contains('=') { piece } else { piece.trim_matches(['[', ']']).to_owned() });
    }
    parts
}

/// A path of a replacement, or of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Field(String),
    Index(usize),
    /// `-`, the last item.
    Last,
    /// `*`, each item.
    Every,
    /// `[name=value]`, or `[=value]` for items that are scalars.
    Where {
        field: String,
        value: String,
    },
    /// `[…]` without `=`.
    Broken(String),
}

impl Path {
    pub(crate) fn new(parts: &[String]) -> Self {
        let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
        Self { steps: parts.map(Step::new).collect() }
    }

    pub(crate) fn parse(path: &str) -> Self {
        Self::new(&split_smart(path))
    }

    /// The one node at the path. Values in brackets are meant literally.
    pub(crate) fn find<'a>(&self, root: &'a Node) -> Result<Option<&'a Node>, String> {
        let mut node = root;
        for step in &self.steps {
            if node.is_null() {
                return Ok(None);
            }
            let next = match step {
                Step::Field(name) => match node {
                    Node::Map(map) => map.get(name),
                    _ => return Err(format!("`{name}` is looked for in {}", node.found())),
                },
                Step::Every => return Err("`*` is only for targets".to_owned()),
                Step::Broken(step) => return Err(broken(step)),
                Step::Index(index) => items(node, step)?.get(*index),
                Step::Last => items(node, step)?.last(),
                Step::Where { field, value } => items(node, step)?.iter().find(|item| match item {
                    Node::Map(map) if !field.is_empty() => {
                        map.get(field).is_some_and(|found| found.text() == value)
                    }
                    Node::Scalar(scalar) if field.is_empty() => scalar.text() == value,
                    _ => false,
                }),
            };
            match next {
                Some(next) => node = next,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    /// Calls `change` with the node that [`Self::find`] gives.
    pub(crate) fn change_found(
        &self,
        root: &mut Node,
        change: &mut dyn FnMut(&mut Node),
    ) -> Result<(), String> {
        let mut node = root;
        for step in &self.steps {
            let count = node.as_list().map_or(0, <[Node]>::len);
            let next = match (step, node) {
                (Step::Field(name), Node::Map(map)) => map.get_mut(name),
                (Step::Index(index), Node::List(items)) => items.get_mut(*index),
                (Step::Last, Node::List(items)) => items.get_mut(count.wrapping_sub(1)),
                (Step::Where { field, value }, Node::List(items)) => {
                    items.iter_mut().find(|item| match item {
                        Node::Map(map) if !field.is_empty() => {
                            map.get(field).is_some_and(|found| found.text() == value)
                        }
                        Node::Scalar(scalar) if field.is_empty() => scalar.text() == value,
                        _ => false,
                    })
                }
                _ => None,
            };
            node = next.ok_or_else(|| "it is not there".to_owned())?;
        }
        change(node);
        Ok(())
    }

    /// Calls `change` with each node at the path, and gives their number. Values in brackets are patterns. With
    /// `create`, what is missing is made, and the last of it in that shape.
    pub(crate) fn change(
        &self,
        root: &mut Node,
        create: Option<Shape>,
        change: &mut dyn FnMut(&mut Node) -> Result<(), String>,
    ) -> Result<usize, String> {
        change_at(&self.steps, root, create, change)
    }
}

impl Step {
    fn new(part: &str) -> Self {
        if let Ok(index) = part.parse() {
            return Self::Index(index);
        }
        match part {
            "-" => Self::Last,
            "*" => Self::Every,
            _ => match part.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
                Some(inner) => match inner.split_once('=') {
                    Some((field, value)) => Self::Where { field: field.to_owned(), value: value.to_owned() },
                    None => Self::Broken(part.to_owned()),
                },
                None => Self::Field(part.to_owned()),
            },
        }
    }
}

fn broken(step: &str) -> String {
    format!("`{step}` selects nothing: write `[field=value]`, or `[=value]` for a list of scalars")
}

fn items<'a>(node: &'a Node, step: &Step) -> Result<&'a [Node], String> {
    node.as_list().ok_or_else(|| match step {
        Step::Index(index) => format!("item {index} is looked for in {}", node.found()),
        _ => format!("items are looked for in {}", node.found()),
    })
}

/// The shape of a node that is made for what `rest` looks for in it.
fn shape_for(rest: &[Step], last: Shape) -> Shape {
    match rest.first() {
        None => last,
        Some(Step::Index(_) | Step::Where { .. } | Step::Broken(_)) => Shape::List,
        Some(Step::Field(_) | Step::Last | Step::Every) => Shape::Map,
    }
}

fn change_at(
    steps: &[Step],
    node: &mut Node,
    create: Option<Shape>,
    change: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<usize, String> {
    let Some((step, rest)) = steps.split_first() else {
        change(node)?;
        return Ok(1);
    };
    match step {
        Step::Field(name) => change_field(name, rest, node, create, change),
        // A name here, unlike in a source.
        Step::Last => change_field("-", rest, node, create, change),
        Step::Index(index) => {
            if node.is_null() {
                return Err(format!("there is no item {index}"));
            }
            let found = node.found();
            let Node::List(items) = node else {
                return Err(format!("item {index} is looked for in {found}"));
            };
            if items.len() == *index
                && let Some(last) = create
            {
                items.push(Node::empty(shape_for(rest, last)));
            }
            let count = items.len();
            let item =
                items.get_mut(*index).ok_or_else(|| format!("there is no item {index}, only {count}"))?;
            change_at(rest, item, create, change)
        }
        Step::Every => {
            if node.is_null() {
                return Ok(0);
            }
            let found = node.found();
            let Node::List(items) = node else { return Err(format!("`*` stands for the items of {found}")) };
            items.iter_mut().try_fold(0, |count, item| Ok(count + change_at(rest, item, create, change)?))
        }
        Step::Broken(step) => Err(broken(step)),
        Step::Where { field, value } => {
            if node.is_null() {
                return Ok(0);
            }
            let pattern = Regex::new(value).map_err(|error| format!("`{value}` is no pattern: {error}"))?;
            let found = node.found();
            let Node::List(items) = node else {
                return Err(format!("`[{field}={value}]` selects from {found}"));
            };
            let mut all = |items: &mut [Node]| {
                items.iter_mut().try_fold(0, |count, item| {
                    let selected = match &*item {
                        Node::Map(map) if !field.is_empty() => {
                            map.get(field).is_some_and(|found| pattern.is_match(found.text()))
                        }
                        Node::Scalar(scalar) if field.is_empty() => pattern.is_match(scalar.text()),
                        _ => false,
                    };
                    // A scalar has nothing below it.
                    let rest = if field.is_empty() { &[] } else { rest };
                    Ok::<_, String>(count + if selected { change_at(rest, item, create, change)? } else { 0 })
                })
            };
            let count = all(items)?;
            if count > 0 || create.is_none() {
                return Ok(count);
            }
            items.push(if field.is_empty() {
                Node::plain(value)
            } else {
                Node::Map(Map::from_iter([(field.clone(), Node::plain(value))]))
            });
            all(items)
        }
    }
}

fn change_field(
    name: &str,
    rest: &[Step],
    node: &mut Node,
    create: Option<Shape>,
    change: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<usize, String> {
    if node.is_null() {
        match create {
            // A field was asked to be made in it.
            Some(_) => *node = Node::empty(Shape::Map),
            None => return Ok(0),
        }
    }
    let found = node.found();
    let Node::Map(map) = node else { return Err(format!("`{name}` is looked for in {found}")) };
    let field = match create {
        Some(last) => map.get_or_insert(name, shape_for(rest, last)),
        None => match map.get_mut(name) {
            Some(field) => field,
            None => return Ok(0),
        },
    };
    change_at(rest, field, create, change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_divided_outside_of_brackets() {
        assert_eq!(split_path("a/b\\/c/d", '/'), ["a", "b/c", "d"]);
        assert_eq!(split_path("/a/b", '/'), ["a", "b"]);
        assert_eq!(split_path("", '/'), [""]);
        assert_eq!(split_smart("a.[name=x.y].b"), ["a", "[name=x.y]", "b"]);
        assert_eq!(split_smart("metadata.annotations.[a.b/c].d"), ["metadata", "annotations", "a.b/c", "d"]);
        assert_eq!(split_smart("metadata.annotations.a\\.b"), ["metadata", "annotations", "a.b"]);
    }
}
