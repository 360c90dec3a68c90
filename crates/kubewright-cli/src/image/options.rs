//! The flags of `kubewright image`.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Subcommand};
use kubewright_image::{Platform, Reference};

use crate::command::OutputFormat;

#[derive(Debug, Subcommand)]
pub(crate) enum ImageCommand {
    /// Build the operator's image, without Docker.
    ///
    /// The operator is built in release mode as a static program for each platform, and put into one layer of an image that has nothing
    /// else to start: `/manager`, the authorities of public HTTPS servers, the users root and nonroot, and `/tmp`. It runs as 65532:65532.
    ///
    /// Equal programs give equal bytes, on every machine: times are SOURCE_DATE_EPOCH, or 1970. Paths of this machine are kept
    /// out of the program, so that two clones give the same one.
    #[command(after_help = BUILD_EXAMPLES)]
    // Boxed: it has many more options than the others.
    Build(Box<ImageBuildOptions>),

    /// Push an image to a registry.
    ///
    /// What the registry has already is not sent again. Logins are those of `docker login` and `podman login`, credential helpers
    /// included. The result is one line, the image by its digest.
    #[command(after_help = PUSH_EXAMPLES)]
    Push(ImagePushOptions),

    /// Pull an image from a registry into a folder or an archive.
    #[command(after_help = PULL_EXAMPLES)]
    Pull(ImagePullOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ImageBuildOptions {
    /// The folder of the operator's Cargo package.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    /// The name of the image. Without a tag, the tag is `latest`.
    #[arg(long, short, value_name = "NAME[:TAG]")]
    pub(crate) tag: Reference,

    /// The platforms to build for, by commas. Those of --binary, or a Linux with this machine's processor, if none is named.
    #[arg(long, value_name = "OS/ARCH", value_delimiter = ',')]
    pub(crate) platform: Vec<Platform>,

    /// A program that is built already. What it is for is read from it; a platform before `=` is checked. May be repeated.
    #[arg(long, value_name = "[OS/ARCH=]FILE")]
    pub(crate) binary: Vec<GivenProgram>,

    /// Where the image goes, an OCI image layout: to an archive if it ends with `.tar`, to a folder otherwise. Or how the result is
    /// printed: `text` or `json`. May be repeated, for both.
    ///
    /// The default is a folder below cargo's target folder, where `image push` looks. A folder named `json` is `./json`.
    #[arg(long, short, value_name = "DIR|FILE.tar|text|json")]
    pub(crate) output: Vec<Output>,

    /// An image to build upon, for operators that need more than themselves. Pulled from its registry.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) base: Option<Reference>,

    /// The authorities in the image: `bundled` for Mozilla's list as it is in this program, `none`, or a file in PEM.
    ///
    /// They are for calls to servers outside of the cluster; the cluster's own authority is in every pod. Those of this machine are
    /// not taken, since images would differ from machine to machine.
    #[arg(long, value_name = "bundled|none|FILE", default_value = "bundled")]
    pub(crate) ca_certificates: String,

    /// A label of the image beside those that are taken from Cargo.toml. May be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub(crate) label: Vec<(String, String)>,

    /// The binary target that is the operator, if the package has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Option<String>,

    /// The profile of cargo to build with.
    #[arg(long, value_name = "NAME", default_value = "release")]
    pub(crate) profile: String,

    /// Push the image when it is built.
    #[arg(long)]
    pub(crate) push: bool,

    #[command(flatten)]
    pub(crate) registry: RegistryOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ImagePushOptions {
    /// The name to push it as. The one that it was built with, if none is given.
    #[arg(value_name = "IMAGE")]
    pub(crate) image: Option<Reference>,

    /// The image: a folder or an archive with an OCI image layout. What `image build` built last for the package in this folder,
    /// if none is named.
    #[arg(long, short, value_name = "DIR|FILE.tar")]
    pub(crate) input: Option<PathBuf>,

    /// How to print the result.
    #[arg(long, short, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output: OutputFormat,

    #[command(flatten)]
    pub(crate) registry: RegistryOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ImagePullOptions {
    /// The image.
    #[arg(value_name = "IMAGE")]
    pub(crate) image: Reference,

    /// The platform to pull it for; all of them, if none is named.
    #[arg(long, value_name = "OS/ARCH")]
    pub(crate) platform: Option<Platform>,

    /// Where the image goes, and how the result is printed, as for `image build`.
    #[arg(long, short, value_name = "DIR|FILE.tar|text|json", required = true)]
    pub(crate) output: Vec<Output>,

    #[command(flatten)]
    pub(crate) registry: RegistryOptions,
}

/// How to reach a registry.
#[derive(Debug, Args)]
pub(crate) struct RegistryOptions {
    /// Speak plain HTTP with registries that do not speak HTTPS. With those of this machine that is done anyway.
    #[arg(long)]
    pub(crate) insecure: bool,

    /// The user, instead of the login of Docker or Podman.
    #[arg(long, value_name = "NAME", requires = "password_stdin")]
    pub(crate) username: Option<String>,

    /// Read the password, or a token in its place, from the standard input.
    #[arg(long, requires = "username")]
    pub(crate) password_stdin: bool,
}

/// A program that is built already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenProgram {
    pub(crate) platform: Option<Platform>,
    pub(crate) file: PathBuf,
}

impl FromStr for GivenProgram {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            // A file may have `=` in its name, and what begins with `linux/` is a platform.
            Some((platform, file)) if platform.starts_with("linux/") => Ok(Self {
                platform: Some(platform.parse().map_err(|error| format!("{error}"))?),
                file: file.into(),
            }),
            _ => Ok(Self { platform: None, file: text.into() }),
        }
    }
}

/// One value of `--output`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Format(OutputFormat),
    Place(PathBuf),
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("it names nothing".to_owned()),
            "text" => Ok(Self::Format(OutputFormat::Text)),
            "json" => Ok(Self::Format(OutputFormat::Json)),
            place => Ok(Self::Place(place.into())),
        }
    }
}

