//! The RBAC objects of a cluster in the form in which they are evaluated.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde_json::Value;

use super::{RbacObjects, rule::Rule};
use crate::{
    selector::{LabelSelector, Quoted},
    user::User,
};

/// Roles by their names, bindings in the order of theirs.
#[derive(Debug, Default)]
pub(super) struct Policy {
    cluster_roles: BTreeMap<String, Vec<Rule>>,
    roles: BTreeMap<(String, String), Vec<Rule>>,
    cluster_bindings: BTreeMap<String, Binding>,
    bindings: BTreeMap<String, BTreeMap<String, Binding>>,
}

#[derive(Debug)]
struct Binding {
    name: String,
    namespace: String,
    role_kind: String,
    role_name: String,
    subjects: Vec<Subject>,
}

#[derive(Debug)]
struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

/// The binding that applies and the first of its subjects that does; displayed as in the reason.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    binding: &'a Binding,
    subject: &'a Subject,
}

/// A rule with where it comes from, or why a role could not be resolved.
pub(super) type Visited<'a> = Result<(Source<'a>, &'a Rule), String>;

impl Policy {
    pub(super) fn compile(objects: &dyn RbacObjects) -> Self {
        let mut policy = Self::default();
        let mut aggregated = Vec::new();
        let mut labelled: BTreeMap<String, Arc<Value>> = BTreeMap::new();
        objects.visit("clusterroles", &mut |role| {
            let name = text(role, "/metadata/name");
            policy.cluster_roles.insert(name.clone(), Rule::read_all(role.get("rules")));
            labelled.insert(
                name.clone(),
                Arc::new(role.pointer("/metadata/labels").cloned().unwrap_or_default()),
            );
            if let Some(selectors) = role.pointer("/aggregationRule/clusterRoleSelectors") {
                aggregated.push((name, selectors_of(selectors)));
            }
        });
        policy.aggregate(&aggregated, &labelled);
        objects.visit("roles", &mut |role| {
            let id = (text(role, "/metadata/namespace"), text(role, "/metadata/name"));
            policy.roles.insert(id, Rule::read_all(role.get("rules")));
        });
        objects.visit("clusterrolebindings", &mut |binding| {
            let binding = Binding::read(binding);
            policy.cluster_bindings.insert(binding.name.clone(), binding);
        });
        objects.visit("rolebindings", &mut |binding| {
            let binding = Binding::read(binding);
            let namespace = policy.bindings.entry(binding.namespace.clone()).or_default();
            namespace.insert(binding.name.clone(), binding);
        });
        policy
    }

    /// Gives every role with an `aggregationRule` the rules of the roles that it selects, theirs included.
    ///
    /// A cluster has a controller write them into the role. Evaluating the selectors here makes the roles
    /// hold at once, with or without that controller.
    fn aggregate(
        &mut self,
        aggregated: &[(String, Vec<LabelSelector>)],
        labels: &BTreeMap<String, Arc<Value>>,
    ) {
        let selected = |selectors: &[LabelSelector]| -> BTreeSet<&String> {
            let matching = labels.iter().filter(|(_, labels)| {
                selectors.iter().any(|selector| selector.matches_labels(labels.as_object()))
            });
            matching.map(|(name, _)| name).collect()
        };
        let sources: BTreeMap<&String, BTreeSet<&String>> =
            aggregated.iter().map(|(name, selectors)| (name, selected(selectors))).collect();
        let own = self.cluster_roles.clone();
        for name in sources.keys() {
            let mut rules: Vec<Rule> = Vec::new();
            let (mut seen, mut open) = (BTreeSet::from([*name]), vec![*name]);
            while let Some(role) = open.pop() {
                for rule in own.get(role).into_iter().flatten() {
                    if !rules.contains(rule) {
                        rules.push(rule.clone());
                    }
                }
                open.extend(sources.get(role).into_iter().flatten().filter(|source| seen.insert(source)));
            }
            self.cluster_roles.insert((*name).clone(), rules);
        }
    }

