//! `kubewright deploy` and `undeploy`: the operator on a cluster.

use kubewright_deploy::Deployer;

use super::{
    cluster::on_cluster,
    objects::{Part, apply_set, build, generate, objects},
    options::{DeployOptions, UndeployOptions},
    report::{Report, may_delete},
};
use crate::error::Error;

/// Applies everything, prunes what is no more, and waits until the operator is ready.
pub(crate) fn deploy(options: &DeployOptions, verbose: u8) -> Result<(), Error> {
    let apply = &options.apply;
    generate(&options.path, &apply.generation)?;
    let objects = objects(build(&options.path, Part::All, options.image.as_deref())?)?;
    let set = apply_set(&objects)?;
    let mut report = Report { quiet: apply.quiet, diff: apply.diff, dry_run: apply.dry_run };
    on_cluster(&apply.cluster, verbose, async |client| {
        let deployer = Deployer::new(client).dry_run(apply.dry_run).force_conflicts(apply.force_conflicts);
        deployer.apply(&objects, Some(&set), &mut report).await?;
        if apply.dry_run || options.timeout.is_zero() {
            return Ok(());
        }
        Ok(deployer.wait(&objects, options.timeout, &mut report).await?)
    })
}

/// Takes everything away. Definitions with objects stay unless the user says otherwise.
pub(crate) fn undeploy(options: &UndeployOptions, verbose: u8) -> Result<(), Error> {
    let delete = &options.delete;
    let mut objects = objects(build(&options.path, Part::All, None)?)?;
    let set = apply_set(&objects)?;
    if options.keep_crds {
        objects.retain(|object| {
            object.types.as_ref().is_none_or(|types| types.kind != "CustomResourceDefinition")
        });
    }
    let mut report = Report { quiet: delete.quiet, diff: false, dry_run: delete.dry_run };
    let mut may = |definition: &str, objects: &str| may_delete(definition, objects, delete.yes);
    on_cluster(&delete.cluster, verbose, async |client| {
        let deployer = Deployer::new(client).dry_run(delete.dry_run);
        Ok(deployer.delete(&objects, Some(&set), delete.timeout, &mut may, &mut report).await?)
    })
}
