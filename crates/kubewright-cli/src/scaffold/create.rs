//! `kubewright create`: one more kind, or webhooks for one.

use kubewright_scaffold::{
    Change, TakeOver,
    api::{External, NewApi},
    project::DeployImage,
    webhook::NewWebhook,
};

use super::{
    apply::{apply, read},
    definition,
    options::{CreateApiOptions, CreateCommand, CreateWebhookOptions, Switch},
    prompt::Prompt,
};
use crate::{error::Error, terminal};

/// Adds to the project.
pub(crate) fn create(command: CreateCommand, verbose: u8) -> Result<(), Error> {
    match command {
        CreateCommand::Api(options) => api(*options, verbose),
        CreateCommand::Webhook(options) => webhook(*options),
    }
}

fn api(options: CreateApiOptions, verbose: u8) -> Result<(), Error> {
    for flag in options.others.without_effect() {
        terminal::warning(format_args!("{flag} has no meaning here; it is passed over"));
    }
    if let Some(source) = options.from_crd.clone() {
        return from_definition(options, &source, verbose);
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
    if let Some(name) = options.controller_name {
        new = new.controller_name(name);
    }
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
        terminal::note(format_args!("{key} is there"));
        what_next(resource);
    }
    Ok(())
}

fn what_next(defined: bool) {
    let mut next = vec![
        ("kubewright dev --once".to_owned(), "run the operator on a cluster of its own, with the samples"),
        ("cargo test".to_owned(), "run its tests"),
    ];
    if defined {
        next.insert(
            0,
            ("kubewright generate".to_owned(), "write its definition, after each change of the type"),
        );
    }
    terminal::next(&next);
}

/// Takes a kind over that is defined already.
fn from_definition(options: CreateApiOptions, source: &str, verbose: u8) -> Result<(), Error> {
    let before = read(&options.project)?;
    let definition = definition::find(source, &options, verbose)?;
    let controller = options.controller.is_none_or(Switch::is_on);
    let mut how = TakeOver::new().controller(controller).force(options.write.force);
    if let Some(version) = options.of.version {
        how = how.version(version);
    }
    let mut after = before.clone();
    let taken = after.take_over(&definition, &how)?;
    let mut change = Change::between(before, after);
    for (path, text) in taken.files {
        change = change.file(path, text);
    }
    for difference in &taken.differences {
        terminal::warning(format_args!(
            "the definition that is generated from the types will differ: {difference}"
        ));
    }
    for problem in &taken.problems {
        terminal::warning(format_args!("no sample could be made up, and so no test: {problem}"));
    }
    if apply(change, &options.project, &options.write)? && !options.write.quiet {
        for key in &taken.keys {
            terminal::note(format_args!("{key} is there"));
        }
        what_next(true);
    }
    Ok(())
}

fn webhook(options: CreateWebhookOptions) -> Result<(), Error> {
    for flag in options.others.without_effect() {
        terminal::warning(format_args!("{flag} has no meaning here; it is passed over"));
    }
    let before = read(&options.project)?;
    let prompt = Prompt::new(options.yes);
    let missing = |flag: &str| {
        format!(
            "{flag} is missing: `kubewright create webhook --group cache --version v1alpha1 --kind Memcached --defaulting`"
        )
    };
    let group = prompt.text(options.of.group, "Group", None, &missing("--group"))?;
    let version = prompt.text(options.of.version, "Version", None, &missing("--version"))?;
    let kind = prompt.text(options.of.kind, "Kind", None, &missing("--kind"))?;
    let mut new = NewWebhook::new(group, version, kind)
        .defaulting(options.defaulting)
        .validation(options.programmatic_validation)
        .force(options.write.force);
    if let Some(plural) = options.plural {
        new = new.plural(plural);
    }
    if let Some(path) = options.defaulting_path {
        new = new.defaulting_path(path);
    }
    if let Some(path) = options.validation_path {
        new = new.validation_path(path);
    }
    if options.conversion {
        new = new.conversion(options.spoke);
    }
    let mut after = before.clone();
    let key = after.add_webhook(&new)?;
    if options.conversion && after.has_own_types(&key) && !options.write.quiet {
        terminal::warning(format_args!(
            "the type of {key} is your own: mark it with `+kubebuilder:storageversion`, unless another version is stored"
        ));
    }
    if apply(Change::between(before, after), &options.project, &options.write)? && !options.write.quiet {
        terminal::note(format_args!("the webhooks of {key} are there"));
        terminal::next(&[
            ("kubewright generate".to_owned(), "write their configuration, after each change of a marker"),
            ("kubewright dev".to_owned(), "run the operator on a cluster of its own, which calls them"),
            ("cargo test".to_owned(), "run its tests"),
        ]);
    }
    Ok(())
}
