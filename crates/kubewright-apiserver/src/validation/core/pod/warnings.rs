//! What is allowed in a pod and still not wise.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_quota::Quantity;
use kubewright_schema::names;
use serde_json::Value;

use super::{annotations, spec::visit_containers};
use crate::validation::{
    Field,
    core::{node_label, volume_claim},
    ip,
};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Annotations that mean nothing any more.
const DEAD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// Types of volumes that are no more, or will not be: the field, the place that is named, and since when.
const DEAD_VOLUMES: [(&str, &str, &str); 9] = [
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// What to warn about the name of a pod, or of what makes pods that are named after it.
pub(super) fn of_name(object: Field<'_>, use_of_it: &str) -> Option<String> {
    let reasons = names::dns1123_label(object.child("metadata").child("name").text());
    (!reasons.is_empty()).then(|| {
        let reasons = reasons.join(" ");
        format!(
            "metadata.name: {use_of_it}, which can result in surprising behavior; a DNS label is recommended: \
             [{reasons}]"
        )
    })
}

pub(super) fn of_pod(pod: Field<'_>) -> Vec<String> {
    Warner { object: pod, is_template: false, warnings: Vec::new() }.warn()
}

pub(super) fn of_template(template: Field<'_>) -> Vec<String> {
    Warner { object: template, is_template: true, warnings: Vec::new() }.warn()
}

struct Warner<'a> {
    /// The pod or the template.
    object: Field<'a>,
    is_template: bool,
    warnings: Vec<String>,
}

impl<'a> Warner<'a> {
    fn at(&mut self, place: Field<'_>, text: impl std::fmt::Display) {
        self.warnings.push(format!("{}: {text}", place.path()));
    }

