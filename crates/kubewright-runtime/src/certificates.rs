//! The certificates that the operator's own servers show.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use notify::{RecursiveMode, Watcher};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use crate::{Error, Result, metrics::CertificateMetrics};

/// The certificate of a server with its key. Clones are the same certificate, which may change while the server runs.
#[derive(Clone)]
pub(crate) struct ServingCertificate {
    shown: Arc<Shown>,
    files: Option<Files>,
    metrics: CertificateMetrics,
}

/// What handshakes take; nothing until there is a certificate, and they fail.
struct Shown(RwLock<Option<Arc<CertifiedKey>>>);

#[derive(Clone)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// Tells of changes for as long as it is kept.
struct Changes {
    _watcher: Option<notify::RecommendedWatcher>,
    told: Arc<Notify>,
}

/// How often files are looked at, as in controller-runtime, besides when the file system tells of a change: that does not
/// come through on all volumes.
const POLL: Duration = Duration::from_secs(10);

// === impl ServingCertificate ===

impl ServingCertificate {
    /// One that no authority has signed, for `localhost`, as long as nobody gives a better one. Its key comes from the
    /// operating system, and leaves the process nowhere.
    pub(crate) fn self_signed(metrics: CertificateMetrics) -> Result<Self> {
        let failed = |error: rcgen::Error| Error::setup(format!("cannot make a certificate: {error}"));
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let mut params = CertificateParams::new(names).map_err(failed)?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "localhost");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.self_signed(&key).map_err(failed)?;
        let certified = certified(certificate.pem().as_bytes(), key.serialize_pem().as_bytes())
            .map_err(|error| Error::setup(format!("cannot use a certificate of our own: {error}")))?;
        Ok(Self { shown: Shown::new(Some(certified)), files: None, metrics })
    }

    /// One that is yet to be [given](Self::show).
    pub(crate) fn awaited(metrics: CertificateMetrics) -> Self {
        Self { shown: Shown::new(None), files: None, metrics }
    }

    /// One in PEM files, which are read now and looked at by [`watch`](Self::watch).
    pub(crate) fn from_files(
        certificate: PathBuf,
        key: PathBuf,
        metrics: CertificateMetrics,
    ) -> Result<Self> {
        let read =
            |path: &PathBuf| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let texts = read(&certificate).and_then(|certificate| Ok((certificate, read(&key)?)));
        let certified = texts.and_then(|(certificate, key)| certified(&certificate, &key));
        metrics.read(certified.is_ok());
        let certified = certified.map_err(|error| {
            Error::setup(format!("cannot use the certificate {}: {error}", certificate.display()))
        })?;
        Ok(Self { shown: Shown::new(Some(certified)), files: Some(Files { certificate, key }), metrics })
    }

    /// Shows this certificate from now on, both as PEM. Connections that are open keep the one that they began with.
    ///
    /// # Errors
    ///
    /// If they cannot be used. The one before stays.
    pub(crate) fn show(&self, chain: &[u8], key: &[u8]) -> Result<(), String> {
        let certified = certified(chain, key);
        self.metrics.read(certified.is_ok());
        self.shown.replace(certified?);
        Ok(())
    }

    /// The certificate of the server itself, as DER, without those of the authorities above it.
    pub(crate) fn leaf(&self) -> Option<CertificateDer<'static>> {
        self.shown.current()?.cert.first().cloned()
    }

    /// TLS with this certificate, whatever it is by then.
    pub(crate) fn acceptor(&self, http2: bool) -> Result<TlsAcceptor> {
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::setup(format!("cannot choose TLS versions: {error}")))?
            .with_no_client_auth()
            .with_cert_resolver(self.shown.clone());
        config.alpn_protocols = match http2 {
            true => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            false => vec![b"http/1.1".to_vec()],
        };
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Takes what is in the files whenever that changes. A certificate that cannot be used changes nothing: the two files
    /// are seldom written at once. Does not end.
    pub(crate) async fn watch(&self) {
        let Some(files) = &self.files else { return std::future::pending().await };
        let mut refused = None;
        let changes = files.changes();
        loop {
            tokio::select! {
                biased;
                () = changes.next() => {}
                () = tokio::time::sleep(POLL) => {}
            }
            match self.reload(files).await {
                Ok(false) => refused = None,
                Ok(true) => {
                    refused = None;
                    tracing::info!(certificate = %files.certificate.display(), "the certificate was replaced");
                }
                Err(error) if refused.as_ref() != Some(&error) => {
                    tracing::warn!(error, "cannot use the new certificate, the old one stays");
                    refused = Some(error);
                }
                Err(_) => {}
            }
        }
    }

    /// Whether there is another certificate now.
    async fn reload(&self, files: &Files) -> Result<bool, String> {
        let new = files.read().await;
        self.metrics.read(new.is_ok());
        let new = new?;
        // The key fits its certificate, so it has changed if and only if that has.
        let changed = self.shown.current().is_none_or(|shown| new.cert != shown.cert);
        if changed {
            self.shown.replace(new);
        }
        Ok(changed)
    }
}

