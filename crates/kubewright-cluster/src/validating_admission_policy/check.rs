use k8s_openapi::api::admissionregistration::v1::{
    ExpressionWarning, NamedRuleWithOperations, ValidatingAdmissionPolicy,
};
use kubewright_schema::cel::{Scope, ValueType};
use serde_json::Value;

/// The most kinds that the expressions of a policy are checked against.
pub(super) const MOST_KINDS: usize = 10;

/// A kind, with the document that describes it.
pub(super) struct Described {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) document: Value,
    /// The name of its schema in the document.
    pub(super) schema: String,
}

/// The resources that a rule names: groups, versions and plurals. What it means by wildcards is not checked.
pub(super) fn named_resources(rule: &NamedRuleWithOperations) -> Vec<(String, String, String)> {
    let sorted = |words: &Option<Vec<String>>, unfit: &[char]| {
        let mut words: Vec<String> =
            words.iter().flatten().filter(|word| !word.contains(unfit)).cloned().collect();
        words.sort_unstable();
        words
    };
    let has_wildcard = |words: &Option<Vec<String>>| words.iter().flatten().any(|word| word.contains('*'));
    if has_wildcard(&rule.api_groups) || has_wildcard(&rule.api_versions) {
        return Vec::new();
    }
    let mut resources = Vec::new();
    for group in sorted(&rule.api_groups, &[]) {
        for version in sorted(&rule.api_versions, &[]) {
            for plural in sorted(&rule.resources, &['*', '/']) {
                resources.push((group.clone(), version.clone(), plural));
            }
        }
    }
    resources
}

/// The name of the schema of a kind in an OpenAPI document.
pub(super) fn schema_of(document: &Value, group: &str, version: &str, kind: &str) -> Option<String> {
    let schemas = document["components"]["schemas"].as_object()?;
    let is_kind = |own: &Value| own["group"] == group && own["version"] == version && own["kind"] == kind;
    let describes = |schema: &Value| {
        schema["x-kubernetes-group-version-kind"].as_array().into_iter().flatten().any(is_kind)
    };
    schemas.iter().find(|(_, schema)| describes(schema)).map(|(name, _)| name.clone())
}

/// What is wrong with the expressions of a policy about these kinds. Nothing if the policy has parameters of no known kind
/// is said of these.
pub(super) fn warnings(
    policy: &ValidatingAdmissionPolicy,
    kinds: &[Described],
    parameters: Option<&Described>,
) -> Vec<ExpressionWarning> {
    let scopes: Vec<(&Described, Scope)> =
        kinds.iter().map(|kind| (kind, scope(policy, kind, parameters))).collect();
    let spec = policy.spec.as_ref();
    let validations = spec.and_then(|spec| spec.validations.as_deref()).unwrap_or_default();
    let mut warnings = Vec::new();
    for (index, validation) in validations.iter().enumerate() {
        let message = validation.message_expression.as_deref().filter(|source| !source.is_empty());
        let expressions =
            [("expression", Some(validation.expression.as_str())), ("messageExpression", message)];
        for (field, source) in expressions {
            let Some(source) = source else { continue };
            let problems: Vec<String> =
                scopes.iter().filter_map(|(kind, scope)| problem(kind, scope, source)).collect();
            if !problems.is_empty() {
                warnings.push(ExpressionWarning {
                    field_ref: format!("spec.validations[{index}].{field}"),
                    warning: problems.join("\n"),
                });
            }
        }
    }
    warnings
}

/// The variables of a policy's expressions about a kind.
fn scope(policy: &ValidatingAdmissionPolicy, kind: &Described, parameters: Option<&Described>) -> Scope {
    let spec = policy.spec.as_ref();
    let has_parameters = spec.is_some_and(|spec| spec.param_kind.is_some());
    let mut scope = Scope::of_admission().with_authorizer().with_variables().with_kind(
        &["object", "oldObject"],
        &kind.document,
        &kind.schema,
    );
    scope = match parameters {
        Some(kind) => scope.with_kind(&["params"], &kind.document, &kind.schema),
        None if has_parameters => scope.with("params", &ValueType::Any),
        None => scope,
    };
    for variable in spec.and_then(|spec| spec.variables.as_deref()).unwrap_or_default() {
        scope.add_checked(&variable.name, &variable.expression);
    }
    scope
}

fn problem(kind: &Described, scope: &Scope, source: &str) -> Option<String> {
    let why = scope.check(source).err()?;
    Some(format!("{}/{}, Kind={}: {why}\n", kind.group, kind.version, kind.kind))
}
