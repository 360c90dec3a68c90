//! Calls of the functions of `kube-cel`, and of those that are registered beside them. They take arguments that are
//! variables of a call which is made once.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use kube_cel::{
    KubeCelExt,
    cel::{
        Context, ExecutionError, IdedExpr, Value as Cel,
        common::ast::{CallExpr, Expr},
    },
};

use super::{Failure, Outcome, meter::Meter};
use crate::cel::authorizer;

/// The names of the arguments, which no expression can name.
const ARGUMENTS: [&str; 6] = ["@0", "@1", "@2", "@3", "@4", "@5"];

thread_local! {
    // Registering the functions costs more than most expressions, and contexts do not move between threads.
    static FUNCTIONS: Context<'static> = {
        let mut context = Context::default().with_all();
        authorizer::register(&mut context);
        context
    };
}

/// The call of a function with a number of operands, the target of a method first.
pub(super) fn call(function: &str, is_method: bool, operands: usize) -> IdedExpr {
    let ident = |name: &&str| IdedExpr { id: 0, expr: Expr::Ident((*name).to_owned()) };
    let mut args: Vec<IdedExpr> = ARGUMENTS.iter().take(operands).map(ident).collect();
    let target = (is_method && !args.is_empty()).then(|| Box::new(args.remove(0)));
    IdedExpr { id: 0, expr: Expr::Call(CallExpr { func_name: function.to_owned(), target, args }) }
}

/// Calls a function.
pub(super) fn evaluate(call: &IdedExpr, operands: &[Cel], meter: &mut Meter) -> Outcome {
    // The library copies whatever it is given.
    operands.iter().try_for_each(|operand| meter.pay_whole(operand))?;
    run(call, operands)
}

/// What a function makes of a text, for values that only the library can make.
pub(super) fn parse(function: &str, text: &str) -> Option<Cel> {
    run(&call(function, false, 1), &[Cel::String(Arc::new(text.to_owned()))]).ok()
}

fn run(call: &IdedExpr, operands: &[Cel]) -> Outcome {
    FUNCTIONS.with(|functions| {
        let mut context = functions.new_inner_scope();
        // The library has conversions that panic, and a custom resource is input. It holds no state that a panic could
        // leave half-changed.
        let result = catch_unwind(AssertUnwindSafe(|| {
            for (name, value) in ARGUMENTS.iter().zip(operands) {
                context.add_variable_from_value(*name, value.clone());
            }
            Cel::resolve(call, &context)
        }));
        result.map_err(|_| Failure::other("the expression cannot be evaluated"))?.map_err(failure)
    })
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
        | ExecutionError::UnsupportedIndex(..) => return Failure::no_such_overload(),
        ExecutionError::FunctionError { message, .. } => message,
        other => {
            let text = other.to_string();
            let mut chars = text.chars();
            chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
        }
    })
}
