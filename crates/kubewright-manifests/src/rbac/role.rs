//! The roles of an operator.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Rule, check, merge, merge_as_controller_gen};
use crate::{
    Manifests, Style,
    diagnostic::Place,
    findings::Findings,
    marker::{Effect, Marker},
};

/// How roles are made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The name of the roles of markers without `roleName`.
    pub role_name: String,
    /// Whose conventions are followed; ours by default.
    pub style: Style,
    /// Labels for all roles; none by default.
    pub labels: BTreeMap<String, String>,
}

// === impl Options ===

impl Options {
    /// The defaults, with this name for roles. Kubebuilder's projects use `manager-role`.
    pub fn new(role_name: impl Into<String>) -> Self {
        Self { role_name: role_name.into(), style: Style::default(), labels: BTreeMap::new() }
    }

    /// Follows the conventions of this style.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Adds a label to all roles.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }
}

/// The roles that the `+kubebuilder:rbac` markers among these ask for, each with the place where it stands.
///
/// Rules without a namespace make a ClusterRole, those of one namespace a Role in it, one per name of a role. Roles
/// are sorted by namespace, ClusterRoles first, then by name. Other markers are passed over.
///
/// ```
/// use kubewright_manifests::{
///     diagnostic::Place,
///     marker::{Target, parse},
///     rbac::{Options, documents},
/// };
///
/// let text = "+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch";
/// let marker = parse(text, &[Target::Package]).unwrap();
/// let place = Place::File { file: "src/controller.rs".into(), range: 0..text.len() };
///
/// let roles = documents([(&marker, place)], &Options::new("manager-role"));
/// assert!(roles.diagnostics.is_empty());
/// assert_eq!(roles.to_yaml(), "\
/// ---
/// apiVersion: rbac.authorization.k8s.io/v1
/// kind: ClusterRole
/// metadata:
///   name: manager-role
/// rules:
/// - apiGroups:
///   - apps
///   resources:
///   - deployments
///   verbs:
///   - get
///   - list
///   - watch
/// ");
/// ```
pub fn documents<'m>(markers: impl IntoIterator<Item = (&'m Marker, Place)>, options: &Options) -> Manifests {
    let mut roles: BTreeMap<(&str, &str), Vec<Rule>> = BTreeMap::new();
    let mut manifests = Manifests::default();
    for (marker, place) in markers {
        if marker.definition.effect != Effect::Rbac {
            continue;
        }
        let rule = Rule::of_marker(marker);
        let diagnostics = &mut manifests.diagnostics;
        check::rule(&rule, &mut Findings { marker, place: &place, style: options.style, diagnostics });
        let namespace = marker.text_of("namespace").unwrap_or_default();
        let name = marker.text_of("roleName").filter(|name| !name.is_empty()).unwrap_or(&options.role_name);
        roles.entry((namespace, name)).or_default().push(rule);
    }
    for ((namespace, name), rules) in roles {
        if name == options.role_name {
            check::role_name(name, options.style, &mut manifests.diagnostics);
        }
        let rules = match options.style {
            Style::Kubewright => merge(rules),
            Style::ControllerGen => merge_as_controller_gen(rules),
        };
        if !rules.is_empty() {
            manifests.documents.push(document(name, Some(namespace), &options.labels, &rules));
        }
    }
    manifests
}

/// A ClusterRole, or a Role if there is a namespace.
pub(super) fn document(
    name: &str,
    namespace: Option<&str>,
    labels: &BTreeMap<String, String>,
    rules: &[Rule],
) -> Value {
    let mut metadata = json!({ "name": name });
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    if !labels.is_empty() {
        metadata["labels"] = json!(labels);
    }
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": if namespace.is_some() { "Role" } else { "ClusterRole" },
        "metadata": metadata,
        "rules": rules.iter().map(Rule::to_value).collect::<Vec<_>>(),
    })
}
