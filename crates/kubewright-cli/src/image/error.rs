//! What can go wrong with an image, beside what the library says.

use std::path::PathBuf;

use kubewright_image::{
    CertificatesError, ExecutableError, Platform, RecipeError,
    layout::LayoutError,
    registry::{RegistryError, credentials::CredentialsError},
};

/// A failed command on images.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ImageFailure {
    #[error(transparent)]
    Recipe(#[from] RecipeError),

    #[error(transparent)]
    Layout(#[from] LayoutError),

    #[error(transparent)]
    Registry(#[from] RegistryError),

    #[error(transparent)]
    Credentials(#[from] CredentialsError),

    #[error("{} cannot be in an image: {source}", path.display())]
    Program { path: PathBuf, source: ExecutableError },

    #[error("{} is for {actual}, not for {wanted}", path.display())]
    OtherPlatform { path: PathBuf, wanted: Platform, actual: Platform },

    #[error(
        "cannot build a static program for {platform} here:{}\ninstall what is missing, or give a program that was built \
         elsewhere: --binary {platform}=FILE",
        missing.iter().map(|(target, missing)| format!("\n  {target}: {}", missing.join("; "))).collect::<String>()
    )]
    NoToolchain { platform: Platform, missing: Vec<(String, Vec<String>)> },

    #[error("cannot ask the compiler what it is (`{command}`): {reason}")]
    Compiler { command: String, reason: String },

    #[error("this machine is a {0}, for which no images are made; name another with --platform")]
    Host(String),

    #[error("{} cannot be the authorities of an image: {source}", path.display())]
    Certificates { path: PathBuf, source: CertificatesError },

    #[error("SOURCE_DATE_EPOCH is `{0}`; it must be a number of seconds since 1970")]
    Epoch(String),

    #[error("there is no image in {}; build one with `kubewright image build`, or name it with --input", .0.display())]
    NotBuilt(PathBuf),

    #[error("the image in {} has no name; name the one to push it as", .0.display())]
    Nameless(PathBuf),

    #[error("the standard input has no password")]
    NoPassword,
}
