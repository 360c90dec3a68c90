//! Rules merged into the fewest that allow the same.

mod bits;
mod cover;
mod pairwise;
mod prime;
mod space;
mod term;
#[cfg(test)]
mod tests;

use self::{
    space::{Cube, Space},
    term::Field,
};
use super::Rule;

/// The fewest rules that allow exactly what these allow, in the order in which roles are written.
///
/// A request is allowed by the result if and only if it is allowed by one of the rules given, as kube-apiserver decides
/// it: `*` and `*/subresource` mean there what they mean here. No rule of the result is allowed by another one, none of
/// its items could be left out, and the result depends neither on the order of the rules nor on how often something is
/// said; merging the result again changes nothing. Among equally few rules, those with the shortest lists are chosen, and
/// among these the ones that keep all verbs of a resource together.
///
/// A rule about resources and URLs, which the API server refuses, becomes two. A rule that allows nothing, because
/// it lacks verbs or groups or resources, is left out.
///
/// Finding the fewest takes exponential time in the worst case. Rules that are too entangled for it, which those of no
/// operator are that we know of, are only joined where two differ in one list, and dropped where others imply them.
///
/// ```
/// use kubewright_manifests::rbac::{Rule, merge};
///
/// let rules = [
///     Rule::resources(["apps"], ["deployments"], ["get", "list"]),
///     Rule::resources(["extensions"], ["deployments"], ["get", "list"]),
///     Rule::resources(["apps", "extensions"], ["deployments"], ["patch"]),
/// ];
/// assert_eq!(merge(rules), [Rule::resources(["apps", "extensions"], ["deployments"], ["get", "list", "patch"])]);
/// ```
#[must_use]
pub fn merge(rules: impl IntoIterator<Item = Rule>) -> Vec<Rule> {
    merge_within(rules, &Limits::DEFAULT)
}

/// How much work is done before the rules count as too entangled.
///
/// The limits are counts of what is done, so that the outcome is the same on every machine.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Widest products of one component.
    primes: usize,
    /// Products that may turn out to be widest ones.
    candidates: usize,
    /// Combinations looked at when the places are told apart that must be covered.
    places: usize,
    /// Places that must be covered.
    demands: usize,
    /// Steps of the search for the fewest.
    steps: usize,
    /// Parts into which a product is cut to see whether others contain it.
    parts: usize,
}

impl Limits {
    const DEFAULT: Self =
        Self { primes: 400, candidates: 20_000, places: 200_000, demands: 2_000, steps: 5_000, parts: 500 };
}

fn merge_within(rules: impl IntoIterator<Item = Rule>, limits: &Limits) -> Vec<Rule> {
    let (mut resources, mut urls) = (Vec::new(), Vec::new());
    for rule in rules {
        if !rule.urls.is_empty() {
            urls.push(Rule { urls: rule.urls.clone(), verbs: rule.verbs.clone(), ..Rule::default() });
        }
        resources.push(Rule { urls: Default::default(), ..rule });
    }
    let mut merged =
        merge_fields(&[Field::Resources, Field::Groups, Field::Names, Field::Verbs], resources, limits);
    merged.extend(merge_fields(&[Field::Urls, Field::Verbs], urls, limits));
    sort(&mut merged);
    merged
}

/// Sorts the rules as they are written.
pub(super) fn sort(rules: &mut [Rule]) {
    rules.sort_by_cached_key(|rule| (rule.sort_key(), rule.verbs.clone()));
}

fn merge_fields(fields: &[Field], rules: Vec<Rule>, limits: &Limits) -> Vec<Rule> {
    let merge = |component: Vec<Rule>| match fewest(fields, &component, limits) {
        Some(rules) => stable(fields, rules, limits),
        None => split(fields, joined(fields, &component, limits))
            .into_iter()
            .flat_map(|component| match fewest(fields, &component, limits) {
                Some(rules) => stable(fields, rules, limits),
                None => component,
            })
            .collect(),
    };
    split(fields, rules).into_iter().flat_map(merge).collect()
}

/// Makes sure that merging again gives the same: whether rules are too entangled depends a little on how they are written.
fn stable(fields: &[Field], rules: Vec<Rule>, limits: &Limits) -> Vec<Rule> {
    split(fields, rules)
        .into_iter()
        .flat_map(|component| match fewest(fields, &component, limits) {
            Some(_) => component,
            None => joined(fields, &component, limits),
        })
        .collect()
}

/// The rules that allow something, in groups that have nothing to do with each other.
fn split(fields: &[Field], mut rules: Vec<Rule>) -> Vec<Vec<Rule>> {
    rules.sort_unstable();
    rules.dedup();
    let space = Space::new(fields, &rules);
    let (rules, cubes): (Vec<_>, Vec<_>) =
        rules.into_iter().filter_map(|rule| space.cube(&rule).map(|cube| (rule, cube))).unzip();
    let components = prime::components(&cubes).into_iter();
    components
        .map(|component| component.into_iter().filter_map(|index| rules.get(index).cloned()).collect())
        .collect()
}

/// The fewest rules for one component; none if it is too entangled.
fn fewest(fields: &[Field], rules: &[Rule], limits: &Limits) -> Option<Vec<Rule>> {
    let space = Space::new(fields, rules);
    let cubes: Vec<_> = rules.iter().filter_map(|rule| space.cube(rule)).collect();
    let mut primes = prime::primes(&cubes, limits)?;
    primes.sort_by_cached_key(|prime| space.rule(prime));
    let mut merged = Vec::new();
    for component in prime::components(&primes) {
        let primes: Vec<Cube> =
            component.into_iter().filter_map(|index| primes.get(index).cloned()).collect();
        let chosen = cover::fewest(&space, &primes, limits)?;
        let mut cubes: Vec<_> = chosen.into_iter().filter_map(|index| primes.get(index).cloned()).collect();
        cover::narrow(&space, &mut cubes, limits);
        merged.extend(cubes.iter().map(|cube| space.rule(cube)));
    }
    Some(merged)
}

/// Fewer rules, for what is too entangled.
fn joined(fields: &[Field], rules: &[Rule], limits: &Limits) -> Vec<Rule> {
    let space = Space::new(fields, rules);
    let mut cubes: Vec<_> = rules.iter().filter_map(|rule| space.cube(rule)).collect();
    pairwise::join(&mut cubes, limits);
    cubes.iter().map(|cube| space.rule(cube)).collect()
}
