//! No rules make the merge lose or add a permission, and it depends neither on their order nor on being done before.
#![no_main]

use kubewright_manifests::rbac::{Rule, merge};

#[path = "../../crates/kubewright-manifests/src/rbac/authorizer.rs"]
#[allow(dead_code, missing_docs, unreachable_pub)]
mod authorizer;

use authorizer::{GROUPS, NAMES, RESOURCES, URLS, VERBS, allowed_set};

/// The items whose bits are set.
fn some<'a>(items: &'a [&'a str], bits: u16) -> impl Iterator<Item = &'a str> {
    items.iter().enumerate().filter(move |(index, _)| bits >> index & 1 == 1).map(|(_, item)| *item)
}

/// A rule of six bytes.
fn rule(bytes: &[u8; 6]) -> Rule {
    let [verbs, groups, names, resources, more_resources, urls] = bytes.map(u16::from);
    let mut rule = Rule::resources(
        some(GROUPS, groups),
        some(RESOURCES, resources | more_resources << 8),
        some(VERBS, verbs),
    );
    rule = rule.named(some(NAMES, names));
    rule.urls = some(URLS, urls).map(str::to_owned).collect();
    rule
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (chunks, _) = bytes.as_chunks::<6>();
    let mut rules: Vec<Rule> = chunks.iter().take(40).map(rule).collect();
    let merged = merge(rules.iter().cloned());
    assert_eq!(allowed_set(&rules), allowed_set(&merged));
    assert_eq!(merge(merged.iter().cloned()), merged);
    rules.reverse();
    assert_eq!(merge(rules), merged);
});
