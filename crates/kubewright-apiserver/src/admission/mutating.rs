use std::sync::Arc;

use kubewright_schema::error::go;
use serde_json::Value;

use super::{
    Plugin,
    attributes::{Attributes, KindName, Operation},
    configuration::Webhook,
    matching::Invocation,
    reinvocation::Reinvocation,
    review::{self, Answer},
};
use crate::{
    patch::{PatchError, json_patch},
    registry::{Registry, Served, metadata},
    status::Status,
    types::strict,
    wire::decode,
};

/// How a webhook was not asked with success.
pub(super) enum Failure {
    /// It could not be asked, which its failure policy may forgive.
    Call(String),
    /// The request is refused.
    Refused(Status),
}

/// Everyone who matches is asked at first, and some again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    First,
    Again,
}

impl Registry {
    /// Lets policies and then webhooks change the object of a request, one after the other; of a delete, let it be. If it was
    /// changed, those who want to know are asked once more.
    ///
    /// # Errors
    /// With the first refusal.
    pub(crate) async fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<Value>,
    ) -> Result<Option<Value>, Status> {
        let configurations = self.admission.configurations();
        let (policies, webhooks) = (&configurations.mutating_policies, &configurations.mutating);
        let plugins = &self.admission.plugins;
        // There is nothing in a delete that a policy could change.
        let has_policies = plugins.has(Plugin::MutatingAdmissionPolicy)
            && !policies.is_empty()
            && attributes.operation() != Operation::Delete
            && !attributes.is_exempt_from_policies();
        let has_webhooks =
            plugins.has(Plugin::MutatingAdmissionWebhook) && !webhooks.is_empty() && !attributes.is_exempt();
        if !has_policies && !has_webhooks {
            return Ok(object);
        }
        let mut object = object;
        let (mut of_policies, mut of_webhooks) = (Reinvocation::default(), Reinvocation::default());
        for round in [Round::First, Round::Again] {
            let mut goes_on = false;
            if round == Round::Again {
                of_policies.begin_again(object.as_ref());
            }
            if let Some(object) = object.as_mut().filter(|_| has_policies) {
                goes_on |=
                    self.mutate_by_policies(policies, attributes, object, &mut of_policies, round).await?;
            }
            of_policies.end(object.as_ref());
            if round == Round::Again {
                of_webhooks.begin_again(object.as_ref());
            }
            if has_webhooks {
                goes_on |= self
                    .mutate_by_webhooks(webhooks, attributes, &mut object, &mut of_webhooks, round)
                    .await?;
            }
            of_webhooks.end(object.as_ref());
            if !goes_on {
                break;
            }
        }
        Ok(object)
    }

    /// Lets webhooks change the object of a request, one after the other. Gives whether one did.
    async fn mutate_by_webhooks(
        &self,
        webhooks: &[Arc<Webhook>],
        attributes: &Attributes<'_>,
        object: &mut Option<Value>,
        reinvocation: &mut Reinvocation,
        round: Round,
    ) -> Result<bool, Status> {
        let mut is_changed = false;
        for webhook in webhooks {
            if round == Round::Again && !reinvocation.is_asked_again(&webhook.id) {
                continue;
            }
            let matched = self.match_webhook(webhook, attributes, object.as_ref()).await?;
            let Some(invocation) = matched else { continue };
            let changed = match self.ask_mutating(webhook, &invocation, attributes, object.as_ref()).await {
                Ok(changed) => changed,
                Err(failure) => {
                    failure.forgive(webhook)?;
                    None
                }
            };
            if let Some(changed) = changed {
                if object.as_ref() != Some(&changed) {
                    is_changed = true;
                    reinvocation.require();
                }
                *object = Some(changed);
            }
            if webhook.is_reinvoked {
                reinvocation.asked(&webhook.id);
            }
        }
        Ok(is_changed)
    }

    /// Asks a webhook, and gives the object as it makes it; `None` if it does not change it.
    async fn ask_mutating(
        &self,
        webhook: &Webhook,
        invocation: &Invocation,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<Option<Value>, Failure> {
        let Asked { answer, object: sent } = self.ask(webhook, invocation, attributes, object, true).await?;
        if answer.patch.is_empty() {
            return Ok(None);
        }
        let undecodable =
            |why: String| Failure::Call(format!("received undecodable patch in webhook response: {why}"));
        let patch = strict::decode(&answer.patch, None).map_err(|error| undecodable(error.to_string()))?;
        match &patch.value {
            Value::Null => return Ok(None),
            Value::Array(operations) if operations.is_empty() => return Ok(None),
            Value::Array(_) => {}
            other => {
                return Err(undecodable(format!(
                    "json: cannot unmarshal {} into Go value of type jsonpatch.Patch",
                    go::kind(other)
                )));
            }
        }
        let internal = |why: String| Failure::Refused(Status::internal(why));
        let Some(sent) = sent else {
            return Err(internal(format!(
                "admission webhook {} attempted to modify the object, which is not supported for this operation",
                go::quote(&webhook.name)
            )));
        };
        if answer.patch_type != "JSONPatch" {
            return Err(Failure::Call(format!("unsupported patch type {}", go::quote(&answer.patch_type))));
        }
        let patched = json_patch(&sent, &answer.patch).map_err(|error| match error {
            PatchError::Unprocessable(why) | PatchError::TestFailed(why) => internal(why),
            other => internal(other.to_string()),
        })?;
        let mut new = read_patched(&invocation.served, attributes, patched.value).map_err(internal)?;
        if attributes.has_object_of_resource() {
            invocation.served.coerce(&mut new, false);
        }
        keep_readable_managed_fields(&mut new, &sent, attributes);
        let own = &attributes.request.served;
        let new = self.convert_for(attributes, &invocation.served, own, new).await;
        new.map(Some).map_err(Failure::Refused)
    }

    /// Asks a webhook, and gives what it says and the object as it was sent.
    pub(super) async fn ask(
        &self,
        webhook: &Webhook,
        invocation: &Invocation,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        is_mutating: bool,
    ) -> Result<Asked, Failure> {
        if attributes.is_dry_run() && !webhook.knows_dry_run {
            let why = format!("admission webhook {} does not support dry run", go::quote(&webhook.name));
            return Err(Failure::Refused(Status::bad_request(why)));
        }
        let (from, to) = (&attributes.request.served, &invocation.served);
        let mut sent = [object, attributes.old].map(Option::<&Value>::cloned);
        for object in &mut sent {
            if let Some(own) = object.take() {
                let converted = self.convert_for(attributes, from, to, own).await;
                *object = Some(converted.map_err(Failure::Refused)?);
            }
        }
        let [object, old] = sent;
        let uid = self.admission.uids.uid();
        let question = review::question(webhook, invocation, attributes, &uid, object.as_ref(), old.as_ref());
        let kind =
            KindName { group: "admission.k8s.io", version: webhook.review_version, kind: "AdmissionReview" };
        let webhooks = &self.admission.webhooks;
        let answered = webhooks.post(&webhook.client, webhook.timeout, &question, kind).await;
        let answered = answered.map_err(|error| Failure::Call(format!("failed to call webhook: {error}")))?;
        let answer = Answer::read(webhook, &uid, is_mutating, &answered)
            .map_err(|why| Failure::Call(format!("received invalid webhook response: {why}")))?;
        attributes.request.warnings.extend(answer.warnings.iter().cloned());
        if answer.allowed {
            Ok(Asked { answer, object })
        } else {
            Err(Failure::Refused(answer.denial(webhook)))
        }
    }
}

