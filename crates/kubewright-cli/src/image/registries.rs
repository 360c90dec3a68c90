//! Registries as the command line reaches them: with a login, and with progress on a terminal.

use std::{
    collections::BTreeMap,
    io::Read,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kubewright_image::{
    Digest, Reference,
    registry::{
        Event, Options, Progress, Registry,
        credentials::{self, Credentials, Login},
    },
};

use super::{error::ImageFailure, options::RegistryOptions};
use crate::{error::Error, terminal};

/// The client of the registry that `image` is in. `expected` is how many bytes are going to be moved, if that is known.
pub(super) async fn client(
    image: &Reference,
    options: &RegistryOptions,
    expected: Option<u64>,
) -> Result<Registry, Error> {
    let login = login(image, options).await?;
    let options =
        Options { login, insecure: options.insecure, progress: progress(expected), ..Options::default() };
    Ok(Registry::new(image.registry(), options).map_err(ImageFailure::from)?)
}

async fn login(image: &Reference, options: &RegistryOptions) -> Result<Login, Error> {
    if let Some(username) = options.username.clone() {
        let mut password = String::new();
        std::io::stdin().read_to_string(&mut password).map_err(Error::io("read the password"))?;
        let password = password.trim_end_matches(['\r', '\n']).to_owned();
        if password.is_empty() {
            return Err(ImageFailure::NoPassword.into());
        }
        let source = "the command line".to_owned();
        return Ok(Login { credentials: Credentials::Basic { username, password }, source });
    }
    let image = image.clone();
    // Helpers may ask the user, and take their time.
    let found = tokio::task::spawn_blocking(move || {
        let files = credentials::files(|name| std::env::var_os(name).map(PathBuf::from));
        credentials::find(&files, image.registry(), image.repository())
    });
    let found = found.await.map_err(|error| Error::io("look for logins")(error.into()))?;
    Ok(found.map_err(ImageFailure::from)?)
}

/// A line on the terminal with how much is there; elsewhere, nothing but what went wrong.
fn progress(expected: Option<u64>) -> Progress {
    let bar = ProgressBar::with_draw_target(expected, ProgressDrawTarget::stderr());
    let style = if expected.is_some() {
        "{prefix:>12} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}"
    } else {
        "{prefix:>12} {bytes}, {bytes_per_sec}"
    };
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix("Transferring");
    let moved: Mutex<BTreeMap<Digest, u64>> = Mutex::default();
    Progress::new(move |event| {
        let (blob, bytes) = match event {
            Event::Retry(reason) => {
                bar.suspend(|| terminal::warning(reason));
                return;
            }
            Event::Moved(blob, bytes) => (blob, bytes),
            Event::Exists(blob) | Event::Mounted(blob, _) | Event::Done(blob) => {
                let size = blob.size;
                (blob, size)
            }
            _ => return,
        };
        let mut moved = moved.lock().unwrap_or_else(PoisonError::into_inner);
        moved.insert(blob.digest, bytes);
        bar.set_position(moved.values().sum());
    })
}
