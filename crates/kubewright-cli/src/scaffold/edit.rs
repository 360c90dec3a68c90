//! `kubewright edit`: other settings for the project.

use kubewright_scaffold::Change;

use super::{
    apply::{apply, read},
    framework::framework,
    notice::notice,
    options::EditOptions,
};
use crate::{error::Error, terminal};

/// Changes the settings.
pub(crate) fn edit(options: &EditOptions) -> Result<(), Error> {
    for flag in options.others.without_effect() {
        terminal::warning(format_args!("{flag} has no meaning here; it is passed over"));
    }
    let before = read(&options.project)?;
    let mut after = before.clone();
    if let Some(multigroup) = options.multigroup {
        after.set_multigroup(multigroup.is_on())?;
    }
    if let Some(namespaced) = options.namespaced {
        after.set_namespaced(namespaced.is_on());
    }
    if let Some(license) = options.license {
        after.set_license(license.into());
    }
    if let Some(file) = &options.license_file {
        after.set_notice(notice(file)?);
    }
    if let Some(owner) = &options.owner {
        after.set_owner(owner);
    }
    if let Some(makefile) = options.makefile {
        after.set_makefile(makefile.is_on());
    }
    if options.framework_source.is_some() {
        after.set_framework(framework(options.framework_source)?);
    }
    if before == after && !options.write.quiet {
        terminal::note("the project has these settings already");
    }
    apply(Change::between(before, after), &options.project, &options.write)?;
    Ok(())
}
