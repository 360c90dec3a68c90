//! The values of markers.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{
    MAX_DEPTH, number,
    scanner::{Kind, Scanner},
    text,
};
use crate::marker::{ValueKind, error::MarkerError, nearest::nearest};

/// Reads the arguments of one marker.
#[derive(Debug)]
pub(in crate::marker) struct Parser<'t> {
    scanner: Scanner<'t>,
    depth: usize,
}

/// What a value of any type looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Integer,
    Number,
    Bool,
    List(Box<Shape>),
    Object,
}

/// Where a bare string ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    Value,
    /// The key of an object, which a colon ends.
    Key,
}

type Result<T> = std::result::Result<T, MarkerError>;

// === impl Parser ===

impl<'t> Parser<'t> {
    /// Reads `text` from the byte `position` on.
    pub(in crate::marker) fn new(text: &'t str, position: usize) -> Self {
        Self { scanner: Scanner::new(text, position), depth: 0 }
    }

    /// Whether nothing but blanks is left.
    pub(in crate::marker) fn at_end(&mut self) -> bool {
        self.scanner.peek().is_none()
    }

    /// The bytes that have not been read.
    pub(in crate::marker) fn rest(&mut self) -> Range<usize> {
        self.scanner.peek();
        self.scanner.position()..self.scanner.text().len()
    }

    /// Reads this character, if it is the next one.
    pub(in crate::marker) fn eat(&mut self, character: char) -> bool {
        let found = self.scanner.peek() == Some(character);
        if found {
            self.scanner.bare_token();
        }
        found
    }

    /// The name of an argument and its `=`.
    pub(in crate::marker) fn argument_name(&mut self) -> Result<Range<usize>> {
        let token = self.scanner.bare_token();
        if token.kind != Kind::Identifier {
            let message = match token.kind {
                Kind::End => "expected the name of an argument after the comma".to_owned(),
                _ => format!(
                    "expected the name of an argument, found `{}`",
                    &self.scanner.text()[token.range.clone()]
                ),
            };
            return Err(MarkerError::new("syntax", message, token.range)
                .help("a text that has one of `,;}` in it stands in \"quotes\" or `backticks`"));
        }
        if !self.eat('=') {
            let name = &self.scanner.text()[token.range.clone()];
            return Err(MarkerError::new("syntax", format!("`{name}` has no value"), token.range)
                .help("arguments are written `name=value`, with commas between them")
                .help("a text that has one of `,;}` in it stands in \"quotes\" or `backticks`"));
        }
        Ok(token.range)
    }

    /// A value of this kind, and its bytes.
    pub(in crate::marker) fn value(&mut self, kind: ValueKind) -> Result<(Value, Range<usize>)> {
        self.scanner.peek();
        let start = self.scanner.position();
        let value = self.of_kind(kind, false)?;
        let end = self.scanner.position();
        let end = start + self.scanner.text()[start..end].trim_end().len();
        Ok((value, start..end))
    }

    fn of_kind(&mut self, kind: ValueKind, in_list: bool) -> Result<Value> {
        match kind {
            ValueKind::String => Ok(Value::String(self.string(Bare::Value)?.0)),
            ValueKind::Word(words) => self.word(words, |word, text| word == text),
            ValueKind::AnyCase(words) => self.word(words, str::eq_ignore_ascii_case),
            ValueKind::Integer => self.integer(),
            ValueKind::Number => self.number(),
            ValueKind::Bool => self.boolean(),
            ValueKind::List(item) => self.list(&mut |parser| parser.of_kind(*item, true)),
            ValueKind::Any => {
                let shape = guess(&self.scanner, !in_list, self.depth);
                self.shaped(&shape)
            }
            ValueKind::Atoi => {
                let range = self.remainder();
                number::integer(&self.scanner.text()[range.clone()]).ok_or_else(|| self.mismatch(kind, range))
            }
            ValueKind::ParseFloat => {
                let range = self.remainder();
                number::float(&self.scanner.text()[range.clone()]).ok_or_else(|| self.mismatch(kind, range))
            }
            ValueKind::Commented(inner) => {
                let start = self.scanner.position();
                let end = self.scanner.rest().find('#').map_or(self.scanner.text().len(), |at| start + at);
                let mut parser = Parser::new(&self.scanner.text()[..end], start);
                parser.depth = self.depth;
                let value = parser.of_kind(*inner, in_list)?;
                if !parser.at_end() {
                    let range = parser.rest();
                    return Err(parser.mismatch(*inner, start..range.end));
                }
                self.scanner.finish();
                Ok(value)
            }
            ValueKind::Json => self.json(),
            ValueKind::Raw => {
                let text = self.scanner.rest().to_owned();
                self.scanner.finish();
                Ok(Value::String(text))
            }
        }
    }

