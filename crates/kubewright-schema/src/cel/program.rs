use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use kube_cel::{
    KubeCelExt,
    cel::{
        Context, ExecutionError, IdedExpr, Value,
        common::ast::{EntryExpr, Expr},
        parser::Parser,
    },
};

use super::{
    budget::{self, Loops},
    depth::{self, Measured, SHALLOW_TO_EVALUATE, SHALLOW_TO_PARSE},
    types,
};
use crate::structural::Schema;

/// How deep the parser may go, which is as deep as cel-go goes. What is measured before keeps within that.
const RECURSION: u16 = 250;

thread_local! {
    // Registering the functions costs more than most rules, and contexts do not move between threads.
    static FUNCTIONS: Context<'static> = {
        let mut functions = Context::default().with_all();
        budget::register(&mut functions);
        functions
    };
}

/// A compiled rule. Two are equal if their sources are, which the rule compares.
#[derive(Clone, Default)]
pub(crate) struct Compiled(Option<Arc<Programs>>);

struct Programs {
    rule: Result<Program, String>,
    message: Option<Result<Program, String>>,
}

/// A compiled expression.
pub(super) struct Program {
    expression: IdedExpr,
    depth: usize,
    loops: Loops,
    pub(super) uses_old_self: bool,
}

/// Why an evaluation came to nothing, in the words of cel-go.
#[derive(Debug, PartialEq)]
pub(super) enum Failure {
    NoSuchOverload,
    /// It costs more than one expression may.
    CallCost,
    /// It costs more than is left of the budget of the validation.
    OutOfBudget,
    Other(String),
}

/// What an expression must evaluate to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Bool,
    String,
}

impl Compiled {
    /// Compiles a rule for values of `schema`. Problems stay inside, for the definition to report.
    pub(crate) fn new(rule: &str, message: &str, schema: &Schema, is_object: bool, optional: bool) -> Self {
        let message = (!message.is_empty()).then(|| {
            compile(message, schema, is_object, optional, Output::String).map_err(|problem| match problem {
                Problem::Compilation(text) => format!("messageExpression compilation failed: {text}"),
                Problem::Output => "messageExpression must evaluate to a string".to_owned(),
            })
        });
        let rule =
            compile(rule, schema, is_object, optional, Output::Bool).map_err(|problem| match problem {
                Problem::Compilation(text) => format!("compilation failed: {text}"),
                Problem::Output => "cel expression must evaluate to a bool".to_owned(),
            });
        Self(Some(Arc::new(Programs { rule, message })))
    }

    pub(super) fn rule(&self) -> Option<Result<&Program, &str>> {
        self.0.as_ref().map(|programs| programs.rule.as_ref().map_err(String::as_str))
    }

    pub(super) fn message(&self) -> Option<&Program> {
        self.0.as_ref()?.message.as_ref()?.as_ref().ok()
    }

    pub(crate) fn rule_problem(&self) -> Option<&str> {
        self.0.as_ref()?.rule.as_ref().err().map(String::as_str)
    }

    pub(crate) fn message_problem(&self) -> Option<&str> {
        self.0.as_ref()?.message.as_ref()?.as_ref().err().map(String::as_str)
    }

    pub(crate) fn uses_old_self(&self) -> bool {
        matches!(self.rule(), Some(Ok(program)) if program.uses_old_self)
    }
}

enum Problem {
    Compilation(String),
    Output,
}

fn compile(
    source: &str,
    schema: &Schema,
    is_object: bool,
    optional: bool,
    output: Output,
) -> Result<Program, Problem> {
    let Measured { text, depth } = depth::measure(source).map_err(Problem::Compilation)?;
    depth::with_room(depth <= SHALLOW_TO_PARSE, || parse(&text, source, schema, is_object, optional, output))
        .unwrap_or_else(|| Err(unparsable()))
}

fn unparsable() -> Problem {
    Problem::Compilation("ERROR: <input>:1:1: the expression cannot be parsed".to_owned())
}