    fn spec(&self) -> Field<'a> {
        self.object.child("spec")
    }

    fn annotations(&self) -> Field<'a> {
        self.object.child("metadata").child("annotations")
    }

    fn warn(mut self) -> Vec<String> {
        self.node_labels();
        for constraint in self.spec().child("topologySpreadConstraints").items() {
            let key = constraint.child("topologyKey");
            if let Some(text) = node_label::deprecation(key.text()) {
                self.at(key, format_args!("{} is {text}", key.text()));
            }
            self.null_selector(constraint);
        }
        for (key, text) in DEAD_ANNOTATIONS {
            if self.annotations().value().get(key).is_some() {
                self.at(self.annotations().at_key(key), text);
            }
        }
        self.volumes();
        self.duplicates("hostAliases", "ip");
        self.duplicates("imagePullSecrets", "name");
        for secret in self.spec().child("imagePullSecrets").items() {
            if secret.child("name").is_empty() {
                self.at(secret.child("name"), "invalid empty name \"\"");
            }
        }
        self.fractions(self.spec().child("overhead"));
        self.profiles();
        self.ports();
        let seconds = self.spec().child("terminationGracePeriodSeconds");
        if seconds.number() < 0 {
            self.at(seconds, "must be >= 0; negative values are invalid and will be treated as 1");
        }
        self.pod_affinity();
        self.addresses();
        self.warnings
    }

    fn node_labels(&mut self) {
        let labels = self.spec().child("nodeSelector");
        for key in labels.map().into_iter().flat_map(|labels| labels.keys()) {
            if let Some(text) = node_label::deprecation(key) {
                self.at(labels.at_key(key), text);
            }
        }
        let nodes = self.spec().child("affinity").child("nodeAffinity");
        for term in nodes.child(REQUIRED).child("nodeSelectorTerms").items() {
            self.node_selector_term(term, false);
        }
        for term in nodes.child(PREFERRED).items() {
            self.node_selector_term(term.child("preference"), true);
        }
    }

    fn node_selector_term(&mut self, term: Field<'_>, checks_values: bool) {
        for expression in term.child("matchExpressions").items() {
            let key = expression.child("key");
            if let Some(text) = node_label::deprecation(key.text()) {
                self.at(key, format_args!("{} is {text}", key.text()));
            }
            for value in expression.child("values").items().filter(|_| checks_values) {
                for reason in names::label_value(value.text()) {
                    self.at(value, format_args!("{} is invalid, {reason}", value.text()));
                }
            }
        }
    }

    fn null_selector(&mut self, term: Field<'_>) {
        let selector = term.child("labelSelector");
        if !selector.is_set() {
            self.at(selector, "a null labelSelector results in matching no pod");
        }
    }

    fn volumes(&mut self) {
        for volume in self.spec().child("volumes").items() {
            for (field, place, text) in DEAD_VOLUMES {
                if volume.value().get(field).is_some() {
                    self.at(volume.at(place), text);
                }
            }
            let claim = volume.child("ephemeral").child("volumeClaimTemplate").child("spec");
            if claim.is_set() {
                self.warnings.extend(volume_claim::warnings(claim));
            }
        }
        for volume in self.spec().child("volumes").items() {
            self.overlapping_paths(volume);
        }
    }

    /// Two files of a volume with one path, or one within the other.
    fn overlapping_paths(&mut self, volume: Field<'_>) {
        let name = volume.child("name").text();
        let paths = |items: Field<'_>| -> Vec<(String, String)> {
            let items = items.items().map(|item| (item.child("path").text().to_owned(), String::new()));
            items.collect()
        };
        for (field, title, name_field) in
            [("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName"), ("downwardAPI", "", "")]
        {
            let source = volume.child(field);
            let what = match title {
                "" => "DownwardAPI".to_owned(),
                title => format!("{title} {:?}", source.child(name_field).text()),
            };
            for overlap in overlaps(paths(source.child("items"))) {
                self.warnings.push(format!("volume {name:?} ({what}): overlapping paths: {overlap}"));
            }
        }
        let mut files = Vec::new();
        for source in volume.child("projected").child("sources").items() {
            if source.is_empty() {
                self.warnings.push(format!("volume {name:?} (Projected) has no sources provided"));
            } else {
                files.extend(projected_files(source));
            }
        }
        for overlap in overlaps(files) {
            self.warnings.push(format!("volume {name:?} (Projected): overlapping paths: {overlap}"));
        }
    }

    fn duplicates(&mut self, list: &'static str, field: &'static str) {
        let mut seen = BTreeSet::new();
        for item in self.spec().child(list).items() {
            let text = item.child(field).text();
            if !seen.insert(text) {
                self.at(item.child(field), format_args!("duplicate {field} {text:?}"));
            }
        }
    }

    /// Bytes that are no whole number.
    fn fractions(&mut self, amounts: Field<'_>) {
        for name in ["memory", "ephemeral-storage"] {
            if let Some(amount) = amounts.value().get(name)
                && !Quantity::of(amount).is_integer()
            {
                let shown = amount.as_str().unwrap_or_default();
                let text = format_args!("fractional byte value {shown:?} is invalid, must be an integer");
                self.at(amounts.at_key(name), text);
            }
        }
    }

    /// Profiles that stand in annotations alone, and what else there is of each container.
    fn profiles(&mut self) {
        const DEAD: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        let (notes, spec) = (self.annotations(), self.spec());
        let has = |key: &str| notes.value().get(key).is_some();
        let context = spec.child("securityContext");
        if !context.child("seccompProfile").is_set() && has(annotations::SECCOMP_POD) {
            self.at(notes.at_key(annotations::SECCOMP_POD), DEAD);
        }
        visit_containers(spec, |container| {
            let own = container.child("securityContext");
            let name = container.child("name").text();
            let key = format!("{}{name}", annotations::SECCOMP_CONTAINER);
            if !own.child("seccompProfile").is_set() && has(&key) {
                self.at(notes.at_key(&key), DEAD);
            }
            let key = format!("{}{name}", annotations::APP_ARMOR);
            if self.is_template
                && !own.child("appArmorProfile").is_set()
                && let Some(annotation) = notes.value().get(&key).and_then(Value::as_str)
                && annotations::app_armor_profile(annotation).as_ref()
                    != Some(context.child("appArmorProfile").value())
            {
                let text = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
                self.at(notes.at_key(&key), text);
            }
            let resources = container.child("resources");
            for name in ["memory", "ephemeral-storage"] {
                for amounts in [resources.child("limits"), resources.child("requests")] {
                    let only =
                        amounts.value().get(name).map(|amount| Value::from_iter([(name, amount.clone())]));
                    if let Some(only) = only {
                        self.fractions(amounts.with(&only));
                    }
                }
            }
            self.hidden_variables(container.child("env"));
        });
    }

    /// Variables that take the place of others before them, without using them.
    fn hidden_variables(&mut self, variables: Field<'_>) {
        let mut seen = BTreeSet::new();
        for variable in variables.items() {
            let (name, value) = (variable.child("name").text(), variable.child("value").text());
            if seen.insert(name) {
                continue;
            }
            let reference = format!("$({name})");
            if variable.child("valueFrom").is_set() || value == reference || !value.contains(&reference) {
                let text = format_args!(
                    "hides previous definition of {name:?}, which may be dropped when using apply"
                );
                self.at(variable, text);
            }
        }
    }

    fn ports(&mut self) {
        let mut all: Vec<Field<'_>> = Vec::new();
        visit_containers(self.spec(), |container| all.extend(container.child("ports").items()));
        let mut seen: BTreeMap<(i64, &str), Vec<Field<'_>>> = BTreeMap::new();
        for port in &all {
            let of = |port: &Field<'a>| (port.child("hostIP").text(), port.child("hostPort").number());
            let (ip, host_port) = of(port);
            if !ip.is_empty() && host_port == 0 {
                self.at(*port, format_args!("hostIP set without hostPort: {}", go_struct(*port)));
            }
            let key = (port.child("containerPort").number(), port.child("protocol").text());
            let others = seen.entry(key).or_default();
            for other in others.iter() {
                let (other_ip, other_host_port) = of(other);
                let what = if (ip, host_port) == (other_ip, other_host_port) {
                    "duplicate"
                } else if host_port == 0 || other_host_port == 0 {
                    "overlapping"
                } else if host_port == other_host_port && ip.is_empty() != other_ip.is_empty() {
                    "dangerously ambiguous"
                } else {
                    continue;
                };
                let text = format!("{}: {what} port definition with {}", port.path(), other.path());
                self.warnings.push(text);
            }
            others.push(*port);
        }
        let mut names: BTreeMap<&str, Field<'_>> = BTreeMap::new();
        for port in &all {
            let name = port.child("name").text();
            if name.is_empty() {
                continue;
            }
            match names.get(name) {
                None => {
                    names.insert(name, *port);
                }
                Some(other) => {
                    let other = other.path();
                    let text = format_args!(
                        "duplicate port name {name:?} with {other}, services and probes that select ports by name \
                         will use {other}"
                    );
                    self.at(*port, text);
                }
            }
        }
    }

    fn pod_affinity(&mut self) {
        let affinity = self.spec().child("affinity");
        for pods in [affinity.child("podAffinity"), affinity.child("podAntiAffinity")] {
            pods.child(REQUIRED).items().for_each(|term| self.null_selector(term));
            pods.child(PREFERRED).items().for_each(|term| self.null_selector(term.child("podAffinityTerm")));
        }
    }

    fn addresses(&mut self) {
        let servers = self.spec().child("dnsConfig").child("nameservers");
        self.warnings.extend(servers.items().filter_map(ip::ip_warning));
        let aliases = self.spec().child("hostAliases");
        self.warnings.extend(aliases.items().filter_map(|alias| ip::ip_warning(alias.child("ip"))));
    }
}

