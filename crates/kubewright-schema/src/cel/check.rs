use kube_cel::cel::Value as Cel;
use serde_json::Value;

use super::{
    Report,
    eval::{Failure, PER_VALIDATION},
    program::Program,
    value,
};
use crate::{
    error::{FieldError, FieldPath},
    jsonpath::{Brackets, resolve},
    structural::{Rule, Schema, SchemaType},
    validate::{Correlated, old_item},
};

/// The longest message an expression may make, in bytes.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// What becomes of errors in parts that did not change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unchanged {
    Tolerated,
    Refused,
}

pub(super) fn run(
    schema: &Schema,
    value: &Value,
    old: Option<&Value>,
    path: &FieldPath,
    is_object: bool,
    unchanged: Unchanged,
) -> Report {
    let mut walk = Walk { path: path.clone(), report: Report::default(), budget: PER_VALIDATION };
    let current =
        old.filter(|_| unchanged == Unchanged::Tolerated).map(|old| Correlated { new: value, old, schema });
    let lineage = Lineage { current, parent: None };
    walk.node(schema, value, old, lineage, is_object);
    walk.report
}

/// What decides whether a value is unchanged: itself, or the nearest value above it that has an old one.
#[derive(Clone, Copy)]
struct Lineage<'a> {
    current: Option<Correlated<'a>>,
    parent: Option<Correlated<'a>>,
}

struct Walk {
    path: FieldPath,
    report: Report,
    /// What rules may still cost. Nothing runs once it is zero.
    budget: u64,
}

impl<'a> Lineage<'a> {
    fn field(self, name: &str) -> Self {
        match self.current {
            None => self,
            // The type of the object is that of the endpoint and cannot count as unchanged.
            Some(_) if self.parent.is_none() && (name == "apiVersion" || name == "kind") => {
                Self { current: None, parent: None }
            }
            Some(current) => Self { current: current.field(name), parent: Some(current) },
        }
    }

    fn item(self, index: usize) -> Self {
        match self.current {
            None => self,
            Some(current) => Self { current: current.item(index), parent: Some(current) },
        }
    }

    fn is_unchanged(self) -> bool {
        self.current.or(self.parent).is_some_and(Correlated::is_unchanged)
    }
}

impl Walk {
    fn node<'a>(
        &mut self,
        schema: &'a Schema,
        value: &'a Value,
        old: Option<&'a Value>,
        lineage: Lineage<'a>,
        is_object: bool,
    ) {
        if !schema.subtree.rules || value.is_null() || self.budget == 0 {
            return;
        }
        // A null is no old value.
        let old = old.filter(|old| !old.is_null());
        if !schema.validations.is_empty() {
            self.rules(schema, value, old, lineage, is_object);
        }
        match value {
            Value::Array(items) => {
                let Some(item_schema) = schema.items.as_deref() else { return };
                for (index, item) in items.iter().enumerate() {
                    let old = old.and_then(|old| old_item(schema, item, old));
                    let length = self.path.push_index(index);
                    self.node(item_schema, item, old, lineage.item(index), item_schema.embedded_resource);
                    self.path.truncate(length);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let Some((field_schema, length)) = schema.enter_field(name, &mut self.path) else {
                        continue;
                    };
                    let old = old.and_then(|old| old.get(name));
                    self.node(field_schema, field, old, lineage.field(name), field_schema.embedded_resource);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn rules(
        &mut self,
        schema: &Schema,
        json: &Value,
        old: Option<&Value>,
        lineage: Lineage<'_>,
        is_object: bool,
    ) {
        let misfit = value::misfit(json, schema);
        let value = value::from_json(json, schema, is_object);
        let old = old.map(|old| value::from_json(old, schema, is_object));
        for rule in &schema.validations {
            let type_name = schema.schema_type.map_or("", SchemaType::as_str);
            let program = match rule.compiled.rule() {
                None => continue,
                Some(Ok(program)) => program,
                Some(Err(problem)) => {
                    let detail = format!("rule compile error: {}", problem.text);
                    self.report.errors.push(FieldError::invalid(&self.path, type_name, detail));
                    continue;
                }
            };
            let is_optional = rule.optional_old_self == Some(true);
            if program.uses_old_self && old.is_none() && !is_optional {
                continue;
            }
            let optional = is_optional.then(|| value::optional(old.as_ref()));
            let result = match &misfit {
                Some(misfit) => Err(Failure::Other(misfit.clone())),
                None => program.run(&value, optional.as_ref().or(old.as_ref()), &mut self.budget),
            };
            match result {
                Ok(Cel::Bool(true)) => {}
                Ok(_) => {
                    let message = message(rule, &value, old.as_ref(), &mut self.budget);
                    let error = self.broken(rule, schema, json, message);
                    if !program.uses_old_self && lineage.is_unchanged() {
                        self.report.warnings.push(error.to_string());
                    } else {
                        self.report.errors.push(error);
                    }
                }
                Err(failure) => {
                    let detail = failure_text(&failure, rule);
                    self.report.errors.push(FieldError::invalid(&self.path, type_name, detail));
                    if matches!(failure, Failure::CallCost | Failure::OutOfBudget) {
                        self.budget = 0;
                        return;
                    }
                }
            }
        }
    }

    fn broken(&self, rule: &Rule, schema: &Schema, value: &Value, message: String) -> FieldError {
        let path = match resolve(&rule.field_path, schema, Brackets::Allowed) {
            Ok((field, _)) if !field.is_root() => self.path.child(field.as_str()),
            _ => self.path.clone(),
        };
        // Objects and lists are too large to repeat.
        let shows_value = !matches!(schema.schema_type, Some(SchemaType::Object | SchemaType::Array));
        match (rule.reason.as_deref(), shows_value) {
            (Some("FieldValueForbidden"), _) => FieldError::forbidden(&path, message),
            (Some("FieldValueRequired"), _) => FieldError::required(&path, message),
            (Some("FieldValueDuplicate"), true) => FieldError::duplicate(&path, value.clone()),
            (Some("FieldValueDuplicate"), false) => FieldError::duplicate_without_value(&path),
            (_, true) => FieldError::invalid(&path, value.clone(), message),
            (_, false) => FieldError::invalid_without_value(&path, message),
        }
    }
}

fn message(rule: &Rule, value: &Cel, old: Option<&Cel>, budget: &mut u64) -> String {
    let program = rule.compiled.message().and_then(Result::ok);
    let made = program.and_then(|program: &Program| match program.run(value, old, budget) {
        Ok(Cel::String(text)) => {
            let text = text.trim();
            let fits = !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
            fits.then(|| text.to_owned())
        }
        _ => None,
    });
    match made {
        Some(text) => text,
        None if rule.message.is_empty() => format!("failed rule: {}", rule.rule.trim()),
        None => rule.message.trim().to_owned(),
    }
}

fn failure_text(failure: &Failure, rule: &Rule) -> String {
    let rule = if rule.message.is_empty() { rule.rule.trim() } else { rule.message.trim() };
    match failure {
        Failure::NoSuchOverload(_) => format!(
            "'no such overload': call arguments did not match a supported operator, function or macro signature for \
             rule: {rule}"
        ),
        Failure::CallCost => format!(
            "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call \
             cost exceeds limit for rule: {rule}"
        ),
        Failure::OutOfBudget => failure.text(),
        Failure::Other(text) => format!("{text} evaluating rule: {rule}"),
    }
}
