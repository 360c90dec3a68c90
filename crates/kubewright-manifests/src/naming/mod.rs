//! Plural names.
//!
//! The plural of a kind is part of its CRD's name and of the URL of every object, so it must not depend on the tool
//! that writes the CRD. [`plural`] follows the rules of gobuffalo/flect 1.0.3, which controller-gen and Kubebuilder
//! use; kube's derive has rules of its own, which agree for most names.

mod acronyms;
mod endings;
mod words;

use std::borrow::Cow;

use self::{acronyms::ACRONYMS, endings::ENDINGS, words::WORDS};

/// The plural name that controller-gen gives to `kind`, in lower case. An empty kind has an empty plural.
///
/// Only the last part of the kind is changed: parts begin where a capital follows a lower case letter or an
/// abbreviation such as `DNS`. A plural that is recognised as one is left alone. The result may be odd (`Octopus` gives
/// `octupuses`, and a part that spells an abbreviation in another case, as in `MyDns`, is doubled); name the plural
/// where it matters, by `+kubebuilder:resource:path=` or kube's `plural`.
///
/// ```
/// use kubewright_manifests::naming::plural;
///
/// assert_eq!(plural("Memcached"), "memcacheds");
/// assert_eq!(plural("NetworkPolicy"), "networkpolicies");
/// assert_eq!(plural("Index"), "indices");
/// assert_eq!(plural("DNS"), "dnses");
/// ```
#[must_use]
pub fn plural(kind: &str) -> String {
    pluralize(kind).to_lowercase()
}

fn pluralize(kind: &str) -> Cow<'_, str> {
    let part = last_part(kind);
    if part.is_empty() {
        return Cow::Borrowed("");
    }
    if let Some(word) = WORDS.iter().find(|word| word.singular == kind) {
        return Cow::Borrowed(word.plural);
    }
    let lower = part.to_lowercase();
    if is_plural(kind) || is_plural(&lower) {
        return Cow::Borrowed(kind);
    }
    let with_part = |part_plural: &str| {
        let before = kind.strip_suffix(part.as_ref()).unwrap_or(kind);
        Cow::Owned(format!("{before}{part_plural}"))
    };
    if let Some(word) = WORDS.iter().find(|word| word.singular == lower) {
        return with_part(word.plural);
    }
    let compounds = WORDS.iter().rev().filter(|word| !word.exact).map(|word| (word.singular, word.plural));
    for (singular, plural) in compounds.chain(ENDINGS.iter().copied()) {
        if part.ends_with(plural) {
            return with_part(&part);
        }
        if let Some(stem) = part.strip_suffix(singular) {
            return with_part(&format!("{stem}{plural}"));
        }
    }
    if lower.ends_with('s') { Cow::Borrowed(kind) } else { Cow::Owned(format!("{kind}s")) }
}

fn is_plural(word: &str) -> bool {
    WORDS.iter().any(|known| !known.one_way && (known.plural == word || known.alternative == Some(word)))
}

/// The last part of a kind. An abbreviation comes in upper case however it is written.
///
/// A kind has letters and digits; other characters are taken for letters.
fn last_part(kind: &str) -> Cow<'_, str> {
    if is_acronym(kind) {
        return Cow::Owned(kind.to_uppercase());
    }
    let mut start = 0;
    let mut previous_is_upper = false;
    for (at, character) in kind.char_indices() {
        let upper = character.is_uppercase();
        if upper && (!previous_is_upper || is_acronym(kind.get(start..at).unwrap_or_default())) {
            start = at;
        }
        previous_is_upper = upper;
    }
    let part = kind.get(start..).unwrap_or_default();
    if is_acronym(part) { Cow::Owned(part.to_uppercase()) } else { Cow::Borrowed(part) }
}

fn is_acronym(part: &str) -> bool {
    ACRONYMS.binary_search(&part.to_uppercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_of_well_known_kinds() {
        for (kind, expected) in [
            ("Policy", "policies"),
            ("Index", "indices"),
            ("Status", "statuses"),
            ("Metadata", "metadata"),
            ("Redis", "redis"),
            ("Quota", "quotas"),
            ("TestQuota", "testquotas"),
            ("DNS", "dnses"),
            ("Trino", "trinoes"),
            ("Octopus", "octupuses"),
            ("Ingress", "ingresses"),
            ("Gateway", "gateways"),
            ("GatewayClass", "gatewayclasses"),
            ("HTTPRoute", "httproutes"),
            ("Endpoints", "endpoints"),
            ("Proxy", "proxies"),
            ("Kafka", "kafkas"),
            ("Prometheus", "prometheuses"),
            ("Alertmanager", "alertmanagers"),
            ("Series", "series"),
            ("RedisCluster", "redisclusters"),
            ("Box", "boxes"),
            ("Match", "matches"),
            ("Person", "people"),
            ("Woman", "women"),
            ("Analysis", "analyses"),
            ("VPC", "vpcs"),
        ] {
            assert_eq!(plural(kind), expected, "{kind}");
        }
    }

    #[test]
    fn abbreviations_in_another_case_are_doubled_as_controller_gen_does() {
        assert_eq!(plural("Dns"), "dnsdnses");
        assert_eq!(plural("MyDns"), "mydnsdnses");
        assert_eq!(plural("MyDNS"), "mydnses");
    }

    #[test]
    fn names_at_the_edge() {
        assert_eq!(plural(""), "");
        assert_eq!(plural("S"), "ses");
        assert_eq!(plural("ID"), "ids");
        assert_eq!(plural("é"), "és");
    }

    #[test]
    fn abbreviations_are_sorted_for_the_search() {
        assert!(ACRONYMS.is_sorted());
    }
}
