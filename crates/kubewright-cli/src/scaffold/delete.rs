//! `kubewright delete api`: one kind less.

use kubewright_scaffold::Change;

use super::{
    apply::{apply, read},
    options::DeleteCommand,
};
use crate::error::Error;

/// Takes a kind out of the project.
pub(crate) fn delete(command: DeleteCommand) -> Result<(), Error> {
    let DeleteCommand::Api(options) = command;
    let before = read(&options.project)?;
    let mut after = before.clone();
    after.remove_api(&options.group, &options.version, &options.kind)?;
    apply(Change::between(before, after), &options.project, &options.write)?;
    Ok(())
}
