use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use super::{Binding, Definition, MutatingPolicy};
use crate::{
    admission::{
        Attributes,
        condition::Matched,
        configuration::Bound,
        matching::Invocation,
        mutating::{Round, keep_readable_managed_fields},
        reinvocation::Reinvocation,
    },
    apply::{ObjectType, schema::builtin},
    registry::{Registry, Served, metadata},
    status::{Cause, Reason, Status},
    types::strict,
};

/// A policy, by one of its bindings and with one of the objects that this gives it, and a request that it is about.
struct Call<'a> {
    policy: &'a MutatingPolicy,
    binding: &'a Binding,
    invocation: Arc<Invocation>,
    parameter: Value,
}

/// Why a policy could not be evaluated.
struct Failure<'a> {
    policy: &'a Definition,
    message: String,
    is_invalid: bool,
}

impl Registry {
    /// Lets policies change the object of a request, one after the other. Gives whether all are to be asked once more.
    ///
    /// # Errors
    /// If one could not be evaluated that does not ignore that.
    pub(in crate::admission) async fn mutate_by_policies(
        &self,
        policies: &[Bound<MutatingPolicy>],
        attributes: &Attributes<'_>,
        object: &mut Value,
        reinvocation: &mut Reinvocation,
        round: Round,
    ) -> Result<bool, Status> {
        let (calls, mut failures) = self.calls(policies, attributes, object).await;
        let mut is_dirty = false;
        if !calls.is_empty() {
            let namespace = self.namespace_shown(attributes, Some(object))?;
            for call in &calls {
                let changed = self
                    .call(call, attributes, object, &namespace, reinvocation, round, &mut failures)
                    .await?;
                is_dirty |= changed;
            }
        }
        if is_dirty {
            let served = &attributes.request.served;
            if served.custom.is_some() && attributes.has_object_of_resource() {
                served.coerce(object, false);
            }
            reinvocation.require();
        }
        refuse(attributes, object, failures)?;
        Ok(is_dirty)
    }

    /// The policies that are about a request, and why it is not known of others.
    async fn calls<'a>(
        &self,
        policies: &'a [Bound<MutatingPolicy>],
        attributes: &Attributes<'_>,
        object: &Value,
    ) -> (Vec<Call<'a>>, Vec<Failure<'a>>) {
        let (mut calls, mut failures) = (Vec::new(), Vec::new());
        for (policy, bindings) in policies {
            let definition = &policy.definition;
            let matched = match self.matches(&definition.matching, attributes, Some(object)) {
                Ok(None) => continue,
                Ok(Some(invocation)) => self.parameter_kind(definition).map(|kind| (invocation, kind)),
                Err(status) => Err(status.message),
            };
            let (invocation, kind) = match matched {
                Ok((invocation, kind)) => (Arc::new(invocation), kind),
                Err(why) => {
                    failures.push(Failure {
                        policy: definition,
                        message: format!(
                            "policy \"{}\" denied request: failed to configure policy: {why}",
                            definition.name
                        ),
                        is_invalid: false,
                    });
                    continue;
                }
            };
            for binding in bindings {
                let parameters = match self.matches(&binding.matching, attributes, Some(object)) {
                    Ok(None) => continue,
                    Ok(Some(_)) => self.parameters(kind.as_deref(), binding, attributes, Some(object)).await,
                    Err(status) => Err(status.message),
                };
                match parameters {
                    Ok(parameters) => calls.extend(parameters.into_iter().map(|parameter| Call {
                        policy,
                        binding,
                        invocation: invocation.clone(),
                        parameter,
                    })),
                    Err(why) => {
                        let why = format!("failed to configure binding: {why}");
                        failures.push(Failure { is_invalid: false, ..Failure::new(policy, binding, &why) });
                    }
                }
            }
        }
        (calls, failures)
    }

    /// Evaluates a policy, and gives whether it made anything of the object.
    #[expect(clippy::too_many_arguments, reason = "what one round knows")]
    async fn call<'a>(
        &self,
        call: &Call<'a>,
        attributes: &Attributes<'_>,
        object: &mut Value,
        namespace: &Value,
        reinvocation: &mut Reinvocation,
        round: Round,
        failures: &mut Vec<Failure<'a>>,
    ) -> Result<bool, Status> {
        let definition = &call.policy.definition;
        let mut fail = |why: &str| failures.push(Failure::new(call.policy, call.binding, why));
        let values = || async {
            let values = self.values(&call.invocation, attributes, Some(object)).await?;
            Ok::<_, Status>(definition.with_variables(values).with("params", &call.parameter))
        };
        if !definition.conditions.is_empty() {
            match definition.conditions.evaluate(&values().await?) {
                Matched::Yes => {}
                Matched::No => return Ok(false),
                Matched::Unknown(_) if definition.ignores_failures => return Ok(false),
                Matched::Unknown(why) => {
                    fail(&why);
                    return Ok(false);
                }
            }
        }
        let id = call.id();
        if round == Round::Again && !reinvocation.is_asked_again(&id) {
            return Ok(false);
        }
        let before = object.clone();
        let mut is_dirty = false;
        for mutation in &call.policy.mutations {
            let (from, to) = (&attributes.request.served, &call.invocation.served);
            let versioned = self.convert_for(attributes, from, to, object.clone()).await?;
            let of = type_of(to, attributes);
            let values = self.values(&call.invocation, attributes, Some(object)).await?;
            let values = definition.with_variables(values).with("params", &call.parameter);
            let values = values.with("namespaceObject", namespace);
            let patched = match mutation.apply(&values, &versioned, of.as_deref()) {
                Ok(patched) => patched,
                Err(why) => {
                    fail(&why);
                    continue;
                }
            };
            let mut patched = read(to, attributes, patched)?;
            // A custom resource keeps unknown fields until all policies are through.
            if attributes.has_object_of_resource() && to.custom.is_none() {
                to.coerce(&mut patched, false);
            }
            keep_readable_managed_fields(&mut patched, &versioned, attributes);
            *object = self.convert_for(attributes, to, from, patched).await?;
            is_dirty = true;
        }
        if before != *object {
            reinvocation.require();
        }
        if call.policy.is_reinvoked {
            reinvocation.asked(&id);
        }
        Ok(is_dirty)
    }
}

