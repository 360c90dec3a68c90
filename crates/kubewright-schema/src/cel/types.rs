//! What can be said about an expression before it runs: fields and variables that do not exist, functions nobody
//! knows, results of the wrong type. Where the type of a value is not known, nothing is said.

use std::collections::BTreeMap;

use kube_cel::cel::{
    IdedExpr,
    common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators},
};

use super::{names, program::Output};
use crate::{
    error::go,
    structural::{Format, Schema, SchemaType, TextFormat},
};

/// What an expression evaluates to.
#[derive(Clone, Copy)]
enum Type<'a> {
    Scalar(Scalar),
    Object(&'a Schema, Fields),
    /// The metadata that rules may read.
    Meta,
    List(&'a Schema),
    Map(&'a Schema),
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Bool,
    Bytes,
    Double,
    Duration,
    Int,
    Null,
    String,
    Timestamp,
    Uint,
}

/// Which fields an object has besides the declared ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fields {
    Declared,
    OfObject,
}

pub(super) struct Checked {
    pub(super) errors: Vec<String>,
    /// Whether the result can be what is asked for.
    pub(super) fits: bool,
}

/// Checks an expression. The old value has the type of the new one, unless it is `optional`.
pub(super) fn check(
    expression: &IdedExpr,
    source: &str,
    schema: &Schema,
    is_object: bool,
    optional: bool,
    output: Output,
) -> Checked {
    let own = type_of(schema, is_object);
    let old = if optional { Type::Unknown } else { own };
    let mut checker = Checker {
        source,
        errors: Vec::new(),
        scope: vec![("self".to_owned(), own), ("oldSelf".to_owned(), old)],
        selected: BTreeMap::new(),
    };
    let result = checker.visit(expression);
    let wanted = match output {
        Output::Bool => Scalar::Bool,
        Output::String => Scalar::String,
    };
    let fits = match result {
        Type::Unknown => true,
        Type::Scalar(found) => found == wanted,
        _ => false,
    };
    Checked { errors: checker.errors, fits }
}

/// An error text with its place, in the form of cel-go.
pub(super) fn located(source: &str, token: &str, text: &str) -> String {
    located_at(source, source.find(token).unwrap_or(0), text)
}

/// The parser does not keep places, so they are those of the first text that fits.
fn located_at(source: &str, offset: usize, text: &str) -> String {
    let before = source.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().map_or(0, |start| start.chars().count());
    let shown = source.lines().nth(line).unwrap_or_default();
    format!("ERROR: <input>:{}:{}: {text}\n | {shown}\n | {}^", line + 1, column + 1, ".".repeat(column))
}

struct Checker<'a, 's> {
    source: &'s str,
    errors: Vec<String>,
    scope: Vec<(String, Type<'a>)>,
    /// How often each field was selected so far, which tells where in the source the next one is.
    selected: BTreeMap<String, usize>,
}

impl<'a> Checker<'a, '_> {
    fn visit(&mut self, expression: &IdedExpr) -> Type<'a> {
        match &expression.expr {
            Expr::Ident(name) => self.variable(name),
            Expr::Literal(literal) => match literal {
                LiteralValue::Boolean(_) => Type::Scalar(Scalar::Bool),
                LiteralValue::Bytes(_) => Type::Scalar(Scalar::Bytes),
                LiteralValue::Double(_) => Type::Scalar(Scalar::Double),
                LiteralValue::Int(_) => Type::Scalar(Scalar::Int),
                LiteralValue::Null => Type::Scalar(Scalar::Null),
                LiteralValue::String(_) => Type::Scalar(Scalar::String),
                LiteralValue::UInt(_) => Type::Scalar(Scalar::Uint),
            },
            Expr::Select(select) => {
                let operand = self.visit(&select.operand);
                let field = self.field(operand, &select.field, select.test);
                if select.test { Type::Scalar(Scalar::Bool) } else { field }
            }
            Expr::List(list) => {
                for element in &list.elements {
                    self.visit(element);
                }
                Type::Unknown
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.visit(&entry.key);
                        self.visit(&entry.value);
                    }
                }
                Type::Unknown
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(loops) => self.comprehension(loops),
            Expr::Struct(_) | Expr::Unspecified => Type::Unknown,
        }
    }

    fn variable(&mut self, name: &str) -> Type<'a> {
        if let Some((_, found)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return *found;
        }
        if !names::NAMESPACES.contains(&name) && !names::TYPES.contains(&name) {
            let text = format!("undeclared reference to '{name}' (in container '')");
            self.errors.push(located(self.source, name, &text));
        }
        Type::Unknown
    }

    fn field(&mut self, operand: Type<'a>, name: &str, is_test: bool) -> Type<'a> {
        let nth = *self.selected.entry(name.to_owned()).and_modify(|count| *count += 1).or_insert(0);
        let found = match operand {
            Type::Object(schema, fields) => {
                let declared = schema
                    .properties
                    .iter()
                    .find(|(property, _)| names::escape(property).as_deref() == Some(name))
                    .filter(|(_, property)| is_typed(property));
                match (name, declared) {
                    ("apiVersion" | "kind", _) if fields == Fields::OfObject => {
                        Ok(Type::Scalar(Scalar::String))
                    }
                    ("metadata", _) if fields == Fields::OfObject => Ok(Type::Meta),
                    (_, Some((_, property))) => Ok(type_of(property, property.embedded_resource)),
                    (_, None) => Err(format!("undefined field '{name}'")),
                }
            }
            Type::Meta if ["name", "generateName"].contains(&name) => Ok(Type::Scalar(Scalar::String)),
            Type::Meta => Err(format!("undefined field '{name}'")),
            Type::Map(values) => Ok(type_of(values, values.embedded_resource)),
            Type::Scalar(scalar) => Err(format!("type '{}' does not support field selection", scalar.name())),
            Type::List(_) | Type::Unknown => return Type::Unknown,
        };
        found.unwrap_or_else(|text| {
            self.report_field(name, nth, is_test, &text);
            Type::Unknown
        })
    }

    /// A field is at its dot, and in `has(..)` at the bracket.
    fn report_field(&mut self, name: &str, nth: usize, is_test: bool, text: &str) {
        let dot = self.source.match_indices(&format!(".{name}")).nth(nth).map_or(0, |(start, _)| start);
        let offset = match self.source[..dot].rfind("has(") {
            Some(start) if is_test => start + "has".len(),
            _ => dot,
        };
        self.errors.push(located_at(self.source, offset, text));
    }

    fn call(&mut self, call: &CallExpr) -> Type<'a> {
        let target = call.target.as_deref().map(|target| self.visit(target));
        let arguments: Vec<Type<'a>> = call.args.iter().map(|argument| self.visit(argument)).collect();
        let name = call.func_name.as_str();
        if !names::is_function(name) {
            let text = format!("undeclared reference to '{name}' (in container '')");
            let offset = self.source.find(&format!("{name}(")).map_or(0, |start| start + name.len());
            self.errors.push(located_at(self.source, offset, &text));
            return Type::Unknown;
        }
        match (name, arguments.as_slice()) {
            (operators::INDEX, [Type::List(items), _]) => return type_of(items, items.embedded_resource),
            (operators::INDEX, [Type::Map(values), _]) => return type_of(values, values.embedded_resource),
            (operators::CONDITIONAL, [_, yes, no]) => {
                return match (yes, no) {
                    (Type::Scalar(yes), Type::Scalar(no)) if yes == no => Type::Scalar(*yes),
                    _ => Type::Unknown,
                };
            }
            _ => {}
        }
        let known: Option<Vec<Scalar>> = target
            .iter()
            .chain(&arguments)
            .map(|operand| match operand {
                Type::Scalar(scalar) => Some(*scalar),
                _ => None,
            })
            .collect();
        let result = known.as_deref().map_or(Overload::Unknown, |known| overload(name, known));
        if let (Overload::Missing, Some(known)) = (&result, &known) {
            self.report_overload(name, target.is_some(), known);
        }
        match result {
            Overload::Gives(scalar) => Type::Scalar(scalar),
            Overload::Missing => Type::Unknown,
            Overload::Unknown => always(name).map_or(Type::Unknown, Type::Scalar),
        }
    }

    fn report_overload(&mut self, name: &str, is_method: bool, operands: &[Scalar]) {
        let names: Vec<&str> = operands.iter().map(|operand| operand.name()).collect();
        let signature = match names.split_first() {
            Some((target, rest)) if is_method => format!("{target}.({})", rest.join(", ")),
            _ => format!("({})", names.join(", ")),
        };
        let text = format!("found no matching overload for '{name}' applied to '{signature}'");
        // Operators are called by their place: `_==_`. A function is at its bracket.
        let sign = name.trim_matches('_');
        let offset = if is_method || sign == name {
            self.source.find(&format!("{name}(")).map_or(0, |start| start + name.len())
        } else {
            self.source.find(sign).unwrap_or(0)
        };
        self.errors.push(located_at(self.source, offset, &text));
    }

    fn comprehension(&mut self, loops: &ComprehensionExpr) -> Type<'a> {
        let element = match self.visit(&loops.iter_range) {
            Type::List(items) => type_of(items, items.embedded_resource),
            Type::Map(_) => Type::Scalar(Scalar::String),
            _ => Type::Unknown,
        };
        let accumulated = self.visit(&loops.accu_init);
        let depth = self.scope.len();
        self.scope.push((loops.accu_var.clone(), accumulated));
        let first = if loops.iter_var2.is_some() { Type::Unknown } else { element };
        self.scope.push((loops.iter_var.clone(), first));
        if let Some(second) = &loops.iter_var2 {
            self.scope.push((second.clone(), Type::Unknown));
        }
        self.visit(&loops.loop_cond);
        self.visit(&loops.loop_step);
        let result = self.visit(&loops.result);
        self.scope.truncate(depth);
        result
    }
}