    /// Everything that is left, without the blanks around it.
    fn remainder(&mut self) -> Range<usize> {
        self.scanner.peek();
        let start = self.scanner.position();
        let end = start + self.scanner.rest().trim_end().len();
        self.scanner.finish();
        start..end
    }

    fn json(&mut self) -> Result<Value> {
        let range = self.remainder();
        let text = &self.scanner.text()[range.clone()];
        if text.starts_with("ref(") {
            // A reference to a constant of Go; controller-gen leaves it out as well.
            return Ok(Value::Null);
        }
        serde_json::from_str(text).map_err(|error| {
            let at = range.start + error.column().saturating_sub(1).min(text.len());
            let quoted = serde_json::to_string(text).unwrap_or_default();
            MarkerError::new(
                "bad-json",
                format!("not JSON: {}", plain(&error)),
                floor(self.scanner.text(), at)..range.end,
            )
            .maybe_help((!text.starts_with(['{', '[', '"'])).then(|| format!("a text is written {quoted}")))
        })
    }

    fn shaped(&mut self, shape: &Shape) -> Result<Value> {
        match shape {
            Shape::Text => Ok(Value::String(self.string(Bare::Value)?.0)),
            // A list whose first item is whole may go on with fractions.
            Shape::Integer | Shape::Number => self.number(),
            Shape::Bool => self.boolean(),
            Shape::List(item) => self.list(&mut |parser| parser.shaped(item)),
            Shape::Object => self.object(),
        }
    }

    /// A string, and its bytes.
    fn string(&mut self, bare: Bare) -> Result<(String, Range<usize>)> {
        let text = self.scanner.text();
        if ends_bare(self.scanner.peek(), bare) {
            let at = self.scanner.position();
            let end = (at + 1).min(text.len());
            return Err(MarkerError::new("missing-value", "there is no value here", at..end)
                .help("an empty text is written \"\""));
        }
        let mut token = self.scanner.bare_token();
        match token.kind {
            Kind::Quoted => {
                self.check_fault()?;
                let value = text::unquote(&text[token.range.clone()]).map_err(|fault| {
                    let range = token.range.start + fault.range.start..token.range.start + fault.range.end;
                    MarkerError::new("syntax", fault.message, range).help(
                        "in `backticks` a text stands as it is, which suits regular expressions and CEL",
                    )
                })?;
                return Ok((value, token.range));
            }
            Kind::Raw => {
                let inner = &text[token.range.start + 1..token.range.end - 1];
                return Ok((inner.replace('\r', ""), token.range));
            }
            _ => {}
        }
        let start = token.range.start;
        while !ends_bare(self.scanner.peek(), bare) {
            token = self.scanner.bare_token();
        }
        self.check_fault()?;
        let range = start..token.range.end;
        Ok((text[range.clone()].to_owned(), range))
    }

