//! `kubewright image`: the operator's image, built without Docker, pushed and pulled.
//!
//! [`programs`] gets the programs, with a [`toolchain`] for each platform; what an image is and how registries are spoken to is in
//! `kubewright-image`.

mod error;
mod options;
mod programs;
mod registries;
mod report;
mod toolchain;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use kubewright_image::{
    Certificates, Image, Platform, Recipe, Reference, layout,
    spec::{BASE_DIGEST, BASE_NAME},
};

pub(crate) use self::{error::ImageFailure, options::ImageCommand};
use self::{
    options::{ImageBuildOptions, ImagePullOptions, ImagePushOptions, Output, RegistryOptions},
    programs::Program,
};
use crate::{command::OutputFormat, error::Error, project::Project, shutdown::Shutdown, terminal};

/// Runs one of the commands. Ended by `shutdown`, it leaves nothing half done.
pub(crate) async fn run(command: ImageCommand, shutdown: Shutdown) -> Result<(), Error> {
    let work = async {
        match command {
            ImageCommand::Build(options) => build(*options).await,
            ImageCommand::Push(options) => push(options).await,
            ImageCommand::Pull(options) => pull(options).await,
        }
    };
    tokio::select! {
        biased;
        () = shutdown.requested() => Err(Error::Interrupted),
        result = work => result,
    }
}

async fn build(options: ImageBuildOptions) -> Result<(), Error> {
    let (format, place) = Output::sort(&options.output).map_err(Error::Arguments)?;
    let reference = options.tag.clone().or_latest();
    if reference.digest().is_some() {
        return Err(Error::Arguments(format!("{reference} has a digest, which follows from what is built")));
    }
    let project = Project::find(&options.path, options.bin.as_deref()).await?;
    let programs = collect(&project, &options).await?;
    let platforms: Vec<&Platform> = programs.keys().collect();
    let mut recipe = Recipe {
        created: epoch()?,
        labels: labels(&project, &options.label),
        certificates: certificates(&options.ca_certificates)?,
    };
    let base = match &options.base {
        Some(base) => {
            let base = base.clone().or_latest();
            let (image, digest) = pull_base(&base, &platforms, &options.registry).await?;
            recipe.labels.insert(BASE_NAME.to_owned(), base.to_string());
            recipe.labels.insert(BASE_DIGEST.to_owned(), digest);
            Some(image)
        }
        None => None,
    };
    let executables: Vec<_> = programs.values().map(|program| program.executable.clone()).collect();
    let image = recipe.build(&executables, base.as_ref()).map_err(ImageFailure::from)?;
    let place = place.unwrap_or_else(|| default_place(&project));
    layout::write(&image, &reference, &place).map_err(ImageFailure::from)?;
    terminal::status("Built", format_args!("{} in {}", reference.familiar(), place.display()));
    if options.push {
        send(&image, &reference, &options.registry).await?;
    }
    show(&image, &reference, Some(&place), format, &programs)
}

/// The programs for all platforms.
async fn collect(
    project: &Project,
    options: &ImageBuildOptions,
) -> Result<BTreeMap<Platform, Program>, Error> {
    let mut programs = BTreeMap::new();
    for given in &options.binary {
        let program = programs::given(given)?;
        let platform = program.executable.platform().clone();
        if programs.insert(platform.clone(), program).is_some() {
            return Err(Error::Arguments(format!("--binary gives two programs for {platform}")));
        }
    }
    let mut wanted: BTreeSet<Platform> = options.platform.iter().cloned().collect();
    if wanted.is_empty() {
        wanted = programs.keys().cloned().collect();
    }
    if wanted.is_empty() {
        wanted.insert(programs::host_platform(project)?);
    }
    if let Some(platform) = programs.keys().find(|platform| !wanted.contains(platform)) {
        return Err(Error::Arguments(format!(
            "--binary gives a program for {platform}, which --platform does not name"
        )));
    }
    let missing: Vec<Platform> =
        wanted.into_iter().filter(|platform| !programs.contains_key(platform)).collect();
    let toolchains = programs::toolchains(project, &missing)?;
    for (platform, toolchain) in missing.into_iter().zip(toolchains) {
        let program = programs::build(project, &platform, toolchain, &options.profile).await?;
        programs.insert(platform, program);
    }
    Ok(programs)
}

