//! What an evaluation may cost. The evaluator has no limit of its own, so loops are compiled to ask for one: every
//! iteration first pays for the nodes it evaluates and for the values it copies.

use std::{cell::RefCell, collections::BTreeMap, mem};

use kube_cel::cel::{
    Context, ExecutionError, IdedExpr, Value,
    common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, operators},
    objects::Key,
};

use super::functions;

/// What one expression may cost.
pub(super) const PER_CALL: u64 = 1_000_000;

/// What all expressions of one validation may cost.
pub(super) const PER_VALIDATION: u64 = 10_000_000;

/// Nodes of a value that are copied in the time it takes to evaluate one node of an expression.
const COPIES: u64 = 64;

// No expression can name these.
const TICK: &str = "@tick";
const MADE: &str = "@made";

thread_local! {
    static METER: RefCell<Meter> = RefCell::default();
}

/// The running account of one evaluation.
#[derive(Default)]
struct Meter {
    /// What one iteration of each loop costs.
    prices: Vec<u64>,
    spent: u64,
    limit: u64,
}

/// What the loops of an expression do in one iteration.
#[derive(Default)]
pub(super) struct Loops(Vec<Body>);

#[derive(Default)]
struct Body {
    nodes: u64,
    /// The fields that are read. The evaluator copies what it reads.
    fields: Vec<String>,
    /// Whether the loop makes a list, which is copied in every iteration.
    makes_list: bool,
}

/// How large the values of fields are.
#[derive(Default)]
struct Weights<'a> {
    largest: BTreeMap<&'a str, u64>,
}

/// Registers the functions that loops pay with.
pub(super) fn register(context: &mut Context<'_>) {
    context.add_function(TICK, |number: i64| {
        pay(|meter| usize::try_from(number).ok().and_then(|number| meter.prices.get(number)).copied())
            .map(|()| Value::Bool(true))
    });
    context.add_function(MADE, |value: Value| {
        let weight = Weights::default().visit(&value);
        pay(|_| Some(weight)).map(|()| value)
    });
}

fn pay(price: impl FnOnce(&Meter) -> Option<u64>) -> Result<(), ExecutionError> {
    METER.with_borrow_mut(|meter| {
        meter.spent = meter.spent.saturating_add(price(meter).unwrap_or(1));
        if meter.spent <= meter.limit {
            return Ok(());
        }
        Err(ExecutionError::function_error(TICK, "operation cancelled: actual cost limit exceeded"))
    })
}

/// Evaluates with a limit, and returns what it cost; more than the limit if it was not enough.
pub(super) fn metered<T>(
    loops: &Loops,
    values: &[&Value],
    limit: u64,
    evaluate: impl FnOnce() -> T,
) -> (T, u64) {
    let mut prices = Vec::new();
    if !loops.0.is_empty() {
        let mut weights = Weights::default();
        let whole: u64 = values.iter().map(|value| weights.visit(value)).sum();
        prices = loops.0.iter().map(|body| body.price(&weights, whole)).collect();
    }
    let outer = METER.replace(Meter { prices, spent: 0, limit });
    let result = evaluate();
    (result, METER.replace(outer).spent)
}

impl Body {
    fn price(&self, weights: &Weights<'_>, whole: u64) -> u64 {
        let read = self.fields.iter().filter_map(|field| weights.largest.get(field.as_str())).sum::<u64>();
        let made = if self.makes_list { whole } else { 0 };
        self.nodes + (read + made) / COPIES
    }
}

impl<'a> Weights<'a> {
    fn visit(&mut self, value: &'a Value) -> u64 {
        1 + match value {
            Value::List(items) => items.iter().map(|item| self.visit(item)).sum(),
            Value::Map(map) => map
                .map
                .iter()
                .map(|(key, value)| {
                    let weight = self.visit(value);
                    if let Key::String(name) = key {
                        let largest = self.largest.entry(name.as_str()).or_default();
                        *largest = weight.max(*largest);
                    }
                    weight + 1
                })
                .sum(),
            Value::String(text) => text.len() as u64 / 10,
            Value::Bytes(bytes) => bytes.len() as u64 / 10,
            _ => 0,
        }
    }
}

impl Loops {
    /// Makes the loops of an expression pay.
    pub(super) fn instrument(expression: &mut IdedExpr) -> Self {
        let mut loops = Self::default();
        loops.visit(expression, None);
        loops
    }

    /// Visits an expression in the body of the loop with the number `body`.
    fn visit(&mut self, expression: &mut IdedExpr, body: Option<usize>) {
        if let Some(body) = body.and_then(|number| self.0.get_mut(number)) {
            body.nodes += u64::from(!matches!(expression.expr, Expr::Literal(_)));
            if let Expr::Select(select) = &expression.expr {
                body.fields.push(select.field.clone());
            }
        }
        let mut makes = false;
        match &mut expression.expr {
            Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => {}
            Expr::Select(select) => self.visit(&mut select.operand, body),
            Expr::List(list) => {
                makes = !list.elements.is_empty();
                list.elements.iter_mut().for_each(|element| self.visit(element, body));
            }
            Expr::Call(call) => {
                makes = call.func_name == operators::ADD && !is_accumulation(call)
                    || call.func_name == functions::INSERT;
                call.target.iter_mut().for_each(|target| self.visit(target, body));
                call.args.iter_mut().for_each(|argument| self.visit(argument, body));
            }
            Expr::Map(map) => {
                makes = true;
                for entry in &mut map.entries {
                    if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                        self.visit(&mut entry.key, body);
                        self.visit(&mut entry.value, body);
                    }
                }
            }
            Expr::Comprehension(comprehension) => {
                self.visit(&mut comprehension.iter_range, body);
                self.visit(&mut comprehension.accu_init, body);
                let number = self.0.len();
                let makes_list = matches!(comprehension.accu_init.expr, Expr::List(_));
                self.0.push(Body { nodes: 1, makes_list, ..Body::default() });
                self.visit(&mut comprehension.loop_cond, Some(number));
                self.visit(&mut comprehension.loop_step, Some(number));
                self.visit(&mut comprehension.result, body);
                let id = comprehension.loop_cond.id;
                let condition = mem::take(&mut comprehension.loop_cond);
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                let literal = |value| IdedExpr { id, expr: Expr::Literal(value) };
                let tick = call(id, TICK, vec![literal(LiteralValue::Int(number.into()))]);
                let never = literal(LiteralValue::Boolean(false.into()));
                comprehension.loop_cond = call(id, operators::CONDITIONAL, vec![tick, condition, never]);
            }
        }
        // A chain of loops can double a value with every link.
        if makes && body.is_some() {
            let id = expression.id;
            let made = mem::take(expression);
            *expression = call(id, MADE, vec![made]);
        }
    }
}

/// Whether a call is the addition that a macro makes.
fn is_accumulation(call: &CallExpr) -> bool {
    matches!(call.args.first(), Some(IdedExpr { expr: Expr::Ident(name), .. }) if name.starts_with('@'))
}

fn call(id: u64, function: &str, args: Vec<IdedExpr>) -> IdedExpr {
    let func_name = function.to_owned();
    IdedExpr { id, expr: Expr::Call(CallExpr { func_name, target: None, args }) }
}
