//! What can be said about the rules of a schema before anything is validated: whether they compile, what they cost, and
//! whether they speak of an old value where there is one.

use std::ops::Range;

use super::{
    cost::{MOST_PER_RULE, MOST_PER_SCHEMA},
    program::{Problem, Program},
    shown::Position,
    syntax::Located,
};
use crate::{
    error::FieldPath,
    structural::{ListType, Rule, Schema, SchemaType, Structural},
};

/// What makes rules less expensive.
const ADVICE: &str = "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and \
     strings are declared";

/// How many expressions are named when all of them together cost too much.
const MOST_EXPENSIVE: usize = 4;

/// What [`check_rules`] found out.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CheckedRules {
    /// The rules, those of a part of the schema before those of the whole.
    pub rules: Vec<CheckedRule>,
    /// The estimated cost of all expressions together. A server refuses a schema with more than [`MOST_PER_SCHEMA`].
    pub total_cost: u64,
    /// What a server says about the whole schema if the total is too much.
    pub total_error: Option<String>,
}

/// A rule of a schema, checked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckedRule {
    /// Where the rule stands: `properties[spec].x-kubernetes-validations[0]`, below the path of the schema.
    pub path: FieldPath,
    /// The expression that must be true.
    pub rule: CheckedExpression,
    /// The expression that makes the message. Absent if there is none, and if the rule does not compile.
    pub message_expression: Option<CheckedExpression>,
    /// Everything that is wrong with the rule, in the order in which a server says it.
    pub problems: Vec<RuleProblem>,
}

/// An expression, checked.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CheckedExpression {
    /// What one evaluation costs at most by estimate, in units of about 50 nanoseconds. Zero if the expression does not
    /// compile.
    pub cost: u64,
    /// The estimated cost for all the values of one object. A server refuses more than [`MOST_PER_RULE`]. The expression
    /// of a message is evaluated for one value only, so it is its cost.
    pub total_cost: u64,
}

/// Something that is wrong with a rule.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RuleProblem {
    /// The part of the rule that a server blames.
    pub part: RulePart,
    /// Whether the rule is well-formed, but too expensive. A server forbids that; everything else is invalid.
    pub is_cost: bool,
    /// What a server says.
    pub text: String,
    /// The single errors in the expression, as far as they have a place.
    pub errors: Vec<ExpressionError>,
}

/// The parts of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RulePart {
    /// `rule`, because of what it says.
    Rule,
    /// `rule`, because of where it stands: there is no old value.
    OldSelf,
    /// `messageExpression`.
    MessageExpression,
    /// `optionalOldSelf`.
    OptionalOldSelf,
}

/// An error in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpressionError {
    /// What is wrong, without the place.
    pub text: String,
    /// The bytes of the expression that it is about.
    pub span: Range<usize>,
    /// The line of the expression that a server names, from 1.
    pub line: usize,
    /// The column that a server names, from 1 and in characters.
    pub column: usize,
}

/// How often a value can be in an object. Not at all known inside lists and maps without limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cardinality(Option<u64>);

/// What all expressions of a schema cost.
#[derive(Debug, Default)]
pub(crate) struct TotalCost {
    total: u64,
    /// The most expensive ones that are worth naming, the dearest first.
    expensive: Vec<(FieldPath, u64)>,
}

