//! Plain and quoted scalars, and where they are folded.
//!
//! A space becomes a line break if it stands after column 80. Lines therefore end with the first word that goes
//! beyond it, and a word without spaces is never broken.

use super::{
    output::Output,
    style::{is_break, is_printable},
};

/// A space after this column may become a line break.
const WIDTH: usize = 80;

impl Output {
    /// `fold_to` is the column where folded lines begin; none forbids folding.
    pub(super) fn plain(&mut self, text: &str, fold_to: Option<usize>) {
        self.separate();
        self.folded(text, fold_to, false);
        self.text_written();
    }

    /// Line breaks, of which only U+2028 and U+2029 come here, are followed by indentation to `column`.
    pub(super) fn single_quoted(&mut self, text: &str, column: usize, fold_to: Option<usize>) {
        self.separate();
        self.put('\'');
        let mut lines = text.split_inclusive(is_break);
        if let Some(first) = lines.next() {
            self.folded(first, fold_to, true);
        }
        for line in lines {
            // A break right after a break keeps its line empty.
            if !line.starts_with(is_break) {
                self.line_begun();
                self.indent_to(column);
            }
            self.folded(line, fold_to, true);
        }
        self.put('\'');
        self.text_written();
    }

    /// One line of plain or single-quoted text.
    fn folded(&mut self, text: &str, fold_to: Option<usize>, quoted: bool) {
        // A space right after the quote stays there.
        let mut after_space = quoted;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let single_space =
                character == ' ' && !after_space && characters.peek().is_some_and(|next| *next != ' ');
            match fold_to {
                Some(column) if single_space && self.column > WIDTH => self.indent_to_next_line(column),
                _ if is_break(character) => self.line_break(character),
                _ => {
                    if quoted && character == '\'' {
                        self.put('\'');
                    }
                    self.put(character);
                }
            }
            after_space = character == ' ';
        }
    }

    /// What is not printable becomes an escape; so do all characters of a text that begins with a byte order mark.
    pub(super) fn double_quoted(&mut self, text: &str, fold_to: Option<usize>) {
        self.separate();
        self.put('"');
        let escape_all = text.starts_with('\u{feff}');
        let mut after_space = true;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            if escape_all
                || !is_printable(character)
                || is_break(character)
                || matches!(character, '"' | '\\')
            {
                self.escape(character);
            } else if character == ' '
                && !after_space
                && self.column > WIDTH
                && let (Some(column), Some(next)) = (fold_to, characters.peek())
            {
                self.indent_to_next_line(column);
                // The reader drops spaces at the start of a line.
                if *next == ' ' {
                    self.put('\\');
                }
            } else {
                self.put(character);
            }
            after_space = character == ' ';
        }
        self.put('"');
        self.text_written();
    }

    fn escape(&mut self, character: char) {
        let short = match character {
            '\0' => Some('0'),
            '\u{7}' => Some('a'),
            '\u{8}' => Some('b'),
            '\t' => Some('t'),
            '\n' => Some('n'),
            '\u{b}' => Some('v'),
            '\u{c}' => Some('f'),
            '\r' => Some('r'),
            '\u{1b}' => Some('e'),
            '"' | '\\' => Some(character),
            '\u{85}' => Some('N'),
            '\u{a0}' => Some('_'),
            '\u{2028}' => Some('L'),
            '\u{2029}' => Some('P'),
            _ => None,
        };
        self.put('\\');
        match (short, u32::from(character)) {
            (Some(letter), _) => self.put(letter),
            (None, code @ ..=0xff) => self.digits(&format!("x{code:02X}")),
            (None, code @ ..=0xffff) => self.digits(&format!("u{code:04X}")),
            (None, code) => self.digits(&format!("U{code:08X}")),
        }
    }

    fn digits(&mut self, digits: &str) {
        digits.chars().for_each(|digit| self.put(digit));
    }

    fn indent_to_next_line(&mut self, column: usize) {
        self.text_written();
        self.indent_to(column);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::to_string;

    fn words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    #[test]
    fn plain_text_is_folded_at_the_first_space_after_column_80() {
        // `k: ` and 15 words fill 77 columns: the space after the 16th stands at column 82.
        assert_eq!(to_string(&json!({"k": words(18)})), format!("k: {}\n  word word\n", words(16)));
        assert_eq!(to_string(&json!([words(18)])), format!("- {}\n  word word\n", words(16)));
        let exactly = format!("{} tail", "x".repeat(77));
        assert_eq!(
            to_string(&json!({"k": exactly})),
            format!("k: {exactly}\n"),
            "column 80 is not after column 80"
        );
        let beyond = "x".repeat(78);
        assert_eq!(to_string(&json!({"k": format!("{beyond} tail")})), format!("k: {beyond}\n  tail\n"));
    }

    #[test]
    fn runs_of_spaces_and_long_words_are_not_folded() {
        let url = format!("https://example.com/{}", "a".repeat(100));
        assert_eq!(to_string(&json!({"k": url})), format!("k: {url}\n"));
        let spaced = format!("{}  b", "x".repeat(90));
        assert_eq!(to_string(&json!({"k": spaced})), format!("k: {spaced}\n"));
    }

    #[test]
    fn quoted_text_is_folded_too() {
        let x = "x".repeat(90);
        assert_eq!(to_string(&json!({"k": format!("it's: {x} b")})), format!("k: 'it''s: {x}\n  b'\n"));
        assert_eq!(to_string(&json!({"k": format!("\t{x} b")})), format!("k: \"\\t{x}\n  b\"\n"));
        assert_eq!(to_string(&json!({"k": format!("\t{x}  b")})), format!("k: \"\\t{x}\n  \\ b\"\n"));
    }

    #[test]
    fn a_space_next_to_a_quote_is_not_folded() {
        let key = "k".repeat(90);
        assert_eq!(to_string(&json!({ &key: " a: b" })), format!("{key}: ' a:\n  b'\n"));
        assert_eq!(to_string(&json!({ &key: "a: " })), format!("{key}: 'a: '\n"));
        assert_eq!(to_string(&json!({ &key: " \t " })), format!("{key}: \" \\t \"\n"));
    }

    #[test]
    fn columns_are_characters() {
        let e = "é".repeat(77);
        assert_eq!(to_string(&json!({"k": format!("{e} b")})), format!("k: {e} b\n"));
        assert_eq!(to_string(&json!({"k": format!("é{e} b")})), format!("k: é{e}\n  b\n"));
    }

    #[test]
    fn keys_are_not_folded() {
        let key = format!("{} b", "x".repeat(100));
        assert_eq!(to_string(&json!({ &key: 1 })), format!("{key}: 1\n"));
    }

    #[test]
    fn escapes() {
        assert_eq!(
            to_string(&json!(
                "\0\u{7}\u{8}\t\r\u{b}\u{c}\u{1b}\"\\\u{85}\u{a0}\u{7f}\u{feff}\u{1f680}\u{2028} "
            )),
            "\"\\0\\a\\b\\t\\r\\v\\f\\e\\\"\\\\\\N\u{a0}\\x7F\\uFEFF\\U0001F680\\L \"\n"
        );
        assert_eq!(to_string(&json!("\u{feff}ab")), "\"\\uFEFF\\x61\\x62\"\n");
    }

    #[test]
    fn line_separators_are_line_breaks_of_yaml_1_1() {
        assert_eq!(to_string(&json!({"k": "a\u{2028}b"})), "k: 'a\u{2028}  b'\n");
        assert_eq!(to_string(&json!({"k": "a\u{2028}\u{2029}b"})), "k: 'a\u{2028}\u{2029}  b'\n");
    }
}
