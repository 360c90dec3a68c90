//! The rules as controller-gen merges them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Rule, merge};

/// Merges the rules step by step as controller-gen v0.23 does, and sorts them.
///
/// Rules are split by resource, then those that differ in one list only are joined: by verbs, resources, groups and URLs,
/// in this order. A rule that is implied by another stays, and what only a second round could join is not joined.
///
/// Where the result of controller-gen changes from run to run, the one that allows most is given:
///
/// * When joining by groups or URLs makes two rules differ in their verbs alone, controller-gen keeps the verbs of
///   either the one or the other. Here both are kept.
/// * A rule without groups is joined with one of the core group, and the result has the group or not. Here it has it.
#[must_use]
pub fn merge_as_controller_gen(rules: impl IntoIterator<Item = Rule>) -> Vec<Rule> {
    let split = rules.into_iter().flat_map(|rule| {
        let resources: Vec<BTreeSet<String>> = if rule.resources.is_empty() {
            vec![BTreeSet::new()]
        } else {
            rule.resources.iter().map(|resource| BTreeSet::from([resource.clone()])).collect()
        };
        resources.into_iter().map(move |resources| Rule { resources, ..rule.clone() })
    });
    let verbs: List = |rule| &mut rule.verbs;
    let mut rules = join(split.collect(), verbs);
    let lists: [List; 3] = [|rule| &mut rule.resources, |rule| &mut rule.groups, |rule| &mut rule.urls];
    for list in lists {
        rules = join(join(rules, list), verbs);
    }
    for rule in &mut rules {
        if rule.verbs.contains("*") {
            rule.verbs = BTreeSet::from(["*".to_owned()]);
        }
    }
    merge::sort(&mut rules);
    rules
}

/// One list of a rule.
type List = fn(&mut Rule) -> &mut BTreeSet<String>;

/// Joins the rules that differ in this list only. No group and the core group count as the same.
fn join(rules: Vec<Rule>, list: List) -> Vec<Rule> {
    let core = BTreeSet::from([String::new()]);
    let mut joined: BTreeMap<Rule, (BTreeSet<String>, bool)> = BTreeMap::new();
    for mut rule in rules {
        let items = std::mem::take(list(&mut rule));
        let is_core = rule.groups == core;
        if is_core {
            rule.groups.clear();
        }
        let (joined, any_core) = joined.entry(rule).or_default();
        joined.extend(items);
        *any_core |= is_core;
    }
    let restore = |(mut rule, (items, is_core)): (Rule, (BTreeSet<String>, bool))| {
        if is_core {
            rule.groups.clone_from(&core);
        }
        *list(&mut rule) = items;
        rule
    };
    joined.into_iter().map(restore).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_joined_by_each_list_in_turn() {
        let rules = [
            Rule::resources(["apps"], ["deployments", "statefulsets"], ["get"]),
            Rule::resources(["apps"], ["deployments"], ["list"]),
            Rule::resources(["apps"], ["statefulsets"], ["list"]),
            Rule::resources(["extensions"], ["deployments", "statefulsets"], ["get", "list"]),
        ];
        assert_eq!(
            merge_as_controller_gen(rules),
            [Rule::resources(["apps", "extensions"], ["deployments", "statefulsets"], ["get", "list"])]
        );
    }

    #[test]
    fn a_star_replaces_other_verbs_and_nothing_else() {
        let rules = [Rule::resources(["*", "apps"], ["*"], ["get", "*"])];
        assert_eq!(merge_as_controller_gen(rules), [Rule::resources(["*", "apps"], ["*"], ["*"])]);
    }

    #[test]
    fn rules_that_are_implied_stay() {
        let rules =
            [Rule::resources([""], ["pods"], ["get"]).named(["a"]), Rule::resources([""], ["pods"], ["get"])];
        let merged = merge_as_controller_gen(rules.clone());
        assert_eq!(merged, [rules[1].clone(), rules[0].clone()]);
    }

    /// controller-gen gives either `get`, `list` and `watch` or `patch` and `update` here, and loses the others.
    #[test]
    fn verbs_of_rules_that_become_equal_are_kept() {
        let read = ["get", "list", "watch"];
        let write = ["patch", "update"];
        let rules = [
            Rule::resources(["apps"], ["deployments"], read),
            Rule::resources(["extensions"], ["deployments"], read),
            Rule::resources(["apps", "extensions"], ["deployments"], write),
        ];
        let theirs = [read.as_slice(), write.as_slice()]
            .map(|verbs| Rule::resources(["apps", "extensions"], ["deployments"], verbs.iter().copied()));
        let ours = merge_as_controller_gen(rules.clone());
        let [ours] = ours.as_slice() else { panic!("one rule for all: {ours:?}") };
        assert_ne!(*ours, theirs[0]);
        assert_ne!(*ours, theirs[1]);
        assert_eq!(
            *ours,
            Rule::resources(["apps", "extensions"], ["deployments"], read.into_iter().chain(write))
        );
        assert_eq!(super::super::merge(rules), std::slice::from_ref(ours));
    }

    #[test]
    fn a_rule_without_groups_is_joined_with_the_core_group() {
        let groupless = Rule::resources([], ["groupless"], ["get"]);
        let core = Rule::resources([""], ["pods"], ["get"]);
        let both = Rule::resources([""], ["groupless", "pods"], ["get"]);
        assert_eq!(merge_as_controller_gen([groupless.clone(), core]), [both]);
        assert_eq!(merge_as_controller_gen([groupless.clone()]), [groupless], "alone it stays as it is");
    }

    #[test]
    fn the_same_holds_for_urls() {
        let rules =
            [Rule::urls(["/a"], ["get"]), Rule::urls(["/b"], ["get"]), Rule::urls(["/a", "/b"], ["post"])];
        assert_eq!(merge_as_controller_gen(rules), [Rule::urls(["/a", "/b"], ["get", "post"])]);
    }

    #[test]
    fn rules_are_sorted_by_their_lists_joined() {
        let rules = ["batch.io", "", "batch"].map(|group| Rule::resources([group], ["jobs"], [group]));
        let both = Rule::resources(["batch", "cron"], ["jobs"], ["get"]);
        let urls = Rule::urls(["/metrics"], ["get"]);
        let [io, core, batch] = rules.clone();
        let merged = merge_as_controller_gen(rules.into_iter().chain([both.clone(), urls.clone()]));
        assert_eq!(merged, [urls, core, batch, both, io]);
    }
}