/// Checks the rules of a schema as a server does when a definition is created: types, costs, and the use of `oldSelf`.
///
/// `schema` is the whole schema of a custom resource version; paths in the result are below `path`. Texts that are not
/// rules, such as messages and field paths, are not checked here.
///
/// The environment is the one in which a server of version 1.37 compiles new rules.
///
/// ```
/// use kubewright_schema::{FieldPath, Structural, cel::check_rules};
/// use serde_json::json;
///
/// let schema = Structural::parse(&json!({"type": "object", "properties": {"spec": {
///     "type": "object",
///     "properties": {"name": {"type": "string", "maxLength": 10}},
///     "x-kubernetes-validations": [{"rule": "self.nmae != ''"}],
/// }}}))
/// .unwrap();
/// let checked = check_rules(&schema, &FieldPath::root());
/// let error = &checked.rules[0].problems[0].errors[0];
/// assert_eq!(error.text, "undefined field 'nmae'");
/// assert_eq!(&"self.nmae != ''"[error.span.clone()], "nmae");
/// ```
pub fn check_rules(schema: &Structural, path: &FieldPath) -> CheckedRules {
    let mut walk = Walk { path: path.clone(), checked: CheckedRules::default(), costs: TotalCost::default() };
    walk.node(schema, Cardinality::ONE, None);
    let Walk { mut checked, costs, .. } = walk;
    checked.total_cost = costs.total;
    checked.total_error = costs.error();
    for (expensive, text) in costs.contributions() {
        let (part, name) = match expensive.as_str().strip_suffix(".messageExpression") {
            Some(rule) => (RulePart::MessageExpression, rule),
            None => (RulePart::Rule, expensive.as_str().trim_end_matches(".rule")),
        };
        if let Some(rule) = checked.rules.iter_mut().find(|rule| rule.path.as_str() == name) {
            let problem = RuleProblem { part, is_cost: true, text: text.to_owned(), errors: Vec::new() };
            rule.problems.push(problem);
        }
    }
    checked
}

struct Walk {
    path: FieldPath,
    checked: CheckedRules,
    costs: TotalCost,
}

impl Walk {
    fn node(&mut self, schema: &Schema, cardinality: Cardinality, unrelated: Option<&FieldPath>) {
        if !schema.subtree.rules {
            return;
        }
        let here = self.path.clone();
        let below = cardinality.below(schema);
        if let Some(values) = schema.additional_schema() {
            let length = self.path.push_child("additionalProperties");
            self.node(values, below, unrelated);
            self.path.truncate(length);
        }
        for (name, property) in &schema.properties {
            let length = self.path.push_child("properties");
            self.path.push_key(name);
            self.node(property, below, unrelated);
            self.path.truncate(length);
        }
        if let Some(items) = &schema.items {
            let items_unrelated =
                unrelated.or_else(|| (schema.list_type != Some(ListType::Map)).then_some(&here));
            let length = self.path.push_child("items");
            self.node(items, below, items_unrelated);
            self.path.truncate(length);
        }
        self.checked.rules.extend(check_node(schema, &here, cardinality, unrelated, &mut self.costs));
    }
}

/// Checks the rules of one node, and adds their costs to those of the schema. `unrelated` is the highest node above
/// whose parts have no identity, so that none of them has an old value.
pub(crate) fn check_node(
    schema: &Schema,
    path: &FieldPath,
    cardinality: Cardinality,
    unrelated: Option<&FieldPath>,
    costs: &mut TotalCost,
) -> Vec<CheckedRule> {
    let path = path.child("x-kubernetes-validations");
    schema
        .validations
        .iter()
        .enumerate()
        .map(|(index, rule)| check_rule(rule, path.index(index), cardinality, unrelated, costs))
        .collect()
}

/// Whether rules can name a value of this schema: its type and those of its parts are stated.
pub(crate) fn is_typed(schema: &Schema) -> bool {
    match schema.schema_type {
        _ if schema.int_or_string => true,
        None => false,
        Some(SchemaType::Array) => schema.items.as_deref().is_some_and(is_typed),
        Some(SchemaType::Object) => schema.additional_schema().is_none_or(|values| is_typed(values)),
        Some(_) => true,
    }
}

