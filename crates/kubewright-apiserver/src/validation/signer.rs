//! Names of those who sign certificates, and of the bundles of certificates to trust that are theirs.

use kubewright_schema::names;

use super::Field;

const DOMAIN_LENGTH: usize = 253;
const PATH_LENGTH: usize = 253 + 63 + 1;

/// Checks the name of a signer: `example.com/signer-name`.
pub(crate) fn validate_signer_name(signer: Field<'_>) {
    if !signer.require() {
        return;
    }
    let text = signer.text();
    let parts: Vec<&str> = text.split('/').collect();
    let [domain, path] = parts.as_slice() else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return signer.invalid(text, detail);
    };
    if domain.len() > DOMAIN_LENGTH {
        signer.too_long(253);
    }
    validate_labels(signer, domain, names::dns1123_label);
    if !domain.contains('.') {
        signer.invalid(*domain, "should be a domain with at least two segments separated by dots");
    }
    validate_labels(signer, path, names::dns1123_subdomain);
    if text.len() > DOMAIN_LENGTH + PATH_LENGTH + 1 {
        signer.too_long(571);
    }
}

/// Checks what stands between dots, up to the first part that is wrong.
fn validate_labels(signer: Field<'_>, text: &str, rule: fn(&str) -> Vec<String>) {
    for label in text.split('.') {
        let reasons = rule(label);
        for reason in &reasons {
            signer.invalid(text, format!("validating label {label:?}: {reason}"));
        }
        if !reasons.is_empty() {
            break;
        }
    }
}

/// Whether Kubernetes itself has the domain of the signer's name.
pub(crate) fn is_kubernetes_signer(signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    domain == "kubernetes.io" || domain.ends_with(".kubernetes.io")
}

/// What is wrong with the name of a ClusterTrustBundle. That of a signer begins with the signer's name.
pub(crate) fn trust_bundle_name(name: &str) -> Vec<String> {
    let own = name.rsplit_once(':').filter(|(signer, _)| !signer.is_empty()).map(|(_, own)| own);
    match own {
        Some(own) => names::dns1123_subdomain(own),
        None if name.contains(':') => {
            vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()]
        }
        None => names::dns1123_subdomain(name),
    }
}
