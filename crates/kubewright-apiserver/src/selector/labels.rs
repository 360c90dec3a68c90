use std::fmt;

use serde_json::{Map, Value};

use super::{
    Quoted, SelectorError,
    lexer::{self, Token, TokenKind},
    names::{label_key_errors, label_value_errors},
};

/// A label selector: all of its requirements must hold.
///
/// Its display is the canonical form: requirements sorted by key, values sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
    nothing: bool,
}

/// One condition of a [`LabelSelector`] on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

/// How a [`Requirement`] relates the label to its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operator {
    /// `key in (a,b)`: the label exists and has one of the values.
    In,
    /// `key notin (a,b)`: the label is absent or has none of the values.
    NotIn,
    /// `key=a`.
    Equals,
    /// `key==a`, the same as [`Operator::Equals`].
    DoubleEquals,
    /// `key!=a`: the label is absent or has another value.
    NotEquals,
    /// `key`: the label exists.
    Exists,
    /// `!key`: the label is absent.
    DoesNotExist,
    /// `key>1`: the label exists and is a greater integer.
    GreaterThan,
    /// `key<1`: the label exists and is a smaller integer.
    LessThan,
}

// === impl LabelSelector ===

impl LabelSelector {
    /// Selects every object, as the empty selector does.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// Selects no object, as an absent `LabelSelector` in an API object does.
    #[must_use]
    pub fn nothing() -> Self {
        Self { requirements: Vec::new(), nothing: true }
    }

    /// Parses the text form, as in the query parameter `labelSelector`. The empty text selects everything.
    ///
    /// # Errors
    /// With kube-apiserver's message when the text is not a selector.
    pub fn parse(selector: &str) -> Result<Self, SelectorError> {
        let mut parser = Parser { tokens: lexer::tokens(selector), position: 0 };
        let mut requirements = parser.requirements().map_err(SelectorError::new)?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements, nothing: false })
    }

    /// Reads a `LabelSelector` of the API (`matchLabels`, `matchExpressions`). `None` or null selects
    /// nothing, an empty one everything.
    ///
    /// # Errors
    /// With kube-apiserver's message when a key, an operator or a value is not valid.
    pub fn from_object(selector: Option<&Value>) -> Result<Self, SelectorError> {
        let Some(selector) = selector.filter(|selector| !selector.is_null()) else {
            return Ok(Self::nothing());
        };
        let mut requirements = Vec::new();
        if let Some(labels) = selector.get("matchLabels").and_then(Value::as_object) {
            for (key, value) in labels {
                let value = value.as_str().unwrap_or_default().to_owned();
                requirements.push(Requirement::new(key.clone(), Operator::Equals, vec![value])?);
            }
        }
        for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
            let text = |field| expression.get(field).and_then(Value::as_str).unwrap_or_default();
            let operator = match text("operator") {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => {
                    let message = format!("{} is not a valid label selector operator", Quoted(other));
                    return Err(SelectorError::new(message));
                }
            };
            let values = expression.get("values").and_then(Value::as_array).into_iter().flatten();
            let values = values.map(|value| value.as_str().unwrap_or_default().to_owned()).collect();
            requirements.push(Requirement::new(text("key").to_owned(), operator, values)?);
        }
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements, nothing: false })
    }

    /// The requirements, sorted by key.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether every object matches.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty() && !self.nothing
    }

    /// Whether the labels of the object (`metadata.labels`) match.
    #[must_use]
    pub fn matches(&self, object: &Value) -> bool {
        self.is_everything()
            || self.matches_labels(object.pointer("/metadata/labels").and_then(Value::as_object))
    }

    /// Whether this set of labels matches; `None` is the empty set.
    #[must_use]
    pub fn matches_labels(&self, labels: Option<&Map<String, Value>>) -> bool {
        self.matches_each(|key| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str))
    }

    /// Whether a set of labels matches that has these values by key.
    #[must_use]
    pub fn matches_each<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing
            && self.requirements.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

// === impl Requirement ===

