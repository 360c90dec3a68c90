use std::{fmt, panic::catch_unwind, sync::Arc};

use kube_cel::cel::{Value as Cel, parser::Parser};

use super::{
    checker::{self, Checked, Type},
    cost,
    declaration::Declarations,
    depth::{self, Measured, SHALLOW},
    eval::{self, Failure, Input, Lazy, PER_CALL, Plan},
    shown,
    syntax::{self, Located, Place, Tree, Unparsed},
};
use crate::structural::Rule;

/// How deep the parser may go, which is as deep as cel-go goes. What is measured before keeps within that.
const RECURSION: u16 = 250;

/// The compiled rules of a node share what is known about its schema. Two are equal if their sources are, which the rule
/// compares.
#[derive(Clone, Default)]
pub(crate) struct Compiled(Option<Arc<Programs>>);

struct Programs {
    rule: Result<Program, Problem>,
    /// Absent as well if the rule is broken, as the one is not compiled without the other.
    message: Option<Result<Program, Problem>>,
    /// How often the value can be in a request, if nothing else limits it.
    most_often: u64,
}

/// A compiled expression.
pub(super) struct Program {
    plan: Plan,
    /// What one evaluation costs at most, by estimate.
    pub(super) cost: u64,
    pub(super) uses_old_self: bool,
}

/// Why an expression does not compile.
#[derive(Debug, PartialEq)]
pub(super) struct Problem {
    /// What a server says.
    pub(super) text: String,
    /// The single errors, as far as they have a place.
    pub(super) located: Vec<Located>,
}

/// What an expression must evaluate to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Bool,
    String,
}

impl Compiled {
    /// Compiles a rule for values that `declarations` describe. Problems stay inside, for the definition to report.
    pub(crate) fn new(rule: &Rule, declarations: Option<&Declarations>) -> Self {
        let Some(declarations) = declarations else {
            let text = "failed to convert to declType for CEL validation rules".to_owned();
            let rule = Err(Problem { text, located: Vec::new() });
            return Self(Some(Arc::new(Programs { rule, message: None, most_often: 0 })));
        };
        let own = declarations.root().of.clone();
        let old =
            if rule.optional_old_self == Some(true) { Type::optional(own.clone()) } else { own.clone() };
        let variables = vec![("self".to_owned(), own), ("oldSelf".to_owned(), old)];
        let compiled = compile(&rule.rule, declarations, variables.clone(), Output::Bool);
        let message = (compiled.is_ok() && !rule.message_expression.is_empty())
            .then(|| compile(&rule.message_expression, declarations, variables, Output::String));
        let most_often = declarations.most_often();
        Self(Some(Arc::new(Programs { rule: compiled, message, most_often })))
    }

    pub(super) fn rule(&self) -> Option<Result<&Program, &Problem>> {
        self.0.as_ref().map(|programs| programs.rule.as_ref())
    }

    pub(super) fn message(&self) -> Option<Result<&Program, &Problem>> {
        self.0.as_ref()?.message.as_ref().map(Result::as_ref)
    }

    pub(super) fn most_often(&self) -> u64 {
        self.0.as_ref().map_or(0, |programs| programs.most_often)
    }
}

/// What is said when there is no memory for the stack that an expression needs.
const NO_MEMORY: &str = "ERROR: <input>:1:1: there is no memory to compile the expression";

fn compile(
    source: &str,
    declarations: &Declarations,
    variables: Vec<(String, Type)>,
    output: Output,
) -> Result<Program, Problem> {
    let tree = parse(source).map_err(|problem| output.problem(&problem.text, problem.located))?;
    depth::with_room(tree.depth() <= SHALLOW, || check(tree, source, declarations, variables, output))
        .unwrap_or_else(|| Err(output.problem(NO_MEMORY, Vec::new())))
}

/// Parses an expression.
///
/// # Errors
///
/// What a server says about its syntax.
pub(super) fn parse(source: &str) -> Result<Tree, Problem> {
    let unplaced = |text: String| Problem { text, located: Vec::new() };
    let measured = depth::measure(source).map_err(unplaced)?;
    let parsed = depth::with_room(measured.depth <= SHALLOW, || syntax::parse(source))
        .ok_or_else(|| unplaced(NO_MEMORY.to_owned()))?;
    parsed.map_err(|unparsed| {
        let located = match unparsed {
            Unparsed::Wrong(errors) => errors,
            Unparsed::Foreign(errors) => foreign(errors, source, &measured),
        };
        Problem { text: shown::errors(source, &located), located }
    })
}

