//! Registries and networks that fail.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use http::Method;
use kubewright_image::registry::{
    Event, Options, Progress, Registry, RegistryError,
    credentials::{Credentials, Login},
};

use crate::{
    fake::{Access, Fake, What, error},
    program::{image, large_image},
};

/// Pushes an image past a fault, and shows that it is whole in the registry, or gives the error.
async fn push(fake: &Fake, options: Options) -> Result<Vec<String>, RegistryError> {
    let retries = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&retries);
    let progress = Progress::new(move |event| {
        if let Event::Retry(reason) = event {
            told.lock().expect("whole").push(reason);
        }
    });
    let image = large_image();
    fake.client_with(Options { progress, ..options }).push(&image, &fake.reference("zoo:v1")).await?;
    assert_eq!(fake.client().pull(&fake.reference("zoo:v1"), None).await.expect("pulled"), image);
    assert!(fake.state().faults.is_empty(), "the fault happened");
    let retries = std::mem::take(&mut *retries.lock().expect("whole"));
    Ok(retries)
}

fn answer(status: u16, text: String) -> What {
    What::Answer(status, &[], text)
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    for (method, path) in [
        (Method::HEAD, "/blobs/sha256"),
        (Method::POST, "/blobs/uploads/"),
        (Method::PUT, "/blobs/uploads/"),
        (Method::PUT, "/manifests/v1"),
    ] {
        for what in
            [answer(503, "busy".to_owned()), answer(429, String::new()), What::Break, What::BreakAfter]
        {
            let fake = Fake::start().await;
            fake.fault(method.clone(), path, what);
            let retries = push(&fake, Options::default())
                .await
                .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
            assert_eq!(retries.len(), 1, "{method} {path}: {retries:?}");
        }
    }
}

#[tokio::test]
async fn a_registry_that_is_busy_says_for_how_long() {
    let fake = Fake::start().await;
    let headers: &'static [_] = Box::leak(Box::new([("retry-after", "0".to_owned())]));
    fake.fault(Method::PUT, "/manifests/", What::Answer(429, headers, String::new()));
    let retries = push(&fake, Options::default()).await.expect("pushed");
    assert!(retries[0].contains("it answers 429 Too Many Requests; trying again in 0 s"), "{retries:?}");
}

#[tokio::test]
async fn what_does_not_pass_is_an_error_after_five_attempts() {
    let fake = Fake::start().await;
    for _ in 0..5 {
        fake.fault(Method::PUT, "/manifests/", answer(500, "<html>".to_owned()));
    }
    let error = push(&fake, Options::default()).await.expect_err("failed").to_string();
    let (address, name) = (fake.address, fake.reference("zoo:v1"));
    assert_eq!(error, format!("cannot push {name}: {address} answers 500 Internal Server Error"));
    assert_eq!(fake.requests().iter().filter(|request| request.contains("/manifests/")).count(), 5);
}

#[tokio::test]
async fn a_piece_that_is_lost_is_sent_again_from_where_the_registry_is() {
    for what in [What::Break, What::BreakAfter, answer(500, String::new()), answer(416, String::new())] {
        let fake = Fake::start().await;
        fake.fault(Method::PATCH, "/blobs/uploads/0", What::Break);
        fake.fault(Method::PATCH, "/blobs/uploads/0", what);
        let retries = push(&fake, Options { chunk: 40_000, ..Options::default() }).await.expect("pushed");
        assert_eq!(retries.len(), 2, "{retries:?}");
        let requests = fake.requests();
        assert_eq!(
            requests.iter().filter(|request| request.starts_with("GET /v2/zoo/blobs/uploads/")).count(),
            2
        );
    }
}

#[tokio::test]
async fn an_upload_that_the_registry_lost_begins_anew() {
    let fake = Fake::start().await;
    let lost = error("BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry");
    fake.fault(Method::PUT, "/blobs/uploads/", answer(404, lost));
    let retries = push(&fake, Options::default()).await.expect("pushed");
    assert_eq!(retries.len(), 1);
    assert_eq!(fake.requests().iter().filter(|request| request.starts_with("POST")).count(), 3);
}

