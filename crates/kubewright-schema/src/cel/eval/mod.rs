//! The evaluator: what a checked expression comes to.
//!
//! It follows the interpreter of cel-go in what can be seen from outside: which errors are absorbed, what an optional value
//! does to the selections behind it, what is said when something is not there, and what each step costs. `node.rs` is the
//! tree that is evaluated and how it is made from the checked one. `evaluator.rs` walks it, `access.rs` reads fields and
//! items, `operators.rs` and `conversion.rs` are the operators and conversions, `functions.rs` the functions, with a file for
//! those of strings, lists, URLs and so on. Where `kube-cel` gives what a server gives, its functions are called through
//! `library.rs`. `message.rs` is what `Object{..}` makes, and
//! `meter.rs` what is paid for all this. Start at [`evaluate`].

mod access;
mod calendar;
mod conversion;
mod evaluator;
mod format;
mod functions;
mod library;
mod lists;
mod message;
mod meter;
mod named_format;
mod node;
mod operators;
mod strings;
mod unreadable;
mod url;

use kube_cel::cel::Value as Cel;

pub(super) use self::{
    conversion::{duration, text, timestamp},
    evaluator::evaluate,
    message::Message,
    meter::{PER_CALL, PER_VALIDATION, pay_whole},
    node::Plan,
};
pub(super) use access::optional as optional_value;

/// Why an evaluation came to nothing, in the words of cel-go.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Failure {
    /// What operands there are is not what was asked for. What more is said, if it is.
    NoSuchOverload(String),
    /// It costs more than one expression may.
    CallCost,
    /// It costs more than is left of the budget of the validation.
    OutOfBudget,
    Other(String),
}

/// What a step comes to.
type Outcome = Result<Cel, Failure>;

/// What an expression may read.
pub(super) struct Input<'a> {
    /// The variables by name.
    pub(super) variables: &'a [(&'a str, &'a Cel)],
    /// The variables that are expressions themselves.
    pub(super) lazy: Option<&'a dyn Lazy>,
}

/// Variables that are evaluated when they are asked for.
pub(super) trait Lazy: Sync {
    /// The value of a variable.
    fn value(&self, name: &str) -> Outcome;

    /// Whether there is such a variable.
    fn has(&self, name: &str) -> bool;
}

// === impl Failure ===

impl Failure {
    fn no_such_overload() -> Self {
        Self::NoSuchOverload(String::new())
    }

    fn other(text: impl Into<String>) -> Self {
        Self::Other(text.into())
    }

    /// Whether nothing may go on after it.
    fn is_final(&self) -> bool {
        matches!(self, Self::CallCost | Self::OutOfBudget)
    }

    /// What cel-go says.
    pub(super) fn text(&self) -> String {
        match self {
            Self::NoSuchOverload(detail) => format!("no such overload{detail}"),
            Self::CallCost => "operation cancelled: actual cost limit exceeded".to_owned(),
            Self::OutOfBudget => {
                "validation failed due to running out of cost budget, no further validation rules will be run"
                    .to_owned()
            }
            Self::Other(text) => text.clone(),
        }
    }
}
