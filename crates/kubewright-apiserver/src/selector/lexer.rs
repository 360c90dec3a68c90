//! The tokens of a label selector.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    End,
    Identifier,
    In,
    NotIn,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
    Comma,
    Open,
    Close,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
}

impl Token<'_> {
    /// The kind where a value may stand: `in` and `notin` are ordinary words there.
    pub(super) fn as_value(&self) -> TokenKind {
        match self.kind {
            TokenKind::In | TokenKind::NotIn => TokenKind::Identifier,
            kind => kind,
        }
    }
}

/// Splits a selector into tokens, without the final [`TokenKind::End`].
pub(super) fn tokens(selector: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = selector.trim_start_matches(is_space);
    while !rest.is_empty() {
        let (kind, length) = match SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol)) {
            Some((symbol, kind)) => (*kind, symbol.len()),
            None => {
                let length = rest.find(|c| is_space(c) || "=!(),><".contains(c)).unwrap_or(rest.len());
                let kind = match &rest[..length] {
                    "in" => TokenKind::In,
                    "notin" => TokenKind::NotIn,
                    _ => TokenKind::Identifier,
                };
                (kind, length)
            }
        };
        let (text, after) = rest.split_at(length);
        tokens.push(Token { kind, text });
        rest = after.trim_start_matches(is_space);
    }
    tokens
}

/// Longer symbols stand before their prefixes.
const SYMBOLS: [(&str, TokenKind); 9] = [
    ("==", TokenKind::DoubleEquals),
    ("!=", TokenKind::NotEquals),
    ("=", TokenKind::Equals),
    ("!", TokenKind::Not),
    (">", TokenKind::Greater),
    ("<", TokenKind::Less),
    (",", TokenKind::Comma),
    ("(", TokenKind::Open),
    (")", TokenKind::Close),
];

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}