    fn word(&mut self, words: &'static [&'static str], same: fn(&str, &str) -> bool) -> Result<Value> {
        let (text, range) = self.string(Bare::Value)?;
        if let Some(word) = words.iter().find(|word| same(word, &text)) {
            return Ok(Value::String((*word).to_owned()));
        }
        let suggestion = nearest(&text, words.iter().copied()).map(|word| format!("write `{word}`"));
        let message = match words {
            [only] => format!("expected `{only}`, found `{text}`"),
            _ => format!("`{text}` is none of {}", list_of(words)),
        };
        Err(MarkerError::new("unknown-word", message, range).maybe_help(suggestion))
    }

    fn integer(&mut self) -> Result<Value> {
        let (token, range) = self.numeric_token();
        if token != Kind::Integer || self.scanner.fault.is_some() {
            return Err(self.mismatch(ValueKind::Integer, range));
        }
        let text = &self.scanner.text()[range.clone()];
        number::integer(text).ok_or_else(|| self.mismatch(ValueKind::Integer, range))
    }

    fn number(&mut self) -> Result<Value> {
        let (token, range) = self.numeric_token();
        if !matches!(token, Kind::Integer | Kind::Float) || self.scanner.fault.is_some() {
            return Err(self.mismatch(ValueKind::Number, range));
        }
        let text = &self.scanner.text()[range.clone()];
        number::float(text).ok_or_else(|| self.mismatch(ValueKind::Number, range))
    }

    /// A token with the minus before it.
    fn numeric_token(&mut self) -> (Kind, Range<usize>) {
        let mut token = self.scanner.token();
        let start = token.range.start;
        if token.kind == Kind::Character('-') {
            token = self.scanner.token();
        }
        (token.kind, start..token.range.end)
    }

    fn boolean(&mut self) -> Result<Value> {
        let token = self.scanner.bare_token();
        match &self.scanner.text()[token.range.clone()] {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(self.mismatch(ValueKind::Bool, token.range)),
        }
    }

    /// `{a, b}`, or `a;b`.
    fn list(&mut self, item: &mut dyn FnMut(&mut Self) -> Result<Value>) -> Result<Value> {
        self.nested(|parser| {
            let mut items = Vec::new();
            if parser.scanner.peek() == Some('{') {
                let open = parser.scanner.bare_token().range;
                while !matches!(parser.scanner.peek(), None | Some('}')) {
                    items.push(item(parser)?);
                    if parser.scanner.peek() == Some('}') {
                        break;
                    }
                    parser.comma(&open)?;
                }
                parser.close(open)?;
                return Ok(Value::Array(items));
            }
            while !matches!(parser.scanner.peek(), None | Some(',' | '}')) {
                items.push(item(parser)?);
                if !parser.eat(';') {
                    break;
                }
            }
            if items.is_empty() {
                let at = parser.scanner.position();
                return Err(MarkerError::new("missing-value", "there is no value here", at..at + 1)
                    .help("an empty list is written {}"));
            }
            Ok(Value::Array(items))
        })
    }

    /// `{key: value, key: value}`.
    fn object(&mut self) -> Result<Value> {
        self.nested(|parser| {
            let mut entries = Map::new();
            let open = parser.scanner.bare_token().range;
            while !matches!(parser.scanner.peek(), None | Some('}')) {
                let (key, range) = parser.string(Bare::Key)?;
                if !parser.eat(':') {
                    return Err(MarkerError::new("syntax", format!("the key `{key}` has no value"), range)
                        .help("an object is written {key: value, key: value}"));
                }
                let value = parser.of_kind(ValueKind::Any, false)?;
                if entries.insert(key.clone(), value).is_some() {
                    return Err(MarkerError::new("syntax", format!("the key `{key}` is there twice"), range));
                }
                if parser.scanner.peek() == Some('}') {
                    break;
                }
                parser.comma(&open)?;
            }
            parser.close(open)?;
            Ok(Value::Object(entries))
        })
    }

    fn comma(&mut self, open: &Range<usize>) -> Result<()> {
        if self.scanner.peek().is_none() {
            return self.close(open.clone());
        }
        let token = self.scanner.bare_token();
        if token.kind == Kind::Character(',') {
            return Ok(());
        }
        let found = &self.scanner.text()[token.range.clone()];
        Err(MarkerError::new("syntax", format!("expected a comma or `}}`, found `{found}`"), token.range)
            .help("a text that has one of `,;}` in it stands in \"quotes\" or `backticks`"))
    }

    fn close(&mut self, open: Range<usize>) -> Result<()> {
        if self.eat('}') {
            return Ok(());
        }
        Err(MarkerError::new("syntax", "this brace is not closed", open))
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            let at = self.scanner.position();
            let message = format!("lists and objects are nested more than {MAX_DEPTH} deep");
            return Err(MarkerError::new("syntax", message, at..at + 1));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn check_fault(&mut self) -> Result<()> {
        match self.scanner.fault.take() {
            Some(fault) => Err(MarkerError::new("syntax", fault.message, fault.range)),
            None => Ok(()),
        }
    }

    fn mismatch(&self, kind: ValueKind, range: Range<usize>) -> MarkerError {
        let found = &self.scanner.text()[range.clone()];
        if found.is_empty() {
            let end = (range.start + 1).min(self.scanner.text().len());
            return MarkerError::new(
                "missing-value",
                format!("expected {}", kind.describe()),
                range.start..end,
            );
        }
        let reason =
            self.scanner.fault.as_ref().map(|fault| format!("{}; ", fault.message)).unwrap_or_default();
        MarkerError::new("bad-value", format!("{reason}expected {}, found `{found}`", kind.describe()), range)
    }
}

