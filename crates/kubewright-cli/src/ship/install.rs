//! `kubewright install` and `uninstall`: the definitions of a project.

use kubewright_deploy::Deployer;

use super::{
    cluster::on_cluster,
    objects::{Part, build, generate, objects},
    options::{InstallOptions, UninstallOptions},
    report::{Report, may_delete},
};
use crate::error::Error;

/// Applies the definitions and waits until they are served.
pub(crate) fn install(options: &InstallOptions, verbose: u8) -> Result<(), Error> {
    let apply = &options.apply;
    generate(&options.path, &apply.generation)?;
    let definitions = objects(build(&options.path, Part::Definitions, None)?)?;
    let mut report = Report { quiet: apply.quiet, diff: apply.diff, dry_run: apply.dry_run };
    on_cluster(&apply.cluster, verbose, async |client| {
        let deployer = Deployer::new(client).dry_run(apply.dry_run).force_conflicts(apply.force_conflicts);
        Ok(deployer.apply(&definitions, None, &mut report).await?)
    })
}

/// Deletes the definitions, if they have no objects or the user says so.
pub(crate) fn uninstall(options: &UninstallOptions, verbose: u8) -> Result<(), Error> {
    let delete = &options.delete;
    let definitions = objects(build(&options.path, Part::Definitions, None)?)?;
    let mut report = Report { quiet: delete.quiet, diff: false, dry_run: delete.dry_run };
    let mut left = Vec::new();
    let mut may = |definition: &str, objects: &str| {
        let may = may_delete(definition, objects, delete.yes);
        if !may {
            left.push(definition.to_owned());
        }
        may
    };
    on_cluster(&delete.cluster, verbose, async |client| {
        let deployer = Deployer::new(client).dry_run(delete.dry_run);
        Ok(deployer.delete(&definitions, None, delete.timeout, &mut may, &mut report).await?)
    })?;
    if left.is_empty() { Ok(()) } else { Err(Error::DefinitionsLeft { names: left }) }
}