/// What an operator or function makes of its operands.
enum Overload {
    Gives(Scalar),
    Missing,
    Unknown,
}

fn overload(name: &str, operands: &[Scalar]) -> Overload {
    use Scalar as S;
    let give = |scalar: Option<Scalar>| scalar.map_or(Overload::Missing, Overload::Gives);
    match (name, operands) {
        (operators::EQUALS | operators::NOT_EQUALS, [a, b]) => {
            // Numbers of different types are equal to nobody, except where the language lets them compare.
            give((a == b).then_some(S::Bool))
        }
        (
            operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS,
            [a, b],
        ) => give(((a == b && *a != S::Null) || (a.is_number() && b.is_number())).then_some(S::Bool)),
        (operators::LOGICAL_AND | operators::LOGICAL_OR, [a, b]) => {
            give((*a == S::Bool && *b == S::Bool).then_some(S::Bool))
        }
        (operators::LOGICAL_NOT, [a]) => give((*a == S::Bool).then_some(S::Bool)),
        (operators::ADD, [S::Timestamp, S::Duration] | [S::Duration, S::Timestamp]) => {
            Overload::Gives(S::Timestamp)
        }
        (operators::ADD, [a, b]) => {
            let adds = a.is_number() || matches!(a, S::String | S::Bytes | S::Duration);
            give((a == b && adds).then_some(*a))
        }
        (operators::SUBSTRACT, [S::Timestamp, S::Timestamp]) => Overload::Gives(S::Duration),
        (operators::SUBSTRACT, [S::Timestamp, S::Duration]) => Overload::Gives(S::Timestamp),
        (operators::SUBSTRACT, [S::Duration, S::Duration]) => Overload::Gives(S::Duration),
        (operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE, [a, b]) => {
            give((a == b && a.is_number()).then_some(*a))
        }
        (operators::MODULO, [a, b]) => give((a == b && matches!(a, S::Int | S::Uint)).then_some(*a)),
        (operators::NEGATE, [a]) => give(matches!(a, S::Int | S::Double).then_some(*a)),
        ("startsWith" | "endsWith" | "contains" | "matches", [a, b]) => {
            give((*a == S::String && *b == S::String).then_some(S::Bool))
        }
        ("size", [a]) => give(matches!(a, S::String | S::Bytes).then_some(S::Int)),
        _ => Overload::Unknown,
    }
}

