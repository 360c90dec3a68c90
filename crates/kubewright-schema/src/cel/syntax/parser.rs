use super::{
    Entry, FieldValue, Kind, Literal, Located, NodeId, Place, Tree,
    lexer::{Token, TokenKind, tokens},
    literal, macros,
};
use crate::cel_names::RESERVED;

/// The most nodes of a tree. Macros copy, so a short text can mean a large tree.
const MOST_NODES: usize = 200_000;

/// Why a text does not parse.
#[derive(Debug)]
pub(in crate::cel) enum Unparsed {
    /// It is of the language, but names or the arguments of macros are wrong.
    Wrong(Vec<Located>),
    /// It is not of the language. What is wrong besides, before that place.
    Foreign(Vec<Located>),
}

/// Parses a text.
///
/// # Errors
///
/// What is wrong, without saying what the language asks for where the text is not of it.
pub(in crate::cel) fn parse(source: &str) -> Result<Tree, Unparsed> {
    let mut parser =
        Parser { source, tokens: tokens(source), position: 0, tree: Tree::new(), errors: Vec::new() };
    let root = parser.expression();
    if parser.tree.len() > MOST_NODES {
        let text = "the expression is too large with its macros expanded".to_owned();
        return Err(Unparsed::Wrong(vec![Located { place: Place::default(), text }]));
    }
    match root.filter(|_| parser.peek_kind() == TokenKind::End) {
        None => Err(Unparsed::Foreign(parser.errors)),
        Some(_) if !parser.errors.is_empty() => Err(Unparsed::Wrong(parser.errors)),
        Some(root) => {
            parser.tree.root = root;
            Ok(parser.tree)
        }
    }
}

/// A parser by recursive descent. Texts that are too deep for it were refused before.
pub(super) struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    position: usize,
    tree: Tree,
    errors: Vec<Located>,
}

