//! Expressions about several variables: the conditions of webhooks, and all that policies say.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use kube_cel::cel::{
    Value as Cel,
    objects::{Key, Map},
};
use serde_json::Value;

use super::{
    authorizer::{self, AccessRequest, Authorize},
    checker::{self, Constructor, LibraryType, Type},
    declaration::Declarations,
    depth::{self, SHALLOW},
    eval::{self, Failure, Lazy, Message, PER_CALL},
    patches,
    program::{self, Program},
    shown,
};

/// The variable whose fields are expressions, evaluated when they are asked for.
pub(super) const VARIABLES: &str = "variables";

/// The variables that an expression may use, with their types.
///
/// ```
/// use kubewright_schema::cel::{Expression, Scope, ValueType, Values};
/// use serde_json::json;
///
/// let scope = Scope::new().with("object", &ValueType::Any);
/// let condition = Expression::compile("object.spec.replicas > 1", &scope, &[ValueType::Bool]).unwrap();
/// let values = Values::new().with("object", &json!({"spec": {"replicas": 3}}));
/// assert_eq!(condition.evaluate(&values, &mut 1000).unwrap(), json!(true));
///
/// let error = Expression::compile("object", &scope, &[ValueType::Bool]).unwrap_err();
/// assert_eq!(error.to_string(), "must evaluate to bool but got dyn");
/// ```
#[derive(Debug)]
pub struct Scope {
    pub(super) declarations: Declarations,
    pub(super) variables: Vec<(String, Type)>,
}

/// What a variable holds, or an expression makes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValueType {
    /// Known when it is evaluated only.
    Any,
    /// True or false.
    Bool,
    /// A whole number.
    Int,
    /// Text.
    String,
    /// A point in time.
    Time,
    /// Nothing.
    Null,
    /// An amount, as Kubernetes writes it.
    Quantity,
    /// A list of one type.
    List(Box<ValueType>),
    /// A map from text to one type.
    Map(Box<ValueType>),
    /// A message that an expression makes for a patch: `Object` or `JSONPatch`.
    Message(&'static str),
    /// An object with these fields and no others, and the name of its type.
    Object(&'static str, Vec<(&'static str, ValueType)>),
}

/// A compiled expression.
#[derive(Clone)]
pub struct Expression {
    source: String,
    program: Arc<Program>,
    output: Type,
    shown_output: String,
}

/// The values of variables.
#[derive(Clone, Default)]
pub struct Values {
    values: BTreeMap<String, Cel>,
    lazy: Vec<(String, Expression)>,
}

/// Why an expression does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// It is no expression, or one of another type: what a server says is wrong with it.
    #[error("{0}")]
    Invalid(String),
    /// A server could not get it ready to run, which it calls an error of its own.
    #[error("program instantiation failed: {0}")]
    NotReady(String),
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// Evaluating it failed: `no such key: x`.
    #[error("{0}")]
    Failed(String),
    /// It would cost more than is left.
    #[error("validation failed due to running out of cost budget, no further validation rules will be run")]
    OutOfBudget,
    /// What it comes to is no patch: `type mismatch: unexpected type name ..`.
    #[error("{0}")]
    NoPatch(String),
}

/// The variables that are expressions, while one is evaluated that uses them.
struct Variables<'a> {
    values: &'a Values,
    budget: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: BTreeMap<String, Result<Cel, Failure>>,
    /// What they have taken from the budget.
    spent: u64,
}

// === impl Scope ===

impl Scope {
    /// A scope without variables.
    #[must_use]
    pub fn new() -> Self {
        Self { declarations: Declarations::none(), variables: Vec::new() }
    }