/// What came of asking a webhook.
pub(super) struct Asked {
    pub(super) answer: Answer,
    /// The object in the version that was sent.
    object: Option<Value>,
}

/// Reads a patched object as one of its kind.
fn read_patched(served: &Served, attributes: &Attributes<'_>, mut patched: Value) -> Result<Value, String> {
    let kind = served.kind_name(&attributes.request.subresource);
    let Some(ty) = kind.go_type() else {
        if patched["kind"].as_str().unwrap_or_default().is_empty() {
            return Err(format!("Object 'Kind' is missing in '{patched}'"));
        }
        // It may say that it is of another version, which it then is not.
        patched["apiVersion"] = Value::from(served.definition.api_version());
        return Ok(patched);
    };
    // What says that it is of another kind is read as that before it is refused.
    let text = |field: &str| patched[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    let ty = KindName { group, version, kind: text("kind") }.go_type().unwrap_or(ty);
    let decoded =
        strict::decode(patched.to_string().as_bytes(), Some(ty)).map_err(|error| error.to_string())?;
    let text = |field: &str| decoded.value[field].as_str().unwrap_or_default();
    match decode::kind_problem(kind, text("kind"), text("apiVersion")) {
        Some(why) => Err(why),
        None => Ok(decoded.value),
    }
}

/// Takes back managed fields that nobody could read, with a warning.
pub(super) fn keep_readable_managed_fields(new: &mut Value, sent: &Value, attributes: &Attributes<'_>) {
    let entries = metadata::get(new, "managedFields").and_then(Value::as_array);
    let problem = entries.into_iter().flatten().enumerate().find_map(|(index, entry)| {
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        match (text("operation"), text("apiVersion"), text("fieldsType")) {
            ("Apply" | "Update", "", _) => Some("apiVersion must not be empty".to_owned()),
            ("Apply" | "Update", _, "FieldsV1") => None,
            ("Apply" | "Update", _, "") => {
                Some(format!("missing fieldsType in managed fields entry {index}"))
            }
            ("Apply" | "Update", _, other) => {
                Some(format!("invalid fieldsType {} in managed fields entry {index}", go::quote(other)))
            }
            _ => Some("operation must be `Apply` or `Update`".to_owned()),
        }
    });
    if let Some(problem) = problem {
        metadata::restore(new, sent, &["managedFields"]);
        attributes.request.warnings.extend([format!(
            ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated \
             mutating admission controller; please fix your requests: {problem}"
        )]);
    }
}

// === impl Failure ===

impl Failure {
    /// Goes on, if the failure policy says so.
    ///
    /// # Errors
    /// With the refusal of the request.
    pub(super) fn forgive(self, webhook: &Webhook) -> Result<(), Status> {
        match self {
            Self::Refused(status) => Err(status),
            Self::Call(why) => {
                tracing::warn!(webhook = %webhook.name, forgiven = webhook.ignores_failures, "{why}");
                if webhook.ignores_failures {
                    return Ok(());
                }
                Err(Status::internal(format!("failed calling webhook {}: {why}", go::quote(&webhook.name))))
            }
        }
    }
}