/// What a function evaluates to, whatever its operands are.
fn always(name: &str) -> Option<Scalar> {
    match name {
        operators::LOGICAL_AND
        | operators::LOGICAL_OR
        | operators::LOGICAL_NOT
        | operators::EQUALS
        | operators::NOT_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS
        | operators::LESS
        | operators::LESS_EQUALS
        | operators::IN
        | "endsWith"
        | "hasValue"
        | "isSorted"
        | "matches"
        | "startsWith" => Some(Scalar::Bool),
        "size" => Some(Scalar::Int),
        _ => None,
    }
}

impl Scalar {
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Duration => "duration",
            Self::Int => "int",
            Self::Null => "null",
            Self::String => "string",
            Self::Timestamp => "timestamp",
            Self::Uint => "uint",
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }
}

/// Whether rules can name a value of this schema: its type and those of its parts are stated.
pub(crate) fn is_typed(schema: &Schema) -> bool {
    match schema.schema_type {
        None => schema.int_or_string,
        Some(SchemaType::Array) => schema.items.as_deref().is_some_and(is_typed),
        Some(SchemaType::Object) => schema.additional_schema().is_none_or(|values| is_typed(values)),
        Some(_) => true,
    }
}

fn type_of(schema: &Schema, is_object: bool) -> Type<'_> {
    let text = || match schema.checked_format {
        Some(Format::Text(TextFormat::Byte)) => Scalar::Bytes,
        Some(Format::Text(TextFormat::Date | TextFormat::DateTime)) => Scalar::Timestamp,
        Some(Format::Text(TextFormat::Duration)) => Scalar::Duration,
        _ => Scalar::String,
    };
    match schema.schema_type {
        _ if schema.int_or_string => Type::Unknown,
        None => Type::Unknown,
        Some(SchemaType::Boolean) => Type::Scalar(Scalar::Bool),
        Some(SchemaType::Integer) => Type::Scalar(Scalar::Int),
        Some(SchemaType::Number) => Type::Scalar(Scalar::Double),
        Some(SchemaType::String) => Type::Scalar(text()),
        Some(SchemaType::Array) => schema.items.as_deref().map_or(Type::Unknown, Type::List),
        Some(SchemaType::Object) => match schema.additional_schema() {
            Some(values) => Type::Map(values),
            None if is_object => Type::Object(schema, Fields::OfObject),
            None => Type::Object(schema, Fields::Declared),
        },
    }
}

/// A rule as Go's JSON of the internal type, which has no JSON names.
pub(crate) fn shown_rule(rule: &crate::structural::Rule) -> String {
    let json = |text: &str| go::json(&text.into());
    format!(
        r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
        json(&rule.rule),
        json(&rule.message),
        json(&rule.message_expression),
        rule.reason.as_deref().map_or_else(|| "null".to_owned(), json),
        json(&rule.field_path),
        rule.optional_old_self.map_or_else(|| "null".to_owned(), |flag| flag.to_string()),
    )
}