    /// The scope with one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, of: &ValueType) -> Self {
        let of = self.read(of);
        self.variables.push((name.to_owned(), of));
        self
    }

    /// The scope with `authorizer` and `authorizer.requestResource`.
    #[must_use]
    pub fn with_authorizer(mut self) -> Self {
        let types = [
            ("authorizer", LibraryType::Authorizer),
            ("authorizer.requestResource", LibraryType::AuthorizerResource),
        ];
        self.variables.extend(types.map(|(name, of)| (name.to_owned(), Type::Library(of))));
        self
    }

    /// The scope with `variables`, which has a field for each expression that is added to it.
    #[must_use]
    pub fn with_variables(mut self) -> Self {
        let of = self.declarations.declare("kubernetes.variables", Vec::new());
        self.variables.push((VARIABLES.to_owned(), of));
        self
    }

    /// The scope with the messages of patches, `Object` and `JSONPatch`, and `jsonpatch.escapeKey`.
    #[must_use]
    pub fn with_patches(mut self) -> Self {
        self.declarations.has_patches = true;
        self
    }

    /// Adds a field to `variables`, of the type that an expression makes; of one that is not known if it does not compile.
    pub fn add_variable(&mut self, name: &str, expression: Option<&Expression>) {
        self.add_variable_of(name, expression.map_or(Type::Dyn, |expression| remembered(&expression.output)));
    }

    pub(super) fn add_variable_of(&mut self, name: &str, of: Type) {
        if let Some((_, variables)) = self.variables.iter().find(|(own, _)| own == VARIABLES) {
            self.declarations.declare_field(variables, name, of);
        }
    }

    fn read(&mut self, of: &ValueType) -> Type {
        match of {
            ValueType::Any => Type::Dyn,
            ValueType::Bool => Type::Bool,
            ValueType::Int => Type::Int,
            ValueType::String => Type::String,
            ValueType::Time => Type::Timestamp,
            ValueType::Null => Type::Null,
            ValueType::Quantity => Type::Library(LibraryType::Quantity),
            ValueType::List(items) => Type::list(self.read(items)),
            ValueType::Map(values) => Type::map(Type::String, self.read(values)),
            ValueType::Message(name) => Type::Message((*name).into()),
            ValueType::Object(name, fields) => {
                let fields = fields.iter().map(|(name, of)| ((*name).to_owned(), self.read(of))).collect();
                self.declarations.declare(name, fields)
            }
        }
    }

    fn shown(&self, of: &Type) -> String {
        checker::Shown { of, declarations: &self.declarations }.to_string()
    }
}

impl Default for Scope {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Expression ===

impl Expression {
    /// Compiles an expression that evaluates to one of the `outputs`; to anything, if there are none.
    ///
    /// # Errors
    /// What a server says is wrong with it.
    pub fn compile(source: &str, scope: &Scope, outputs: &[ValueType]) -> Result<Self, CompileError> {
        let failed = |why: String| CompileError::Invalid(format!("compilation failed: {why}"));
        let tree = program::parse(source).map_err(|problem| failed(problem.text))?;
        depth::with_room(tree.depth() <= SHALLOW, || {
            let checked = checker::check(tree, &scope.declarations, scope.variables.clone())
                .map_err(|errors| failed(shown::errors(source, &errors)))?;
            let output = checked.output().clone();
            let name = scope.shown(&output);
            let names: Vec<String> = outputs.iter().map(ValueType::name).collect();
            let is_wanted =
                names.contains(&name) || (name == "null" && names.iter().any(|own| own == "null_type"));
            if !outputs.is_empty() && !is_wanted {
                return Err(CompileError::Invalid(match names.as_slice() {
                    [one] => format!("must evaluate to {one} but got {name}"),
                    several => format!("must evaluate to one of [{}] but got {name}", several.join(" ")),
                }));
            }
            if let Some(reason) = checker::check_readiness(&checked) {
                return Err(CompileError::NotReady(reason.text));
            }
            let program = Arc::new(Program::new(&checked));
            Ok(Self { source: source.to_owned(), program, output, shown_output: name })
        })
        .unwrap_or_else(|| Err(failed("there is no memory to compile the expression".to_owned())))
    }

    /// The text that was compiled.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The type of what it evaluates to, as a server names it: `bool`, `list(string)`, and `dyn` if that is not known before.
    #[must_use]
    pub fn output(&self) -> &str {
        &self.shown_output
    }

    /// Evaluates the expression, and takes what it costs from `budget`. The value is one of JSON: what JSON does not have
    /// is text.
    ///
    /// # Errors
    /// If it has no value, or that costs more than one expression may or than is left.
    pub fn evaluate(&self, values: &Values, budget: &mut u64) -> Result<Value, EvaluationError> {
        self.run(values, budget).map(|value| to_json(&value))
    }

    /// Evaluates an expression that makes an `Object`: an apply configuration without its type.
    ///
    /// # Errors
    /// As [`Self::evaluate`], or if a part of the object is named as another one than it is.
    pub fn evaluate_object(&self, values: &Values, budget: &mut u64) -> Result<Value, EvaluationError> {
        let value = self.run(values, budget)?;
        patches::object(&value).map_err(EvaluationError::NoPatch)
    }

    /// Evaluates an expression that makes a list of `JSONPatch`: the operations of a JSON patch.
    ///
    /// # Errors
    /// As [`Self::evaluate`], or if a value is none of JSON.
    pub fn evaluate_patch(&self, values: &Values, budget: &mut u64) -> Result<Vec<Value>, EvaluationError> {
        let value = self.run(values, budget)?;
        patches::operations(&value).map_err(EvaluationError::NoPatch)
    }

