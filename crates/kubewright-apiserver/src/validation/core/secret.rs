use base64::{Engine, engine::general_purpose::STANDARD};
use kubewright_schema::error::go;
use serde_json::Value;

use super::{
    super::Field,
    config_map::{DATA_LIMIT, check_immutable, check_key, decoded_length},
    tls,
};
use crate::types::syntax;

pub(super) fn validate(secret: Field<'_>) {
    let data = secret.child("data");
    let mut size = 0;
    for (key, entry) in data.entries() {
        check_key(entry, key);
        size += decoded_length(entry.text());
    }
    if size > DATA_LIMIT {
        data.too_long(i64::try_from(DATA_LIMIT).unwrap_or(i64::MAX));
    }
    let require = |key: &str| {
        if !data.entry(key).is_set() {
            data.at_key(key).required("");
        }
    };
    match secret.child("type").text() {
        "kubernetes.io/service-account-token" => {
            let annotations = secret.child("metadata").child("annotations");
            annotations.entry("kubernetes.io/service-account.name").require();
        }
        "kubernetes.io/dockercfg" => check_json(data, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => check_json(data, ".dockerconfigjson"),
        "kubernetes.io/basic-auth" => {
            let (user, password) = ("username", "password");
            if !data.entry(user).is_set() && !data.entry(password).is_set() {
                require(user);
                require(password);
            }
        }
        "kubernetes.io/ssh-auth" => {
            data.entry("ssh-privatekey").require();
        }
        "kubernetes.io/tls" => {
            require("tls.crt");
            require("tls.key");
        }
        _ => {}
    }
}

pub(super) fn validate_update(new: Field<'_>, old: Field<'_>) {
    new.child("type").immutable(old.child("type"));
    check_immutable(new, old, &["data"]);
    validate(new);
}

/// Checks that there is a JSON object. What there is instead is not shown.
fn check_json(data: Field<'_>, key: &str) {
    let entry = data.entry(key);
    if !entry.is_set() {
        entry.required("");
        return;
    }
    let text = STANDARD.decode(entry.text()).unwrap_or_default();
    let why = match serde_json::from_slice::<Value>(&text) {
        Ok(Value::Object(_) | Value::Null) => return,
        Ok(other) => {
            format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                go::kind(&other)
            )
        }
        Err(error) => syntax::message(&text, &error),
    };
    entry.invalid("<secret contents redacted>", why);
}

pub(super) fn warnings(secret: Field<'_>) -> Option<String> {
    if secret.child("type").text() != "kubernetes.io/tls" {
        return None;
    }
    let data = |key| STANDARD.decode(secret.child("data").entry(key).text()).unwrap_or_default();
    tls::problem(&data("tls.crt"), &data("tls.key"))
}
