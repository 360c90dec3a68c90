//! Text to nodes.

use std::collections::HashMap;

use granit_parser::{Event, Marker, Options, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::Value;

use super::{Kind, Map, Node, Scalar};

/// How plain scalars are taken. kustomize reads its own files with one library and objects with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Kustomizations and what belongs to them: YAML 1.1, where `yes` is true. The last of several equal keys counts,
    /// and keys may be numbers.
    Version1,
    /// Objects and patches: `yes` is a string. A key stands once and is a string.
    Version2,
}

/// A text that is no YAML, or YAML that no object can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub(crate) struct Malformed {
    pub(crate) line: usize,
    pub(crate) what: String,
}

/// Nodes in a document after aliases are replaced. A few lines can stand for more than fits into memory.
pub(crate) const MAX_NODES: usize = 1_000_000;

/// Collections within collections. The parser has a limit of its own, which aliases evade.
pub(crate) const MAX_DEPTH: usize = 256;

/// The first document of a text; nothing if it is empty.
pub(crate) fn read(text: &str, dialect: Dialect) -> Result<Option<Node>, Malformed> {
    read_with(text, dialect, dialect == Dialect::Version2)
}

/// The same in the first dialect, but each key stands once.
pub(crate) fn read_once(text: &str) -> Result<Option<Node>, Malformed> {
    read_with(text, Dialect::Version1, true)
}

fn read_with(text: &str, dialect: Dialect, keys_once: bool) -> Result<Option<Node>, Malformed> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader { dialect, keys_once, open: Vec::new(), anchors: HashMap::new(), nodes: 0 };
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(Malformed::scan)?;
        if let Some(root) = reader.take(&event, &span)? {
            return Ok((!root.is_null()).then_some(root));
        }
    }
    Ok(None)
}

/// The documents of a file of objects. They are divided at lines that begin with `---`, before anything else is read,
/// as kustomize does.
pub(crate) fn read_stream(text: &str) -> Result<Vec<Node>, Malformed> {
    let text = text.replace("\r\n", "\n");
    let mut documents = Vec::new();
    let (mut document, mut first_line) = (String::new(), 1);
    let mut finish = |document: &str, first_line: usize| {
        let root = read(document, Dialect::Version2)
            .map_err(|error| Malformed { line: error.line + first_line - 1, what: error.what })?;
        documents.extend(root);
        Ok(())
    };
    for (index, line) in text.split_inclusive('\n').enumerate() {
        // The first line begins a document anyway, and the last one has nothing after it to begin.
        let separator = line.strip_prefix("---").filter(|_| index > 0 && line.ends_with('\n'));
        let Some(rest) = separator else {
            document.push_str(line);
            continue;
        };
        let rest = rest.trim();
        if !rest.is_empty() && !rest.starts_with('#') {
            let what = format!("a line that begins with `---` divides documents, and has `{rest}` after it");
            return Err(Malformed { line: index + 1, what });
        }
        finish(&document, first_line)?;
        document.clear();
        first_line = index + 2;
    }
    finish(&document, first_line)?;
    Ok(documents)
}

impl Malformed {
    #[expect(clippy::needless_pass_by_value, reason = "it stands where an error is mapped")]
    fn scan(error: ScanError) -> Self {
        Self::at(error.marker(), error.info())
    }

    fn at(marker: &Marker, what: impl Into<String>) -> Self {
        Self { line: marker.line(), what: what.into() }
    }
}

struct Reader {
    dialect: Dialect,
    keys_once: bool,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
}

/// A node, the number of nodes in it, and how deep they go.
#[derive(Clone)]
struct Anchored {
    node: Node,
    size: usize,
    depth: usize,
}

/// A collection whose end was not read yet.
struct Open {
    node: Node,
    anchor: usize,
    depth: usize,
    /// `nodes` before it.
    begun: usize,
    key: Option<Key>,
    /// The values of `<<`.
    merged: Vec<Node>,
}

enum Key {
    Field(String),
    Merge,
}

