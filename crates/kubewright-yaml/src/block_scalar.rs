//! Literal scalars: text whose lines stand as they are, after `|`.

use super::{output::Output, style::is_break};

impl Output {
    pub(super) fn literal(&mut self, text: &str, column: usize) {
        self.word("|");
        // The reader takes the indentation of the first line for that of all, unless it is told.
        if text.starts_with(|first: char| first == ' ' || is_break(first)) {
            self.put('2');
        }
        let mut backwards = text.chars().rev();
        match (backwards.next().is_some_and(is_break), backwards.next()) {
            (false, _) => self.put('-'),
            (true, Some(before)) if !is_break(before) => {}
            (true, _) => self.put('+'),
        }
        self.line_break('\n');
        self.line_begun();
        let mut at_line_start = true;
        for character in text.chars() {
            if is_break(character) {
                self.line_break(character);
                self.line_begun();
                at_line_start = true;
            } else {
                if at_line_start {
                    self.indent_to(column);
                }
                self.put(character);
                at_line_start = false;
            }
        }
        if !at_line_start {
            self.text_written();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::to_string;

    fn literal(text: &str) -> String {
        to_string(&json!({ "k": text, "l": 1 }))
    }

    #[test]
    fn the_end_of_the_text_is_told_by_the_chomping_indicator() {
        assert_eq!(literal("a\nb"), "k: |-\n  a\n  b\nl: 1\n");
        assert_eq!(literal("a\nb\n"), "k: |\n  a\n  b\nl: 1\n");
        assert_eq!(literal("a\n\n"), "k: |+\n  a\n\nl: 1\n");
        assert_eq!(literal("\n"), "k: |2+\n\nl: 1\n");
    }

    #[test]
    fn empty_lines_are_not_indented() {
        assert_eq!(literal("a\n\nb"), "k: |-\n  a\n\n  b\nl: 1\n");
    }

    #[test]
    fn leading_spaces_need_an_indentation_indicator() {
        assert_eq!(literal("  a\nb"), "k: |2-\n    a\n  b\nl: 1\n");
        assert_eq!(literal("\na"), "k: |2-\n\n  a\nl: 1\n");
        assert_eq!(to_string(&json!({"a": {"b": [" x\ny"]}})), "a:\n  b:\n  - |2-\n     x\n    y\n");
    }

    #[test]
    fn literal_text_is_never_folded() {
        let long = format!("{} word\nb", "x".repeat(100));
        assert_eq!(literal(&long), format!("k: |-\n  {} word\n  b\nl: 1\n", "x".repeat(100)));
    }
}
