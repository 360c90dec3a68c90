//! The state of a server on disk.
//!
//! A [`DataDir`] is a folder that keeps what a server knows beyond its end: the objects with their versions and uids, what
//! is forgotten of the past, the certificate authority and the secret behind service account tokens. The objects live in
//! memory as ever. The folder has a journal of the store, which each commit goes to; one thread writes what has come in
//! meanwhile in one transaction, so that many writers share the wait for the disk.
//!
//! `file.rs` is what stands in the file, `journal.rs` the thread that writes it. The rest of the server knows nothing of
//! either, and without a data directory nothing here runs.

mod file;
mod journal;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use kubewright_world::Random;

use self::{file::StateFile, journal::DiskJournal};
use crate::{
    listener::CertificateAuthority,
    store::{Snapshot, Store},
};

/// A folder that keeps the state of one server.
///
/// It belongs to one process at a time. See [`ApiServerBuilder::data_dir`](crate::ApiServerBuilder::data_dir).
///
/// ```
/// use kubewright_apiserver::{ApiServer, DataDir};
/// use kubewright_world::Random;
///
/// # let folder = std::env::temp_dir().join(format!("kubewright-doc-{}", std::process::id()));
/// let data_dir = DataDir::open(&folder, &Random::from_entropy())?;
/// let authority = data_dir.authority().clone(); // for the listener, so that kubeconfigs stay valid
/// let server = ApiServer::builder().data_dir(data_dir).build();
/// # drop(server);
/// # std::fs::remove_dir_all(&folder).expect("it is there");
/// # Ok::<(), kubewright_apiserver::DataDirError>(())
/// ```
pub struct DataDir {
    file: StateFile,
    lock: File,
    snapshot: Snapshot,
    authority: CertificateAuthority,
    service_account_secret: Vec<u8>,
}

/// Why the state of a server cannot be kept in a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataDirError {
    /// Another process uses the folder.
    #[error("the data directory {} is used by another process; end that one, or name another folder", .0.display())]
    InUse(PathBuf),
    /// A newer version has written the folder.
    #[error(
        "the data directory {} has format {found}, which a newer version has written, and this one knows up to {known}; \
         use that version, or name another folder",
        path.display()
    )]
    NewerFormat {
        /// The folder.
        path: PathBuf,
        /// The format it has.
        found: String,
        /// The newest format that is known.
        known: u32,
    },
    /// The folder's file is not what this crate has written.
    #[error(
        "the file {} is damaged, or not the state of a server: {what}; put a copy of it in its place, or remove it to begin \
         with an empty cluster",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The folder or a file in it cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was to be done.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The certificate authority cannot be made or read.
    #[error("cannot use the certificate authority of the data directory {}: {reason}", path.display())]
    Authority {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// What was written to a server cannot be kept.
    #[error(
        "{0}; nothing that was acknowledged is lost, and the server goes on from there when it is started again"
    )]
    Write(String),
}

/// Held by the process that uses the folder.
const LOCK: &str = "lock";
const STATE: &str = "state.redb";
/// The state on its way to be complete.
const DRAFT: &str = "state.redb.new";

/// What the state has beside objects.
const AUTHORITY_CERTIFICATE: &str = "ca.crt";
const AUTHORITY_KEY: &str = "ca.key";
const SERVICE_ACCOUNT_SECRET: &str = "service-account.key";

/// As etcd, of which the first revision is 1.
const FIRST_REVISION: u64 = 1;

impl DataDir {
    /// Opens the folder, which is made if it is not there, for this process alone. It is readable by its owner alone.
    ///
    /// A new folder gets a certificate authority, and a secret of `random` behind the tokens of service accounts. Reads
    /// and checks the whole state, which takes the longer the more there is.
    ///
    /// # Errors
    /// If another process uses it, its file is damaged or of a newer format, or the system refuses.
    pub fn open(path: &Path, random: &Random) -> Result<Self, DataDirError> {
        let io = |action, path: &Path| {
            let path = path.to_owned();
            move |source| DataDirError::Io { action, path, source }
        };
        make_private_folder(path).map_err(io("make the data directory", path))?;
        let lock = lock(&path.join(LOCK)).map_err(|error| match error {
            fs::TryLockError::WouldBlock => DataDirError::InUse(path.to_owned()),
            fs::TryLockError::Error(source) => {
                DataDirError::Io { action: "lock the data directory", path: path.to_owned(), source }
            }
        })?;
        let state = path.join(STATE);
        if !state.try_exists().map_err(io("look for", &state))? {
            // A file with the secrets in it or none at all, whenever the process ends.
            let draft = path.join(DRAFT);
            remove_if_there(&draft).map_err(io("remove", &draft))?;
            create(&draft, random)?;
            fs::rename(&draft, &state).map_err(io("make", &state))?;
            File::open(path).and_then(|folder| folder.sync_all()).map_err(io("write", path))?;
        }
        let (file, snapshot) = StateFile::open(&state)?;
        let text = |name| {
            let secret = file.secret(name)?;
            String::from_utf8(secret).map_err(|_| file.damaged(&format!("{name} is no text")))
        };
        let (certificate, key) = (text(AUTHORITY_CERTIFICATE)?, text(AUTHORITY_KEY)?);
        let authority = CertificateAuthority::from_pem(&certificate, &key)
            .map_err(|error| DataDirError::Authority { path: path.to_owned(), reason: error.to_string() })?;
        let service_account_secret = file.secret(SERVICE_ACCOUNT_SECRET)?;
        Ok(Self { file, lock, snapshot, authority, service_account_secret })
    }

    /// The authority whose certificates the server has and accepts, the same each time.
    #[must_use]
    pub fn authority(&self) -> &CertificateAuthority {
        &self.authority
    }

    /// The secret behind the tokens of service accounts.
    pub(crate) fn service_account_secret(&self) -> &[u8] {
        &self.service_account_secret
    }

    /// The store with the state of the folder, which it is kept in from now on.
    pub(crate) fn into_store(self, history_limit: usize) -> Store {
        let Self { file, lock, snapshot, .. } = self;
        Store::journaled(&snapshot, history_limit, |kept| Box::new(DiskJournal::start(file, lock, kept)))
    }
}

impl fmt::Debug for DataDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataDir")
            .field("file", &self.file)
            .field("snapshot", &self.snapshot)
            .finish_non_exhaustive()
    }
}

/// Makes the file of a new state, with all that a state has.
fn create(path: &Path, random: &Random) -> Result<(), DataDirError> {
    let authority = CertificateAuthority::generate()
        .map_err(|error| DataDirError::Authority { path: path.to_owned(), reason: error.to_string() })?;
    let mut secret = [0; 32];
    random.fill(&mut secret);
    let secrets = [
        (AUTHORITY_CERTIFICATE, authority.certificate_pem().as_bytes()),
        (AUTHORITY_KEY, authority.key_pem().as_bytes()),
        (SERVICE_ACCOUNT_SECRET, &secret[..]),
    ];
    StateFile::create(path, FIRST_REVISION, &secrets)
}

fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

fn lock(path: &Path) -> Result<File, fs::TryLockError> {
    let file = private_file(path).map_err(fs::TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// A file that its owner alone can read. One that is there stays as it is.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
