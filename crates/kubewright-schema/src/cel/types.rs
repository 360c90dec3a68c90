//! What can be said about an expression before it runs: fields and variables that do not exist, functions nobody
//! knows, results of the wrong type. Where the type of a value is not known, nothing is said.

use kube_cel::cel::{
    IdedExpr,
    common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators},
};

use super::{names, program::Output};
use crate::{
    error::go,
    structural::{Schema, SchemaType},
};

/// What an expression evaluates to.
#[derive(Clone, Copy)]
enum Type<'a> {
    Bool,
    String,
    /// Neither of the two and without fields.
    Other,
    Object(&'a Schema, Fields),
    /// The metadata that rules may read.
    Meta,
    List(&'a Schema),
    Map(&'a Schema),
    Unknown,
}

/// Which fields an object has besides the declared ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fields {
    Declared,
    OfObject,
}

pub(super) struct Checked {
    pub(super) errors: Vec<String>,
    is_bool: Option<bool>,
    is_string: Option<bool>,
}

impl Checked {
    /// Whether the result can be what is asked for.
    pub(super) fn may_be(&self, output: Output) -> bool {
        match output {
            Output::Bool => self.is_bool,
            Output::String => self.is_string,
        }
        .unwrap_or(true)
    }
}

pub(super) fn check(expression: &IdedExpr, source: &str, schema: &Schema, is_object: bool) -> Checked {
    let own = type_of(schema, is_object);
    let mut checker = Checker {
        source,
        errors: Vec::new(),
        scope: vec![("self".to_owned(), own), ("oldSelf".to_owned(), Type::Unknown)],
    };
    // Without `optionalOldSelf` the old value has the type of the new one; with it, it is an optional.
    let result = checker.visit(expression);
    let known = match result {
        Type::Unknown => None,
        other => Some(other),
    };
    Checked {
        errors: checker.errors,
        is_bool: known.map(|known| matches!(known, Type::Bool)),
        is_string: known.map(|known| matches!(known, Type::String)),
    }
}

/// An error text with its place, in the form of cel-go.
pub(super) fn located(source: &str, token: &str, text: &str) -> String {
    let offset = source.find(token).unwrap_or(0);
    let before = &source[..offset];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().map_or(0, |start| start.chars().count());
    let shown = source.lines().nth(line).unwrap_or_default();
    format!("ERROR: <input>:{}:{}: {text}\n | {shown}\n | {}^", line + 1, column + 1, ".".repeat(column))
}

struct Checker<'a, 's> {
    source: &'s str,
    errors: Vec<String>,
    scope: Vec<(String, Type<'a>)>,
}

impl<'a> Checker<'a, '_> {
    fn visit(&mut self, expression: &IdedExpr) -> Type<'a> {
        match &expression.expr {
            Expr::Ident(name) => self.variable(name),
            Expr::Literal(literal) => match literal {
                LiteralValue::Boolean(_) => Type::Bool,
                LiteralValue::String(_) => Type::String,
                _ => Type::Other,
            },
            Expr::Select(select) => {
                let operand = self.visit(&select.operand);
                let field = self.field(operand, &select.field);
                if select.test { Type::Bool } else { field }
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

    fn field(&mut self, operand: Type<'a>, name: &str) -> Type<'a> {
        let found = match operand {
            Type::Object(schema, fields) => {
                let declared = schema
                    .properties
                    .iter()
                    .find(|(property, _)| names::escape(property).as_deref() == Some(name))
                    .filter(|(_, property)| is_typed(property));
                match (name, declared) {
                    ("apiVersion" | "kind", _) if fields == Fields::OfObject => Some(Type::String),
                    ("metadata", _) if fields == Fields::OfObject => Some(Type::Meta),
                    (_, Some((_, property))) => Some(type_of(property, property.embedded_resource)),
                    (_, None) => None,
                }
            }
            Type::Meta => ["name", "generateName"].contains(&name).then_some(Type::String),
            Type::Map(values) => Some(type_of(values, values.embedded_resource)),
            _ => return Type::Unknown,
        };
        found.unwrap_or_else(|| {
            let text = format!("undefined field '{name}'");
            self.errors.push(located(self.source, &format!(".{name}"), &text));
            Type::Unknown
        })
    }

    fn call(&mut self, call: &CallExpr) -> Type<'a> {
        let target = call.target.as_deref().map(|target| self.visit(target));
        let arguments: Vec<Type<'a>> = call.args.iter().map(|argument| self.visit(argument)).collect();
        if !names::is_function(&call.func_name) {
            let text = format!("undeclared reference to '{}' (in container '')", call.func_name);
            self.errors.push(located(self.source, &call.func_name, &text));
            return Type::Unknown;
        }
        match (call.func_name.as_str(), arguments.as_slice(), target) {
            (operators::INDEX, [Type::List(items), _], _) => type_of(items, items.embedded_resource),
            (operators::INDEX, [Type::Map(values), _], _) => type_of(values, values.embedded_resource),
            (
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
                | "startsWith"
                | "endsWith"
                | "matches",
                _,
                _,
            ) => Type::Bool,
            ("size", _, _) => Type::Other,
            ("string", _, None) => Type::String,
            (operators::ADD, [Type::String, _] | [_, Type::String], _) => Type::String,
            _ => Type::Unknown,
        }
    }

    fn comprehension(&mut self, loops: &ComprehensionExpr) -> Type<'a> {
        let element = match self.visit(&loops.iter_range) {
            Type::List(items) => type_of(items, items.embedded_resource),
            Type::Map(_) => Type::String,
            _ => Type::Unknown,
        };
        self.visit(&loops.accu_init);
        let depth = self.scope.len();
        self.scope.push((loops.accu_var.clone(), Type::Unknown));
        self.scope
            .push((loops.iter_var.clone(), if loops.iter_var2.is_some() { Type::Unknown } else { element }));
        if let Some(second) = &loops.iter_var2 {
            self.scope.push((second.clone(), Type::Unknown));
        }
        self.visit(&loops.loop_cond);
        self.visit(&loops.loop_step);
        self.visit(&loops.result);
        self.scope.truncate(depth);
        Type::Unknown
    }
}

/// Whether rules can name a value of this schema: its type and those of its parts are stated.
fn is_typed(schema: &Schema) -> bool {
    match schema.schema_type {
        None => schema.int_or_string,
        Some(SchemaType::Array) => schema.items.as_deref().is_some_and(is_typed),
        Some(SchemaType::Object) => schema.additional_schema().is_none_or(|values| is_typed(values)),
        Some(_) => true,
    }
}

fn type_of(schema: &Schema, is_object: bool) -> Type<'_> {
    match schema.schema_type {
        _ if schema.int_or_string => Type::Unknown,
        None => Type::Unknown,
        Some(SchemaType::Boolean) => Type::Bool,
        Some(SchemaType::Integer | SchemaType::Number) => Type::Other,
        Some(SchemaType::String) if super::value::is_plain_text(schema) => Type::String,
        Some(SchemaType::String) => Type::Other,
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
