//! The expressions that select devices.

use std::sync::LazyLock;

use kubewright_schema::cel::{Expression, Scope, ValueType};

use super::at_most;
use crate::validation::Field;

const MOST_SELECTORS: usize = 32;
const LONGEST_EXPRESSION: usize = 10 * 1024;

/// What expressions see of a device. Attributes and capacities are told apart by domain, then by name.
static SCOPE: LazyLock<Scope> = LazyLock::new(|| {
    let by_domain = |of| ValueType::Map(Box::new(ValueType::Map(Box::new(of))));
    let fields = vec![
        ("driver", ValueType::String),
        ("allowMultipleAllocations", ValueType::Bool),
        ("attributes", by_domain(ValueType::Any)),
        ("capacity", by_domain(ValueType::Quantity)),
    ];
    Scope::new().with("device", &ValueType::Object("kubernetes.DRADevice", fields))
});

pub(super) fn validate(selectors: Field<'_>) {
    for selector in at_most(selectors, MOST_SELECTORS) {
        let cel = selector.child("cel");
        if cel.is_set() {
            validate_expression(cel.child("expression"));
        } else {
            cel.required("");
        }
    }
}

fn validate_expression(expression: Field<'_>) {
    let text = expression.text();
    if text.len() > LONGEST_EXPRESSION {
        return expression.too_long(10_240);
    }
    match Expression::compile(text, &SCOPE, &[]) {
        Err(problem) => expression.invalid(text, problem.to_string()),
        Ok(compiled) => match compiled.output() {
            // What an attribute holds is not known before.
            "bool" | "dyn" => {}
            other => {
                expression.invalid(text, format!("must evaluate to bool or the unknown type, not {other}"));
            }
        },
    }
}
