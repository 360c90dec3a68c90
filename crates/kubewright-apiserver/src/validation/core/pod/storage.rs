//! Volumes that are somewhere in the network, or of a vendor.

use kubewright_schema::names;

use crate::validation::{Field, file_path};

pub(in crate::validation) fn validate_git_repo(source: Field<'_>) {
    source.child("repository").require();
    file_path::validate_descending(source.child("directory"));
}

pub(in crate::validation) fn validate_gce_persistent_disk(source: Field<'_>) {
    source.child("pdName").require();
    validate_partition(source.child("partition"));
}

pub(in crate::validation) fn validate_aws_elastic_block_store(source: Field<'_>) {
    source.child("volumeID").require();
    validate_partition(source.child("partition"));
}

fn validate_partition(partition: Field<'_>) {
    if let Some(number) = partition.int().filter(|number| !(0..=255).contains(number)) {
        partition.invalid(number, "must be between 1 and 255, inclusive");
    }
}

pub(in crate::validation) fn validate_nfs(source: Field<'_>) {
    source.child("server").require();
    let path = source.child("path");
    path.require();
    if !path.text().starts_with('/') {
        path.invalid(path.text(), "must be an absolute path");
    }
}

pub(in crate::validation) fn validate_iscsi(source: Field<'_>) {
    validate_iscsi_with(source, "must be valid format starting with iqn, eui, or naa");
}

/// Checks an iSCSI volume. `form` says what is wrong with a name that begins with something unknown.
pub(in crate::validation) fn validate_iscsi_with(source: Field<'_>, form: &str) {
    source.child("targetPortal").require();
    let target = source.child("iqn");
    if target.require() {
        validate_iscsi_name(target, target, form);
    }
    let lun = source.child("lun");
    lun.with(&lun.number().into()).in_range(0..=255);
    let authenticates =
        source.child("chapAuthDiscovery").is_true() || source.child("chapAuthSession").is_true();
    if authenticates && !source.child("secretRef").is_set() {
        source.child("secretRef").required("");
    }
    let initiator = source.child("initiatorName");
    if initiator.is_set() {
        validate_iscsi_name(initiator, source.at("initiatorname"), form);
    }
}

/// Checks the name of a node in a storage network, which is of one of three formats.
fn validate_iscsi_name(name: Field<'_>, place: Field<'_>, form: &str) {
    let text = name.text();
    let is_alphanumeric = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    // One character, whatever it is, stands after the prefix.
    let after = |prefix: &str| {
        let mut rest = text.strip_prefix(prefix)?.chars();
        rest.next().filter(|c| *c != '\n').map(|_| rest.as_str())
    };
    let is_valid = match text.get(..3) {
        Some("iqn") => is_qualified_iscsi_name(text),
        Some("eui") => after("eui").is_some_and(|rest| is_alphanumeric(rest, 16)),
        Some("naa") => after("naa").is_some_and(|rest| is_alphanumeric(rest, 32)),
        _ => return place.invalid(text, form),
    };
    if !is_valid {
        place.invalid(text, "must be valid format");
    }
}

/// `iqn.yyyy-mm.reversed-domain:name`. It may stand anywhere at the end of the text.
fn is_qualified_iscsi_name(text: &str) -> bool {
    let is_date = |date: &str| {
        let date = date.as_bytes();
        date.len() == 8
            && date.iter().enumerate().all(|(index, byte)| match index {
                4 => *byte == b'-',
                7 => *byte == b'.',
                _ => byte.is_ascii_digit(),
            })
    };
    let is_rest = |rest: &str| {
        rest.match_indices(':').any(|(colon, _)| {
            let (domain, name) = rest.split_at(colon);
            let name = name.get(1..).unwrap_or_default();
            !domain.is_empty()
                && domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
                && !name.is_empty()
                && !name.contains(|c: char| ",;*&$|\t\n\u{c}\r ".contains(c))
        })
    };
    text.match_indices("iqn.").any(|(start, prefix)| {
        let rest = text.get(start + prefix.len()..).unwrap_or_default();
        rest.get(..8).is_some_and(is_date) && rest.get(8..).is_some_and(is_rest)
    })
}

pub(in crate::validation) fn validate_glusterfs(source: Field<'_>) {
    source.child("endpoints").require();
    source.child("path").require();
}

pub(in crate::validation) fn validate_flocker(source: Field<'_>) {
    let (name, uuid) = (source.child("datasetName"), source.child("datasetUUID"));
    match (name.is_empty(), uuid.is_empty()) {
        (true, true) => source.required("one of datasetName and datasetUUID is required"),
        (false, false) => {
            source.invalid("resource", "datasetName and datasetUUID can not be specified simultaneously");
        }
        _ => {}
    }
    if name.text().contains('/') {
        name.invalid(name.text(), "must not contain '/'");
    }
}

pub(in crate::validation) fn validate_rbd(source: Field<'_>) {
    if source.child("monitors").is_empty() {
        source.child("monitors").required("");
    }
    source.child("image").require();
}

pub(in crate::validation) fn validate_cinder(source: Field<'_>) {
    source.child("volumeID").require();
    validate_secret_reference(source.child("secretRef"));
}

/// Checks that a reference to a Secret, if there is one, has its name.
fn validate_secret_reference(reference: Field<'_>) {
    if reference.is_set() {
        reference.child("name").require();
    }
}