impl Output {
    /// The form and the place among several, of which there may be one each.
    pub(crate) fn sort(outputs: &[Self]) -> Result<(OutputFormat, Option<PathBuf>), String> {
        let mut formats = outputs.iter().filter_map(|output| match output {
            Self::Format(format) => Some(*format),
            Self::Place(_) => None,
        });
        let mut places = outputs.iter().filter_map(|output| match output {
            Self::Place(place) => Some(place.clone()),
            Self::Format(_) => None,
        });
        let found = (formats.next().unwrap_or(OutputFormat::Text), places.next());
        if formats.next().is_some() || places.next().is_some() {
            return Err("--output names one place and one form at most".to_owned());
        }
        Ok(found)
    }
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not KEY=VALUE")),
    }
}

const BUILD_EXAMPLES: &str = "\
Examples:
  kubewright image build --tag ghcr.io/me/operator:v1
  kubewright image build --tag operator:v1 --output operator.tar && docker load --input operator.tar
  kubewright image build --tag ghcr.io/me/operator:v1 --platform linux/amd64,linux/arm64 --push
  kubewright image build --tag operator:v1 --binary linux/amd64=amd64/operator --binary linux/arm64=arm64/operator";

const PUSH_EXAMPLES: &str = "\
Examples:
  kubewright image push
  kubewright image push ghcr.io/me/operator:v1 --input operator.tar
  echo $TOKEN | kubewright image push ghcr.io/me/operator:v1 --username me --password-stdin";

const PULL_EXAMPLES: &str = "\
Examples:
  kubewright image pull ghcr.io/me/operator:v1 --output operator.tar
  kubewright image pull ghcr.io/me/operator:v1 --platform linux/arm64 --output operator";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_one_place_and_one_form() {
        let sorted = |texts: &[&str]| {
            let outputs: Vec<Output> = texts.iter().map(|text| text.parse().expect("one")).collect();
            Output::sort(&outputs)
        };
        assert_eq!(sorted(&[]), Ok((OutputFormat::Text, None)));
        assert_eq!(sorted(&["a.tar", "json"]), Ok((OutputFormat::Json, Some("a.tar".into()))));
        assert_eq!(sorted(&["./json"]), Ok((OutputFormat::Text, Some("./json".into()))));
        assert!(sorted(&["a", "b"]).is_err());
        assert!(sorted(&["json", "text"]).is_err());
    }

    #[test]
    fn programs_may_name_their_platform() {
        let parse = |text: &str| text.parse::<GivenProgram>();
        let arm64 = "linux/arm64".parse().expect("known");
        assert_eq!(parse("linux/arm64=a=b"), Ok(GivenProgram { platform: Some(arm64), file: "a=b".into() }));
        assert_eq!(parse("dir/a=b"), Ok(GivenProgram { platform: None, file: "dir/a=b".into() }));
        assert!(parse("linux/vax=a").expect_err("unknown").contains("`linux/vax` is no platform"));
    }
}