impl Reader {
    /// Takes an event. Gives the root when it is whole.
    fn take(&mut self, event: &Event<'_>, span: &Span) -> Result<Option<Node>, Malformed> {
        let start = &span.start;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, start)?;
                let quoted = *style != ScalarStyle::Plain;
                // The parser says `~` where nothing is written, and what is written makes a difference.
                let text = if span.is_empty() && text == "~" { "" } else { text };
                let is_key = self.expects_key();
                if is_key && !quoted && tag.is_none() && text == "<<" {
                    self.set_key(Key::Merge);
                    return Ok(None);
                }
                let kind = tag.as_deref().map(kind_of);
                let scalar = Scalar::read(text, kind, quoted, self.dialect);
                if is_key {
                    self.key(&scalar, start)?;
                    return Ok(None);
                }
                let node = Node::Scalar(scalar);
                self.remember(*anchor, &node, 1, 0);
                self.add(node, 0, start)
            }
            Event::SequenceStart(_, anchor, _) => self.begin(Node::List(Vec::new()), *anchor, start),
            Event::MappingStart(_, anchor, _) => self.begin(Node::Map(Map::default()), *anchor, start),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else { return Ok(None) };
                let node = merge(open.node, open.merged, start)?;
                let size = self.nodes - open.begun;
                self.remember(open.anchor, &node, size, open.depth);
                self.add(node, open.depth, start)
            }
            Event::Alias(id) => {
                let Some(Anchored { node, size, depth }) = self.anchors.get(id).cloned() else {
                    return Err(Malformed::at(start, "an alias stands within what it stands for"));
                };
                self.count(size, start)?;
                if self.expects_key() {
                    let Node::Scalar(scalar) = &node else {
                        return Err(Malformed::at(start, "a key must be a string"));
                    };
                    self.key(scalar, start)?;
                    return Ok(None);
                }
                self.add(node, depth, start)
            }
            _ => Ok(None),
        }
    }

    fn count(&mut self, more: usize, at: &Marker) -> Result<(), Malformed> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes > MAX_NODES {
            return Err(Malformed::at(
                at,
                format!("more than {MAX_NODES} values; aliases count as what they stand for"),
            ));
        }
        Ok(())
    }

    fn remember(&mut self, anchor: usize, node: &Node, size: usize, depth: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, Anchored { node: node.clone(), size, depth });
        }
    }

    fn begin(&mut self, node: Node, anchor: usize, at: &Marker) -> Result<Option<Node>, Malformed> {
        if self.expects_key() {
            return Err(Malformed::at(at, "a key must be a string"));
        }
        let begun = self.nodes;
        self.count(1, at)?;
        self.open.push(Open { node, anchor, depth: 1, begun, key: None, merged: Vec::new() });
        Ok(None)
    }

    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.key.is_none() && matches!(open.node, Node::Map(_)))
    }

    fn set_key(&mut self, key: Key) {
        if let Some(open) = self.open.last_mut() {
            open.key = Some(key);
        }
    }

    fn key(&mut self, scalar: &Scalar, at: &Marker) -> Result<(), Malformed> {
        let quote = || format!("the key `{}` is no string; put it into quotes", scalar.text());
        let key = match self.dialect {
            Dialect::Version2 if !scalar.is_string() => return Err(Malformed::at(at, quote())),
            Dialect::Version2 => scalar.text().to_owned(),
            // Numbers and booleans become strings.
            Dialect::Version1 => match scalar.to_json(self.dialect) {
                Ok(Value::String(text)) => text,
                Ok(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
                _ => return Err(Malformed::at(at, quote())),
            },
        };
        let is_there = |open: &Open| open.node.as_map().is_some_and(|map| map.contains(&key));
        if self.keys_once && self.open.last().is_some_and(is_there) {
            return Err(Malformed::at(at, format!("the key `{key}` is already there")));
        }
        self.set_key(Key::Field(key));
        Ok(())
    }

    fn add(&mut self, node: Node, depth: usize, at: &Marker) -> Result<Option<Node>, Malformed> {
        let above = self.open.len();
        let Some(open) = self.open.last_mut() else { return Ok(Some(node)) };
        if above + depth > MAX_DEPTH {
            return Err(Malformed::at(at, format!("more than {MAX_DEPTH} collections within each other")));
        }
        open.depth = open.depth.max(depth + 1);
        match (&mut open.node, open.key.take()) {
            (Node::List(items), _) => items.push(node),
            (Node::Map(map), Some(Key::Field(key))) => map.insert(key, node),
            (Node::Map(_), Some(Key::Merge)) => match node {
                Node::Map(_) => open.merged.push(node),
                // What stands first wins, and what is merged last.
                Node::List(items) if items.iter().all(|item| matches!(item, Node::Map(_))) => {
                    open.merged.extend(items.into_iter().rev());
                }
                _ => return Err(Malformed::at(at, "`<<` takes a map or a list of maps")),
            },
            (Node::Map(_) | Node::Scalar(_), _) => {}
        }
        Ok(None)
    }
}