    /// Calls `visit` for each rule that applies to the user in the namespace (empty: cluster-wide only) and
    /// for each role that is bound but does not exist, until it returns false.
    pub(super) fn visit_rules<'a>(
        &'a self,
        user: &User,
        namespace: &str,
        visit: &mut dyn FnMut(Visited<'a>) -> bool,
    ) {
        let local = self.bindings.get(namespace).into_iter().flat_map(BTreeMap::values);
        for binding in self.cluster_bindings.values().chain(local) {
            let Some(subject) = binding.subjects.iter().find(|subject| subject.is(user, &binding.namespace))
            else {
                continue;
            };
            match self.rules_of(binding) {
                Err(error) => {
                    if !visit(Err(error)) {
                        return;
                    }
                }
                Ok(rules) => {
                    for rule in rules {
                        if !visit(Ok((Source { binding, subject }, rule))) {
                            return;
                        }
                    }
                }
            }
        }
    }

    fn rules_of(&self, binding: &Binding) -> Result<&[Rule], String> {
        let name = &binding.role_name;
        let (rules, resource) = match binding.role_kind.as_str() {
            "ClusterRole" => (self.cluster_roles.get(name), "clusterrole"),
            "Role" => (self.roles.get(&(binding.namespace.clone(), name.clone())), "role"),
            kind => return Err(format!("unsupported role reference kind: {}", Quoted(kind))),
        };
        rules
            .map(Vec::as_slice)
            .ok_or_else(|| format!("{resource}.rbac.authorization.k8s.io {} not found", Quoted(name)))
    }
}

fn selectors_of(selectors: &Value) -> Vec<LabelSelector> {
    // An invalid selector cannot be stored; one that is stored anyway selects nothing.
    let selectors = selectors.as_array().into_iter().flatten();
    selectors.filter_map(|selector| LabelSelector::from_object(Some(selector)).ok()).collect()
}

impl Binding {
    fn read(binding: &Value) -> Self {
        let subjects = binding.get("subjects").and_then(Value::as_array).into_iter().flatten();
        Self {
            name: text(binding, "/metadata/name"),
            namespace: text(binding, "/metadata/namespace"),
            role_kind: text(binding, "/roleRef/kind"),
            role_name: text(binding, "/roleRef/name"),
            subjects: subjects
                .map(|subject| Subject {
                    kind: text(subject, "/kind"),
                    name: text(subject, "/name"),
                    namespace: text(subject, "/namespace"),
                })
                .collect(),
        }
    }
}

impl Subject {
    /// Whether the subject of a binding in this namespace is the user or one of their groups.
    fn is(&self, user: &User, binding_namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.groups.contains(&self.name),
            "ServiceAccount" => {
                let namespace = self.namespace(binding_namespace);
                let account = user.name.strip_prefix("system:serviceaccount:");
                !namespace.is_empty()
                    && account
                        .and_then(|account| account.strip_prefix(namespace))
                        .and_then(|account| account.strip_prefix(':'))
                        == Some(&self.name)
            }
            _ => false,
        }
    }

    fn namespace<'a>(&'a self, binding_namespace: &'a str) -> &'a str {
        if self.namespace.is_empty() { binding_namespace } else { &self.namespace }
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { binding, subject } = self;
        if binding.namespace.is_empty() {
            write!(f, "ClusterRoleBinding {}", Quoted(&binding.name))?;
        } else {
            write!(f, "RoleBinding {}", Quoted(&format!("{}/{}", binding.name, binding.namespace)))?;
        }
        write!(f, " of {} {} to {} ", binding.role_kind, Quoted(&binding.role_name), subject.kind)?;
        if subject.kind == "ServiceAccount" {
            let namespace = subject.namespace(&binding.namespace);
            Quoted(&format!("{}/{namespace}", subject.name)).fmt(f)
        } else {
            Quoted(&subject.name).fmt(f)
        }
    }
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
