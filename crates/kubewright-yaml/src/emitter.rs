//! Mappings and sequences.

use serde_json::{Map, Value};

use super::{
    number, order,
    output::Output,
    style::{Analysis, ScalarStyle},
};

/// Columns per level.
const INDENT: usize = 2;

/// A key with more bytes stands alone on its line, after `? `.
const SIMPLE_KEY_LIMIT: usize = 128;

/// Writes one document.
#[derive(Debug)]
pub(super) struct Emitter {
    pub(super) output: Output,
}

impl Emitter {
    pub(super) fn new() -> Self {
        Self { output: Output::new() }
    }

    pub(super) fn into_text(self) -> String {
        self.output.into_text()
    }

    pub(super) fn document(&mut self, value: &Value) {
        self.node(value, None, false);
        self.output.indent_to(0);
    }

    /// `parent` is the column of the collection around the node, if there is one.
    fn node(&mut self, value: &Value, parent: Option<usize>, in_mapping: bool) {
        let inner = parent.map_or(0, |column| column + INDENT);
        match value {
            Value::Object(map) if map.is_empty() => self.output.word("{}"),
            Value::Object(map) => self.mapping(map, inner),
            Value::Array(items) if items.is_empty() => self.output.word("[]"),
            Value::Array(items) => match parent {
                // A list stands at the column of its key, unless it begins on the line of a `:` alone.
                Some(column) if in_mapping && !self.output.indentation_only() => self.sequence(items, column),
                _ => self.sequence(items, inner),
            },
            Value::String(text) => {
                let style = Analysis::of(text).style(text, false);
                self.scalar(text, style, scalar_indent(parent), false);
            }
            Value::Null => self.scalar("null", ScalarStyle::Plain, scalar_indent(parent), false),
            Value::Bool(true) => self.scalar("true", ScalarStyle::Plain, scalar_indent(parent), false),
            Value::Bool(false) => self.scalar("false", ScalarStyle::Plain, scalar_indent(parent), false),
            Value::Number(number) => {
                self.scalar(&number::text(number), ScalarStyle::Plain, scalar_indent(parent), false);
            }
        }
    }

    fn mapping(&mut self, map: &Map<String, Value>, column: usize) {
        for (key, value) in order::entries(map) {
            self.output.indent_to(column);
            let analysis = Analysis::of(key);
            let simple = !analysis.multiline && key.len() <= SIMPLE_KEY_LIMIT;
            if simple {
                self.scalar(key, analysis.style(key, true), column + INDENT, true);
                self.output.key_end();
            } else {
                self.output.collection_indicator('?');
                self.scalar(key, analysis.style(key, false), column + INDENT, false);
                self.output.indent_to(column);
                self.output.collection_indicator(':');
            }
            self.node(value, Some(column), true);
        }
    }

    fn sequence(&mut self, items: &[Value], column: usize) {
        for item in items {
            self.output.indent_to(column);
            self.output.collection_indicator('-');
            self.node(item, Some(column), false);
        }
    }

    /// Writes a scalar whose further lines stand at `column`. A simple key has none.
    fn scalar(&mut self, text: &str, style: ScalarStyle, column: usize, simple_key: bool) {
        let fold_to = (!simple_key).then_some(column);
        match style {
            ScalarStyle::Plain => self.output.plain(text, fold_to),
            ScalarStyle::SingleQuoted => self.output.single_quoted(text, column, fold_to),
            ScalarStyle::DoubleQuoted => self.output.double_quoted(text, fold_to),
            ScalarStyle::Literal => self.output.literal(text, column),
        }
    }
}

fn scalar_indent(parent: Option<usize>) -> usize {
    parent.unwrap_or(0) + INDENT
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::to_string;

    #[test]
    fn lists_stand_at_the_column_of_their_key() {
        assert_eq!(
            to_string(&json!({"a": {"b": [{"c": [[1, [2]], []], "d": {}}, "x"]}})),
            "a:\n  b:\n  - c:\n    - - 1\n      - - 2\n    - []\n    d: {}\n  - x\n"
        );
    }

    #[test]
    fn a_document_may_be_any_value() {
        assert_eq!(to_string(&json!(null)), "null\n");
        assert_eq!(to_string(&json!("a: b")), "'a: b'\n");
        assert_eq!(to_string(&json!([])), "[]\n");
        assert_eq!(to_string(&json!({})), "{}\n");
        assert_eq!(to_string(&json!("a\nb\n")), "|\n  a\n  b\n");
        assert_eq!(to_string(&json!([[1], {"a": false}])), "- - 1\n- a: false\n");
    }

    #[test]
    fn long_keys_and_keys_of_several_lines_stand_alone() {
        let longest = "k".repeat(128);
        assert_eq!(to_string(&json!({ &longest: 1 })), format!("{longest}: 1\n"));
        let longer = "k".repeat(129);
        assert_eq!(to_string(&json!({ &longer: 1 })), format!("? {longer}\n: 1\n"));
        assert_eq!(to_string(&json!({ &longer: {"a": [1]} })), format!("? {longer}\n: a:\n  - 1\n"));
        assert_eq!(to_string(&json!({ &longer: [1, 2] })), format!("? {longer}\n: - 1\n  - 2\n"));
        assert_eq!(to_string(&json!({"a\nb": [1]})), "? |-\n  a\n  b\n: - 1\n");
    }

    #[test]
    fn keys_are_quoted_as_values_are() {
        assert_eq!(
            to_string(&json!({"true": 1, "": 2, "- a": 3, "y": 4, "8080": 5, "<<": 6})),
            "\"\": 2\n'- a': 3\n<<: 6\n\"8080\": 5\n\"true\": 1\n\"y\": 4\n"
        );
    }
}