    fn run(&self, values: &Values, budget: &mut u64) -> Result<Cel, EvaluationError> {
        let variables = Variables { values, budget: *budget, state: Mutex::default() };
        let result = self.run_with(&variables, budget);
        let spent = variables.state.into_inner().unwrap_or_else(PoisonError::into_inner).spent;
        let is_enough = *budget >= spent;
        *budget = budget.saturating_sub(spent);
        match result {
            _ if !is_enough => Err(EvaluationError::OutOfBudget),
            Err(Failure::OutOfBudget) => Err(EvaluationError::OutOfBudget),
            Err(failure) => Err(EvaluationError::Failed(failure.text())),
            Ok(value) => match eval::pay_whole(&value, PER_CALL) {
                Ok(()) => Ok(value),
                Err(failure) => Err(EvaluationError::Failed(failure.text())),
            },
        }
    }

    fn run_with(&self, variables: &Variables<'_>, budget: &mut u64) -> Result<Cel, Failure> {
        let globals: Vec<(&str, &Cel)> =
            variables.values.values.iter().map(|(name, value)| (name.as_str(), value)).collect();
        self.program.run_with(&globals, Some(variables), budget)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.source).finish()
    }
}

/// What is known of the type of a variable that an expression makes: no fields of objects.
pub(super) fn remembered(of: &Type) -> Type {
    match of {
        Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => of.clone(),
        _ => match (of.constructor(), of.parameters()) {
            (Some(Constructor::List), [items]) => Type::list(remembered(items)),
            (Some(Constructor::Map), [keys, values]) => Type::map(remembered(keys), remembered(values)),
            _ => Type::Dyn,
        },
    }
}

// === impl Variables ===

impl Lazy for Variables<'_> {
    fn value(&self, name: &str) -> Result<Cel, Failure> {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().known.get(name) {
            return known.clone();
        }
        let found = self.values.lazy.iter().find(|(own, _)| own == name);
        let Some((_, expression)) = found else { return Err(Failure::Other(format!("no such key: {name}"))) };
        // Variables may use those before them, so nothing is locked meanwhile.
        let limit = self.budget.saturating_sub(lock().spent);
        let mut left = limit;
        let result = expression.run_with(self, &mut left).map_err(|failure| {
            let why = failure.text();
            Failure::Other(format!("composited variable \"{name}\" fails to evaluate: {why}"))
        });
        let mut state = lock();
        state.spent += limit - left;
        state.known.insert(name.to_owned(), result.clone());
        result
    }

    fn has(&self, name: &str) -> bool {
        self.values.lazy.iter().any(|(own, _)| own == name)
    }
}

// === impl ValueType ===

impl ValueType {
    fn name(&self) -> String {
        match self {
            Self::Any => "dyn".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Int => "int".to_owned(),
            Self::String => "string".to_owned(),
            Self::Time => "timestamp".to_owned(),
            Self::Null => "null_type".to_owned(),
            Self::Quantity => "kubernetes.Quantity".to_owned(),
            Self::List(items) => format!("list({})", items.name()),
            Self::Map(values) => format!("map(string, {})", values.name()),
            Self::Message(name) | Self::Object(name, _) => (*name).to_owned(),
        }
    }
}

// === impl Values ===

impl Values {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The values with that of one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: &Value) -> Self {
        self.values.insert(name.to_owned(), from_json(value));
        self
    }

    /// The values with who is asked what the user of a request may do, and what the request does.
    #[must_use]
    pub fn with_authorizer(mut self, authorize: Arc<dyn Authorize>, request: AccessRequest) -> Self {
        let resource = authorizer::request_resource(authorize.clone(), request);
        self.values.insert("authorizer".to_owned(), authorizer::authorizer(authorize));
        self.values.insert("authorizer.requestResource".to_owned(), resource);
        self
    }

    /// The values without anyone to ask, though expressions may be compiled to ask.
    #[must_use]
    pub fn without_authorizer(mut self) -> Self {
        for name in ["authorizer", "authorizer.requestResource"] {
            self.values.remove(name);
        }
        self
    }

    /// The values with a field of `variables`, which is evaluated when it is asked for, once for each expression.
    pub fn add_variable(&mut self, name: &str, expression: &Expression) {
        self.lazy.push((name.to_owned(), expression.clone()));
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// JSON as a value that has no schema: keys stay as they are.
fn from_json(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Cel::Int(integer),
            None => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(from_json).collect())),
        Value::Object(fields) => {
            let entry =
                |(name, value): (&String, &Value)| (Key::String(Arc::new(name.clone())), from_json(value));
            let map: HashMap<Key, Cel> = fields.iter().map(entry).collect();
            Cel::Map(Map { map: Arc::new(map) })
        }
    }
}

