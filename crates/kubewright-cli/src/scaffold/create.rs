//! `kubewright create api`: one more kind.

use kubewright_scaffold::{
    Change,
    api::{External, NewApi},
    project::DeployImage,
};

use super::{
    apply::{apply, read},
    options::{CreateApiOptions, CreateCommand, CreateWebhookOptions, Switch},
    prompt::Prompt,
};
use crate::{error::Error, terminal};

/// Adds to the project.
pub(crate) fn create(command: CreateCommand) -> Result<(), Error> {
    match command {
        CreateCommand::Api(options) => api(*options),
        CreateCommand::Webhook(options) => webhook(&options),
    }
}

fn api(options: CreateApiOptions) -> Result<(), Error> {
    for flag in options.others.without_effect() {
        terminal::warning(format_args!("{flag} has no meaning here; it is passed over"));
    }
    let before = read(&options.project)?;
    let prompt = Prompt::new(options.yes);
    let missing = |flag: &str| {
        format!(
            "{flag} is missing: `kubewright create api --group cache --version v1alpha1 --kind Memcached`"
        )
    };
    let group = prompt.text(options.of.group, "Group", None, &missing("--group"))?;
    let version = prompt.text(options.of.version, "Version", None, &missing("--version"))?;
    let kind = prompt.text(options.of.kind, "Kind", None, &missing("--kind"))?;
    // Who names an image, or a type of others, has said it.
    let said = |switch: Option<Switch>, otherwise: Option<bool>| switch.map(Switch::is_on).or(otherwise);
    let external = options.external_api_path.is_some();
    let complete = options.image.is_some().then_some(true);
    let resource = prompt.confirm(
        said(options.resource, if external { Some(false) } else { complete }),
        "Define the kind (y/n)",
    )?;
    let controller = prompt.confirm(said(options.controller, complete), "Add a controller (y/n)")?;

    let mut new = NewApi::new(group, version, kind)
        .namespaced(options.namespaced.is_on())
        .resource(resource)
        .controller(controller)
        .force(options.write.force);
    if let Some(plural) = options.plural {
        new = new.plural(plural);
    }
    if let Some(path) = options.external_api_path {
        let (module, domain) = (options.external_api_module, options.external_api_domain);
        new = new.external(External { path, module, domain });
    }
    if let Some(image) = options.image {
        new = new.deploy_image(DeployImage {
            image,
            container_command: options.image_container_command,
            container_port: options.image_container_port,
            run_as_user: options.run_as_user,
        });
    }
    let mut after = before.clone();
    let key = after.add_api(&new)?;
    if apply(Change::between(before, after), &options.project, &options.write)? && !options.write.quiet {
        let mut next = vec![
            (
                "kubewright dev --once".to_owned(),
                "run the operator on a cluster of its own, with the samples",
            ),
            ("cargo test".to_owned(), "run its tests"),
        ];
        if resource {
            next.insert(
                0,
                ("kubewright generate".to_owned(), "write its definition, after each change of the type"),
            );
        }
        terminal::note(format_args!("{key} is there"));
        terminal::next(&next);
    }
    Ok(())
}

fn webhook(options: &CreateWebhookOptions) -> Result<(), Error> {
    let asked = options.defaulting || options.programmatic_validation || options.conversion;
    Err(Error::Arguments(if asked {
        "operators cannot serve webhooks yet: the runtime has no webhook server. Nothing was written. Defaults and checks can be \
         said in the type, by markers and CEL rules: `kubewright generate --markers`"
            .to_owned()
    } else {
        "name the webhooks: --defaulting, --programmatic-validation, --conversion".to_owned()
    }))
}
