use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::{admissionregistration::v1::ValidatingWebhookConfiguration, core::v1::Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Api, Client, api::PostParams};
use kubewright_apiserver::{ApiServer, User};
use kubewright_world::{Clock, Random};
use rustls::{
    RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use serde_json::json;
use tokio_util::task::AbortOnDropHandle;

use super::{
    Authority,
    certificate::Lives,
    kept::{Due, Kept},
};
use crate::{
    certificates::{ServingCertificate, provider},
    metrics::Metrics,
};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// An operator's authority in a cluster of its own.
struct Operator {
    clock: Clock,
    client: Client,
    /// What each replica shows.
    shown: Vec<ServingCertificate>,
    _replicas: Vec<AbortOnDropHandle<()>>,
}

/// Gives the operator the rights that it is said to need, and no others.
fn allow(server: &ApiServer) {
    let group = "rbac.authorization.k8s.io";
    let rules = json!([
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "create", "update"]},
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
            "verbs": ["list", "patch"],
        },
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["get", "patch"]},
    ]);
    let role = json!({
        "apiVersion": format!("{group}/v1"), "kind": "ClusterRole", "metadata": {"name": "operator"}, "rules": rules,
    });
    let binding = json!({
        "apiVersion": format!("{group}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": "operator"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "operator"},
        "subjects": [{"kind": "User", "apiGroup": group, "name": "operator"}],
    });
    server.create(role).expect("a valid role");
    server.create(binding).expect("a valid binding");
}

impl Operator {
    async fn start(replicas: usize) -> Self {
        let clock = Clock::starting_at("2030-01-01T00:00:00Z".parse().expect("a timestamp"));
        let server = ApiServer::builder().clock(clock.clone()).random(Random::seeded(1)).build();
        let client = Client::new(server.service(), "default");
        allow(&server);
        let user = User { name: "operator".to_owned(), ..User::default() };
        let allowed = Client::new(server.service_as(user), "default");
        let hook = |name: &str, service: &str| {
            json!({
                "name": format!("{name}.example.com"),
                "clientConfig": {"service": {"namespace": "default", "name": service, "path": "/validate"}},
                "rules": [],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            })
        };
        let configuration: ValidatingWebhookConfiguration = serde_json::from_value(json!({
            "metadata": {"name": "shop"},
            "webhooks": [hook("ours", "webhook-service"), hook("theirs", "other")],
        }))
        .expect("a configuration");
        Api::all(client.clone()).create(&PostParams::default(), &configuration).await.expect("created");
        let mut operator = Self { clock, client, shown: Vec::new(), _replicas: Vec::new() };
        for _ in 0..replicas {
            let certificate = ServingCertificate::awaited(Metrics::new().certificates());
            let authority = Authority::new(
                allowed.clone(),
                operator.clock.clone(),
                ("default".to_owned(), "webhook-service".to_owned()),
                vec!["shops.example.com".to_owned()],
                "operator".to_owned(),
                certificate.clone(),
            )
            .lives(Lives { authority: HOUR * 8, serving: HOUR * 2 });
            operator.shown.push(certificate);
            operator._replicas.push(AbortOnDropHandle::new(tokio::spawn(authority.run())));
        }
        operator
    }

    async fn kept(&self) -> Kept {
        let secret = Api::<Secret>::default_namespaced(self.client.clone()).get("webhook-service-cert").await;
        Kept::read(&secret.expect("a secret").data.unwrap_or_default())
    }

    /// The bundle that the API server trusts our service with.
    async fn bundle(&self) -> Vec<u8> {
        self.bundles().await[0].clone().expect("a bundle")
    }

    /// The bundles of the two webhooks.
    async fn bundles(&self) -> [Option<Vec<u8>>; 2] {
        let api = Api::<ValidatingWebhookConfiguration>::all(self.client.clone());
        let hooks = api.get("shop").await.expect("the configuration").webhooks.unwrap_or_default();
        [0, 1].map(|index: usize| hooks[index].client_config.ca_bundle.clone().map(|bundle| bundle.0))
    }
}

/// Whether an API server that trusts the bundle would call a webhook that shows this.
fn is_trusted(bundle: &[u8], leaf: &CertificateDer<'_>, now: Timestamp) -> bool {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(bundle) {
        roots.add(authority.expect("PEM")).expect("an authority");
    }
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build().expect("a verifier");
    let name = ServerName::try_from("webhook-service.default.svc").expect("a name");
    let now =
        UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(now.as_second()).expect("after 1970")));
    verifier.verify_server_cert(leaf, &[], &name, &[], now).is_ok()
}

#[tokio::test(start_paused = true)]
async fn what_names_the_service_trusts_what_is_shown_and_nothing_else_is_touched() {
    let operator = Operator::start(1).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let [ours, theirs] = operator.bundles().await;
    let leaf = operator.shown[0].leaf().expect("a certificate");
    assert!(is_trusted(&ours.expect("a bundle"), &leaf, operator.clock.now()));
    assert_eq!(theirs, None);
    let names = ["webhook-service.default.svc".to_owned()];
    assert_eq!(operator.kept().await.due(&names, operator.clock.now()), Due::Nothing);

    // A definition that comes later is found at the next look.
    let definition: CustomResourceDefinition = serde_json::from_value(json!({
        "metadata": {"name": "shops.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Shop", "plural": "shops"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {
                    "clientConfig": {"service": {"namespace": "default", "name": "webhook-service", "path": "/convert"}},
                    "conversionReviewVersions": ["v1"],
                },
            },
        },
    }))
    .expect("a definition");
    let definitions = Api::all(operator.client.clone());
    definitions.create(&PostParams::default(), &definition).await.expect("created");
    tokio::time::sleep(Duration::from_secs(31)).await;
    let definition: CustomResourceDefinition =
        definitions.get("shops.example.com").await.expect("it is there");
    let bundle = definition
        .spec
        .conversion
        .and_then(|conversion| conversion.webhook?.client_config?.ca_bundle)
        .expect("a bundle");
    assert!(is_trusted(&bundle.0, &leaf, operator.clock.now()));
}

/// Eleven hours in which certificates live for two. The API server sees a configuration five seconds late, and calls every
/// replica.
#[tokio::test(start_paused = true)]
async fn no_call_fails_while_authorities_and_certificates_are_renewed() {
    let operator = Operator::start(2).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let end = operator.clock.now() + HOUR * 11;
    let (mut calls, mut certificates, mut bundles) = (0, Vec::new(), Vec::new());
    let mut seen = operator.bundle().await;
    while operator.clock.now() < end {
        for leaf in operator.shown.iter().map(|shown| shown.leaf().expect("a certificate")) {
            assert!(is_trusted(&seen, &leaf, operator.clock.now()), "refused at {}", operator.clock.now());
            calls += 1;
            if !certificates.contains(&leaf) {
                certificates.push(leaf);
            }
        }
        let current = operator.bundle().await;
        if !bundles.contains(&current) {
            bundles.push(current.clone());
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
        seen = current;
    }
    assert!(calls > 14_000 && certificates.len() >= 9, "{calls} calls, {} certificates", certificates.len());
    assert!(bundles.len() >= 4, "{} bundles", bundles.len());
    let kept = operator.kept().await;
    let trusted = kept.bundle().matches("BEGIN").count();
    assert!(trusted <= 2, "{trusted} authorities are trusted, of which some must have expired");
}
