//! What is wrong with permissions.

use std::collections::BTreeSet;

use super::Rule;
use crate::{
    Style,
    diagnostic::{Diagnostic, Place},
    findings::{Findings, Part, fault},
    marker::nearest::nearest,
};

/// The verbs of requests for resources, and those that Kubernetes asks about beyond requests.
const VERBS: &[&str] = &[
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "use",
    "bind",
    "escalate",
    "impersonate",
    "approve",
    "sign",
    "attest",
    "*",
];

/// The verbs of requests for URLs: the methods of HTTP.
const METHODS: &[&str] = &["get", "head", "post", "put", "patch", "delete", "options", "*"];

/// Checks one marker, whose rule this is.
pub(super) fn rule(rule: &Rule, findings: &mut Findings<'_>) {
    completeness(rule, findings);
    urls(rule, findings);
    verbs(rule, findings);
    resources(rule, findings);
    names(rule, findings);
    role(findings);
}

/// Checks the name of the roles that no marker names.
pub(super) fn role_name(name: &str, style: Style, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(reason) = wrong_role_name(name) {
        diagnostics.push(Diagnostic {
            severity: fault(style),
            code: "rbac-role-name".to_owned(),
            message: format!("`{name}` is no name for a role: {reason}"),
            place: Place::Document {
                document: format!("ClusterRole {name}"),
                path: "metadata.name".to_owned(),
            },
            help: Vec::new(),
        });
    }
}

fn completeness(rule: &Rule, findings: &mut Findings<'_>) {
    if rule.verbs.is_empty() {
        findings.fault(
            "rbac-no-verbs",
            "verbs",
            "the rule has no verbs, so it allows nothing",
            "name some, as `verbs=get;list;watch`",
        );
    }
    if rule.resources.is_empty() && rule.urls.is_empty() {
        findings.fault(
            "rbac-no-resources",
            Part::Marker,
            "the rule has neither resources nor URLs, so it allows nothing",
            "name some, as `resources=deployments`",
        );
    }
    if rule.groups.is_empty() && !rule.resources.is_empty() {
        findings.fault(
            "rbac-no-groups",
            "resources",
            "the rule has no groups, so its resources are those of none",
            "add `groups=`; `core` is the group of pods and services",
        );
    }
    let lists = [
        ("resources", &rule.resources),
        ("resourceNames", &rule.resource_names),
        ("verbs", &rule.verbs),
        ("urls", &rule.urls),
    ];
    for (name, _) in lists.into_iter().filter(|(_, list)| list.contains("")) {
        findings.fault("rbac-empty-item", name, format!("one of the `{name}` is empty"), "remove it");
    }
}

fn urls(rule: &Rule, findings: &mut Findings<'_>) {
    if rule.urls.is_empty() {
        return;
    }
    if findings.marker.text_of("namespace").is_some_and(|namespace| !namespace.is_empty()) {
        findings.fault(
            "rbac-urls-in-namespace",
            "urls",
            "URLs are in no namespace, and the API server refuses a Role with some",
            "move them to a marker without `namespace`",
        );
    }
    if !(rule.groups.is_empty() && rule.resources.is_empty() && rule.resource_names.is_empty()) {
        let outcome = match findings.style {
            Style::Kubewright => "is split in two",
            Style::ControllerGen => "is refused by the API server",
        };
        findings.warning(
            "rbac-mixed-rule",
            "urls",
            format!("a rule is either about URLs or about resources; this one {outcome}"),
            "write two markers",
        );
    }
    for url in rule.urls.iter().filter(|url| !url.is_empty()) {
        if !url.starts_with('/') && url != "*" {
            let help = format!("write `/{}`", url.trim_start_matches('/'));
            findings.warning(
                "rbac-url",
                Part::Item("urls", url),
                format!("no path of a request is `{url}`: all begin with `/`"),
                &help,
            );
        } else if url.trim_end_matches('*').contains('*') {
            findings.warning(
                "rbac-url",
                Part::Item("urls", url),
                format!("a `*` stands for anything only at the end, and in `{url}` for itself"),
                "",
            );
        }
    }
}