impl Requirement {
    /// A requirement, with its values in the given order.
    ///
    /// # Errors
    /// When the key or a value is not a valid label key or value, or the operator does not take that number
    /// of values.
    pub fn new(key: String, operator: Operator, values: Vec<String>) -> Result<Self, SelectorError> {
        let mut errors = Vec::new();
        let key_errors = label_key_errors(&key);
        if !key_errors.is_empty() {
            errors.push(format!("key: Invalid value: {}: {}", Quoted(&key), key_errors.join("; ")));
        }
        let shown = if values.is_empty() { Value::Null } else { Value::from(values.clone()) };
        let wrong_count = match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                Some("for 'in', 'notin' operators, values set can't be empty")
            }
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if values.len() != 1 => {
                Some("exact-match compatibility requires one single value")
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                Some("values set must be empty for exists and does not exist")
            }
            Operator::GreaterThan | Operator::LessThan if values.len() != 1 => {
                Some("for 'Gt', 'Lt' operators, exactly one value is required")
            }
            _ => None,
        };
        errors.extend(wrong_count.map(|detail| format!("values: Invalid value: {shown}: {detail}")));
        if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
            for (index, value) in values.iter().enumerate().filter(|(_, value)| value.parse::<i64>().is_err())
            {
                errors.push(format!(
                    "values[{index}]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
                    Quoted(value)
                ));
            }
        }
        for (index, value) in values.iter().enumerate() {
            let value_errors = label_value_errors(value);
            if !value_errors.is_empty() {
                let detail = value_errors.join("; ");
                errors.push(format!("values[{index}][{key}]: Invalid value: {}: {detail}", Quoted(value)));
            }
        }
        match errors.as_slice() {
            [] => Ok(Self { key, operator, values }),
            [error] => Err(SelectorError::new(error.as_str())),
            errors => Err(SelectorError::new(format!("[{}]", errors.join(", ")))),
        }
    }

    /// The key of the label.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The operator.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether the requirement holds for the value of the label, `None` where it is absent.
    #[must_use]
    pub fn matches(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|one| one == value);
        let compared = |holds: fn(i64, i64) -> bool| {
            let limit = self.values.first().and_then(|limit| limit.parse().ok());
            let value = value.and_then(|value| value.parse().ok());
            value.zip(limit).is_some_and(|(value, limit)| holds(value, limit))
        };
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => value.is_some_and(listed),
            Operator::NotIn | Operator::NotEquals => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => compared(|value, limit| value > limit),
            Operator::LessThan => compared(|value, limit| value < limit),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let mut values: Vec<&str> = self.values.iter().map(String::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
        }
    }
}

// === impl Parser ===

