//! The objects of a project: its folders, built as kustomize builds them.

use std::path::Path;

use kube::api::DynamicObject;
use kubewright_deploy::ApplySet;
use kubewright_kustomize::{Builder, Built, Disk};

use super::options::GenerationOptions;
use crate::{
    command::{GenerateOptions, MessageFormat},
    error::Error,
    generate, terminal,
};

/// The name under which config/manager has the operator's image.
const IMAGE: &str = "controller";

/// Where the objects of a project are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Its definitions alone.
    Definitions,
    /// All that is deployed.
    All,
}

/// Generates what comes from code, so that it is up to date, unless the flags say that it is not to be.
pub(super) fn generate(folder: &Path, options: &GenerationOptions) -> Result<(), Error> {
    if options.no_generate {
        return Ok(());
    }
    generate::run(&GenerateOptions {
        words: vec![generate::as_word(folder)],
        check: false,
        output: None,
        compat: None,
        bin: options.bin.clone(),
        quiet: true,
        message_format: MessageFormat::Human,
        markers: None,
    })
}

/// Builds a part of the project.
pub(super) fn build(folder: &Path, part: Part, image: Option<&str>) -> Result<Built, Error> {
    let path = folder.join(match part {
        Part::Definitions => "config/crd",
        Part::All => "config/default",
    });
    let mut builder = Builder::new(Disk);
    if let Some(image) = image {
        builder = builder.image(IMAGE, image);
    }
    let built = builder.build(&path)?;
    for warning in &built.warnings {
        terminal::warning(warning);
    }
    Ok(built)
}

/// The same, as objects to apply.
pub(super) fn objects(built: Built) -> Result<Vec<DynamicObject>, Error> {
    let objects = built.objects.into_iter().map(|value| {
        let what = format!("the {} {}", value["kind"], value["metadata"]["name"]);
        serde_json::from_value(value).map_err(|error| Error::Yaml { what, reason: error.to_string() })
    });
    objects.collect()
}

/// The set that the objects belong to: it is named after the namespace of the operator, where its object is.
pub(super) fn apply_set(objects: &[DynamicObject]) -> Result<ApplySet, Error> {
    let namespace =
        objects.iter().find(|object| object.types.as_ref().is_some_and(|types| types.kind == "Namespace"));
    let namespace = namespace.and_then(|object| object.metadata.name.clone()).ok_or_else(|| {
        Error::Arguments(
            "config/default has no Namespace, so it is not clear where the operator goes".to_owned(),
        )
    })?;
    Ok(ApplySet::new("kubewright-applyset", namespace))
}
