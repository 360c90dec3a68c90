//! Go's tokens, as far as a marker can have them.

use std::ops::Range;

/// A kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    Identifier,
    Integer,
    Float,
    /// In double quotes.
    Quoted,
    /// In backticks.
    Raw,
    /// Any other character.
    Character(char),
}

/// A token and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// What is wrong inside of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) message: &'static str,
    pub(super) range: Range<usize>,
}

/// Reads tokens from a text. It is cheap to clone, which is how the parser looks ahead.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'t> {
    text: &'t str,
    position: usize,
    /// Whether backticks delimit strings. They do not in a text where one is left unclosed.
    raw_strings: bool,
    /// The first fault in a token that was read.
    pub(super) fault: Option<Fault>,
}

// === impl Scanner ===

impl<'t> Scanner<'t> {
    /// Reads `text` from the byte `position` on, which is the start of a character.
    pub(super) fn new(text: &'t str, position: usize) -> Self {
        let raw_strings = text.get(position..).is_none_or(backticks_are_closed);
        Self { text, position, raw_strings, fault: None }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// What has not been read yet.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Goes to the end of the text.
    pub(super) fn finish(&mut self) {
        self.position = self.text.len();
    }

    /// The next character after blanks, which are skipped.
    pub(super) fn peek(&mut self) -> Option<char> {
        while let Some(' ' | '\t' | '\n' | '\r') = self.here() {
            self.position += 1;
        }
        self.here()
    }

    /// The next token.
    pub(super) fn token(&mut self) -> Token {
        self.scan(true)
    }

    /// The next token of a bare string, in which numbers are mere characters.
    pub(super) fn bare_token(&mut self) -> Token {
        self.scan(false)
    }

    fn scan(&mut self, numbers: bool) -> Token {
        let Some(first) = self.peek() else {
            return Token { kind: Kind::End, range: self.text.len()..self.text.len() };
        };
        let start = self.position;
        let kind = if first == '_' || first.is_alphabetic() {
            while self.here().is_some_and(|c| c == '_' || c.is_alphabetic() || c.is_numeric()) {
                self.next();
            }
            Kind::Identifier
        } else if numbers && first.is_ascii_digit() {
            self.number(false)
        } else {
            self.next();
            match first {
                '"' => self.quoted(start),
                '`' if self.raw_strings => self.raw(start),
                '.' if numbers && self.here().is_some_and(|c| c.is_ascii_digit()) => self.number(true),
                other => Kind::Character(other),
            }
        };
        Token { kind, range: start..self.position }
    }

    fn quoted(&mut self, start: usize) -> Kind {
        loop {
            match self.next() {
                None => {
                    self.complain("this quote is not closed", start..start + 1);
                    break;
                }
                Some('"') => break,
                Some('\\') => {
                    self.next();
                }
                Some(_) => {}
            }
        }
        Kind::Quoted
    }

    fn raw(&mut self, start: usize) -> Kind {
        loop {
            match self.next() {
                None => {
                    self.complain("this backtick is not closed", start..start + 1);
                    break;
                }
                Some('`') => break,
                Some(_) => {}
            }
        }
        Kind::Raw
    }

    /// A number; its first character is a digit, or that after a dot.
    fn number(&mut self, mut dot: bool) -> Kind {
        let start = self.position;
        let mut base = 10;
        let mut leading_zero = false;
        let mut digits = false;
        let mut invalid = false;
        if !dot {
            if self.here() == Some('0') {
                self.next();
                match self.here().map(|c| c.to_ascii_lowercase()) {
                    Some('x') => base = 16,
                    Some('o') => base = 8,
                    Some('b') => base = 2,
                    _ => {
                        leading_zero = true;
                        digits = true;
                    }
                }
                if !leading_zero {
                    self.next();
                }
            }
            digits |= self.digits(if leading_zero { 8 } else { base }, &mut invalid);
            if self.here() == Some('.') {
                self.next();
                dot = true;
            }
        }
        let mut kind = Kind::Integer;
        if dot {
            kind = Kind::Float;
            if base == 8 || base == 2 {
                self.complain("a number in this base has no fraction", start..self.position);
            }
            digits |= self.digits(base, &mut invalid);
        }
        if !digits {
            self.complain("this number has no digits", start..self.position);
        }
        match self.here().map(|c| c.to_ascii_lowercase()) {
            Some(mark @ ('e' | 'p')) => {
                if (mark == 'e') != (base == 10) || base == 8 || base == 2 {
                    self.complain("an exponent of this kind does not fit the number", start..self.position);
                }
                self.next();
                kind = Kind::Float;
                if let Some('+' | '-') = self.here() {
                    self.next();
                }
                if !self.digits(10, &mut false) {
                    self.complain("this exponent has no digits", start..self.position);
                }
            }
            _ if base == 16 && kind == Kind::Float => {
                self.complain("a hexadecimal fraction needs an exponent after `p`", start..self.position);
            }
            _ => {}
        }
        if invalid && kind == Kind::Integer {
            self.complain("this number has a digit that its base does not have", start..self.position);
        }
        kind
    }

    /// Skips digits and underscores; says whether there was a digit.
    fn digits(&mut self, base: u32, invalid: &mut bool) -> bool {
        let mut seen = false;
        while let Some(c) = self.here() {
            if c == '_' {
                self.next();
                continue;
            }
            if !c.is_digit(base.max(10)) {
                break;
            }
            *invalid |= !c.is_digit(base);
            seen = true;
            self.next();
        }
        seen
    }

    fn complain(&mut self, message: &'static str, range: Range<usize>) {
        self.fault.get_or_insert(Fault { message, range });
    }

    fn here(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.here()?;
        self.position += c.len_utf8();
        Some(c)
    }
}

/// Whether each backtick outside of double quotes has its partner.
fn backticks_are_closed(text: &str) -> bool {
    let mut scanner = Scanner { text, position: 0, raw_strings: true, fault: None };
    loop {
        let token = scanner.bare_token();
        match token.kind {
            Kind::End => return true,
            Kind::Raw if token.range.len() < 2 || !text[token.range].ends_with('`') => return false,
            _ => {}
        }
    }
}
