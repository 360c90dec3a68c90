//! A change of a project, carried out.

use std::path::Path;

use kubewright_manifests::output::Action;
use kubewright_scaffold::{Change, Project, change::Plan, project::Resource, tree::Tree};

use super::{interrupts::Uninterrupted, options::WriteOptions, rustfmt::rustfmt};
use crate::{
    command::{GenerateOptions, MessageFormat},
    error::Error,
    generate, terminal,
};

/// Reads the project in a folder.
pub(super) fn read(folder: &Path) -> Result<Project, Error> {
    Ok(Project::read(&Tree::at(folder))?)
}

/// Writes a change, or shows it. Tells whether it was written.
pub(super) fn apply(change: Change<'_>, folder: &Path, options: &WriteOptions) -> Result<bool, Error> {
    let plan = change.force(options.force).format(&rustfmt).plan(&Tree::at(folder))?;
    refuse_conflicts(&plan)?;
    if options.dry_run {
        show(&plan);
        return Ok(false);
    }
    let _whole = Uninterrupted::begin();
    write(&plan, options.quiet)?;
    // There are none without controllers or webhooks, and none are left of the last ones.
    let project = read(folder)?;
    let asks =
        |resource: &Resource| resource.webhooks().is_some_and(|hooks| hooks.defaulting || hooks.validation);
    let generators = [
        ("rbac", project.resources().iter().any(Resource::has_controller), "config/rbac/role.yaml"),
        ("webhook", project.resources().iter().any(asks), "config/webhook/manifests.yaml"),
    ];
    let words: Vec<&str> = generators
        .iter()
        .filter(|(_, is_needed, file)| *is_needed || folder.join(file).exists())
        .map(|(generator, ..)| *generator)
        .collect();
    if !words.is_empty() {
        generate(folder, &words, options.quiet)?;
    }
    Ok(true)
}

/// Shows the changes as a diff.
pub(super) fn show(plan: &Plan) {
    for change in plan.changes() {
        terminal::print(&change.diff());
    }
}

/// Writes the files and tells which.
pub(super) fn write(plan: &Plan, quiet: bool) -> Result<(), Error> {
    plan.write()?;
    for change in plan.changes().iter().filter(|_| !quiet) {
        let verb = match change.action {
            Action::Create => "Created",
            Action::Remove => "Removed",
            _ => "Changed",
        };
        terminal::status(verb, change.path.display());
    }
    Ok(())
}

fn refuse_conflicts(plan: &Plan) -> Result<(), Error> {
    for conflict in plan.conflicts() {
        terminal::error(conflict);
    }
    match plan.conflicts().len() {
        0 => Ok(()),
        files => Err(Error::InTheWay { files }),
    }
}

/// Writes the role and the webhook configurations from the markers. It takes no build, and the tests of the project read them.
fn generate(folder: &Path, generators: &[&str], quiet: bool) -> Result<(), Error> {
    generate::run(&GenerateOptions {
        words: generators.iter().map(|word| (*word).to_owned()).chain([generate::as_word(folder)]).collect(),
        check: false,
        output: None,
        compat: None,
        bin: None,
        quiet,
        message_format: MessageFormat::Human,
        markers: None,
    })
}
