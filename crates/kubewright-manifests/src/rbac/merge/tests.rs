use std::collections::BTreeSet;

use proptest::{prelude::*, sample::subsequence, test_runner::Config};

use super::*;
use crate::rbac::{
    authorizer::{GROUPS, NAMES, RESOURCES, Request, URLS, VERBS, allowed, allowed_set},
    merge_as_controller_gen,
};

/// Some of the items, mostly few.
fn some(items: &'static [&'static str], least: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        6 => subsequence(items, least..=2.min(items.len())),
        1 => subsequence(items, least..=items.len()),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    let resources = (some(GROUPS, 1), some(RESOURCES, 1), some(VERBS, 1))
        .prop_map(|(groups, resources, verbs)| Rule::resources(groups, resources, verbs))
        .boxed();
    prop_oneof![
        4 => resources.clone(),
        2 => (resources.clone(), some(NAMES, 1)).prop_map(|(rule, names)| rule.named(names)),
        2 => (some(URLS, 1), some(VERBS, 1)).prop_map(|(urls, verbs)| Rule::urls(urls, verbs)),
        1 => (resources, some(URLS, 0)).prop_map(|(rule, urls)| {
            Rule { urls: urls.into_iter().map(str::to_owned).collect(), ..rule }
        }),
        1 => (some(GROUPS, 0), some(RESOURCES, 0), some(VERBS, 0))
            .prop_map(|(groups, resources, verbs)| Rule::resources(groups, resources, verbs)),
    ]
}

fn rules(most: usize) -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(rule(), 0..most)
}

/// What must hold for any rules and any limits.
fn check(rules: &[Rule], shuffled: &[Rule], limits: &Limits) -> Vec<Rule> {
    let merged = merge_within(rules.iter().cloned(), limits);
    assert_eq!(allowed_set(rules), allowed_set(&merged), "lossless: {merged:#?}");
    assert_eq!(merged, merge_within(shuffled.iter().cloned(), limits), "the order does not matter");
    assert_eq!(merged, merge_within(merged.iter().cloned(), limits), "merging again changes nothing");
    for (index, rule) in merged.iter().enumerate() {
        let alone = allowed_set(std::slice::from_ref(rule));
        for (other, wider) in merged.iter().enumerate() {
            let implied =
                allowed_set(std::slice::from_ref(wider)).iter().zip(&alone).all(|(wide, own)| *wide || !own);
            assert!(other == index || !implied, "{rule:?} is implied by {wider:?}");
        }
        assert!(rule.urls.is_empty() || rule.resources.is_empty(), "{rule:?} would be refused");
    }
    merged
}

proptest! {
    #![proptest_config(Config::with_cases(100))]

    #[test]
    fn merging_keeps_what_is_allowed(
        (rules, shuffled) in rules(12).prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
    ) {
        let merged = check(&rules, &shuffled, &Limits::DEFAULT);
        let all = allowed_set(&merged);
        // No item of any list can be left out.
        for (index, rule) in merged.iter().enumerate() {
            let lists: [fn(&mut Rule) -> &mut BTreeSet<String>; 5] = [
                |rule| &mut rule.groups, |rule| &mut rule.resources, |rule| &mut rule.resource_names,
                |rule| &mut rule.verbs, |rule| &mut rule.urls,
            ];
            for list in lists {
                for item in list(&mut rule.clone()).clone() {
                    let mut less = merged.clone();
                    list(&mut less[index]).remove(&item);
                    // Without names, the rule would be about all objects.
                    let emptied = rule.resource_names.len() == 1 && less[index].resource_names.is_empty();
                    prop_assert!(emptied || allowed_set(&less) != all, "{item} of {rule:?} is not needed");
                }
            }
        }
    }

    #[test]
    fn merging_what_is_too_entangled_keeps_what_is_allowed(
        (rules, shuffled) in rules(16).prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        primes in 0..6_usize, candidates in 0..40_usize, places in 0..60_usize, steps in 0..3_usize,
    ) {
        check(&rules, &shuffled, &Limits { primes, candidates, places, steps, ..Limits::DEFAULT });
    }

    #[test]
    fn the_steps_of_controller_gen_keep_what_is_allowed(
        (rules, shuffled) in rules(12).prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
    ) {
        // Rules without groups are those that it takes for others.
        let with_groups = |rules: Vec<Rule>| rules.into_iter().filter(|rule| !rule.groups.is_empty() || rule.resources.is_empty());
        let merged = merge_as_controller_gen(with_groups(rules.clone()));
        prop_assert_eq!(allowed_set(&with_groups(rules).collect::<Vec<_>>()), allowed_set(&merged));
        prop_assert_eq!(merged, merge_as_controller_gen(with_groups(shuffled)));
    }

    #[test]
    fn the_result_depends_on_what_is_allowed_alone(rules in rules(8)) {
        // The same said request by request, as far as that can be said.
        let mut verbose = rules.clone();
        for rule in &rules {
            for (resource, verb) in rule.resources.iter().flat_map(|resource| rule.verbs.iter().map(move |verb| (resource, verb))) {
                verbose.push(Rule {
                    resources: [resource.clone()].into(), verbs: [verb.clone()].into(), urls: BTreeSet::new(), ..rule.clone()
                });
            }
        }
        prop_assert_eq!(merge(rules), merge(verbose));
    }
}

