//! Where a new project takes the framework from.

use std::path::{Path, PathBuf};

use kubewright_scaffold::framework::Framework;

use super::options::FrameworkSource;
use crate::error::Error;

/// The source that was asked for, or the one that this command itself came from.
pub(super) fn framework(source: Option<FrameworkSource>) -> Result<Framework, Error> {
    let version = || Framework::Version(env!("CARGO_PKG_VERSION").to_owned());
    match source {
        Some(FrameworkSource::Version) => Ok(version()),
        Some(FrameworkSource::Git) => Ok(Framework::Git(env!("CARGO_PKG_REPOSITORY").to_owned())),
        Some(FrameworkSource::Path) => checkout().map(Framework::Path).ok_or_else(|| {
            Error::Arguments(
                "this command was not built from a checkout; leave out --framework-source path".to_owned(),
            )
        }),
        None => Ok(checkout().map_or_else(version, Framework::Path)),
    }
}

/// The checkout from which this command was built, if it is still there.
fn checkout() -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.parent()?.parent()?;
    // A published package lies among others, without its workspace.
    let is_checkout =
        root.join("crates/kubewright/Cargo.toml").is_file() && root.join("Cargo.toml").is_file();
    is_checkout.then(|| root.to_owned())
}
