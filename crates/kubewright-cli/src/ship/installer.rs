//! `kubewright build-installer`: all of it in one file, for `kubectl apply -f`.

use std::{fs, path::Path};

use kubewright_manifests::output::{self, Action, Change};

use super::{
    objects::{Part, build, generate},
    options::BuildInstallerOptions,
};
use crate::{error::Error, terminal};

/// Writes the file.
pub(crate) fn build_installer(options: &BuildInstallerOptions) -> Result<(), Error> {
    generate(&options.path, &options.generation)?;
    let text = build(&options.path, Part::All, options.image.as_deref())?.to_yaml();
    if options.output.as_deref() == Some(Path::new("-")) {
        terminal::print(&text);
        return Ok(());
    }
    let path = options.output.clone().unwrap_or_else(|| options.path.join("dist/install.yaml"));
    let before = fs::read_to_string(&path).ok();
    let action = match &before {
        None => Action::Create,
        Some(before) if *before == text => Action::Keep,
        Some(_) => Action::Update,
    };
    let change = Change::new(&path, action, before.unwrap_or_default(), text);
    if options.dry_run {
        terminal::print(&change.diff());
        return Ok(());
    }
    if options.check {
        return if action.is_needed() { Err(Error::InstallerNotUpToDate { path }) } else { Ok(()) };
    }
    output::write(&[change])?;
    if !options.quiet {
        terminal::status(if action.is_needed() { "Wrote" } else { "Unchanged" }, path.display());
    }
    Ok(())
}
