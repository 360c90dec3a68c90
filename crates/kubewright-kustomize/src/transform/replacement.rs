//! `replacements`.

use crate::{
    id::Id,
    json::{go_json, go_json_indented},
    kustomization::{FieldOptions, Replacement, ReplacementSource, ReplacementTarget},
    node::{Dialect, Node, Path, Shape, read, split_smart},
    objects::Objects,
    resource::Resource,
    selector::Matcher,
};

/// Where a replacement that names no field reads and writes.
const DEFAULT_FIELD: &str = "metadata.name";

/// Copies a value from one object, or from the kustomization, to fields of others.
pub(crate) fn apply(objects: &mut Objects, replacement: &Replacement) -> Result<(), String> {
    let Some(targets) = &replacement.targets else { return Err("it has no `targets`".to_owned()) };
    let value = match (&replacement.source, &replacement.source_value) {
        (Some(_), Some(_)) => return Err("it has both `source` and `sourceValue`: keep one".to_owned()),
        (Some(source), None) => read_source(objects, source)?,
        (None, Some(value)) => Node::plain(value.clone()),
        (None, None) => return Err("it has no `source`".to_owned()),
    };
    targets.iter().try_for_each(|target| write_target(objects, target, &value))
}

fn read_source(objects: &Objects, source: &ReplacementSource) -> Result<Node, String> {
    let is_selected = |id: &Id| {
        (source.name.is_empty() || source.name == id.name)
            && (source.namespace.is_empty() || scope(&source.namespace) == scope(&id.namespace))
            && id.gvk.is_selected_by(&source.gvk)
    };
    let mut selected = objects.list.iter().filter(|resource| resource.ids().any(|id| is_selected(&id)));
    let Some(resource) = selected.next() else {
        return Err(format!("no object is its source ({})", described(source)));
    };
    if let Some(other) = selected.next() {
        return Err(format!("more than one object is its source: {} and {}", resource.id(), other.id()));
    }
    let path = if source.field_path.is_empty() { DEFAULT_FIELD } else { &source.field_path };
    let root = Node::Map(resource.body.clone());
    let value = Path::parse(path)
        .find(&root)
        .map_err(|why| format!("the field `{path}` of {}: {why}", resource.id()))?
        .filter(|value| !value.is_null_or_empty())
        .ok_or_else(|| format!("{} has no field `{path}`, which is its source", resource.id()))?;
    part_of(value, &source.options).map_err(|why| format!("the field `{path}` of {}: {why}", resource.id()))
}

fn scope(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}

fn described(source: &ReplacementSource) -> String {
    let parts = [
        ("group", &source.gvk.group),
        ("version", &source.gvk.version),
        ("kind", &source.gvk.kind),
        ("name", &source.name),
        ("namespace", &source.namespace),
    ];
    let given: Vec<String> = parts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(field, value)| format!("{field} {value}"))
        .collect();
    if given.is_empty() { "it names none".to_owned() } else { given.join(", ") }
}

/// The part of a text between delimiters that the options choose.
fn part_of(value: &Node, options: &FieldOptions) -> Result<Node, String> {
    if options.delimiter.is_empty() {
        return Ok(value.clone());
    }
    let Node::Scalar(scalar) = value else { return Err(value.wrong_shape("a scalar to divide").to_string()) };
    let parts: Vec<&str> = scalar.text().split(options.delimiter.as_str()).collect();
    let part = usize::try_from(options.index).ok().and_then(|index| parts.get(index)).ok_or_else(|| {
        format!("`{}` has {} parts and none at index {}", scalar.text(), parts.len(), options.index)
    })?;
    let mut scalar = scalar.clone();
    scalar.set_text(*part);
    Ok(Node::Scalar(scalar))
}