/// What is wrong with a text that is not of the language, by the parser of the `cel` crate.
fn foreign(mut errors: Vec<Located>, source: &str, measured: &Measured) -> Vec<Located> {
    // It is generated code, and a definition is input.
    let parse = || {
        catch_unwind(|| {
            Parser::new().enable_optional_syntax(true).max_recursion_depth(RECURSION).parse(&measured.text)
        })
    };
    let found = depth::with_room(false, || match parse() {
        Ok(Err(found)) => shown::foreign(source, &found),
        Ok(Ok(_)) | Err(_) => Vec::new(),
    });
    errors.extend(found.unwrap_or_default());
    if errors.is_empty() {
        let text = "the expression cannot be parsed".to_owned();
        errors.push(Located { place: Place::default(), text });
    }
    errors
}

/// Checks a tree and makes it ready to run.
fn check(
    tree: Tree,
    source: &str,
    declarations: &Declarations,
    variables: Vec<(String, Type)>,
    output: Output,
) -> Result<Program, Problem> {
    let located = |errors: Vec<Located>| output.problem(&shown::errors(source, &errors), errors);
    let checked = checker::check(tree, declarations, variables).map_err(located)?;
    if *checked.output() != output.wanted() {
        return Err(Problem { text: output.misfit().to_owned(), located: Vec::new() });
    }
    if let Some(reason) = checker::check_readiness(&checked) {
        return Err(Problem { text: output.unplanned(&reason.text), located: vec![reason] });
    }
    let cost = cost::estimate(&checked, declarations);
    Ok(Program { cost, ..Program::new(&checked) })
}

impl Output {
    fn wanted(self) -> Type {
        match self {
            Self::Bool => Type::Bool,
            Self::String => Type::String,
        }
    }

    fn misfit(self) -> &'static str {
        match self {
            Self::Bool => "cel expression must evaluate to a bool",
            Self::String => "messageExpression must evaluate to a string",
        }
    }

    /// What a server says about an expression that it cannot get ready to run.
    fn unplanned(self, reason: &str) -> String {
        match self {
            Self::Bool => format!("program instantiation failed: {reason}"),
            Self::String => format!("messageExpression instantiation failed: {reason}"),
        }
    }

    fn problem(self, text: &str, located: Vec<Located>) -> Problem {
        let what = match self {
            Self::Bool => "",
            Self::String => "messageExpression ",
        };
        Problem { text: format!("{what}compilation failed: {text}"), located }
    }
}

impl Program {
    /// Makes a checked expression ready to run. What it costs by estimate is not known.
    pub(super) fn new(checked: &Checked) -> Self {
        Self { plan: Plan::new(checked), cost: 0, uses_old_self: checked.uses_old_self }
    }

    /// Evaluates a rule, and takes what it costs from `budget`.
    pub(super) fn run(&self, value: &Cel, old: Option<&Cel>, budget: &mut u64) -> Result<Cel, Failure> {
        match old {
            Some(old) => self.run_with(&[("self", value), ("oldSelf", old)], None, budget),
            None => self.run_with(&[("self", value)], None, budget),
        }
    }

    /// Evaluates the expression with these variables, and takes what it costs from `budget`.
    pub(super) fn run_with(
        &self,
        variables: &[(&str, &Cel)],
        lazy: Option<&dyn Lazy>,
        budget: &mut u64,
    ) -> Result<Cel, Failure> {
        let limit = (*budget).min(PER_CALL);
        let evaluated = depth::with_room(self.plan.depth <= SHALLOW, || {
            eval::evaluate(&self.plan, &Input { variables, lazy }, limit)
        });
        let Some((result, spent)) = evaluated else {
            return Err(Failure::Other("the expression cannot be evaluated".to_owned()));
        };
        if spent > *budget {
            *budget = 0;
            return Err(Failure::OutOfBudget);
        }
        *budget -= spent;
        result
    }
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