fn ends_bare(next: Option<char>, bare: Bare) -> bool {
    match next {
        None | Some(',' | ';' | '}') => true,
        Some(':') => bare == Bare::Key,
        Some(_) => false,
    }
}

/// The shape of what comes next: controller-gen's guess.
fn guess(scanner: &Scanner<'_>, may_be_list: bool, depth: usize) -> Shape {
    let item = guess_item(scanner, depth);
    if may_be_list && has_semicolon(scanner) { Shape::List(Box::new(item)) } else { item }
}

fn guess_item(scanner: &Scanner<'_>, depth: usize) -> Shape {
    let mut ahead = scanner.clone();
    match ahead.peek() {
        Some('"' | '\'' | '`') => return Shape::Text,
        // Whoever parses it finds that it is too deep.
        Some('{') if depth >= MAX_DEPTH => return Shape::Object,
        Some('{') => {
            ahead.bare_token();
            if ahead.peek() == Some('}') || starts_with_key(&ahead) {
                return Shape::Object;
            }
            return Shape::List(Box::new(guess(&ahead, true, depth + 1)));
        }
        _ => {}
    }
    let mut token = ahead.token();
    let is_word =
        token.kind == Kind::Identifier && matches!(&scanner.text()[token.range.clone()], "true" | "false");
    if token.kind == Kind::Character('-') {
        token = ahead.token();
    }
    if ahead.fault.is_some() || !ends_bare(ahead.peek(), Bare::Value) {
        return Shape::Text;
    }
    match token.kind {
        Kind::Integer => Shape::Integer,
        Kind::Float => Shape::Number,
        Kind::Identifier if is_word => Shape::Bool,
        _ => Shape::Text,
    }
}

/// Whether a string and a colon come next.
fn starts_with_key(scanner: &Scanner<'_>) -> bool {
    let mut ahead = scanner.clone();
    if ahead.peek() == Some('{') {
        return false;
    }
    let first = ahead.bare_token();
    if !matches!(first.kind, Kind::Quoted | Kind::Raw) {
        while !ends_bare(ahead.peek(), Bare::Key) {
            ahead.bare_token();
        }
    }
    ahead.peek() == Some(':')
}

/// Whether a semicolon ends what comes next, which makes it the first item of a list.
fn has_semicolon(scanner: &Scanner<'_>) -> bool {
    let mut ahead = scanner.clone();
    if ahead.peek() == Some('{') {
        let mut open = 0_usize;
        loop {
            match ahead.bare_token().kind {
                Kind::Character('{') => open += 1,
                Kind::Character('}') => open -= 1,
                Kind::End => return false,
                _ => {}
            }
            if open == 0 {
                break;
            }
            if open > MAX_DEPTH {
                return false;
            }
        }
    }
    loop {
        match ahead.bare_token().kind {
            Kind::Character(';') => return true,
            Kind::Character(',' | '}') | Kind::End => return false,
            _ => {}
        }
    }
}

/// Words for people: `a`, `b` or `c`.
pub(in crate::marker) fn list_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// What serde_json says, without the position.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

/// The start of the character at or before this byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or_default()
}
