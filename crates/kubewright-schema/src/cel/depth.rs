//! How deep expressions may be. The parser, the evaluator and the code that frees an expression recurse, so a text is
//! measured before it is parsed, and work on deep expressions runs on a stack of its own.

use std::{cell::Cell, collections::BTreeSet, mem, thread};

/// The longest expression, in bytes.
const LONGEST: usize = 100_000;

/// The deepest brackets.
const DEEPEST_BRACKETS: usize = 96;

/// The deepest tree of operators, by the text.
const DEEPEST: usize = 500;

/// The deepest tree that work is done on where the caller is.
pub(super) const SHALLOW: usize = 20;

/// The stack for deep expressions, enough for unoptimized code. Pages that are not touched cost nothing.
const STACK: usize = 256 << 20;

thread_local! {
    static IS_ROOMY: Cell<bool> = const { Cell::new(false) };
}

/// A text that is fit to be parsed.
pub(super) struct Measured {
    /// The text without pairs of signs. The parser visits what is behind a pair twice, which doubles with every
    /// bracket, and then makes one sign of it.
    pub(super) text: String,
    /// How deep the tree of the text can become, at most.
    pub(super) depth: usize,
}

/// Measures a text.
///
/// # Errors
///
/// A text, in the form of cel-go, if it is too long or too deep.
pub(super) fn measure(source: &str) -> Result<Measured, String> {
    let refuse = |text: String| Err(format!("ERROR: <input>:1:1: {text}"));
    if source.len() > LONGEST {
        return refuse(format!(
            "expression code point size exceeds limit: size: {}, limit {LONGEST}",
            source.len()
        ));
    }
    let bytes = source.as_bytes();
    let mut levels = vec![Level::default()];
    let mut signs = Signs::default();
    let (mut position, mut deepest) = (0, 0);
    while let Some(&byte) = bytes.get(position) {
        let rest = bytes.get(position..).unwrap_or_default();
        let mut length = 1;
        match byte {
            b'"' | b'\'' => {
                if let Some(found) = literal(rest, false) {
                    length = found;
                    signs.operand();
                }
            }
            b'`' => {
                let name =
                    rest.iter().skip(1).take_while(|byte| is_word(**byte) || b".-/ ".contains(byte)).count();
                if rest.get(name + 1) == Some(&b'`') {
                    length = name + 2;
                    signs.operand();
                }
            }
            b'/' if rest.starts_with(b"//") => {
                length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            }
            _ if is_word(byte) => {
                length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                signs.operand();
                let is_raw = [&b"r"[..], b"br", b"rb"].iter().any(|prefix| word.eq_ignore_ascii_case(prefix));
                match after.first() {
                    Some(b'"' | b'\'') if is_raw => length += literal(after, true).unwrap_or(1),
                    _ if word == b"in" => {
                        operator(&mut levels, |level| &mut level.chain);
                        signs.operator();
                    }
                    _ => {}
                }
            }
            b'(' | b'[' | b'{' => {
                operator(&mut levels, |level| &mut level.chain);
                levels.push(Level::default());
                signs.operator();
            }
            b')' | b']' | b'}' => {
                if levels.len() > 1 {
                    levels.pop();
                }
                signs.operand();
            }
            b',' => {
                operator(&mut levels, |level| {
                    *level = Level::default();
                    &mut level.chain
                });
                signs.operator();
            }
            b'&' | b'|' if rest.get(1) == Some(&byte) => {
                length = 2;
                operator(&mut levels, |level| {
                    level.chain = 0;
                    &mut level.logic
                });
                signs.operator();
            }
            b'=' | b'!' | b'<' | b'>' if rest.get(1) == Some(&b'=') => {
                length = 2;
                operator(&mut levels, |level| &mut level.chain);
                signs.operator();
            }
            b'!' | b'-' => {
                operator(&mut levels, |level| &mut level.chain);
                signs.sign(byte, position);
            }
            b'?' | b':' => {
                operator(&mut levels, |level| &mut level.choices);
                signs.operator();
            }
            b'.' | b'+' | b'*' | b'/' | b'%' | b'<' | b'>' => {
                operator(&mut levels, |level| &mut level.chain);
                signs.operator();
            }
            // Space, or what the lexer reports and skips.
            _ => {}
        }
        if levels.len() > DEEPEST_BRACKETS + 1 {
            return refuse(format!("expression recursion limit exceeded: {DEEPEST_BRACKETS}"));
        }
        deepest = deepest.max(levels.iter().map(Level::depth).sum());
        if deepest > DEEPEST {
            return refuse(format!("expression recursion limit exceeded: {DEEPEST}"));
        }
        position += length;
    }
    Ok(Measured { text: signs.without_pairs(source), depth: deepest })
}

