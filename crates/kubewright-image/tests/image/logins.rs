//! Registries that want to know who asks.

use kubewright_image::registry::{
    Options, Registry, RegistryError,
    credentials::{Credentials, Login},
};

use crate::{
    fake::{Access, Fake, What},
    program::image,
};

fn login(password: &str) -> Options {
    let credentials = Credentials::Basic { username: "ann".to_owned(), password: password.to_owned() };
    Options { login: Login { credentials, source: "a test".to_owned() }, ..Options::default() }
}

async fn push(fake: &Fake, client: &Registry) -> Result<(), RegistryError> {
    client.push(&image(b"one"), &fake.reference("zoo:v1")).await.map(drop)
}

#[tokio::test]
async fn a_password_is_sent_to_whoever_wants_one() {
    let fake = Fake::start().await;
    fake.state().access = Access::Basic("ann:secret");
    push(&fake, &fake.client_with(login("secret"))).await.expect("pushed");
    let sent = std::mem::take(&mut fake.state().authorizations);
    assert_eq!(
        sent.iter().filter(|value| value.is_none()).count(),
        2,
        "the first question, and the first request"
    );

    let error = push(&fake, &fake.client_with(login("wrong"))).await.expect_err("refused").to_string();
    let (address, name) = (fake.address, fake.reference("zoo:v1"));
    // The body of an answer to HEAD is empty: there is nothing that the registry says.
    assert_eq!(
        error,
        format!(
            "{address} refuses to push {name}: the login of ann from a test does not suffice; check the password, and \
             that this user may do it"
        )
    );
    let error = push(&fake, &fake.client()).await.expect_err("refused").to_string();
    assert!(error.contains("there is no login for it") && error.contains("docker login"), "{error}");
    let error = fake.client().pull(&name, None).await.expect_err("refused").to_string();
    assert!(error.contains("(UNAUTHORIZED: authentication required)"), "{error}");
}

#[tokio::test]
async fn tokens_are_fetched_once_for_what_is_done_and_again_when_they_run_out() {
    let fake = Fake::start().await;
    fake.state().access = Access::Bearer("ann:secret");
    let client = fake.client_with(login("secret"));
    push(&fake, &client).await.expect("pushed");
    let asked = std::mem::take(&mut fake.state().asked);
    assert_eq!(asked, ["service=fake+registry&scope=repository%3Azoo%3Apull%2Cpush"]);

    client.pull(&fake.reference("zoo:v1"), None).await.expect("pulled");
    let asked = std::mem::take(&mut fake.state().asked);
    assert_eq!(asked, ["service=fake+registry&scope=repository%3Azoo%3Apull"], "to read needs no more");

    fake.state().tokens.clear();
    client.pull(&fake.reference("zoo:v1"), None).await.expect("pulled");
    assert_eq!(fake.state().asked.len(), 1);
}

#[tokio::test]
async fn an_identity_token_is_exchanged() {
    let fake = Fake::start().await;
    fake.state().access = Access::Bearer("identity");
    let source = "a test".to_owned();
    let login = Login { credentials: Credentials::Identity("identity".to_owned()), source: source.clone() };
    push(&fake, &fake.client_with(Options { login, ..Options::default() })).await.expect("pushed");
    let asked = std::mem::take(&mut fake.state().asked);
    assert!(
        asked[0].contains("grant_type=refresh_token") && asked[0].contains("client_id=kubewright"),
        "{asked:?}"
    );

    let login = Login { credentials: Credentials::Identity("old".to_owned()), source };
    let client = fake.client_with(Options { login, ..Options::default() });
    let error = push(&fake, &client).await.expect_err("refused").to_string();
    assert!(
        error.contains("the token from a test does not suffice") && error.contains("may have run out"),
        "{error}"
    );
}

#[tokio::test]
async fn a_token_server_may_refuse_or_make_no_sense() {
    let fake = Fake::start().await;
    fake.state().access = Access::Bearer("ann:secret");
    let error = push(&fake, &fake.client_with(login("wrong"))).await.expect_err("refused");
    assert!(matches!(&error, RegistryError::Refused { .. }), "{error}");

    fake.fault(http::Method::GET, "/token", What::Answer(200, &[], "{}".to_owned()));
    let error = push(&fake, &fake.client_with(login("secret"))).await.expect_err("no token").to_string();
    assert!(error.contains("/token gives no token"), "{error}");

    let challenge = ("www-authenticate", r#"Bearer realm="ftp://x/token""#.to_owned());
    let headers: &'static [_] = Box::leak(Box::new([challenge]));
    fake.fault(http::Method::HEAD, "/blobs/", What::Answer(401, headers, String::new()));
    let error = push(&fake, &fake.client_with(login("secret"))).await.expect_err("no HTTPS").to_string();
    assert!(error.contains("its token server ftp://x/token does not speak HTTPS"), "{error}");
    assert!(
        fake.state().authorizations.iter().flatten().all(|value| !value.contains("c2VjcmV0")),
        "no password"
    );
}
