use k8s_openapi::api::admissionregistration::v1::ValidatingAdmissionPolicy;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::ClientError,
    controller::Controller,
    manager::Manager,
};
use serde_json::{Value, json};

use super::check::{self, Described, MOST_KINDS};
use crate::{cluster::Settings, context::Context};

const NAME: &str = "validatingadmissionpolicy-status-controller";

/// Who writes the status, as its managed fields name it.
const FIELD_MANAGER: &str = "validatingadmissionpolicy-status";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let policies = manager.cache().declare(InformerOptions::<ValidatingAdmissionPolicy>::new())?;
    let context = Context::new(manager, settings, NAME);
    Controller::for_kind::<ValidatingAdmissionPolicy>(manager)
        .named(NAME)
        .run(PolicyReconciler { context, policies })
}

struct PolicyReconciler {
    context: Context,
    policies: Informer<ValidatingAdmissionPolicy>,
}

impl Reconciler for PolicyReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(policy) = self.policies.get(&request) else { return Ok(Action::done()) };
        let generation = policy.metadata.generation.unwrap_or_default();
        let observed = policy.status.as_ref().and_then(|status| status.observed_generation);
        if generation <= observed.unwrap_or_default() {
            return Ok(Action::done());
        }
        let kinds = self.kinds(&policy).await;
        let parameters = self.parameters(&policy).await;
        let warnings = check::warnings(&policy, &kinds, parameters.as_ref());
        let mut checking = json!({});
        if !warnings.is_empty() {
            checking["expressionWarnings"] = json!(warnings);
        }
        let status = json!({"observedGeneration": generation, "typeChecking": checking});
        let applied = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": request.name},
            "status": status,
        });
        let client = self.context.client.clone().with_field_manager(FIELD_MANAGER);
        let written: std::result::Result<ValidatingAdmissionPolicy, ClientError> =
            client.status().apply_value(&applied).await;
        match written {
            Ok(_) => Ok(Action::done()),
            Err(error) if error.is_not_found() => Ok(Action::done()),
            Err(error) => Err(error.into()),
        }
    }
}

impl PolicyReconciler {
    /// The kinds that a policy is about, as far as it names their resources and the server knows them, in their order.
    async fn kinds(&self, policy: &ValidatingAdmissionPolicy) -> Vec<Described> {
        let constraints = policy.spec.as_ref().and_then(|spec| spec.match_constraints.as_ref());
        let rules = constraints.and_then(|constraints| constraints.resource_rules.as_deref());
        let mut kinds: Vec<Described> = Vec::new();
        for (group, version, plural) in rules.unwrap_or_default().iter().flat_map(check::named_resources) {
            if kinds.len() == MOST_KINDS {
                break;
            }
            let Some(kind) = self.kind_of(&group, &version, &plural).await else { continue };
            let is_known = kinds.iter().any(|own| {
                (own.group.as_str(), own.version.as_str(), own.kind.as_str()) == (&group, &version, &kind)
            });
            if !is_known {
                kinds.extend(self.described(&group, &version, &kind).await);
            }
        }
        kinds.sort_by(|a, b| (&a.group, &a.version, &a.kind).cmp(&(&b.group, &b.version, &b.kind)));
        kinds
    }

    async fn parameters(&self, policy: &ValidatingAdmissionPolicy) -> Option<Described> {
        let kind = policy.spec.as_ref()?.param_kind.as_ref()?;
        let api_version = kind.api_version.as_deref()?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.described(group, version, kind.kind.as_deref()?).await
    }

    /// The kind of a resource, by its plural or its singular.
    async fn kind_of(&self, group: &str, version: &str, plural: &str) -> Option<String> {
        let list = self.get(&format!("/{}", path(group, version))).await?;
        let is_it = |resource: &&Value| resource["name"] == plural || resource["singularName"] == plural;
        let found = list["resources"].as_array()?.iter().find(is_it)?;
        found["kind"].as_str().map(str::to_owned)
    }

    async fn described(&self, group: &str, version: &str, kind: &str) -> Option<Described> {
        let document = self.get(&format!("/openapi/v3/{}", path(group, version))).await?;
        let schema = check::schema_of(&document, group, version, kind)?;
        let [group, version, kind] = [group, version, kind].map(str::to_owned);
        Some(Described { group, version, kind, document, schema })
    }

    /// What the server answers, if it has an answer. A type that is not known is not checked.
    async fn get(&self, path: &str) -> Option<Value> {
        let request = http::Request::get(path).body(Vec::new()).ok()?;
        self.context.client.kube().request(request).await.ok()
    }
}

fn path(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}