impl Call<'_> {
    /// Tells it from all others.
    fn id(&self) -> String {
        let parameter = &self.parameter;
        format!(
            "{}/{}/{}/{}",
            self.policy.definition.name,
            self.binding.name,
            metadata::namespace(parameter),
            metadata::name(parameter)
        )
    }
}

impl<'a> Failure<'a> {
    fn new(policy: &'a MutatingPolicy, binding: &Binding, why: &str) -> Self {
        let policy = &policy.definition;
        let message =
            format!("policy '{}' with binding '{}' denied request: {why}", policy.name, binding.name);
        Self { policy, message, is_invalid: true }
    }
}

/// Refuses a request, if there are failures that count.
fn refuse(attributes: &Attributes<'_>, object: &Value, failures: Vec<Failure<'_>>) -> Result<(), Status> {
    let failures: Vec<Failure<'_>> =
        failures.into_iter().filter(|failure| !failure.policy.ignores_failures).collect();
    let Some(first) = failures.first() else { return Ok(()) };
    let resource = attributes.request.served.group_resource();
    let mut status = Status::forbidden(&resource, attributes.name(Some(object)), "");
    status.message.clone_from(&first.message);
    if first.is_invalid {
        status.reason = Reason::Invalid;
    }
    for Failure { message, .. } in failures {
        status = status.with_cause(Cause { message, ..Cause::default() });
    }
    Err(status)
}

/// The fields of the objects that a request sends. A server finds those of the kinds of subresources only where there are
/// resources of these as well.
///
/// # Errors
/// That there is no such type.
fn type_of<'s>(served: &'s Served, attributes: &Attributes<'_>) -> Result<Cow<'s, ObjectType>, String> {
    let kind = served.kind_name(&attributes.request.subresource);
    let found = match (kind.group, kind.kind) {
        _ if attributes.has_object_of_resource() => served.field_manager("").object_type().map(Cow::Borrowed),
        ("", "Binding") => builtin::object_type(kind.group, kind.version, kind.kind).map(Cow::Owned),
        _ => None,
    };
    found.ok_or_else(|| {
        let (group, version, kind) = (kind.group, kind.version, kind.kind);
        format!("no corresponding type for {group}/{version}, Kind={kind}")
    })
}

/// Reads a patched object as one of its kind.
fn read(served: &Served, attributes: &Attributes<'_>, patched: Value) -> Result<Value, Status> {
    let kind = served.kind_name(&attributes.request.subresource);
    let Some(ty) = kind.go_type() else { return Ok(patched) };
    let decoded = strict::decode(patched.to_string().as_bytes(), Some(ty))
        .map_err(|error| Status::internal(error.to_string()))?;
    match decoded.strict_errors.as_slice() {
        [] => Ok(decoded.value),
        faults => Err(Status::internal(format!("strict decoding error: {}", faults.join(", ")))),
    }
}