fn check_rule(
    rule: &Rule,
    path: FieldPath,
    cardinality: Cardinality,
    unrelated: Option<&FieldPath>,
    costs: &mut TotalCost,
) -> CheckedRule {
    let mut problems = Vec::new();
    let compiled = rule.compiled.rule();
    let mut checked = CheckedExpression::default();
    if let Some(Ok(program)) = compiled {
        let times = cardinality.0.unwrap_or_else(|| rule.compiled.most_often());
        checked = CheckedExpression { cost: program.cost, total_cost: program.cost.saturating_mul(times) };
    }
    problems.extend(expensive(RulePart::Rule, "estimated rule cost", checked.total_cost));
    costs.add(path.child("rule"), checked.total_cost);
    if let Some(Err(problem)) = compiled {
        problems.push(broken(RulePart::Rule, &rule.rule, problem));
    }
    let message_expression = rule.compiled.message().map(|message| {
        let mut checked = CheckedExpression::default();
        match message {
            Err(problem) => {
                problems.push(broken(RulePart::MessageExpression, &rule.message_expression, problem));
            }
            Ok(Program { cost, .. }) => {
                checked = CheckedExpression { cost: *cost, total_cost: *cost };
                let what = "estimated messageExpression cost";
                problems.extend(expensive(RulePart::MessageExpression, what, *cost));
                costs.add(path.child("messageExpression"), *cost);
            }
        }
        checked
    });
    let mut misplaced = |part, text: String| {
        problems.push(RuleProblem { part, is_cost: false, text, errors: Vec::new() });
    };
    if matches!(compiled, Some(Ok(program)) if program.uses_old_self) {
        if let Some(unrelated) = unrelated {
            let text = format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {unrelated}"
            );
            misplaced(RulePart::OldSelf, text);
        }
    } else if rule.optional_old_self.is_some() {
        misplaced(RulePart::OptionalOldSelf, "may not be set if oldSelf is not used in rule".to_owned());
    }
    CheckedRule { path, rule: checked, message_expression, problems }
}

fn expensive(part: RulePart, what: &str, cost: u64) -> Option<RuleProblem> {
    (cost > MOST_PER_RULE).then(|| RuleProblem {
        part,
        is_cost: true,
        text: exceeds(what, cost, MOST_PER_RULE),
        errors: Vec::new(),
    })
}

fn broken(part: RulePart, source: &str, problem: &Problem) -> RuleProblem {
    let errors = problem.located.iter().map(|error| located(source, error)).collect();
    RuleProblem { part, is_cost: false, text: problem.text.clone(), errors }
}

/// An error as it is reported.
pub(super) fn located(source: &str, error: &Located) -> ExpressionError {
    let position = Position::of(source, error.place.at);
    ExpressionError {
        text: error.text.clone(),
        span: error.place.start..error.place.end,
        line: position.line,
        column: position.column + 1,
    }
}

/// By how much a cost is too high. Small factors are shown with all digits, so that none reads as one.
fn exceeds(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!("{what} exceeds budget by factor of {factor} ({ADVICE})")
}

// === impl Cardinality ===

impl Cardinality {
    /// That of a whole object.
    pub(crate) const ONE: Self = Self(Some(1));

    /// That of the parts of a value of this schema.
    pub(crate) fn below(self, schema: &Schema) -> Self {
        let limit = |limit: Option<i64>| limit.map(|limit| limit.max(0).unsigned_abs());
        let times = match schema.schema_type {
            Some(SchemaType::Object) if schema.additional_properties.is_some() => {
                limit(schema.max_properties)
            }
            Some(SchemaType::Array) => limit(schema.max_items),
            _ => Some(1),
        };
        Self(self.0.zip(times).map(|(often, times)| often.saturating_mul(times)))
    }
}

// === impl TotalCost ===

impl TotalCost {
    fn add(&mut self, path: FieldPath, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost < MOST_PER_SCHEMA / 100 {
            return;
        }
        self.expensive.push((path, cost));
        self.expensive.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        self.expensive.truncate(MOST_EXPENSIVE);
    }

    /// What a server says about the expressions that cost most, if all together cost too much.
    pub(crate) fn contributions(&self) -> impl Iterator<Item = (&FieldPath, &'static str)> {
        let text =
            "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        let count = if self.total > MOST_PER_SCHEMA { self.expensive.len() } else { 0 };
        self.expensive.iter().take(count).map(move |(path, _)| (path, text))
    }

    /// What a server says about the schema, if all expressions together cost too much.
    pub(crate) fn error(&self) -> Option<String> {
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        (self.total > MOST_PER_SCHEMA).then(|| exceeds(what, self.total, MOST_PER_SCHEMA))
    }
}