async fn push(options: ImagePushOptions) -> Result<(), Error> {
    let input = match &options.input {
        Some(input) => input.clone(),
        None => default_place(&Project::find(Path::new("."), None).await?),
    };
    if !input.exists() {
        return Err(ImageFailure::NotBuilt(input).into());
    }
    let (image, name) = layout::read(&input).map_err(ImageFailure::from)?;
    let reference = options.image.clone().or(name).ok_or(ImageFailure::Nameless(input))?.or_latest();
    send(&image, &reference, &options.registry).await?;
    show(&image, &reference, None, options.output, &BTreeMap::new())
}

async fn send(image: &Image, reference: &Reference, options: &RegistryOptions) -> Result<(), Error> {
    let size = image.blobs().map(|(_, content)| content.len() as u64).sum();
    let client = registries::client(reference, options, Some(size)).await?;
    client.push(image, reference).await.map_err(ImageFailure::from)?;
    terminal::status("Pushed", reference.familiar());
    Ok(())
}

async fn pull(options: ImagePullOptions) -> Result<(), Error> {
    let (format, place) = Output::sort(&options.output).map_err(Error::Arguments)?;
    let place = place.ok_or_else(|| Error::Arguments("--output names no folder or archive".to_owned()))?;
    let reference = options.image.clone().or_latest();
    let client = registries::client(&reference, &options.registry, None).await?;
    let image = client.pull(&reference, options.platform.as_ref()).await.map_err(ImageFailure::from)?;
    layout::write(&image, &reference, &place).map_err(ImageFailure::from)?;
    terminal::status("Pulled", format_args!("{} to {}", reference.familiar(), place.display()));
    show(&image, &reference, Some(&place), format, &BTreeMap::new())
}

/// The base for each platform, and the digest of all of it.
async fn pull_base(
    base: &Reference,
    platforms: &[&Platform],
    options: &RegistryOptions,
) -> Result<(Image, String), Error> {
    let client = registries::client(base, options, None).await?;
    let root = client.resolve(base).await.map_err(ImageFailure::from)?;
    // By its digest, so that all platforms are of one edition.
    let pinned = base.pinned(root.digest.clone());
    let mut images = Vec::new();
    for platform in platforms {
        images.push(client.pull(&pinned, Some(platform)).await.map_err(ImageFailure::from)?);
    }
    let image = Image::index(images, BTreeMap::new()).map_err(|error| ImageFailure::Recipe(error.into()))?;
    Ok((image, root.digest.to_string()))
}

/// For people, what there is for each platform; on the standard output, one line with the whole name or all that there is to tell.
fn show(
    image: &Image,
    reference: &Reference,
    place: Option<&Path>,
    format: OutputFormat,
    programs: &BTreeMap<Platform, Program>,
) -> Result<(), Error> {
    let failed = |error| Error::from(ImageFailure::Recipe(kubewright_image::RecipeError::Image(error)));
    match format {
        OutputFormat::Text => {
            for line in report::lines(image).map_err(failed)? {
                terminal::status("", line);
            }
            terminal::result(reference.pinned(image.root().digest.clone()));
        }
        OutputFormat::Json => {
            terminal::result(report::json(image, reference, place, programs).map_err(failed)?);
        }
    }
    Ok(())
}

fn default_place(project: &Project) -> PathBuf {
    project.target_directory.join("kubewright/image").join(&project.package)
}

fn epoch() -> Result<u64, Error> {
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text.parse().map_err(|_| ImageFailure::Epoch(text).into()),
        Err(_) => Ok(0),
    }
}

fn certificates(word: &str) -> Result<Certificates, Error> {
    match word {
        "bundled" => Ok(Certificates::Bundled),
        "none" => Ok(Certificates::None),
        file => {
            let pem = std::fs::read(file).map_err(Error::io(format!("read {file}")))?;
            Ok(Certificates::from_pem(pem)
                .map_err(|error| ImageFailure::Certificates { path: file.into(), source: error })?)
        }
    }
}

/// What Cargo.toml says of the package, under the names of OCI, and what else is asked for.
fn labels(project: &Project, more: &[(String, String)]) -> BTreeMap<String, String> {
    let about = &project.about;
    let known = [
        ("title", Some(&project.package)),
        ("version", Some(&about.version)),
        ("description", about.description.as_ref()),
        ("licenses", about.license.as_ref()),
        ("source", about.repository.as_ref()),
        ("url", about.homepage.as_ref()),
    ];
    known
        .into_iter()
        .filter_map(|(name, value)| Some((format!("org.opencontainers.image.{name}"), value?.clone())))
        .chain(more.iter().cloned())
        .collect()
}