/// Every relation of three resources and three verbs: 512 roles.
#[test]
fn no_smaller_set_of_rules_allows_the_same() {
    let resources = ["a", "b", "c"];
    let verbs = ["create", "get", "list"];
    let subset = |items: [&'static str; 3], mask: usize| {
        items.into_iter().enumerate().filter(move |(index, _)| mask >> index & 1 == 1).map(|(_, item)| item)
    };
    // Per product of sets the relation that it is, as a mask of nine bits.
    let products: Vec<usize> = (1..8)
        .flat_map(|rows: usize| (1..8).map(move |columns: usize| (rows, columns)))
        .map(|(rows, columns)| {
            (0..3).filter(|row| rows >> row & 1 == 1).fold(0, |mask, row| mask | columns << (3 * row))
        })
        .collect();
    for relation in 0..512_usize {
        let rules: Vec<_> = (0..3)
            .map(|row| Rule::resources(["g"], [resources[row]], subset(verbs, relation >> (3 * row) & 7)))
            .collect();
        let inside: Vec<_> = products.iter().copied().filter(|product| product & !relation == 0).collect();
        let mut reached = BTreeSet::from([0]);
        let mut fewest = 0;
        while !reached.contains(&relation) {
            reached =
                reached.iter().flat_map(|mask| inside.iter().map(move |product| mask | product)).collect();
            fewest += 1;
        }
        assert_eq!(merge(rules.clone()).len(), fewest, "{rules:#?}");
    }
}

#[test]
fn wide_items_absorb_narrow_ones() {
    let rules = [
        Rule::resources(["*", "apps"], ["pods/status", "*/status"], ["get", "*"]),
        Rule::resources([""], ["nodes/status"], ["get"]).named(["a"]),
        Rule::urls(["/healthz/*", "/healthz/ping", "/metrics"], ["get"]),
        Rule::urls(["*"], ["get"]),
    ];
    assert_eq!(merge(rules), [Rule::urls(["*"], ["get"]), Rule::resources(["*"], ["*/status"], ["*"])]);
}

#[test]
fn a_rule_that_several_others_imply_together_is_dropped() {
    let read = Rule::resources([""], ["pods", "secrets"], ["get"]);
    let write = Rule::resources([""], ["pods"], ["create", "update"]);
    let implied = Rule::resources([""], ["pods"], ["get", "update"]);
    let merged = merge([read, write, implied]);
    assert_eq!(
        merged,
        [
            Rule::resources([""], ["pods"], ["create", "get", "update"]),
            Rule::resources([""], ["secrets"], ["get"]),
        ]
    );
}

#[test]
fn names_are_joined_and_creation_by_name_is_kept_apart() {
    let rules = [
        Rule::resources([""], ["configmaps"], ["get"]).named(["a"]),
        Rule::resources([""], ["configmaps"], ["get"]).named(["b"]),
        Rule::resources([""], ["configmaps"], ["create"]),
    ];
    assert_eq!(
        merge(rules),
        [
            Rule::resources([""], ["configmaps"], ["create"]),
            Rule::resources([""], ["configmaps"], ["get"]).named(["a", "b"]),
        ]
    );
}

#[test]
fn a_slash_star_is_no_wildcard() {
    // The API server reads `pods/*` as a subresource whose name is `*`.
    let rules = [Rule::resources([""], ["pods/*", "pods/log"], ["get"])];
    assert_eq!(merge(rules.clone()), rules);
}

#[test]
fn many_entangled_rules_end() {
    // The complement of a permutation has as many widest products as there are subsets.
    let names: Vec<String> = (0..40).map(|index| format!("r{index:02}")).collect();
    let rules: Vec<_> = (0..40)
        .map(|index| {
            let verbs =
                names.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, name)| name.as_str());
            Rule::resources([""], [names[index].as_str()], verbs)
        })
        .collect();
    let merged = merge(rules.clone());
    assert!(merged.len() <= rules.len());
    assert_eq!(merge(merged.clone()), merged);
    for (resource, verb) in names.iter().flat_map(|resource| names.iter().map(move |verb| (resource, verb))) {
        let request = Request::Resource { verb, group: "", resource, subresource: "", name: "" };
        assert_eq!(allowed(&merged, request), resource != verb, "{verb} {resource}");
    }
}