fn verbs(rule: &Rule, findings: &mut Findings<'_>) {
    let known: BTreeSet<&str> = match (rule.resources.is_empty(), rule.urls.is_empty()) {
        (false, true) => VERBS.iter().copied().collect(),
        (true, false) => METHODS.iter().copied().collect(),
        _ => VERBS.iter().chain(METHODS).copied().collect(),
    };
    for verb in rule.verbs.iter().filter(|verb| !verb.is_empty()) {
        // Verbs with a colon, as in `impersonate:user-info`, are made of parts.
        if known.contains(verb.as_str()) || verb.contains(':') {
            continue;
        }
        let help = nearest(verb, known.iter().copied()).map(|right| format!("write `{right}`"));
        let help = help
            .unwrap_or_else(|| "the API server asks about such a verb only if an extension does".to_owned());
        findings.warning(
            "rbac-unknown-verb",
            Part::Item("verbs", verb),
            format!("Kubernetes has no verb `{verb}`"),
            &help,
        );
    }
}

fn resources(rule: &Rule, findings: &mut Findings<'_>) {
    for resource in &rule.resources {
        if resource.ends_with("/*") {
            findings.warning(
                "rbac-subresource",
                Part::Item("resources", resource),
                format!("`{resource}` is the subresource named `*`, not all subresources"),
                "name them, or write `*` for all resources with their subresources",
            );
        } else if resource.contains(|c: char| c.is_ascii_uppercase()) {
            findings.warning(
                "rbac-resource",
                Part::Item("resources", resource),
                format!("no resource is `{resource}`: they are plural and in lower case"),
                "write the plural name, as `deployments`, not the kind",
            );
        }
    }
    for group in &rule.groups {
        if let Some((name, _)) = group.split_once('/') {
            findings.warning(
                "rbac-group",
                Part::Item("groups", group),
                format!("no group is `{group}`: permissions are for all versions of a group"),
                &format!("write `{name}`"),
            );
        }
    }
}

fn names(rule: &Rule, findings: &mut Findings<'_>) {
    if rule.resource_names.is_empty() {
        return;
    }
    let of_collections = rule.resources.iter().any(|resource| !resource.contains('/'));
    // The server takes the name from the path, or from a field selector.
    for (verb, effect) in [
        ("create", "does not tell a name, so this allows none"),
        (
            "deletecollection",
            "tells a name only by the field selector `metadata.name`, so this allows no other",
        ),
    ] {
        if of_collections && rule.verbs.contains(verb) {
            findings.warning(
                "rbac-nameless-verb",
                Part::Item("verbs", verb),
                format!("a request to {verb} {effect}"),
                &format!("put `{verb}` in a marker without `resourceNames`"),
            );
        }
    }
}

fn role(findings: &mut Findings<'_>) {
    if let Some(name) = findings.marker.text_of("roleName").filter(|name| !name.is_empty())
        && let Some(reason) = wrong_role_name(name)
    {
        findings.fault(
            "rbac-role-name",
            "roleName",
            format!("`{name}` is no name for a role: {reason}"),
            "rename it",
        );
    }
    if let Some(namespace) = findings.marker.text_of("namespace").filter(|namespace| !namespace.is_empty())
        && let Some(reason) = wrong_namespace(namespace)
    {
        let message = format!("`{namespace}` is no name for a namespace: {reason}");
        findings.fault("rbac-namespace", "namespace", message, "rename it");
    }
}

#[cfg(feature = "check")]
fn wrong_role_name(name: &str) -> Option<String> {
    kubewright_schema::names::path_segment_name(name).into_iter().next()
}

#[cfg(feature = "check")]
fn wrong_namespace(name: &str) -> Option<String> {
    kubewright_schema::names::dns1123_label(name).into_iter().next()
}

#[cfg(not(feature = "check"))]
fn wrong_role_name(_: &str) -> Option<String> {
    None
}