pub(in crate::validation) fn validate_cephfs(source: Field<'_>) {
    if source.child("monitors").is_empty() {
        source.child("monitors").required("");
    }
}

pub(in crate::validation) fn validate_quobyte(source: Field<'_>) {
    const DETAIL: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = source.child("registry");
    if registry.require_or(DETAIL) {
        if source.child("tenant").text().len() >= 65 {
            let detail = "must be a UUID and may not exceed a length of 64 characters";
            source.child("tenant").required(detail);
        } else {
            for _ in registry.text().split(',').filter(|pair| !is_host_and_port(pair)) {
                registry.invalid(registry.text(), DETAIL);
            }
        }
    }
    source.child("volume").require();
}

/// Whether a text is `host:port` or `[host]:port`; what the two are does not matter.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let host = match host.strip_prefix('[') {
        Some(host) => match host.strip_suffix(']') {
            Some(host) => host,
            None => return false,
        },
        None if host.contains(':') => return false,
        None => host,
    };
    !host.contains(['[', ']']) && !port.contains(['[', ']'])
}

pub(in crate::validation) fn validate_fibre_channel(source: Field<'_>) {
    let (targets, ids, lun) = (source.child("targetWWNs"), source.child("wwids"), source.child("lun"));
    if targets.is_empty() && ids.is_empty() {
        targets.required("must specify either targetWWNs or wwids, but not both");
    }
    if !targets.is_empty() && !ids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        targets.invalid(targets.value().clone(), detail);
    }
    if !targets.is_empty() {
        if lun.is_set() {
            lun.in_range(0..=255);
        } else {
            lun.required("lun is required if targetWWNs is specified");
        }
    }
}

pub(in crate::validation) fn validate_flex_volume(source: Field<'_>) {
    source.child("driver").require();
    for (key, option) in source.child("options").entries() {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace).to_lowercase();
        let is_within = |domain: &str| {
            namespace.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if is_within("kubernetes.io") || is_within("k8s.io") {
            option.invalid(key, "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

pub(in crate::validation) fn validate_azure_file(source: Field<'_>) {
    source.child("secretName").require();
    source.child("shareName").require();
}

pub(in crate::validation) fn validate_vsphere(source: Field<'_>) {
    source.child("volumePath").require();
}

pub(in crate::validation) fn validate_photon(source: Field<'_>) {
    source.child("pdID").require();
}

pub(in crate::validation) fn validate_portworx(source: Field<'_>) {
    source.child("volumeID").require();
}

pub(in crate::validation) fn validate_azure_disk(source: Field<'_>) {
    source.child("diskName").require();
    let uri = source.child("diskURI");
    uri.require();
    let (caching, kind) = (source.child("cachingMode"), source.child("kind"));
    if caching.is_set() {
        caching.one_of(&["None", "ReadOnly", "ReadWrite"]);
    }
    if !kind.is_set() {
        return;
    }
    kind.one_of(&["Dedicated", "Managed", "Shared"]);
    let (start, supported) = if kind.text() == "Managed" {
        let disk =
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
        ("/subscriptions/", disk)
    } else {
        ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
    };
    if !uri.text().starts_with(start) {
        uri.not_supported(uri.text(), &[supported]);
    }
}

pub(in crate::validation) fn validate_storage_os(source: Field<'_>) {
    let (name, namespace) = (source.child("volumeName"), source.child("volumeNamespace"));
    if name.require() {
        name.check(names::dns1123_label);
    }
    if !namespace.is_empty() {
        namespace.check(names::dns1123_label);
    }
    validate_secret_reference(source.child("secretRef"));
}

pub(in crate::validation) fn validate_scale_io(source: Field<'_>) {
    for field in ["gateway", "system", "volumeName"] {
        source.child(field).require();
    }
}

pub(in crate::validation) fn validate_csi(source: Field<'_>) {
    let driver = source.child("driver");
    validate_csi_driver_name(driver);
    let secret = source.child("nodePublishSecretRef");
    if secret.is_set() && secret.child("name").require() {
        let name = secret.child("name").text();
        for reason in names::dns1123_subdomain(name) {
            source.at("name").invalid(name, reason);
        }
    }
}

/// Checks the name of a CSI driver, whose case does not matter.
pub(crate) fn validate_csi_driver_name(driver: Field<'_>) {
    if !driver.require() {
        return;
    }
    if driver.text().len() > 63 {
        driver.too_long(63);
    }
    for reason in names::dns1123_subdomain(&driver.text().to_lowercase()) {
        driver.invalid(driver.text(), reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports() {
        for text in ["a:1", ":1", "a:", "[::1]:1"] {
            assert!(is_host_and_port(text), "{text}");
        }
        for text in ["a", "::1:1", "[a:1", "a]:1"] {
            assert!(!is_host_and_port(text), "{text}");
        }
    }

    #[test]
    fn qualified_iscsi_names() {
        assert!(is_qualified_iscsi_name("iqn.2015-02.example.com:test"));
        assert!(!is_qualified_iscsi_name("iqn.2015-02.example.com"));
        assert!(!is_qualified_iscsi_name("iqn.2015-2.example.com:test"));
        assert!(!is_qualified_iscsi_name("iqn.2015-02.example.com:a b"));
    }
}
