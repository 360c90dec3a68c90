//! Nobody may grant more than they have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Authorizer,
    rule::{Rule, url_matches},
};
use crate::{selector::Quoted, user::User};

impl Authorizer {
    /// Checks that the user has all that `rules` (the `rules` of a role) would grant in the namespace, empty
    /// for the whole cluster. Kubernetes asks this of whoever writes a role without the verb `escalate`, or
    /// binds one without `bind`.
    ///
    /// # Errors
    /// With the reason for a 403, which lists what the user does not have.
    pub fn confirm_no_escalation(
        &self,
        user: &User,
        namespace: &str,
        rules: Option<&Value>,
    ) -> Result<(), String> {
        let (mut held, mut errors) = (Vec::new(), Vec::new());
        let policy = self.policy();
        policy.visit_rules(user, namespace, &mut |rule| {
            match rule {
                Ok((_, rule)) => held.push(rule),
                Err(error) => errors.push(error),
            }
            true
        });
        let wanted = Rule::read_all(rules);
        let missing: Vec<Rule> = wanted
            .iter()
            .flat_map(single)
            .filter(|wanted| !held.iter().any(|held| held.includes(wanted)))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let descriptions: BTreeSet<String> = compact(missing).iter().map(describe).collect();
        let descriptions: Vec<String> = descriptions.into_iter().collect();
        let mut message = format!(
            "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
            Quoted(&user.name),
            quoted_list(&user.groups),
            descriptions.join("\n")
        );
        if !errors.is_empty() {
            message.push_str(&format!("; resolution errors: [{}]", errors.join(" ")));
        }
        Err(message)
    }
}

impl Rule {
    /// Whether this rule allows all that a rule of one verb and one thing allows.
    fn includes(&self, single: &Rule) -> bool {
        let all = |own: &[String], wanted: &[String]| {
            own.iter().any(|one| one == "*") || wanted.iter().all(|one| own.contains(one))
        };
        let resource = |wanted: &String| {
            let any_parent = wanted.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
            self.resources.iter().any(|own| own == "*" || own == wanted || Some(own) == any_parent.as_ref())
        };
        let names = self.resource_names.is_empty()
            || (!single.resource_names.is_empty()
                && single.resource_names.iter().all(|name| self.resource_names.contains(name)));
        all(&self.verbs, &single.verbs)
            && all(&self.api_groups, &single.api_groups)
            && single.resources.iter().all(resource)
            && names
            && single.urls.iter().all(|url| self.urls.iter().any(|own| url_matches(own, url)))
    }
}

/// The rule as rules of one verb and one thing each.
fn single(rule: &Rule) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (group, resource, verb) in rule.api_groups.iter().flat_map(|group| {
        let each = move |resource| rule.verbs.iter().map(move |verb| (group, resource, verb));
        rule.resources.iter().flat_map(each)
    }) {
        let one = Rule {
            verbs: vec![verb.clone()],
            api_groups: vec![group.clone()],
            resources: vec![resource.clone()],
            ..Rule::default()
        };
        if rule.resource_names.is_empty() {
            rules.push(one);
        } else {
            let named = rule.resource_names.iter();
            rules.extend(named.map(|name| Rule { resource_names: vec![name.clone()], ..one.clone() }));
        }
    }
    for url in &rule.urls {
        for verb in &rule.verbs {
            let (verbs, urls) = (vec![verb.clone()], vec![url.clone()]);
            rules.push(Rule { verbs, urls, ..Rule::default() });
        }
    }
    rules
}

/// Joins rules on the same resource.
fn compact(rules: Vec<Rule>) -> Vec<Rule> {
    let (mut joined, mut others): (BTreeMap<Rule, Vec<String>>, Vec<Rule>) = Default::default();
    for mut rule in rules {
        if rule.urls.is_empty() {
            let verbs = std::mem::take(&mut rule.verbs);
            joined.entry(rule).or_default().extend(verbs);
        } else {
            others.push(rule);
        }
    }
    others.extend(joined.into_iter().map(|(rule, verbs)| Rule { verbs, ..rule }));
    others
}

fn describe(rule: &Rule) -> String {
    let parts = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.urls),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, values)| !values.is_empty())
        .map(|(name, values)| format!("{name}:{}", quoted_list(values)))
        .collect();
    format!("{{{}}}", parts.join(", "))
}

fn quoted_list(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| Quoted(value).to_string()).collect();
    format!("[{}]", values.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{authorizer, user};

    #[test]
    fn only_what_is_held_can_be_granted() {
        let authorizer = authorizer(&[
            json!({
                "kind": "ClusterRole", "metadata": {"name": "r"},
                "rules": [
                    {"apiGroups": ["", "apps"], "resources": ["pods", "*/scale"], "verbs": ["get", "list"]},
                    {"nonResourceURLs": ["/a/*"], "verbs": ["get"]},
                    {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"], "verbs": ["*"]},
                ],
            }),
            json!({
                "kind": "ClusterRoleBinding", "metadata": {"name": "r"},
                "roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}],
            }),
        ]);
        let check =
            |rules| authorizer.confirm_no_escalation(&user("u", &["g", "h"]), "default", Some(&rules));
        let held = json!([
            {"apiGroups": [""], "resources": ["pods", "pods/scale"], "verbs": ["list"]},
            {"nonResourceURLs": ["/a/b"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"], "verbs": ["delete"]},
        ]);
        assert_eq!(check(held), Ok(()));
        let more = json!([
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "create", "delete"]},
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
            {"nonResourceURLs": ["/b"], "verbs": ["get"]},
        ]);
        assert_eq!(
            check(more).expect_err("not held"),
            "user \"u\" (groups=[\"g\" \"h\"]) is attempting to grant RBAC permissions not currently held:\n\
             {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"create\" \"delete\"]}\n\
             {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}\n\
             {NonResourceURLs:[\"/b\"], Verbs:[\"get\"]}"
        );
    }
}