#[cfg(not(feature = "check"))]
fn wrong_namespace(_: &str) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        diagnostic::Severity,
        marker::{Target, parse},
        rbac::{Options, documents},
    };

    /// Code, severity, and the text at the place of everything found.
    fn check(arguments: &str, style: Style) -> Vec<(String, Severity, String)> {
        let text = format!("+kubebuilder:rbac:{arguments}");
        let file = format!("/// {text}\n");
        let marker = parse(&text, &[Target::Package]).unwrap();
        let place = Place::File { file: "src/a.rs".into(), range: 4..4 + text.len() };
        let found = documents([(&marker, place)], &Options::new("manager-role").style(style)).diagnostics;
        found
            .into_iter()
            .map(|found| {
                let Place::File { range, .. } = found.place else { panic!("{:?}", found.place) };
                (found.code, found.severity, file[range].to_owned())
            })
            .collect()
    }

    fn one(arguments: &str) -> (String, Severity, String) {
        let found = check(arguments, Style::Kubewright);
        let [one] = found.as_slice() else { panic!("{found:?}") };
        one.clone()
    }

    fn found(code: &str, severity: Severity, text: &str) -> (String, Severity, String) {
        (code.to_owned(), severity, text.to_owned())
    }

    #[test]
    fn nothing_is_wrong_with_usual_rules() {
        for arguments in [
            "groups=apps,resources=deployments;deployments/status;*/scale,verbs=get;list;watch",
            "groups=core;\"\",resources=secrets,resourceNames=a,verbs=get;list;watch",
            "groups=\"\",resources=serviceaccounts/token,resourceNames=a,verbs=create",
            "urls=/metrics;/healthz/*;*,verbs=get;post",
            "groups=*,resources=*,verbs=*,namespace=here,roleName=system:here",
            "groups=certificates.k8s.io,resources=signers,verbs=approve;sign",
            "groups=authentication.k8s.io,resources=users,verbs=impersonate:user-info",
        ] {
            assert_eq!(check(arguments, Style::Kubewright), [], "{arguments}");
        }
    }

    #[test]
    fn what_the_server_refuses_is_an_error_in_our_style_only() {
        let cases = [
            ("urls=/metrics,verbs=get,namespace=here", "rbac-urls-in-namespace", "/metrics"),
            ("groups=apps,resources=deployments,verbs={}", "rbac-no-verbs", "{}"),
            ("groups=apps,verbs=get", "rbac-no-resources", "+kubebuilder:rbac:groups=apps,verbs=get"),
            ("resources=pods,verbs=get", "rbac-no-groups", "pods"),
            ("groups=apps,resources=deployments;\"\",verbs=get", "rbac-empty-item", "deployments;\"\""),
        ];
        for (arguments, code, text) in cases {
            assert_eq!(one(arguments), found(code, Severity::Error, text));
            assert_eq!(check(arguments, Style::ControllerGen), [found(code, Severity::Warning, text)]);
        }
    }

    #[test]
    fn what_does_not_do_what_it_seems_to_is_warned_about() {
        let cases = [
            ("groups=apps,resources=deployments,urls=/metrics,verbs=get", "rbac-mixed-rule", "/metrics"),
            ("groups=apps,resources=deployments,verbs=get;lsit", "rbac-unknown-verb", "lsit"),
            ("groups=apps,resources=deployments,verbs=GET", "rbac-unknown-verb", "GET"),
            ("urls=/metrics,verbs=list", "rbac-unknown-verb", "list"),
            ("groups=\"\",resources=pods/*,verbs=get", "rbac-subresource", "pods/*"),
            ("groups=apps,resources=Deployment,verbs=get", "rbac-resource", "Deployment"),
            ("groups=apps/v1,resources=deployments,verbs=get", "rbac-group", "apps/v1"),
            ("groups=\"\",resources=pods,resourceNames=a,verbs=get;create", "rbac-nameless-verb", "create"),
            (
                "groups=\"\",resources=pods,resourceNames=a,verbs=deletecollection",
                "rbac-nameless-verb",
                "deletecollection",
            ),
            ("urls=metrics,verbs=get", "rbac-url", "metrics"),
            ("urls=/a;/a/*/b,verbs=get", "rbac-url", "/a/*/b"),
        ];
        for (arguments, code, text) in cases {
            assert_eq!(one(arguments), found(code, Severity::Warning, text));
        }
    }

    #[test]
    fn the_right_verb_is_told() {
        let marker = parse("+kubebuilder:rbac:groups=a,resources=b,verbs=wacth", &[Target::Package]).unwrap();
        let place = Place::File { file: "a".into(), range: 0..9 };
        let found = documents([(&marker, place)], &Options::new("r")).diagnostics;
        assert_eq!(found[0].help, ["write `watch`"]);
    }

    #[cfg(feature = "check")]
    #[test]
    fn names_are_checked_as_the_server_does() {
        let rule = "groups=a,resources=b,verbs=get";
        assert_eq!(one(&format!("{rule},roleName=a/b")), found("rbac-role-name", Severity::Error, "a/b"));
        assert_eq!(one(&format!("{rule},namespace=Here")), found("rbac-namespace", Severity::Error, "Here"));
        let marker = parse(&format!("+kubebuilder:rbac:{rule}"), &[Target::Package]).unwrap();
        let place = Place::File { file: "a".into(), range: 0..9 };
        assert!(documents([(&marker, place)], &Options::new("..")).has_errors());
    }
}
