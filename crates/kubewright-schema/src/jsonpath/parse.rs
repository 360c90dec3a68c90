use std::{iter::Peekable, str::Chars};

use serde_json::Value;

use super::{End, Filter, InvalidJsonPath, Operand, Operator, Slice, Step};

pub(super) fn steps(path: &str) -> Result<Vec<Step>, InvalidJsonPath> {
    match operand(path)? {
        Operand::Path(steps) => Ok(steps),
        Operand::Constant(constant) => {
            Err(error(format!("a path must select something, but is the constant {constant}")))
        }
    }
}

/// A side of a comparison: a path or a constant.
fn operand(text: &str) -> Result<Operand, InvalidJsonPath> {
    let mut parser = Parser { chars: text.chars().peekable(), steps: Vec::new(), constant: None };
    parser.run()?;
    match parser.constant {
        Some(constant) if parser.steps.is_empty() => Ok(Operand::Constant(constant)),
        Some(constant) => Err(error(format!("unexpected constant {constant} in a path"))),
        None => Ok(Operand::Path(parser.steps)),
    }
}

struct Parser<'t> {
    chars: Peekable<Chars<'t>>,
    steps: Vec<Step>,
    constant: Option<Value>,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), InvalidJsonPath> {
        while let Some(c) = self.chars.next() {
            match c {
                ' ' | '@' | '$' => {}
                '[' => self.bracket()?,
                '"' | '\'' => {
                    let text = self.quoted(c)?;
                    self.constant = Some(text.into());
                }
                '.' if self.chars.next_if_eq(&'.').is_some() => {
                    if self.steps.last() == Some(&Step::Recursive) {
                        return Err(error("invalid multiple recursive descent"));
                    }
                    self.steps.push(Step::Recursive);
                    if self.chars.peek().is_some_and(|c| *c == '_' || c.is_alphanumeric()) {
                        self.field();
                    }
                }
                '.' => self.field(),
                '+' | '-' | '0'..='9' => self.number(c)?,
                c if c == '_' || c.is_alphabetic() => self.identifier(c)?,
                '\r' | '\n' => return Err(error("unclosed action")),
                c => {
                    return Err(error(format!("unrecognized character in action: U+{:04X} '{c}'", c as u32)));
                }
            }
        }
        Ok(())
    }

    fn field(&mut self) {
        let mut name = String::new();
        while let Some(&c) = self.chars.peek() {
            if is_terminator(c) {
                break;
            }
            self.chars.next();
            // A backslash makes the next character part of the name, as in `.annotations.example\.com/x`.
            if c == '\\' {
                name.extend(self.chars.next().filter(|c| *c != '\\'));
            } else {
                name.push(c);
            }
        }
        self.steps.push(if name == "*" { Step::Wildcard } else { Step::Field(name) });
    }

    fn number(&mut self, first: char) -> Result<(), InvalidJsonPath> {
        let mut text = String::from(first);
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_digit() || *c == '.') {
            text.push(c);
        }
        let plain = text.strip_prefix('+').unwrap_or(&text);
        self.constant = Some(match (plain.parse::<i64>(), plain.parse::<f64>()) {
            (Ok(integer), _) => integer.into(),
            (Err(_), Ok(float)) => float.into(),
            (Err(_), Err(_)) => return Err(error(format!("cannot parse number {text}"))),
        });
        Ok(())
    }

    fn identifier(&mut self, first: char) -> Result<(), InvalidJsonPath> {
        let mut name = String::from(first);
        while let Some(c) = self.chars.next_if(|c| !is_terminator(*c)) {
            name.push(c);
        }
        match name.as_str() {
            "true" => self.constant = Some(true.into()),
            "false" => self.constant = Some(false.into()),
            _ => return Err(error(format!("unrecognized identifier {name}"))),
        }
        Ok(())
    }

    fn quoted(&mut self, end: char) -> Result<String, InvalidJsonPath> {
        let mut text = String::new();
        loop {
            match self.chars.next() {
                None | Some('\n') => return Err(error("unterminated quoted string")),
                Some(c) if c == end => return Ok(text),
                Some('\\') => match self.chars.next() {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some(c @ ('\\' | '"' | '\'')) => text.push(c),
                    _ => return Err(error("unquote string error invalid syntax")),
                },
                Some(c) => text.push(c),
            }
        }
    }

    fn bracket(&mut self) -> Result<(), InvalidJsonPath> {
        let mut ahead = self.chars.clone();
        if (ahead.next(), ahead.next()) == (Some('?'), Some('(')) {
            self.chars = ahead;
            let text = self.filter_text()?;
            self.steps.push(Step::Filter(filter(&text)?));
            return Ok(());
        }
        let mut text = String::new();
        loop {
            match self.chars.next() {
                None | Some('\n') => return Err(error("unterminated array")),
                Some(']') => break,
                Some(c) => text.push(c),
            }
        }
        if text.contains(',') {
            let parts = text.split(',').map(|part| steps(&format!("[{}]", part.trim_matches(' '))));
            self.steps.push(Step::Union(parts.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        if let Some(name) = quoted.filter(|name| !name.is_empty() && !name.contains('\'')) {
            self.steps.extend(steps(&format!(".{name}"))?);
        } else {
            self.steps.push(Step::Slice(slice(&text)?));
        }
        Ok(())
    }

    /// The text of a filter, up to the bracket that closes it. Brackets in quotes do not.
    fn filter_text(&mut self) -> Result<String, InvalidJsonPath> {
        let mut text = String::new();
        let mut quote = None;
        loop {
            match self.chars.next() {
                None | Some('\n') => return Err(error("unterminated filter")),
                Some(')') if quote.is_none() => break,
                Some(c) => {
                    if quote == Some(c) && !text.ends_with('\\') {
                        quote = None;
                    } else if quote.is_none() && (c == '"' || c == '\'') {
                        quote = Some(c);
                    }
                    text.push(c);
                }
            }
        }
        if self.chars.next() != Some(']') {
            return Err(error("unclosed array expect ]"));
        }
        Ok(text)
    }
}

fn filter(text: &str) -> Result<Filter, InvalidJsonPath> {
    let is_operator = |c: char| "!<>=".contains(c);
    let Some(start) = text.find(is_operator).filter(|start| *start > 0) else {
        return Ok(Filter { left: operand(text)?, comparison: None });
    };
    let (left, rest) = text.split_at(start);
    let length = rest.find(|c: char| !is_operator(c)).unwrap_or(rest.len());
    let (sign, right) = rest.split_at(length);
    let operator = match sign {
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        _ => return Err(error(format!("unrecognized filter operator {sign}"))),
    };
    if right.is_empty() {
        return Err(error(format!("missing right side of filter operator {sign}")));
    }
    Ok(Filter { left: operand(left)?, comparison: Some((operator, operand(right)?)) })
}

fn slice(text: &str) -> Result<Slice, InvalidJsonPath> {
    let text = if text == "*" { ":" } else { text };
    let parts: Vec<&str> = text.split(':').collect();
    let invalid = || error(format!("invalid array index {text}"));
    if parts.len() > 3 || text.is_empty() {
        return Err(invalid());
    }
    let number = |index: usize| match parts.get(index) {
        None | Some(&"") => Ok(None),
        Some(part) => part.parse::<i64>().map(Some).map_err(|_| invalid()),
    };
    let start = number(0)?;
    let end = match (parts.len(), number(1)?) {
        (1, _) => End::AfterStart,
        (_, Some(end)) => End::At(end),
        (_, None) => End::Open,
    };
    Ok(Slice { start, end, step: number(2)? })
}

fn is_terminator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

fn error(text: impl Into<String>) -> InvalidJsonPath {
    InvalidJsonPath(text.into())
}

#[cfg(test)]
mod tests {
    use crate::JsonPath;

    #[test]
    fn broken_paths_are_errors() {
        let cases = [
            (".a[", "unterminated array"),
            (".a[x]", "invalid array index x"),
            (".a[]", "invalid array index "),
            (".a[1:2:3:4]", "invalid array index 1:2:3:4"),
            (".a[?(@.b", "unterminated filter"),
            (".a[?(@.b)", "unclosed array expect ]"),
            (".a[?(@.b=~'c')]", "unrecognized filter operator ="),
            (".a[?(@.b=='c)]", "unterminated filter"),
            (".a.b}", "unrecognized character in action: U+007D '}'"),
            ("spec.a", "unrecognized identifier spec"),
            ("....a", "invalid multiple recursive descent"),
            ("'a'", "a path must select something, but is the constant \"a\""),
        ];
        for (path, message) in cases {
            match JsonPath::parse(path) {
                Ok(parsed) => assert_eq!((path, format!("{parsed:?}")), (path, message.to_owned())),
                Err(error) => assert_eq!((path, error.to_string()), (path, message.to_owned())),
            }
        }
    }
}
