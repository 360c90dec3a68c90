use std::borrow::Cow;

use kubewright_schema::cel::{CompileError, EvaluationError, Expression, Values};
use serde_json::Value;

use super::{BUDGET, Definition, Scopes, Variables};
use crate::{
    admission::condition::describe,
    apply::{ObjectType, typed::Duplicates},
    patch::{PatchError, json_patch},
};

/// A `MutatingAdmissionPolicy`.
#[derive(Debug)]
pub(in crate::admission) struct MutatingPolicy {
    pub(in crate::admission) definition: Definition,
    pub(super) mutations: Vec<Mutation>,
    /// Whether it is evaluated again if others have changed the object after it.
    pub(super) is_reinvoked: bool,
}

/// A change to the object of a request.
#[derive(Debug)]
pub(super) struct Mutation {
    patch: PatchKind,
    /// Why it does not compile, if it does not. That was refused, but may have been stored before.
    expression: Result<Expression, CompileError>,
}

#[derive(Clone, Copy, Debug)]
enum PatchKind {
    Apply,
    Json,
}

impl MutatingPolicy {
    /// Reads a policy.
    pub(in crate::admission) fn read(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let (definition, scopes) = Definition::read(policy, Variables::Always);
        let mutations = spec["mutations"].as_array().into_iter().flatten();
        Self {
            definition,
            mutations: mutations.map(|mutation| Mutation::read(mutation, &scopes)).collect(),
            is_reinvoked: spec["reinvocationPolicy"].as_str() == Some("IfNeeded"),
        }
    }
}

impl Mutation {
    fn read(mutation: &Value, scopes: &Scopes) -> Self {
        let (patch, field, outputs) = match mutation["patchType"].as_str() {
            Some("JSONPatch") => (PatchKind::Json, "jsonPatch", Scopes::json_patch()),
            _ => (PatchKind::Apply, "applyConfiguration", Scopes::apply_configuration()),
        };
        let source = mutation[field]["expression"].as_str().unwrap_or_default();
        Self { patch, expression: Expression::compile(source, scopes.patches(), &outputs) }
    }

    /// Changes an object of a kind with these fields, if they are known.
    ///
    /// # Errors
    /// Why there is no patch, or it does not fit the object.
    pub(super) fn apply(
        &self,
        values: &Values,
        object: &Value,
        of: Result<&ObjectType, &String>,
    ) -> Result<Value, String> {
        let expression = self.expression.as_ref().map_err(ToString::to_string)?;
        let why = |error: EvaluationError| describe(expression, &error);
        let mut budget = BUDGET;
        match self.patch {
            PatchKind::Apply => {
                let configuration = expression.evaluate_object(values, &mut budget).map_err(why)?;
                merge(object, configuration, of).map_err(|why| format!("error applying patch: {why}"))
            }
            PatchKind::Json => {
                let operations = expression.evaluate_patch(values, &mut budget).map_err(why)?;
                match json_patch(object, Value::from(operations).to_string().as_bytes()) {
                    Ok(patched) => Ok(patched.value),
                    // What a patch tests is a condition for it.
                    Err(PatchError::TestFailed(_)) => Ok(object.clone()),
                    Err(error) => Err(format!("JSON Patch: {error}")),
                }
            }
        }
    }
}

/// Sets what an apply configuration sets. Nobody owns what it sets.
fn merge(
    object: &Value,
    mut configuration: Value,
    of: Result<&ObjectType, &String>,
) -> Result<Value, String> {
    let of = of.map_err(|why| format!("failed to convert patch object to typed object: {why}"))?;
    for field in ["apiVersion", "kind"] {
        if let (Some(fields), Some(own)) = (configuration.as_object_mut(), object.get(field)) {
            fields.insert(field.to_owned(), own.clone());
        }
    }
    let configuration = of
        .check_made(configuration)
        .map_err(|errors| format!("failed to convert patch object to typed object: {errors}"))?;
    let atomic = configuration.atomics();
    if !atomic.is_empty() {
        return Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
            atomic.join(", ")
        ));
    }
    let live = of
        .check(Cow::Borrowed(object), Duplicates::Allow)
        .map_err(|errors| format!("failed to convert original object to typed object: {errors}"))?;
    let merged = live.merge(&configuration).map_err(|errors| format!("failed to merge patch: {errors}"))?;
    Ok(merged.into_value())
}
