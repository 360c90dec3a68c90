//! Rust's tokens, as far as it takes to know what is a comment.
//!
//! Comments, strings and characters are told apart exactly; everything else is a word or a single byte. That takes about a
//! millisecond for a megabyte, so that finding markers costs next to nothing.

use std::ops::Range;

/// A kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `// ..` or `/* .. */`, and what it documents.
    Comment(Style),
    /// A string of any kind, with its prefix.
    Text,
    /// A character or a byte.
    Character,
    /// A name, a keyword, a number or a lifetime.
    Word,
    /// Any other byte.
    Mark(u8),
}

/// A kind of comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) documents: Documents,
    pub(super) is_block: bool,
}

/// What a comment documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Documents {
    /// What follows: `///`, `/** */`.
    Next,
    /// What is around it: `//!`, `/*! */`.
    Around,
    /// Nothing: the compiler drops it.
    Nothing,
}

/// A token and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// Reads the tokens of a file.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    position: usize,
}

/// The tokens of a file.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 6);
    tokens.extend(Lexer::new(text));
    tokens
}

// === impl Token ===

impl Token {
    pub(super) fn text<'t>(&self, file: &'t str) -> &'t str {
        file.get(self.range.clone()).unwrap_or_default()
    }

    pub(super) fn is(&self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

// === impl Lexer ===

impl<'t> Lexer<'t> {
    /// Begins after the byte order mark, the shebang and the front matter of a script.
    pub(super) fn new(text: &'t str) -> Self {
        let mut lexer = Self { text, bytes: text.as_bytes(), position: 0 };
        lexer.position = prologue(text);
        lexer
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.position + ahead).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    fn line_comment(&mut self) -> Kind {
        let documents = match (self.byte(2), self.byte(3)) {
            (Some(b'!'), _) => Documents::Around,
            (Some(b'/'), next) if next != Some(b'/') => Documents::Next,
            _ => Documents::Nothing,
        };
        let length = self.rest().iter().position(|byte| *byte == b'\n').unwrap_or(self.rest().len());
        self.position += length;
        if self.bytes.get(self.position.wrapping_sub(1)) == Some(&b'\r') {
            self.position -= 1;
        }
        Kind::Comment(Style { documents, is_block: false })
    }

    fn block_comment(&mut self) -> Kind {
        let documents = match (self.byte(2), self.byte(3)) {
            (Some(b'!'), _) => Documents::Around,
            // `/**/` is empty, `/***` begins a line of stars.
            (Some(b'*'), next) if next != Some(b'*') && next != Some(b'/') => Documents::Next,
            _ => Documents::Nothing,
        };
        self.position += 2;
        let mut open = 1_usize;
        while open > 0 {
            match (self.byte(0), self.byte(1)) {
                (Some(b'*'), Some(b'/')) => {
                    open -= 1;
                    self.position += 2;
                }
                (Some(b'/'), Some(b'*')) => {
                    open += 1;
                    self.position += 2;
                }
                (Some(_), _) => self.position += 1,
                (None, _) => break,
            }
        }
        Kind::Comment(Style { documents, is_block: true })
    }

    /// From the opening quote on.
    fn quoted(&mut self, quote: u8) {
        self.position += 1;
        while let Some(byte) = self.byte(0) {
            self.position += 1;
            match byte {
                b'\\' => self.position += usize::from(self.position < self.bytes.len()),
                byte if byte == quote => break,
                _ => {}
            }
        }
    }

    /// From the first `#` or the quote on; says whether it is a raw string at all.
    fn raw(&mut self) -> bool {
        let hashes = self.rest().iter().take_while(|byte| **byte == b'#').count();
        if self.byte(hashes) != Some(b'"') {
            return false;
        }
        self.position += hashes + 1;
        while let Some(byte) = self.byte(0) {
            self.position += 1;
            if byte == b'"' && self.rest().iter().take(hashes).filter(|byte| **byte == b'#').count() == hashes
            {
                self.position += hashes;
                break;
            }
        }
        true
    }

    /// A character or a lifetime, from the quote on.
    fn character_or_lifetime(&mut self) -> Kind {
        let mut characters = self.text.get(self.position + 1..).unwrap_or_default().chars();
        let first = characters.next();
        let second = characters.next();
        match (first, second) {
            (Some('\\'), _) => {
                self.quoted(b'\'');
                Kind::Character
            }
            (Some(c), Some('\'')) if c != '\'' => {
                self.position += 2 + c.len_utf8();
                Kind::Character
            }
            (Some(c), _) if is_word(c) => {
                self.position += 1;
                self.word();
                Kind::Word
            }
            _ => {
                self.position += 1;
                Kind::Mark(b'\'')
            }
        }
    }

    fn word(&mut self) {
        while let Some(byte) = self.byte(0) {
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                self.position += 1;
            } else if byte.is_ascii() {
                break;
            } else {
                match self
                    .text
                    .get(self.position..)
                    .and_then(|rest| rest.chars().next())
                    .filter(|c| is_word(*c))
                {
                    Some(c) => self.position += c.len_utf8(),
                    None => break,
                }
            }
        }
    }

    fn word_or_text(&mut self) -> Kind {
        let start = self.position;
        self.word();
        let prefix = self.bytes.get(start..self.position).unwrap_or_default();
        let here = self.byte(0);
        let is_raw = matches!(prefix, b"r" | b"br" | b"cr") && matches!(here, Some(b'"' | b'#'));
        if is_raw && self.raw() {
            return Kind::Text;
        }
        match (prefix, here) {
            (b"b" | b"c", Some(b'"')) => {
                self.quoted(b'"');
                Kind::Text
            }
            (b"b", Some(b'\'')) => self.character_or_lifetime(),
            _ => Kind::Word,
        }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c);
        self.position += self.rest().iter().take_while(|byte| blank(byte)).count();
        let start = self.position;
        let kind = match (self.byte(0)?, self.byte(1)) {
            (b'/', Some(b'/')) => self.line_comment(),
            (b'/', Some(b'*')) => self.block_comment(),
            (b'"', _) => {
                self.quoted(b'"');
                Kind::Text
            }
            (b'\'', _) => self.character_or_lifetime(),
            (byte, _) if byte.is_ascii_alphanumeric() || byte == b'_' => self.word_or_text(),
            (byte, _) if byte.is_ascii() => {
                self.position += 1;
                Kind::Mark(byte)
            }
            _ => {
                self.word();
                if self.position == start {
                    // Blanks and signs beyond ASCII; whatever it is, it is no comment.
                    let length =
                        self.text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
                    self.position += length;
                    return self.next_after(start);
                }
                Kind::Word
            }
        };
        Some(Token { kind, range: start..self.position })
    }
}