/// [`compile`] where there is room for it. `text` is what the parser can take of the source.
fn parse(
    text: &str,
    source: &str,
    schema: &Schema,
    is_object: bool,
    optional: bool,
    output: Output,
) -> Result<Program, Problem> {
    // The parser is generated code of another crate, and a definition is input.
    let parsed = catch_unwind(|| {
        Parser::new().enable_optional_syntax(true).max_recursion_depth(RECURSION).parse(text)
    })
    .map_err(|_| unparsable())?;
    let mut expression =
        parsed.map_err(|errors| Problem::Compilation(errors.to_string().replace("\n| ", "\n | ")))?;
    if holds_message(&expression) {
        let text = types::located(source, "{", "message construction is not supported");
        return Err(Problem::Compilation(text));
    }
    let checked = types::check(&expression, source, schema, is_object, optional, output);
    if !checked.errors.is_empty() {
        return Err(Problem::Compilation(checked.errors.join("\n")));
    }
    if !checked.fits {
        return Err(Problem::Output);
    }
    let uses_old_self = expression.references().has_variable("oldSelf");
    let loops = Loops::instrument(&mut expression);
    Ok(Program { depth: depth::of(&expression), expression, loops, uses_old_self })
}

/// The evaluator does not know messages of protobuf.
fn holds_message(expression: &IdedExpr) -> bool {
    match &expression.expr {
        Expr::Struct(_) | Expr::Unspecified => true,
        Expr::Ident(_) | Expr::Literal(_) => false,
        Expr::Select(select) => holds_message(&select.operand),
        Expr::List(list) => list.elements.iter().any(holds_message),
        Expr::Call(call) => {
            call.target.as_deref().is_some_and(holds_message) || call.args.iter().any(holds_message)
        }
        Expr::Map(map) => map.entries.iter().any(|entry| match &entry.expr {
            EntryExpr::StructField(_) => true,
            EntryExpr::MapEntry(entry) => holds_message(&entry.key) || holds_message(&entry.value),
        }),
        Expr::Comprehension(loops) => {
            [&loops.iter_range, &loops.accu_init, &loops.loop_cond, &loops.loop_step, &loops.result]
                .into_iter()
                .any(holds_message)
        }
    }
}

impl Program {
    /// Evaluates the expression, and takes what it costs from `budget`.
    pub(super) fn run(&self, value: &Value, old: Option<&Value>, budget: &mut u64) -> Result<Value, Failure> {
        let limit = (*budget).min(budget::PER_CALL);
        let evaluated = depth::with_room(self.depth <= SHALLOW_TO_EVALUATE, || {
            let values: Vec<&Value> = [Some(value), old].into_iter().flatten().collect();
            budget::metered(&self.loops, &values, limit, || self.evaluate(value, old))
        });
        let Some((result, spent)) = evaluated else {
            return Err(Failure::Other("the expression cannot be evaluated".to_owned()));
        };
        if spent > *budget {
            *budget = 0;
            return Err(Failure::OutOfBudget);
        }
        *budget -= spent;
        if spent > limit { Err(Failure::CallCost) } else { result }
    }

    fn evaluate(&self, value: &Value, old: Option<&Value>) -> Result<Value, Failure> {
        FUNCTIONS.with(|functions| {
            let mut context = functions.new_inner_scope();
            context.add_variable_from_value("self", value.clone());
            if let Some(old) = old {
                context.add_variable_from_value("oldSelf", old.clone());
            }
            // The evaluator has conversions that panic, and a custom resource is input. It holds no state that a
            // panic could leave half-changed.
            catch_unwind(AssertUnwindSafe(|| Value::resolve(&self.expression, &context)))
                .map_err(|_| Failure::Other("the expression cannot be evaluated".to_owned()))?
                .map_err(failure)
        })
    }
}

/// Calls a function of one argument, for values that only CEL can make.
pub(super) fn convert(function: &'static str, text: &str) -> Option<Value> {
    let program = match function {
        "timestamp" => "timestamp(self)",
        _ => "duration(self)",
    };
    let expression = Parser::new().parse(program).ok()?;
    let program = Program { expression, depth: 0, loops: Loops::default(), uses_old_self: false };
    program.evaluate(&Value::String(Arc::new(text.to_owned())), None).ok()
}

fn failure(error: ExecutionError) -> Failure {
    Failure::Other(match error {
        ExecutionError::NoSuchOverload
        | ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::NotSupportedAsMethod { .. }
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnsupportedUnaryOperator(..)
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::UnsupportedIndex(..) => return Failure::NoSuchOverload,
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::UndeclaredReference(name) => format!("undeclared reference to '{name}'"),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::IndexOutOfBounds(Value::Int(index)) => format!("index out of bounds: {index}"),
        ExecutionError::FunctionError { message, .. } => message,
        other => {
            let text = other.to_string();
            let mut chars = text.chars();
            chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
        }
    })
}

impl PartialEq for Compiled {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Compiled {}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.rule() {
            None => "not compiled",
            Some(Ok(_)) => "compiled",
            Some(Err(_)) => "broken",
        })
    }
}
