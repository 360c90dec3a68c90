//! Who may approve and sign requests for certificates, and vouch for bundles of them.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use x509_parser::{certification_request::X509CertificationRequest, pem::Pem, prelude::FromDer};

use super::Attributes;
use crate::{
    admission::Operation,
    authz::{self, Target},
    registry::{Registry, metadata},
    status::Status,
};

const GROUP: &str = "certificates.k8s.io";
const REQUESTS: &str = "certificatesigningrequests";
/// The signer whose certificates let clients in.
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// CertificateApproval: only who may `approve` for the signer approves or denies.
pub(super) fn validate_approval(registry: &Registry, attributes: &Attributes<'_>) -> Result<(), Status> {
    let is_approval = attributes.is_of(GROUP, REQUESTS, "approval");
    let Some(old) = attributes.old.filter(|_| is_approval) else { return Ok(()) };
    let signer = signer_of(old);
    if may(registry, attributes, "approve", signer) {
        return Ok(());
    }
    let why = format!("user not permitted to approve requests with signerName {signer:?}");
    Err(attributes.forbidden(Some(old), &why))
}

/// CertificateSigning: only who may `sign` for the signer writes a certificate.
pub(super) fn validate_signing(
    registry: &Registry,
    attributes: &Attributes<'_>,
    request: Option<&Value>,
) -> Result<(), Status> {
    let is_status = attributes.is_of(GROUP, REQUESTS, "status");
    let (Some(request), Some(old)) = (request.filter(|_| is_status), attributes.old) else { return Ok(()) };
    let is_same = |field: &str| request["status"][field] == old["status"][field];
    let signer = signer_of(old);
    if (is_same("certificate") && is_same("conditions")) || may(registry, attributes, "sign", signer) {
        return Ok(());
    }
    let why = format!("user not permitted to sign requests with signerName {signer:?}");
    Err(attributes.forbidden(Some(request), &why))
}

/// CertificateSubjectRestriction: nobody asks to become a member of the group that may do everything.
pub(super) fn validate_subject(attributes: &Attributes<'_>, request: Option<&Value>) -> Result<(), Status> {
    let is_new = attributes.is_of(GROUP, REQUESTS, "") && attributes.operation() == Operation::Create;
    let Some(request) = request.filter(|_| is_new) else { return Ok(()) };
    if signer_of(request) != CLIENT_SIGNER || !names_masters(request).unwrap_or_default() {
        return Ok(());
    }
    let why = format!("use of {CLIENT_SIGNER} signer with {} group is not allowed", authz::MASTERS);
    Err(attributes.forbidden(Some(request), &why))
}

/// ClusterTrustBundleAttest: only who may `attest` for the signer writes a bundle of its certificates.
pub(super) fn validate_bundle(
    registry: &Registry,
    attributes: &Attributes<'_>,
    bundle: Option<&Value>,
) -> Result<(), Status> {
    let Some(bundle) = bundle.filter(|_| attributes.is_of(GROUP, "clustertrustbundles", "")) else {
        return Ok(());
    };
    let signer = signer_of(bundle);
    if signer.is_empty()
        || attributes.old.is_some_and(|old| differs_in_owners_alone(bundle, old))
        || may(registry, attributes, "attest", signer)
    {
        return Ok(());
    }
    let why = format!("user not permitted to attest for signerName {signer:?}");
    Err(attributes.forbidden(Some(bundle), &why))
}

fn signer_of(object: &Value) -> &str {
    object["spec"]["signerName"].as_str().unwrap_or_default()
}

/// Whether the user may do something for a signer, or for all signers of its domain.
fn may(registry: &Registry, attributes: &Attributes<'_>, verb: &str, signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    [signer.to_owned(), format!("{domain}/*")].into_iter().any(|name| {
        let target = Target::Resource {
            group: GROUP.to_owned(),
            version: "*".to_owned(),
            resource: "signers".to_owned(),
            subresource: String::new(),
            namespace: String::new(),
            name,
        };
        let asked = authz::Attributes { user: attributes.user().clone(), verb: verb.to_owned(), target };
        registry.authorizer.authorize(&asked).allowed
    })
}

/// Whether the subject of a request is a member of the group that may do everything; `None` if it cannot be read, which
/// validation has refused.
fn names_masters(request: &Value) -> Option<bool> {
    let pem = STANDARD.decode(request["spec"]["request"].as_str()?).ok()?;
    let pem = Pem::iter_from_buffer(&pem).next()?.ok()?;
    let (_, read) = X509CertificationRequest::from_der(&pem.contents).ok()?;
    let mut organizations = read.certification_request_info.subject.iter_organization();
    Some(organizations.any(|organization| organization.as_str().is_ok_and(|text| text == authz::MASTERS)))
}

/// Whether a write changes nothing but owners and finalizers, as garbage collection does.
fn differs_in_owners_alone(new: &Value, old: &Value) -> bool {
    let stripped = |object: &Value| {
        let mut object = object.clone();
        for field in ["ownerReferences", "finalizers", "managedFields"] {
            metadata::set(&mut object, field, None);
        }
        object
    };
    stripped(new) == stripped(old)
}