impl Lexer<'_> {
    /// A token of a character that Rust has no use for.
    fn next_after(&self, start: usize) -> Option<Token> {
        Some(Token { kind: Kind::Mark(0), range: start..self.position })
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// What comes before Rust: the byte order mark, a shebang, the front matter of a script.
fn prologue(text: &str) -> usize {
    let mut position = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let line = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        at + rest.find('\n').map_or(rest.len(), |end| end + 1)
    };
    let rest = |at: usize| text.get(at..).unwrap_or_default();
    if let Some(after) = rest(position).strip_prefix("#!")
        && !after.trim_start().starts_with('[')
    {
        position = line(position);
    }
    let fence = rest(position).trim_start();
    let dashes = fence.len() - fence.trim_start_matches('-').len();
    if dashes >= 3 {
        let open = text.len() - fence.len();
        let mut at = line(open);
        while at < text.len() {
            let next = line(at);
            if text.get(at..next).is_some_and(|line| {
                line.trim_end().trim_start_matches('-').is_empty() && line.starts_with(&fence[..dashes])
            }) {
                return next;
            }
            at = next;
        }
    }
    position
}

/// The text of a file with blanks in place of what `syn` does not read, so that positions stay.
pub(super) fn without_prologue(text: &str) -> std::borrow::Cow<'_, str> {
    let end = prologue(text);
    match text.get(end..) {
        Some(rest) if end > 0 => format!("{}{rest}", " ".repeat(end)).into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The comments of a text.
    fn comments(text: &str) -> Vec<&str> {
        let is_comment = |token: &Token| matches!(token.kind, Kind::Comment(_));
        tokens(text).iter().filter(|token| is_comment(token)).map(|token| token.text(text)).collect()
    }

    #[test]
    fn strings_and_characters_hide_comments() {
        for text in [
            r#""// a""#,
            r#""\"// a""#,
            r##"r"\" "##,
            r###"r#""// a"#"###,
            r####"br##""# // a"##"####,
            r#"b"// a""#,
            r##"cr#"// a"#"##,
            r#"c"// a""#,
            "['/', '/', 'a']",
            r"['\'', '/', '/']",
            r"'\\'",
            "b'/' ",
            "r#type",
        ] {
            assert_eq!(comments(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn lifetimes_are_no_characters() {
        assert_eq!(comments("fn f<'a>(x: &'a str) {} // a 'b'"), ["// a 'b'"]);
        assert_eq!(comments("'a: loop { break 'a } // b"), ["// b"]);
        assert_eq!(comments("&'_ str // b"), ["// b"]);
        assert_eq!(comments("'ä' // b"), ["// b"]);
        assert_eq!(comments("'\"' // b"), ["// b"]);
    }

    #[test]
    fn block_comments_nest() {
        assert_eq!(comments("/* a /* b */ c */ // d"), ["/* a /* b */ c */", "// d"]);
        assert_eq!(comments("/* a"), ["/* a"]);
        assert_eq!(comments("/*/ a */"), ["/*/ a */"]);
    }

    #[test]
    fn what_a_comment_documents_is_seen() {
        let documents = |text: &str| match tokens(text).first().map(|token| token.kind) {
            Some(Kind::Comment(style)) => style.documents,
            other => panic!("{text}: {other:?}"),
        };
        for text in ["/// a", "///", "/** a */", "/** a **/"] {
            assert_eq!(documents(text), Documents::Next, "{text}");
        }
        for text in ["//! a", "//!", "/*! a */"] {
            assert_eq!(documents(text), Documents::Around, "{text}");
        }
        for text in ["// a", "//", "//// a", "/* a */", "/**/", "/***/", "/*** a */"] {
            assert_eq!(documents(text), Documents::Nothing, "{text}");
        }
    }

    #[test]
    fn the_end_of_a_line_is_no_part_of_it() {
        assert_eq!(comments("// a\r\n// b\n// c"), ["// a", "// b", "// c"]);
    }

    #[test]
    fn a_script_begins_with_other_text() {
        assert_eq!(comments("#!/usr/bin/env // x\n// a"), ["// a"]);
        assert_eq!(comments("#![allow(x)] // a"), ["// a"]);
        assert_eq!(comments("#!/usr/bin/env cargo\n---\n# // x\n'\n---\n// a"), ["// a"]);
        assert_eq!(comments("\u{feff}// a"), ["// a"]);
        let text = "\u{feff}#!x ü\nfn f() {}";
        assert_eq!(without_prologue(text).find("fn"), text.find("fn"));
    }
}