fn to_json(value: &Cel) -> Value {
    match value {
        Cel::Null => Value::Null,
        Cel::Bool(flag) => Value::Bool(*flag),
        Cel::Int(number) => Value::from(*number),
        Cel::UInt(number) => Value::from(*number),
        Cel::Float(number) => Value::from(*number),
        Cel::String(text) => Value::from(text.as_str()),
        Cel::List(items) => items.iter().map(to_json).collect(),
        Cel::Map(map) => {
            let sorted: BTreeMap<String, Value> =
                map.map.iter().map(|(key, value)| (key.to_string(), to_json(value))).collect();
            sorted.into_iter().collect()
        }
        Cel::Opaque(opaque) if opaque.downcast_ref::<Message>().is_some() => {
            patches::plain(value).unwrap_or_default()
        }
        other => Value::from(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::authorizer::AccessDecision, *};

    fn scope() -> Scope {
        let request = ValueType::Object(
            "kubernetes.AdmissionRequest",
            vec![("namespace", ValueType::String), ("groups", ValueType::List(Box::new(ValueType::String)))],
        );
        Scope::new()
            .with("object", &ValueType::Any)
            .with("request", &request)
            .with_authorizer()
            .with_variables()
    }

    fn values() -> Values {
        struct Reader;
        impl Authorize for Reader {
            fn authorize(&self, request: &AccessRequest) -> AccessDecision {
                AccessDecision { allowed: request.verb == "get", reason: request.resource.clone() }
            }
        }
        let request = AccessRequest { resource: "widgets".to_owned(), ..AccessRequest::default() };
        Values::new()
            .with("object", &json!({"a": 1, "b": null, "labels": {"x/y": "z"}}))
            .with("request", &json!({"namespace": "n", "groups": ["g"]}))
            .with_authorizer(Arc::new(Reader), request)
    }

    fn evaluate(source: &str) -> Result<Value, String> {
        let expression = Expression::compile(source, &scope(), &[]).map_err(|error| error.to_string())?;
        expression.evaluate(&values(), &mut 1_000_000).map_err(|error| error.to_string())
    }

    #[test]
    fn variables_have_values() {
        for (source, expected) in [
            ("object.a + 1", json!(2)),
            ("object.b == null && request.namespace == 'n' && 'g' in request.groups", json!(true)),
            ("object.labels['x/y']", json!("z")),
            ("has(request.namespace)", json!(true)),
            ("authorizer.group('').resource('pods').namespace('n').check('get').allowed()", json!(true)),
            ("authorizer.requestResource.check('list').allowed()", json!(false)),
            ("authorizer.requestResource.check('list').reason()", json!("widgets")),
        ] {
            assert_eq!(evaluate(source), Ok(expected), "{source}");
        }
        assert_eq!(evaluate("object.c"), Err("no such key: c".to_owned()));
        assert_eq!(evaluate("object.a > 'x'"), Err("no such overload".to_owned()));
    }

    #[test]
    fn what_is_not_there_does_not_compile() {
        let error = evaluate("request.nope == 1").expect_err("an error");
        assert_eq!(
            error,
            "compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n | request.nope == 1\n | .......^"
        );
    }

    #[test]
    fn variables_are_evaluated_when_they_are_asked_for() {
        let mut scope = scope();
        let mut values = values();
        for (name, source) in [("one", "object.a"), ("two", "variables.one + 1"), ("broken", "object.c")] {
            let expression = Expression::compile(source, &scope, &[]).expect("it compiles");
            scope.add_variable(name, Some(&expression));
            values.add_variable(name, &expression);
        }
        let evaluate = |source: &str| {
            let expression = Expression::compile(source, &scope, &[]).map_err(|error| error.to_string())?;
            expression.evaluate(&values, &mut 1_000_000).map_err(|error| error.to_string())
        };
        assert_eq!(evaluate("variables.two == 2 || variables.broken"), Ok(json!(true)));
        assert_eq!(
            evaluate("variables.broken"),
            Err("composited variable \"broken\" fails to evaluate: no such key: c".to_owned())
        );
    }

    #[test]
    fn loops_take_from_the_budget() {
        let source = "[1, 2, 3, 4, 5, 6, 7, 8].all(a, [1, 2, 3, 4, 5, 6, 7, 8].all(b, a + b > 0))";
        let expression = Expression::compile(source, &scope(), &[ValueType::Bool]).expect("it compiles");
        let mut budget = 10;
        assert_eq!(expression.evaluate(&values(), &mut budget), Err(EvaluationError::OutOfBudget));
    }
}