fn write_target(objects: &mut Objects, target: &ReplacementTarget, value: &Node) -> Result<(), String> {
    let select = target.select.as_ref().ok_or("a target has no `select`: which objects to write to")?;
    let select = Matcher::new(select)?;
    let reject = target.reject.iter().map(Matcher::new).collect::<Result<Vec<_>, _>>()?;
    let default = [DEFAULT_FIELD.to_owned()];
    let paths = if target.field_paths.is_empty() { default.as_slice() } else { &target.field_paths };
    for resource in &mut objects.list {
        if !select.selects_any(resource) || reject.iter().any(|reject| reject.rejects(resource)) {
            continue;
        }
        for path in paths {
            write(resource, path, &target.options, value)
                .map_err(|why| format!("the field `{path}` of {}: {why}", resource.id()))?;
        }
    }
    Ok(())
}

fn write(resource: &mut Resource, path: &str, options: &FieldOptions, value: &Node) -> Result<(), String> {
    let create = options.create.then(|| value.shape());
    let mut root = Node::Map(std::mem::take(&mut resource.body));
    let mut change = |node: &mut Node| set(node, options, value);
    let result = match write_within_text(&mut root, path, create, value) {
        Some(result) => result.map(|()| 1),
        None => Path::parse(path).change(&mut root, create, &mut change),
    };
    let fits = root.fits();
    if let Node::Map(body) = root {
        resource.body = body;
    }
    match result? {
        _ if !fits => Err("the object becomes too large".to_owned()),
        0 if options.create => Err("it is not there and cannot be made".to_owned()),
        0 => Err("it is not there; `options.create: true` makes it".to_owned()),
        _ => Ok(()),
    }
}

fn set(node: &mut Node, options: &FieldOptions, value: &Node) -> Result<(), String> {
    let mut value = value.clone();
    if !options.delimiter.is_empty() {
        let Node::Scalar(target) = &*node else {
            return Err(node.wrong_shape("a scalar to divide").to_string());
        };
        let mut parts: Vec<&str> = target.text().split(options.delimiter.as_str()).collect();
        let text = value.text();
        match usize::try_from(options.index) {
            Err(_) => parts.insert(0, text),
            Ok(index) => match parts.get_mut(index) {
                Some(part) => *part = text,
                None => parts.push(text),
            },
        }
        let text = parts.join(&options.delimiter);
        match &mut value {
            Node::Scalar(scalar) => scalar.set_text(text),
            other => *other = Node::plain(text),
        }
    }
    put(node, value);
    Ok(())
}

/// Puts a value in place of a node. A scalar gets the text and stays what it was: a number, or in quotes.
fn put(node: &mut Node, value: Node) {
    match node {
        Node::Scalar(scalar) => scalar.set_text(value.text()),
        _ => *node = value,
    }
}

/// Writes into a document that is the text of a field, as in a ConfigMap, if the path leads there.
fn write_within_text(
    root: &mut Node,
    path: &str,
    create: Option<Shape>,
    value: &Node,
) -> Option<Result<(), String>> {
    let parts = split_smart(path);
    let at = (1..parts.len()).find(
        |at| matches!(Path::new(&parts[..*at]).find(root), Ok(Some(Node::Scalar(text))) if !text.is_null()),
    )?;
    let text = Path::new(&parts[..at]).find(root).ok()??.text().to_owned();
    let mut document = read(&text, Dialect::Version2).ok()??;
    let count = Path::new(&parts[at..]).change(&mut document, create, &mut |node| {
        put(node, value.clone());
        Ok(())
    });
    if count.ok()? == 0 {
        return None;
    }
    Some(written(&document, &text).and_then(|text| {
        Path::new(&parts[..at]).change_found(root, &mut |node| {
            if let Node::Scalar(scalar) = node {
                scalar.set_text(text.clone());
            }
        })
    }))
}

/// The document as text, in the manner of the text before.
fn written(document: &Node, before: &str) -> Result<String, String> {
    if !before.trim_start().starts_with(['{', '[']) {
        return Err("it is in YAML within a text, which is not supported (JSON is): generate the text anew, or patch it as a whole".to_owned());
    }
    let value = document.to_json(Dialect::Version2)?;
    let is_indented = before.contains('\n') && before.contains("  ");
    Ok(if is_indented { go_json_indented(&value) } else { go_json(&value) })
}