impl Parser<'_> {
    /// `a ? b : c`
    fn expression(&mut self) -> Option<NodeId> {
        let condition = self.either()?;
        let Some(sign) = self.take("?") else { return Some(condition) };
        let yes = self.either()?;
        self.take(":")?;
        let no = self.expression()?;
        self.operator(sign, "_?_:_", vec![condition, yes, no])
    }

    /// `a || b`
    fn either(&mut self) -> Option<NodeId> {
        self.logic("||", "_||_", |parser| parser.logic("&&", "_&&_", Self::relation))
    }

    fn logic(
        &mut self,
        sign: &str,
        function: &str,
        operand: impl Fn(&mut Self) -> Option<NodeId>,
    ) -> Option<NodeId> {
        let mut terms = vec![operand(self)?];
        let mut signs = Vec::new();
        while let Some(place) = self.take(sign) {
            signs.push(place);
            terms.push(operand(self)?);
        }
        self.balanced(function, &terms, &signs)
    }

    /// Long chains become balanced trees, as cel-go makes them.
    fn balanced(&mut self, function: &str, terms: &[NodeId], signs: &[Place]) -> Option<NodeId> {
        let middle = signs.len() / 2;
        let Some((sign, last_signs)) = signs.get(middle..).and_then(<[Place]>::split_first) else {
            return terms.first().copied();
        };
        let left = self.balanced(function, terms.get(..=middle)?, signs.get(..middle)?)?;
        let right = self.balanced(function, terms.get(middle + 1..)?, last_signs)?;
        self.operator(*sign, function, vec![left, right])
    }

    fn relation(&mut self) -> Option<NodeId> {
        const RELATIONS: [(&str, &str); 7] = [
            ("<", "_<_"),
            ("<=", "_<=_"),
            (">=", "_>=_"),
            (">", "_>_"),
            ("==", "_==_"),
            ("!=", "_!=_"),
            ("in", "@in"),
        ];
        self.binary(&RELATIONS, |parser| {
            parser.binary(&[("+", "_+_"), ("-", "_-_")], |parser| {
                parser.binary(&[("*", "_*_"), ("/", "_/_"), ("%", "_%_")], Self::unary)
            })
        })
    }

    fn binary(
        &mut self,
        operators: &[(&str, &str)],
        operand: impl Fn(&mut Self) -> Option<NodeId>,
    ) -> Option<NodeId> {
        let mut left = operand(self)?;
        loop {
            let Some((sign, function)) =
                operators.iter().find_map(|(text, function)| Some((self.take(text)?, *function)))
            else {
                return Some(left);
            };
            let right = operand(self)?;
            left = self.operator(sign, function, vec![left, right])?;
        }
    }

    /// Signs before an operand. Two of them cancel out.
    fn unary(&mut self) -> Option<NodeId> {
        for (text, function) in [("!", "!_"), ("-", "-_")] {
            if text == "-" && self.is_negative_number() {
                break;
            }
            let Some(first) = self.take(text) else { continue };
            let mut count = 1;
            while self.take(text).is_some() {
                count += 1;
            }
            let operand = self.member()?;
            return if count % 2 == 0 {
                Some(operand)
            } else {
                self.operator(first, function, vec![operand])
            };
        }
        self.member()
    }

    fn is_negative_number(&self) -> bool {
        let next = self.tokens.get(self.position + 1).map(|token| token.kind);
        self.is("-") && matches!(next, Some(TokenKind::Int | TokenKind::Double))
    }

    /// An operand with selections, calls and indices behind it.
    fn member(&mut self) -> Option<NodeId> {
        let mut operand = self.primary()?;
        loop {
            operand = if let Some(dot) = self.take(".") {
                if self.take("?").is_some() {
                    let (field, place) = self.field_name()?;
                    let field = self.add(place, Kind::Literal(Literal::String(field)))?;
                    self.call(Place { at: dot.at, ..place }, "_?._", None, vec![operand, field])?
                } else {
                    let (field, place) = self.field_name()?;
                    match self.take("(") {
                        Some(open) => {
                            let args = self.expressions(")")?;
                            self.macro_or_call(Place { at: open.at, ..place }, &field, Some(operand), args)?
                        }
                        None => self.add(
                            Place { at: dot.at, ..place },
                            Kind::Select { operand, field, test: false },
                        )?,
                    }
                }
            } else if let Some(open) = self.take("[") {
                let function = if self.take("?").is_some() { "_[?_]" } else { "_[_]" };
                let index = self.expression()?;
                let close = self.take("]")?;
                self.operator(Place { end: close.end, ..open }, function, vec![operand, index])?
            } else {
                return Some(operand);
            };
        }
    }

    fn primary(&mut self) -> Option<NodeId> {
        if self.take("(").is_some() {
            let inner = self.expression()?;
            self.take(")")?;
            return Some(inner);
        }
        if let Some(open) = self.take("[") {
            return self.list(open);
        }
        if let Some(open) = self.take("{") {
            return self.map(open);
        }
        let start = self.position;
        let dot = self.take(".").is_some();
        if self.peek_kind() == TokenKind::Ident {
            return self.named(if dot { "." } else { "" });
        }
        self.position = start;
        self.literal()
    }

    /// A variable, a call or a message.
    fn named(&mut self, prefix: &str) -> Option<NodeId> {
        if self.is_message() {
            return self.message(prefix);
        }
        let (name, place) = self.field_name()?;
        if RESERVED.contains(&name.as_str()) {
            // The dot in front is part of the place.
            let at = place.at.saturating_sub(prefix.len());
            self.errors
                .push(Located { place: Place { at, ..place }, text: format!("reserved identifier: {name}") });
        }
        let name = format!("{prefix}{name}");
        match self.take("(") {
            Some(open) => {
                let args = self.expressions(")")?;
                self.macro_or_call(Place { at: open.at, ..place }, &name, None, args)
            }
            None => self.add(place, Kind::Ident(name)),
        }
    }

    /// Whether names joined by dots and an open brace follow.
    fn is_message(&self) -> bool {
        let mut position = self.position;
        loop {
            if self.tokens.get(position).map(|token| token.kind) != Some(TokenKind::Ident) {
                return false;
            }
            match self.text_at(position + 1) {
                "." => position += 2,
                "{" => return true,
                _ => return false,
            }
        }
    }

    fn message(&mut self, prefix: &str) -> Option<NodeId> {
        let (mut name, mut place) = self.field_name()?;
        while self.take(".").is_some() {
            let (more, last) = self.field_name()?;
            name = format!("{name}.{more}");
            place.end = last.end;
        }
        place.at = self.take("{")?.at;
        let mut fields = Vec::new();
        self.items("}", |parser| {
            let optional = parser.take("?").is_some();
            let (name, written) = parser.field_name()?;
            let colon = parser.take(":")?;
            let value = parser.expression()?;
            fields.push(FieldValue { name, value, optional, place: Place { at: colon.at, ..written } });
            Some(())
        })?;
        self.add(place, Kind::Message { name: format!("{prefix}{name}"), fields })
    }

    fn list(&mut self, open: Place) -> Option<NodeId> {
        let (mut elements, mut optional) = (Vec::new(), Vec::new());
        let close = self.items("]", |parser| {
            if parser.take("?").is_some() {
                optional.push(elements.len());
            }
            elements.push(parser.expression()?);
            Some(())
        })?;
        self.add(Place { end: close.end, ..open }, Kind::List { elements, optional })
    }

    fn map(&mut self, open: Place) -> Option<NodeId> {
        let mut entries = Vec::new();
        let close = self.items("}", |parser| {
            let optional = parser.take("?").is_some();
            let key = parser.expression()?;
            parser.take(":")?;
            let value = parser.expression()?;
            entries.push(Entry { key, value, optional });
            Some(())
        })?;
        self.add(Place { end: close.end, ..open }, Kind::Map(entries))
    }

    /// Reads items up to a bracket, with a comma behind the last one if it is written, or one that stands alone.
    fn items(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<Place> {
        if self.take(",").is_none() {
            while !self.is(close) {
                item(self)?;
                if self.take(",").is_none() {
                    break;
                }
            }
        }
        self.take(close)
    }

    fn literal(&mut self) -> Option<NodeId> {
        let sign = self.is_negative_number().then(|| self.take("-")).flatten();
        let token = self.tokens.get(self.position)?.clone();
        let text = self.source.get(token.range.clone())?;
        let signed = || format!("{}{text}", if sign.is_some() { "-" } else { "" });
        let literal = match token.kind {
            TokenKind::Int => literal::integer(&signed()),
            TokenKind::Double => literal::double(&signed()),
            TokenKind::Uint => literal::unsigned(text),
            TokenKind::String => literal::string(text),
            TokenKind::Bytes => literal::bytes(text),
            TokenKind::Sign => match text {
                "true" => Some(Literal::Bool(true)),
                "false" => Some(Literal::Bool(false)),
                "null" => Some(Literal::Null),
                _ => None,
            },
            TokenKind::End | TokenKind::EscapedIdent | TokenKind::Ident | TokenKind::Unknown => None,
        }?;
        self.position += 1;
        let start = sign.map_or(token.range.start, |sign| sign.start);
        self.add(Place { at: start, start, end: token.range.end }, Kind::Literal(literal))
    }

    fn expressions(&mut self, close: &str) -> Option<Vec<NodeId>> {
        let mut found = Vec::new();
        while !self.is(close) {
            if !found.is_empty() {
                self.take(",")?;
            }
            found.push(self.expression()?);
        }
        self.take(close)?;
        Some(found)
    }

    fn macro_or_call(
        &mut self,
        place: Place,
        function: &str,
        target: Option<NodeId>,
        args: Vec<NodeId>,
    ) -> Option<NodeId> {
        match macros::expand(self, place, function, target, &args) {
            None => self.call(place, function, target, args),
            Some(Ok(expanded)) => expanded,
            Some(Err(error)) => {
                self.errors.push(error);
                // Something must stand here, and nobody looks at a tree with errors.
                self.add(place, Kind::Literal(Literal::Null))
            }
        }
    }

    fn operator(&mut self, place: Place, function: &str, args: Vec<NodeId>) -> Option<NodeId> {
        self.call(place, function, None, args)
    }

    pub(super) fn call(
        &mut self,
        place: Place,
        function: &str,
        target: Option<NodeId>,
        args: Vec<NodeId>,
    ) -> Option<NodeId> {
        self.add(place, Kind::Call { function: function.to_owned(), target, args })
    }

    /// Adds a node, unless the tree is full.
    pub(super) fn add(&mut self, place: Place, kind: Kind) -> Option<NodeId> {
        let id = self.tree.add(place, kind);
        (self.tree.len() <= MOST_NODES).then_some(id)
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    fn field_name(&mut self) -> Option<(String, Place)> {
        let token = self.tokens.get(self.position)?;
        let text = self.source.get(token.range.clone())?;
        let name = match token.kind {
            TokenKind::Ident => text,
            TokenKind::EscapedIdent => text.trim_matches('`'),
            _ => return None,
        };
        let place = Place { at: token.range.start, start: token.range.start, end: token.range.end };
        self.position += 1;
        Some((name.to_owned(), place))
    }

    fn take(&mut self, sign: &str) -> Option<Place> {
        if !self.is(sign) {
            return None;
        }
        let range = self.tokens.get(self.position)?.range.clone();
        self.position += 1;
        Some(Place { at: range.start, start: range.start, end: range.end })
    }

    fn is(&self, sign: &str) -> bool {
        self.peek_kind() == TokenKind::Sign && self.text_at(self.position) == sign
    }

    fn peek_kind(&self) -> TokenKind {
        self.tokens.get(self.position).map_or(TokenKind::End, |token| token.kind)
    }

    fn text_at(&self, position: usize) -> &str {
        self.tokens.get(position).and_then(|token| self.source.get(token.range.clone())).unwrap_or_default()
    }
}
