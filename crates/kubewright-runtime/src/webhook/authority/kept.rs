//! What is in the Secret, and what of it is due.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::ByteString;

use super::certificate::{Facts, Issued, Lives, new_authority, new_serving};
use crate::Result;

/// The authorities that are trusted, as PEM. The newest is the first.
const BUNDLE: &str = "ca.crt";
/// The key of the newest authority.
const BUNDLE_KEY: &str = "ca.key";
/// What webhooks show. The names of both are those of all Secrets of the type `kubernetes.io/tls`.
const SERVING: &str = "tls.crt";
const SERVING_KEY: &str = "tls.key";

/// The authorities and the certificate of webhooks.
pub(super) struct Kept {
    /// The newest first.
    authorities: Vec<Facts>,
    authority_key: String,
    serving: Option<Facts>,
    serving_key: String,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    /// There is no authority that could sign.
    Authority,
    /// The newest authority is to be followed by another one.
    NextAuthority,
    /// There is no certificate that could be shown.
    Serving,
    /// The certificate is to be followed by one of the newest authority, once that is trusted everywhere.
    NextServing,
    /// An authority has expired.
    Forget,
}

// === impl Kept ===

impl Kept {
    pub(super) fn read(data: &BTreeMap<String, ByteString>) -> Self {
        let text = |key: &str| {
            data.get(key).map(|value| String::from_utf8_lossy(&value.0).into_owned()).unwrap_or_default()
        };
        Self {
            authorities: Facts::of(&text(BUNDLE)),
            authority_key: text(BUNDLE_KEY),
            serving: Facts::of(&text(SERVING)).into_iter().next(),
            serving_key: text(SERVING_KEY),
        }
    }

    /// As it is kept.
    pub(super) fn data(&self) -> BTreeMap<String, ByteString> {
        let serving = self.serving.as_ref().map(|serving| serving.pem.clone()).unwrap_or_default();
        let texts = [
            (BUNDLE, self.bundle()),
            (BUNDLE_KEY, self.authority_key.clone()),
            (SERVING, serving),
            (SERVING_KEY, self.serving_key.clone()),
        ];
        texts.into_iter().map(|(key, text)| (key.to_owned(), ByteString(text.into_bytes()))).collect()
    }

    /// The authorities to trust.
    pub(super) fn bundle(&self) -> String {
        self.authorities.iter().map(|authority| authority.pem.as_str()).collect()
    }

    /// The certificate to show, with its key.
    pub(super) fn serving(&self) -> Option<(&str, &str)> {
        self.serving.as_ref().map(|serving| (serving.pem.as_str(), self.serving_key.as_str()))
    }

    /// What is due for a service of these names.
    pub(super) fn due(&self, names: &[String], now: Timestamp) -> Due {
        let Some(newest) =
            self.authorities.first().filter(|newest| newest.is_valid(now) && !self.authority_key.is_empty())
        else {
            return Due::Authority;
        };
        let usable = self.serving.as_ref().filter(|serving| {
            let issuer = self.authorities.iter().find(|authority| authority.subject == serving.issuer);
            let is_trusted = issuer.is_some_and(|issuer| issuer.is_valid(now));
            is_trusted && serving.is_valid(now) && names.iter().all(|name| serving.names.contains(name))
        });
        let Some(serving) = usable else { return Due::Serving };
        if newest.is_due(now) {
            return Due::NextAuthority;
        }
        if serving.issuer != newest.subject || serving.is_due(now) {
            return Due::NextServing;
        }
        match self.authorities.iter().all(|authority| authority.is_valid(now)) {
            true => Due::Nothing,
            false => Due::Forget,
        }
    }

    /// Itself after what is due.
    pub(super) fn after(&mut self, due: Due, names: &[String], now: Timestamp, lives: Lives) -> Result<()> {
        match due {
            Due::Nothing => {}
            Due::Authority | Due::NextAuthority => {
                let service = names.first().map_or("webhook", String::as_str);
                let authority = new_authority(service, now, lives.authority)?;
                self.authorities.splice(0..0, Facts::of(&authority.certificate));
                self.authority_key = authority.key;
                if due == Due::Authority {
                    // Nobody trusts what there was.
                    self.authorities.retain(|authority| authority.is_valid(now));
                }
            }
            Due::Serving | Due::NextServing => {
                let newest = self.authorities.first().map(|newest| newest.pem.clone()).unwrap_or_default();
                let authority = Issued { certificate: newest, key: self.authority_key.clone() };
                let issued = new_serving(&authority, names, now, lives.serving)?;
                self.serving = Facts::of(&issued.certificate).into_iter().next();
                self.serving_key = issued.key;
            }
            Due::Forget => self.authorities.retain(|authority| authority.is_valid(now)),
        }
        Ok(())
    }
}
