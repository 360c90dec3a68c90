//! `kubewright generate`: the manifests of an operator from its types and markers.
//!
//! [`project`] finds out what is to be done, [`manifests`] gathers the documents and everything that is wrong,
//! [`operator`] asks the operator's own binary for its CRDs, [`report`] tells what comes of it. What is generated and how is
//! in `kubewright-manifests`; the order of things is in this file.
//!
//! Nothing is written if anything is wrong. Roles and webhooks come from the source text, and without CRDs neither cargo nor
//! an async runtime is started.

mod help;
mod manifests;
mod operator;
mod project;
mod reference;
mod report;

use std::path::Path;

use kubewright_manifests::{
    options::{Generator, Output},
    output::{self, Mark, Plan},
};

pub(crate) use self::help::{examples, options_help};
use self::{manifests::Gathered, project::Request, report::Report};
use crate::{command::GenerateOptions, error::Error, terminal};

/// Generates, checks or prints, as the options say.
pub(crate) fn run(options: &GenerateOptions) -> Result<(), Error> {
    if let Some(format) = options.markers {
        reference::print(format);
        return Ok(());
    }
    let report = Report::new(options);
    let result = generate(options, report);
    report.finished(&result);
    result
}

fn generate(options: &GenerateOptions, report: Report) -> Result<(), Error> {
    let request = Request::of(options)?;
    let gathered = manifests::gather(&request)?;
    report.diagnostics(&gathered);
    if gathered.has_errors() {
        let errors = gathered.errors();
        return Err(gathered.failed.unwrap_or(Error::Diagnostics { errors }));
    }
    let (plan, printed) = plan(&request, &gathered)?;
    terminal::print(&printed);
    let comparison = plan.compare()?;
    for path in &comparison.foreign {
        report.foreign(path);
    }
    let changes = comparison.changes;
    if options.check {
        report.differences(&changes);
        let files = changes.iter().filter(|change| change.action.is_needed()).count();
        return if files == 0 { Ok(()) } else { Err(Error::NotUpToDate { files }) };
    }
    output::write(&changes)?;
    report.written(&changes);
    Ok(())
}

/// What goes into files, and what to the standard output.
fn plan(request: &Request, gathered: &Gathered) -> Result<(Plan, String), Error> {
    let settings = &request.settings;
    // Paths are shown, and nobody types `./`.
    let project = request.folder.strip_prefix(".").unwrap_or(&request.folder);
    let mut plan = Plan::new(settings.style);
    let mut printed = String::new();
    for generator in Generator::ALL.into_iter().filter(|generator| settings.runs(*generator)) {
        let files = gathered.files.iter().filter(|file| file.generator == generator);
        match settings.output_of(generator, project) {
            Output::Folder(folder) => {
                let mark = Mark::new(generator.name(), &gathered.package);
                if settings.prune {
                    plan.folder(&folder, &mark);
                }
                let header = settings.header(generator, mark)?;
                for file in files {
                    plan.file(&folder, &file.name, &header, &file.text)?;
                }
            }
            Output::Stdout => printed.extend(files.map(|file| file.text.as_str())),
            _ => {}
        }
    }
    Ok((plan, printed))
}

/// A folder as a word of the command line of `generate`, in which a path has a slash.
pub(crate) fn as_word(folder: &Path) -> String {
    if folder == Path::new(".") {
        return "./".to_owned();
    }
    let folder = if folder.is_absolute() { folder.to_owned() } else { Path::new(".").join(folder) };
    folder.to_string_lossy().into_owned()
}