/// `node` with the fields of `merged` that it does not have.
fn merge(node: Node, merged: Vec<Node>, at: &Marker) -> Result<Node, Malformed> {
    if merged.is_empty() {
        return Ok(node);
    }
    let mut result = Map::default();
    for part in merged.into_iter().chain([node]) {
        let Node::Map(map) = part else { return Err(Malformed::at(at, "`<<` takes a map")) };
        for (key, value) in map.entries {
            result.insert(key, value);
        }
    }
    Ok(Node::Map(result))
}

fn kind_of(tag: &Tag) -> Kind {
    match tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() {
        Some("null") => Kind::Null,
        Some("bool") => Kind::Bool,
        Some("int") => Kind::Int,
        Some("float") => Kind::Float,
        Some("timestamp") => Kind::Timestamp,
        Some("binary") => Kind::Binary,
        _ => Kind::Str,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Value {
        read(text, Dialect::Version2).unwrap().unwrap().to_json(Dialect::Version2).unwrap()
    }

    #[test]
    fn aliases_and_merge_keys_are_replaced() {
        assert_eq!(
            value("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [{x: 5}, *a]}\nd: *a"),
            json!({"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"x": 5, "y": 2}, "d": {"x": 1, "y": 2}})
        );
    }

    #[test]
    fn aliases_cannot_fill_the_memory() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let before = level - 1;
            let items = vec![format!("*a{before}"); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        let error = read(&text, Dialect::Version2).unwrap_err();
        assert!(error.what.contains("more than"), "{error}");
        assert!(read("a: &a [*a]", Dialect::Version2).is_err());
        let mut text = "a0: &a0 []\n".to_owned();
        for level in 1..300 {
            text.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
        }
        assert!(read(&text, Dialect::Version2).unwrap_err().what.contains("within each other"));
    }

    #[test]
    fn objects_have_each_key_once_and_as_a_string() {
        assert_eq!(
            read("a: 1\nb: 2\na: 3", Dialect::Version2).unwrap_err().to_string(),
            "line 3: the key `a` is already there"
        );
        assert!(read("1: a", Dialect::Version2).unwrap_err().what.contains("put it into quotes"));
        let lenient = read("a: 1\n1: 2\na: 3", Dialect::Version1).unwrap().unwrap();
        assert_eq!(lenient.to_json(Dialect::Version1), Ok(json!({"a": 3, "1": 2})));
    }

    #[test]
    fn documents_are_divided_at_lines() {
        let stream = |text| read_stream(text).map(|all| all.len()).map_err(|error| error.to_string());
        assert_eq!(stream("---\na: 1\n---\n---\n# nothing\n--- # more\nb: 2\n"), Ok(2));
        assert_eq!(stream(""), Ok(0));
        assert!(stream("a: 1\n---\nb: [\n").unwrap_err().starts_with("line "));
        assert!(stream("a: 1\n--- b: 1\nc: 2\n").unwrap_err().starts_with("line 2: "));
    }
}
