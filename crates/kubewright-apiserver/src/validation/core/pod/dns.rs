//! What a pod is called and how it finds others by their names.

use kubewright_schema::names;

use crate::validation::{Field, ip};

const NAMESERVERS: usize = 3;
const SEARCH_PATHS: usize = 32;
const SEARCH_CHARACTERS: usize = 2048;
const HOSTNAME_LENGTH: usize = 64;

pub(super) fn validate_policy(policy: Field<'_>) {
    if policy.require() {
        policy.one_of(&["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    }
}

pub(super) fn validate_config(config: Field<'_>, policy: &str) {
    let servers = config.child("nameservers");
    if policy == "None" {
        if !config.is_set() {
            return config.required("must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return servers.required(detail);
        }
    }
    if servers.len() > NAMESERVERS {
        let detail = format!("must not have more than {NAMESERVERS} nameservers");
        servers.invalid(servers.value().clone(), detail);
    }
    servers.items().for_each(ip::validate_ip);
    let searches = config.child("searches");
    if searches.len() > SEARCH_PATHS {
        let detail = format!("must not have more than {SEARCH_PATHS} search paths");
        searches.invalid(searches.value().clone(), detail);
    }
    // With a space between two.
    let length: usize = searches.items().map(|search| search.text().len() + 1).sum();
    if length > SEARCH_CHARACTERS + 1 {
        let detail = format!(
            "must not have more than {SEARCH_CHARACTERS} characters (including spaces) in the search list"
        );
        searches.invalid(searches.value().clone(), detail);
    }
    for search in searches.items().filter(|search| search.text() != ".") {
        let domain = search.text().strip_suffix('.').unwrap_or(search.text());
        for reason in names::dns1123_subdomain_with_underscore(domain) {
            search.invalid(domain, reason);
        }
    }
    for option in config.child("options").items() {
        if option.child("name").is_empty() {
            option.required("must not be empty");
        }
    }
}

pub(super) fn validate_hostname_override(spec: Field<'_>) {
    let name = spec.child("hostnameOverride");
    if !name.is_set() {
        return;
    }
    if spec.child("setHostnameAsFQDN").is_true() {
        name.forbidden("may not be specified when setHostnameAsFQDN is true");
    }
    if spec.child("hostNetwork").is_true() {
        name.forbidden("may not be specified when hostNetwork is true");
    }
    if name.text().len() > HOSTNAME_LENGTH {
        name.too_long(64);
    }
    name.check(names::dns1123_subdomain);
}

pub(super) fn validate_host_aliases(aliases: Field<'_>) {
    for alias in aliases.items() {
        ip::validate_ip(alias.child("ip"));
        alias.child("hostnames").items().for_each(|name| name.check(names::dns1123_subdomain));
    }
}
