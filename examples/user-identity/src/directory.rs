//! Who is active, which the company's directory knows and the cluster does not.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use kubewright::{
    manager::{Group, Runnable},
    prelude::*,
};
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// How often the file is read.
const PERIOD: Duration = Duration::from_secs(10);

/// The names of the active users. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// `None` until they are known: an operator that began with nobody would take everybody's role away.
    users: Arc<watch::Sender<Option<BTreeSet<String>>>>,
    /// Which identities were told to the directory.
    issued: Arc<watch::Sender<BTreeSet<Request>>>,
}

impl Directory {
    /// A directory of which nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the user is active, if that is known.
    pub fn is_active(&self, user: &str) -> Option<bool> {
        self.users.borrow().as_ref().map(|users| users.contains(user))
    }

    /// Says who is active from now on. Those who follow are woken only if that is a change.
    pub fn replace<'a>(&self, users: impl IntoIterator<Item = &'a str>) {
        let users = Some(users.into_iter().map(str::to_owned).collect());
        self.users.send_if_modified(|known| {
            let changed = *known != users;
            *known = users;
            changed
        });
    }

    /// The active users, now and after each change.
    pub fn follow(&self) -> watch::Receiver<Option<BTreeSet<String>>> {
        self.users.subscribe()
    }

    /// Tells the directory that an identity was issued.
    pub fn issue(&self, identity: Request) {
        self.issued.send_if_modified(|issued| issued.insert(identity));
    }

    /// Tells the directory that an identity is no more. Twice does no harm.
    pub fn revoke(&self, identity: &Request) {
        self.issued.send_if_modified(|issued| issued.remove(identity));
    }

    /// Which identities were issued.
    pub fn issued(&self) -> BTreeSet<Request> {
        self.issued.borrow().clone()
    }
}

/// Keeps a directory as a file says: a name on each line.
#[derive(Debug)]
pub struct DirectoryFile {
    path: PathBuf,
    directory: Directory,
}

impl DirectoryFile {
    /// Keeps `directory` as the file at `path` says.
    pub fn new(path: impl Into<PathBuf>, directory: Directory) -> Self {
        Self { path: path.into(), directory }
    }
}

impl Runnable for DirectoryFile {
    async fn run(self, stop: CancellationToken) -> Result<()> {
        let mut timer = interval(PERIOD);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                _ = timer.tick() => {}
            }
            match tokio::fs::read_to_string(&self.path).await {
                Ok(text) => self.directory.replace(names(&text)),
                // It may be about to be written: what was known stays.
                Err(error) => tracing::warn!(path = %self.path.display(), %error, "the users cannot be read"),
            }
        }
    }

    /// A replica that stands by has to know who is active when it is elected.
    fn group(&self) -> Group {
        Group::Always
    }
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|name| !name.is_empty() && !name.starts_with('#'))
}