/// Keeps the key out of logs.
impl fmt::Debug for ServingCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServingCertificate").finish_non_exhaustive()
    }
}

// === impl Files ===

impl Files {
    async fn read(&self) -> Result<CertifiedKey, String> {
        certified(&read(&self.certificate).await?, &read(&self.key).await?)
    }

    /// What the file system tells of the folders of the files: a volume is changed by swapping a link in them.
    fn changes(&self) -> Changes {
        let told = Arc::new(Notify::new());
        let watcher = {
            let told = told.clone();
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                // To read a file is an event, too.
                if !event.is_ok_and(|event| event.kind.is_access()) {
                    told.notify_one();
                }
            })
        };
        let folders = [&self.certificate, &self.key].into_iter().filter_map(|file| file.parent());
        let watcher = watcher.and_then(|mut watcher| {
            for folder in folders {
                watcher.watch(folder, RecursiveMode::NonRecursive)?;
            }
            Ok(watcher)
        });
        let watcher = watcher.inspect_err(|error| {
            let file = self.certificate.display();
            tracing::debug!(%error, %file, "the file system does not tell of changes, so the certificate is polled");
        });
        Changes { _watcher: watcher.ok(), told }
    }
}

// === impl Changes ===

impl Changes {
    async fn next(&self) {
        self.told.notified().await;
    }
}

async fn read(path: &Path) -> Result<Vec<u8>, String> {
    tokio::fs::read(path).await.map_err(|error| format!("{}: {error}", path.display()))
}

// === impl Shown ===

impl Shown {
    fn new(certified: Option<CertifiedKey>) -> Arc<Self> {
        Arc::new(Self(RwLock::new(certified.map(Arc::new))))
    }

    fn current(&self) -> Option<Arc<CertifiedKey>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, certified: CertifiedKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(certified));
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current()
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").finish_non_exhaustive()
    }
}

fn certified(chain: &[u8], key: &[u8]) -> Result<CertifiedKey, String> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("the certificate cannot be read: {error}"))?;
    if chain.is_empty() {
        return Err("there is no block that begins with -----BEGIN CERTIFICATE-----".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| format!("the private key cannot be read: {error}"))?;
    CertifiedKey::from_der(chain, key, &provider())
        .map_err(|error| format!("the private key does not fit the certificate: {error}"))
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    fn write(directory: &Path, name: &str) -> KeyPair {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([name.to_owned()]).expect("a name");
        let certificate = params.self_signed(&key).expect("signed");
        std::fs::write(directory.join("tls.crt"), certificate.pem()).expect("written");
        std::fs::write(directory.join("tls.key"), key.serialize_pem()).expect("written");
        key
    }

    #[tokio::test(start_paused = true)]
    async fn files_are_taken_when_they_change_and_fit() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        write(path, "one");
        let metrics = Metrics::new();
        let certificate = ServingCertificate::from_files(
            path.join("tls.crt"),
            path.join("tls.key"),
            metrics.certificates(),
        );
        let certificate = certificate.expect("files that fit");
        let watched = certificate.clone();
        let _watch =
            tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move { watched.watch().await }));
        let first = certificate.leaf();

        let key = write(path, "two");
        std::fs::write(path.join("tls.key"), KeyPair::generate().expect("a key").serialize_pem())
            .expect("written");
        tokio::time::sleep(POLL * 2).await;
        assert_eq!(certificate.leaf(), first, "the key does not fit");
        std::fs::write(path.join("tls.key"), key.serialize_pem()).expect("written");
        tokio::time::sleep(POLL * 2).await;
        assert_ne!(certificate.leaf(), first);
        let text = metrics.encode();
        assert!(!text.contains("certwatcher_read_certificate_errors_total 0\n"), "{text}");
    }

    #[tokio::test]
    async fn a_change_is_taken_when_the_file_system_tells_of_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        write(path, "one");
        let metrics = Metrics::new().certificates();
        let certificate = ServingCertificate::from_files(path.join("tls.crt"), path.join("tls.key"), metrics)
            .expect("files that fit");
        let first = certificate.leaf();
        let watched = certificate.clone();
        let _watch =
            tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move { watched.watch().await }));
        // As a volume is changed: the new files aside, then put in place.
        let began = std::time::Instant::now();
        while certificate.leaf() == first {
            assert!(began.elapsed() < POLL, "not before the poll");
            // Again and again, for the first time may be before the watch began.
            write(path, "two");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    #[test]
    fn files_that_cannot_be_used_are_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let from_files = || {
            let metrics = Metrics::new().certificates();
            ServingCertificate::from_files(path.join("tls.crt"), path.join("tls.key"), metrics)
                .expect_err("unusable")
                .to_string()
        };
        let error = from_files();
        assert!(error.contains("tls.crt") && error.contains("No such file"), "{error}");
        write(path, "one");
        std::fs::write(path.join("tls.key"), "").expect("written");
        assert!(from_files().contains("the private key cannot be read"), "{}", from_files());
    }
}