#[tokio::test]
async fn errors_say_what_the_registry_says() {
    for (method, path, status, body, expected) in [
        (
            Method::POST,
            "/uploads/",
            404,
            error("NAME_UNKNOWN", "repository name not known to registry"),
            "does not have it (NAME_UNKNOWN: repository name not known to registry)",
        ),
        (
            Method::POST,
            "/uploads/",
            403,
            error("DENIED", "requested access to the resource is denied"),
            "there is no login for it (DENIED: requested access to the resource is denied); log in with `docker login ",
        ),
        (
            Method::PUT,
            "/manifests/",
            400,
            error("MANIFEST_INVALID", ""),
            "answers 400 Bad Request (MANIFEST_INVALID)",
        ),
        (
            Method::PUT,
            "/manifests/",
            413,
            "\n too large\n".to_owned(),
            "answers 413 Payload Too Large (too large)",
        ),
        (
            Method::PUT,
            "/uploads/",
            400,
            error("DIGEST_INVALID", "no match"),
            "was changed on the way or in the registry",
        ),
        (Method::POST, "/uploads/", 202, String::new(), "it does not say where to upload to"),
        (Method::POST, "/uploads/", 200, String::new(), "answers 200 OK"),
    ] {
        let fake = Fake::start().await;
        fake.fault(method, path, answer(status, body));
        let error = push(&fake, Options::default()).await.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(fake.state().manifests.is_empty(), "nothing has the name");
    }
    let fake = Fake::start().await;
    let error = fake.client().pull(&fake.reference("zoo:v9"), None).await.expect_err("absent").to_string();
    let (address, name) = (fake.address, fake.reference("zoo:v9"));
    assert_eq!(
        error,
        format!("cannot pull {name}: {address} does not have it (MANIFEST_UNKNOWN: manifest unknown)")
    );
}

#[tokio::test]
async fn content_with_another_digest_is_refused() {
    let fake = Fake::start().await;
    for path in ["/blobs/uploads/", "/manifests/v1"] {
        fake.fault(Method::PUT, path, What::WrongDigest);
        let error = push(&fake, Options::default()).await.expect_err("wrong").to_string();
        assert!(error.contains("was changed on the way or in the registry"), "{error}");
    }
    push(&fake, Options::default()).await.expect("pushed");
    let name = fake.reference("zoo:v1");
    let root = fake.client().resolve(&name).await.expect("there");
    for (path, name) in [("/blobs/", name.clone()), ("/manifests/", name.pinned(root.digest))] {
        fake.fault(Method::GET, path, What::Change);
        let error = fake.client().pull(&name, None).await.expect_err("changed").to_string();
        assert!(error.contains("was changed on the way"), "{error}");
    }
    let image = large_image();
    let layer = image.manifests().expect("readable")[0].1.layers[0].clone();
    let longer = vec![b'x'; usize::try_from(layer.size).expect("short") + 1];
    fake.state().blobs.insert(("zoo".to_owned(), layer.digest), longer.into());
    let error = fake.client().pull(&name, None).await.expect_err("longer").to_string();
    assert!(error.contains(&format!("longer than the {} bytes", layer.size)), "{error}");
}

#[tokio::test]
async fn a_redirection_does_not_take_the_password_along() {
    let (fake, storage) = (Fake::start().await, Fake::start().await);
    let image = image(b"one");
    let credentials = Credentials::Basic { username: "ann".to_owned(), password: "secret".to_owned() };
    let login = Login { credentials, source: "a test".to_owned() };
    let client = fake.client_with(Options { login, ..Options::default() });
    fake.state().access = Access::Basic("ann:secret");
    client.push(&image, &fake.reference("zoo:v1")).await.expect("pushed");
    let layer = image.manifests().expect("readable")[0].1.layers[0].digest.clone();
    let content = image.blob(&layer).expect("there").clone();
    storage.state().blobs.insert(("elsewhere".to_owned(), layer.clone()), content);
    let location = ("location", format!("http://{}/v2/elsewhere/blobs/{layer}?signature=x", storage.address));
    let path: &'static str = Box::leak(layer.to_string().into_boxed_str());
    fake.fault(Method::GET, path, What::Answer(307, Box::leak(Box::new([location])), String::new()));
    assert_eq!(client.pull(&fake.reference("zoo:v1"), None).await.expect("pulled"), image);
    assert_eq!(storage.state().authorizations, [None]);
}

#[tokio::test]
async fn nobody_who_answers_is_an_error_at_once() {
    let fake = Fake::start().await;
    let name = fake.reference("zoo:v1");
    // The port is free again when the listener is gone.
    fake.end().await;
    let client =
        Registry::new(name.registry(), Options { pause: Duration::from_secs(3600), ..Options::default() });
    let error = client.expect("a client").pull(&name, None).await.expect_err("nobody").to_string();
    let address = name.registry();
    assert!(error.starts_with(&format!("cannot reach http://{address}/v2/: ")), "{error}");
    assert!(error.to_lowercase().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_told() {
    let name = "localhost".to_owned();
    let certificate = rcgen::generate_simple_self_signed(vec![name]).expect("a certificate");
    let key =
        rustls::pki_types::PrivateKeyDer::try_from(certificate.signing_key.serialize_der()).expect("a key");
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.cert.der().clone()], key)
            .expect("a configuration");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = acceptor.accept(stream).await;
        }
    });
    let name = crate::program::reference(&format!("localhost:{port}/zoo:v1"));
    let client = Registry::new(name.registry(), Options::default()).expect("a client");
    let error = client.pull(&name, None).await.expect_err("not trusted").to_string();
    assert!(
        error.contains("has a certificate that is not trusted") && error.contains("SSL_CERT_FILE"),
        "{error}"
    );
    server.abort();
}