/// Finds pairs of signs before the same operand.
#[derive(Default)]
struct Signs {
    /// Whether an operand came last, so that a minus is no sign.
    after_operand: bool,
    /// A sign that has no partner yet.
    open: Option<(u8, usize)>,
    paired: BTreeSet<usize>,
}

impl Signs {
    fn operand(&mut self) {
        *self = Self { after_operand: true, open: None, paired: mem::take(&mut self.paired) };
    }

    fn operator(&mut self) {
        *self = Self { after_operand: false, open: None, paired: mem::take(&mut self.paired) };
    }

    fn sign(&mut self, sign: u8, position: usize) {
        match self.open {
            _ if sign == b'-' && self.after_operand => self.operator(),
            Some((open, first)) if open == sign => {
                self.open = None;
                self.paired.extend([first, position]);
            }
            _ => self.open = Some((sign, position)),
        }
    }

    /// The text with spaces for pairs, so that places in it stay.
    fn without_pairs(&self, source: &str) -> String {
        let blank = |(position, char)| if self.paired.contains(&position) { ' ' } else { char };
        source.char_indices().map(blank).collect()
    }
}

/// What was seen since the last open bracket.
#[derive(Default)]
struct Level {
    /// Operators since the last logical one.
    chain: usize,
    choices: usize,
    /// Logical operators. Their trees are balanced.
    logic: usize,
}

impl Level {
    fn depth(&self) -> usize {
        self.chain + self.choices + (usize::BITS - self.logic.leading_zeros()) as usize
    }
}

fn operator(levels: &mut [Level], count: impl FnOnce(&mut Level) -> &mut usize) {
    if let Some(level) = levels.last_mut() {
        *count(level) += 1;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The length of the string at the start of a text. Nothing if the lexer would not take it for one, in which case it
/// goes on behind the quote.
fn literal(text: &[u8], is_raw: bool) -> Option<usize> {
    let quote = *text.first()?;
    let triple = [quote; 3];
    let is_long = text.starts_with(&triple);
    let end = if is_long { &triple[..] } else { &triple[..1] };
    let mut position = end.len();
    loop {
        let rest = text.get(position..)?;
        if rest.starts_with(end) {
            return Some(position + end.len());
        }
        position += match *rest.first()? {
            b'\n' | b'\r' if !is_long => return None,
            b'\\' if !is_raw => escape(rest)?,
            _ => 1,
        };
    }
}

fn escape(text: &[u8]) -> Option<usize> {
    let digits = match *text.get(1)? {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'\\' | b'\'' | b'"' | b'`' | b'?' => {
            return Some(2);
        }
        b'x' | b'X' => 2,
        b'u' => 4,
        b'U' => 8,
        b'0'..=b'3' => return text.get(2..4)?.iter().all(|digit| matches!(digit, b'0'..=b'7')).then_some(4),
        _ => return None,
    };
    text.get(2..2 + digits)?.iter().all(u8::is_ascii_hexdigit).then_some(2 + digits)
}

/// Does work on an expression, with a stack that is large enough unless the expression is shallow. Nothing if there is
/// no memory for that.
pub(super) fn with_room<T: Send>(is_shallow: bool, work: impl FnOnce() -> T + Send) -> Option<T> {
    if is_shallow || IS_ROOMY.get() {
        return Some(work());
    }
    thread::scope(|scope| {
        let roomy = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            IS_ROOMY.set(true);
            work()
        });
        roomy.ok()?.join().ok()
    })
}