/// A recursive descent over the tokens. Its errors are the texts of kube-apiserver.
struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    const END: Token<'static> = Token { kind: TokenKind::End, text: "" };

    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.position).copied().unwrap_or(Self::END)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            let token = self.peek();
            match token.as_value() {
                TokenKind::Identifier | TokenKind::Not => {}
                TokenKind::End => return Ok(requirements),
                _ => {
                    return Err(format!(
                        "found '{}', expected: !, identifier, or 'end of string'",
                        token.text
                    ));
                }
            }
            let requirement =
                self.requirement().map_err(|error| format!("unable to parse requirement: {error}"))?;
            requirements.push(requirement);
            let separator = self.next();
            match separator.kind {
                TokenKind::End => return Ok(requirements),
                TokenKind::Comma => {
                    let next = self.peek();
                    if !matches!(next.as_value(), TokenKind::Identifier | TokenKind::Not) {
                        return Err(format!("found '{}', expected: identifier after ','", next.text));
                    }
                }
                _ => return Err(format!("found '{}', expected: ',' or 'end of string'", separator.text)),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let new = |key: &str, operator, values| {
            Requirement::new(key.to_owned(), operator, values).map_err(|error| error.to_string())
        };
        let mut token = self.next();
        let absent = token.kind == TokenKind::Not;
        if absent {
            token = self.next();
        }
        if token.as_value() != TokenKind::Identifier {
            return Err(format!("found '{}', expected: identifier", token.text));
        }
        let key = token.text;
        let key_errors = label_key_errors(key);
        if !key_errors.is_empty() {
            // The path of the selector is not known here, which Go prints as <nil>.
            return Err(format!("<nil>: Invalid value: {}: {}", Quoted(key), key_errors.join("; ")));
        }
        if absent {
            return new(key, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.peek().kind, TokenKind::End | TokenKind::Comma) {
            return new(key, Operator::Exists, Vec::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![self.exact_value()?],
        };
        new(key, operator, values)
    }

    fn operator(&mut self) -> Result<Operator, String> {
        let token = self.next();
        Ok(match token.kind {
            TokenKind::In => Operator::In,
            TokenKind::NotIn => Operator::NotIn,
            TokenKind::Equals => Operator::Equals,
            TokenKind::DoubleEquals => Operator::DoubleEquals,
            TokenKind::NotEquals => Operator::NotEquals,
            TokenKind::Greater => Operator::GreaterThan,
            TokenKind::Less => Operator::LessThan,
            _ => {
                return Err(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", token.text));
            }
        })
    }

    /// A parenthesized list. Empty places (`(a,,b)`, `()`) are the empty value.
    fn values(&mut self) -> Result<Vec<String>, String> {
        let open = self.next();
        if open.kind != TokenKind::Open {
            return Err(format!("found '{}' expected: '('", open.text));
        }
        let first = self.peek();
        match first.as_value() {
            TokenKind::Identifier | TokenKind::Comma => {}
            TokenKind::Close => {
                self.next();
                return Ok(vec![String::new()]);
            }
            _ => return Err(format!("found '{}', expected: ',', ')' or identifier", first.text)),
        }
        let mut values = self.identifiers()?;
        self.next(); // the closing parenthesis, which ended the list
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }

    fn identifiers(&mut self) -> Result<Vec<String>, String> {
        let mut values = Vec::new();
        loop {
            let token = self.next();
            let next = self.peek();
            match token.as_value() {
                TokenKind::Identifier => {
                    values.push(token.text.to_owned());
                    match next.kind {
                        TokenKind::Comma => {}
                        TokenKind::Close => return Ok(values),
                        _ => return Err(format!("found '{}', expected: ',' or ')'", next.text)),
                    }
                }
                TokenKind::Comma => {
                    if values.is_empty() || next.kind == TokenKind::Comma {
                        values.push(String::new());
                    }
                    if next.kind == TokenKind::Close {
                        values.push(String::new());
                        return Ok(values);
                    }
                }
                _ => return Err(format!("found '{}', expected: ',', or identifier", token.text)),
            }
        }
    }

    fn exact_value(&mut self) -> Result<String, String> {
        if matches!(self.peek().kind, TokenKind::End | TokenKind::Comma) {
            return Ok(String::new());
        }
        let token = self.next();
        if token.as_value() == TokenKind::Identifier {
            Ok(token.text.to_owned())
        } else {
            Err(format!("found '{}', expected: identifier", token.text))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse(selector: &str) -> LabelSelector {
        LabelSelector::parse(selector).unwrap_or_else(|error| panic!("{selector}: {error}"))
    }

    fn selects(selector: &str, labels: &Value) -> bool {
        parse(selector).matches(&json!({"metadata": {"labels": labels}}))
    }

    #[test]
    fn each_operator_matches_as_documented() {
        let labels = json!({"app": "web", "tier": "", "size": "12"});
        for selector in [
            "",
            "app=web",
            "app==web",
            "app!=db",
            "none!=x",
            "app in (db, web)",
            "app notin (db)",
            "none notin (a)",
            "app",
            "!none",
            "tier=",
            "tier in ()",
            "tier in (,)",
            "size>3",
            "size<13",
            "app = web , !none",
        ] {
            assert!(selects(selector, &labels), "{selector:?} should match");
        }
        for selector in [
            "app=db",
            "app!=web",
            "app in (db)",
            "app notin (web)",
            "none",
            "!app",
            "none=",
            "size>12",
            "size<12",
            "app>1",
            "app=web,none",
        ] {
            assert!(!selects(selector, &labels), "{selector:?} should not match");
        }
    }

    #[test]
    fn the_canonical_form_is_sorted() {
        let cases = [
            ("b=2,a=1", "a=1,b=2"),
            ("x in (c,a,,b)", "x in (,a,b,c)"),
            ("x in (in,notin)", "x in (in,notin)"),
            ("in in (in)", "in in (in)"),
            (" z , ! y ", "!y,z"),
            ("a==", "a=="),
            ("a notin ()", "a notin ()"),
            ("a>1,b<2", "a>1,b<2"),
        ];
        for (selector, canonical) in cases {
            assert_eq!(parse(selector).to_string(), canonical, "{selector:?}");
        }
    }

    #[test]
    fn errors_have_the_texts_of_kube_apiserver() {
        let cases = [
            ("=a", "found '=', expected: !, identifier, or 'end of string'"),
            ("a,", "found '', expected: identifier after ','"),
            ("a,,b", "found ',', expected: identifier after ','"),
            ("a=b=c", "found '=', expected: ',' or 'end of string'"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a in", "unable to parse requirement: found '' expected: '('"),
            ("a in b", "unable to parse requirement: found 'b' expected: '('"),
            ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
            ("a=(", "unable to parse requirement: found '(', expected: identifier"),
            (
                "a>x",
                "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value \
                 must be an integer",
            ),
            (
                "-a=b",
                "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric \
                 characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  \
                 or 'my.name',  or '123-abc', regex used for validation is \
                 '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ),
            (
                "a=-b",
                "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label must be an empty \
                 string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                 alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            ),
        ];
        for (selector, message) in cases {
            let error = LabelSelector::parse(selector).expect_err(selector);
            assert_eq!(error.to_string(), message, "{selector:?}");
        }
    }

    #[test]
    fn selector_objects_are_read() {
        let read =
            |selector| LabelSelector::from_object(Some(&selector)).map(|selector| selector.to_string());
        let selector = json!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["b", "a"]},
                {"key": "old", "operator": "DoesNotExist"},
            ],
        });
        assert_eq!(read(selector).as_deref(), Ok("app=web,!old,tier in (a,b)"));
        assert!(!LabelSelector::from_object(None).expect("valid").matches(&json!({})));
        assert!(LabelSelector::from_object(Some(&json!({}))).expect("valid").matches(&json!({})));
        let error =
            read(json!({"matchExpressions": [{"key": "a", "operator": "Near"}]})).expect_err("operator");
        assert_eq!(error.to_string(), "\"Near\" is not a valid label selector operator");
        let error =
            read(json!({"matchExpressions": [{"key": "a", "operator": "In"}]})).expect_err("no values");
        assert_eq!(
            error.to_string(),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_answered(selector in "[a-z=!(),<> \\t.\\PC]{0,24}") {
            // Only that it returns; and what it accepts has a canonical form that parses to the same.
            if let Ok(parsed) = LabelSelector::parse(&selector) {
                let canonical = parsed.to_string();
                let again = LabelSelector::parse(&canonical);
                prop_assert_eq!(again.as_ref().map(LabelSelector::to_string), Ok(canonical));
            }
        }

        #[test]
        fn a_selector_made_of_requirements_reads_back(
            requirements in prop::collection::vec(("[a-z]{1,3}", 0usize..7, prop::collection::btree_set("[a-z]{0,2}", 1..4)), 0..5),
            labels in prop::collection::btree_map("[a-z]{1,3}", "[a-z]{0,2}", 0..4),
        ) {
            let operators = [
                Operator::In, Operator::NotIn, Operator::Equals, Operator::DoubleEquals, Operator::NotEquals,
                Operator::Exists, Operator::DoesNotExist,
            ];
            let mut made = Vec::new();
            for (key, operator, values) in requirements {
                let operator = operators[operator];
                let count = match operator {
                    Operator::In | Operator::NotIn => values.len(),
                    Operator::Exists | Operator::DoesNotExist => 0,
                    _ => 1,
                };
                made.push(Requirement::new(key, operator, values.into_iter().take(count).collect()).expect("valid"));
            }
            made.sort_by(|a, b| a.key.cmp(&b.key));
            let made = LabelSelector { requirements: made, nothing: false };
            let read = LabelSelector::parse(&made.to_string());
            prop_assert_eq!(read.as_ref(), Ok(&made));
            // The model: every requirement decides on its own.
            let expected = made.requirements().iter().all(|requirement| {
                let value = labels.get(requirement.key());
                let listed = value.is_some_and(|value| requirement.values().contains(value));
                match requirement.operator() {
                    Operator::In | Operator::Equals | Operator::DoubleEquals => listed,
                    Operator::NotIn | Operator::NotEquals => !listed,
                    Operator::Exists => value.is_some(),
                    _ => value.is_none(),
                }
            });
            prop_assert_eq!(made.matches(&json!({"metadata": {"labels": labels}})), expected);
        }
    }
}
