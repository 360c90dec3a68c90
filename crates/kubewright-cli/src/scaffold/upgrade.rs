//! `kubewright upgrade`: the files that this version would scaffold, merged into those that are there.

use kubewright_scaffold::{Change, tree::Tree};

use super::{
    apply::{read, show, write},
    interrupts::Uninterrupted,
    options::UpgradeOptions,
    rustfmt::rustfmt,
};
use crate::{error::Error, terminal};

/// Upgrades the project, or tells what would change.
pub(crate) fn upgrade(options: &UpgradeOptions) -> Result<(), Error> {
    let project = read(&options.path)?;
    let plan = Change::upgrade(project).format(&rustfmt).plan(&Tree::at(&options.path))?;
    if options.check || options.dry_run {
        if options.dry_run {
            show(&plan);
        }
        let files = plan.changes().len();
        return if options.check && files > 0 { Err(Error::NotUpgraded { files }) } else { Ok(()) };
    }
    let _whole = Uninterrupted::begin();
    write(&plan, options.quiet)?;
    let marked: Vec<String> = plan.marked().map(|path| path.display().to_string()).collect();
    if !marked.is_empty() {
        return Err(Error::Marked { files: marked });
    }
    if plan.changes().is_empty() && !options.quiet {
        terminal::note("the project is up to date");
    }
    Ok(())
}