/// The files that a source of a projected volume makes, each with what it comes from.
fn projected_files(source: Field<'_>) -> Vec<(String, String)> {
    let of_items = |source: Field<'_>, what: &str| -> Vec<(String, String)> {
        let items = source.child("items").items();
        items.map(|item| (item.child("path").text().to_owned(), what.to_owned())).collect()
    };
    let has_items = |kind: &'static str| source.child(kind).child("items").is_set();
    if has_items("configMap") {
        let source = source.child("configMap");
        return of_items(source, &format!("ConfigMap {:?}", source.child("name").text()));
    }
    if has_items("secret") {
        let source = source.child("secret");
        return of_items(source, &format!("Secret {:?}", source.child("name").text()));
    }
    if has_items("downwardAPI") {
        return of_items(source.child("downwardAPI"), "DownwardAPI");
    }
    let (token, bundle, certificate) = (
        source.child("serviceAccountToken"),
        source.child("clusterTrustBundle"),
        source.child("podCertificate"),
    );
    if token.is_set() {
        return vec![(token.child("path").text().to_owned(), "ServiceAccountToken".to_owned())];
    }
    if bundle.is_set() {
        let name =
            if bundle.child("name").is_set() { bundle.child("name") } else { bundle.child("signerName") };
        let what = format!("ClusterTrustBundle {:?}", name.text());
        return vec![(bundle.child("path").text().to_owned(), what)];
    }
    let parts = [
        ("certificateChainPath", "PodCertificate chain"),
        ("keyPath", "PodCertificate key"),
        ("credentialBundlePath", "PodCertificate credential bundle"),
    ];
    let files =
        parts.into_iter().map(|(field, what)| (certificate.child(field).text().to_owned(), what.to_owned()));
    files.filter(|(path, _)| !path.is_empty()).collect()
}

/// The pairs of files of which one is the other or within it.
fn overlaps(files: Vec<(String, String)>) -> Vec<String> {
    let shown = |(path, source): &(String, String)| match source.as_str() {
        "" => format!("{path:?}"),
        source => format!("{path:?} ({source})"),
    };
    let is_within = |path: &str, directory: &str| {
        path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut found = Vec::new();
    let mut seen: Vec<(String, String)> = Vec::new();
    for (path, source) in files {
        let file = (path.trim_end_matches('/').to_owned(), source);
        for other in seen.iter().filter(|other| !other.0.is_empty() && !file.0.is_empty()) {
            if is_within(&file.0, &other.0) || is_within(&other.0, &file.0) {
                found.push(format!("{} with {}", shown(&file), shown(other)));
            }
        }
        seen.push(file);
    }
    found
}

/// A port as Go prints it.
fn go_struct(port: Field<'_>) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        port.child("name").text(),
        port.child("hostPort").number(),
        port.child("containerPort").number(),
        port.child("protocol").text(),
        port.child("hostIP").text()
    )
}
