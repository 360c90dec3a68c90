//! `kubewright init`: a project in an empty folder.

use kubewright_scaffold::{Change, Project, framework::Framework, names};

use super::{apply::apply, framework::framework, notice::notice, options::InitOptions, prompt::Prompt};
use crate::{error::Error, terminal};

/// The domain that Kubebuilder gives a project for which none was said.
const DOMAIN: &str = "my.domain";

/// Makes the project.
pub(crate) fn init(options: &InitOptions) -> Result<(), Error> {
    for flag in options.others.without_effect() {
        terminal::warning(format_args!("{flag} has no meaning here; it is passed over"));
    }
    let prompt = Prompt::new(options.yes);
    let name = name(options, prompt)?;
    let domain = prompt.text(options.domain.clone(), "Domain of the API groups", Some(DOMAIN), "")?;
    let mut project = Project::new(&domain, &name)?;
    project.set_multigroup(options.multigroup)?;
    project.set_namespaced(options.namespaced);
    project.set_license(options.license.into());
    if let Some(file) = &options.license_file {
        project.set_notice(notice(file)?);
    }
    project.set_makefile(options.makefile);
    if let Some(owner) = &options.owner {
        project.set_owner(owner);
    }
    let framework = framework(options.framework_source)?;
    if let Framework::Path(checkout) = &framework
        && !options.write.quiet
    {
        terminal::note(format_args!("the project takes kubewright from the checkout {}", checkout.display()));
    }
    project.set_framework(framework);
    if apply(Change::init(project), &options.path, &options.write)? && !options.write.quiet {
        let there = if options.path.as_os_str() == "." {
            String::new()
        } else {
            format!("cd {} && ", options.path.display())
        };
        terminal::next(&[(
            format!("{there}kubewright create api --group <group> --version v1alpha1 --kind <Kind>"),
            "add a kind and its controller",
        )]);
    }
    Ok(())
}

fn name(options: &InitOptions, prompt: Prompt) -> Result<String, Error> {
    let folder = std::path::absolute(&options.path).map_err(Error::io("find the current folder"))?;
    let folder = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let from_module = options.repo.as_deref().and_then(|module| module.rsplit('/').next()).map(str::to_owned);
    let default = names::project_from_folder(&folder)
        .or_else(|| from_module.filter(|name| names::check_project(name).is_ok()));
    let missing = format!(
        "the name of the folder, `{folder}`, cannot be that of a project; name it with --project-name"
    );
    prompt.text(options.project_name.clone(), "Name of the project", default.as_deref(), &missing)
}
