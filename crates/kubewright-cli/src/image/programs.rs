//! The programs that go into an image: given, or built.

use std::{ffi::OsString, path::Path};

use kubewright_image::{Executable, Platform};

use super::{
    error::ImageFailure,
    options::GivenProgram,
    toolchain::{Machine, ThisMachine, Toolchain, choose, linker_variable},
};
use crate::{
    error::Error,
    project::{self, BuildOptions, Project},
    terminal,
};

/// What the root of the project, cargo's own folder and cargo's target folder are called in programs.
const PROJECT: &str = "/project";
const CARGO_HOME: &str = "/cargo";
const TARGET: &str = "/target";

/// A program, and how it came to be.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) executable: Executable,
    /// The Rust target it was built for; none if it was given.
    pub(super) target: Option<String>,
}

/// Reads a program that was built elsewhere.
pub(super) fn given(program: &GivenProgram) -> Result<Program, Error> {
    let executable = read(&program.file)?;
    match &program.platform {
        Some(wanted) if wanted != executable.platform() => Err(ImageFailure::OtherPlatform {
            path: program.file.clone(),
            wanted: wanted.clone(),
            actual: executable.platform().clone(),
        }
        .into()),
        _ => Ok(Program { executable, target: None }),
    }
}

/// What is built where: asked before anything is built, so that a missing compiler is told at once.
pub(super) fn toolchains(project: &Project, platforms: &[Platform]) -> Result<Vec<Toolchain>, Error> {
    if platforms.is_empty() {
        return Ok(Vec::new());
    }
    let machine = ThisMachine::ask(&project.folder)?;
    platforms.iter().map(|platform| choose(&machine, platform)).collect()
}

/// A Linux with the processor of this machine.
pub(super) fn host_platform(project: &Project) -> Result<Platform, Error> {
    let machine = ThisMachine::ask(&project.folder)?;
    Platform::of_triple(machine.host()).ok_or_else(|| ImageFailure::Host(machine.host().to_owned()).into())
}

/// Builds the operator for `platform`.
pub(super) async fn build(
    project: &Project,
    platform: &Platform,
    toolchain: Toolchain,
    profile: &str,
) -> Result<Program, Error> {
    terminal::status("Building", format_args!("{platform}: {}, {}", toolchain.target, toolchain.reason));
    let options = cargo_options(project, &toolchain, profile, |name| std::env::var_os(name));
    let file = project::build(project, options).await?;
    let executable = read(&file)?;
    if executable.platform() != platform {
        let actual = executable.platform().clone();
        return Err(ImageFailure::OtherPlatform { path: file, wanted: platform.clone(), actual }.into());
    }
    Ok(Program { executable, target: Some(toolchain.target) })
}

fn read(path: &Path) -> Result<Executable, Error> {
    let content = std::fs::read(path).map_err(Error::io(format!("read {}", path.display())))?;
    let executable = Executable::read(content)
        .map_err(|source| ImageFailure::Program { path: path.to_owned(), source })?;
    Ok(executable)
}

fn cargo_options(
    project: &Project,
    toolchain: &Toolchain,
    profile: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> BuildOptions {
    let target = &toolchain.target;
    let mut options = BuildOptions::default();
    // The target is always named: flags for it are then not those of build scripts, which may not be static.
    options.arguments.extend(["--target", target, "--profile", profile].map(str::to_owned));
    if project.workspace_root.join("Cargo.lock").exists() {
        options.arguments.push("--locked".to_owned());
    }
    let flags = rust_flags(project, variable("CARGO_HOME").or_else(|| home_cargo(&variable)));
    let own = |name: &str, separator: char| {
        let value = variable(name)?.into_string().ok()?;
        Some(value.split(separator).filter(|flag| !flag.is_empty()).map(str::to_owned).collect::<Vec<_>>())
    };
    // Flags in the environment replace those of configuration files, in cargo too; ours join either.
    match own("CARGO_ENCODED_RUSTFLAGS", '\x1f').or_else(|| own("RUSTFLAGS", ' ')) {
        Some(mut theirs) => {
            theirs.extend(flags);
            options.environment.push(("CARGO_ENCODED_RUSTFLAGS".to_owned(), theirs.join("\x1f").into()));
        }
        None => {
            // A list of strings in JSON is one in TOML.
            let flags = serde_json::Value::from(flags);
            options.arguments.extend(["--config".to_owned(), format!("target.{target}.rustflags={flags}")]);
        }
    }
    if let Some(compiler) = &toolchain.compiler {
        // The crates that compile C look for it under this name.
        for name in [linker_variable(target), format!("CC_{}", target.replace('-', "_"))] {
            if variable(&name).is_none() {
                options.environment.push((name, compiler.into()));
            }
        }
    }
    options
}

fn home_cargo(variable: impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
    Some(Path::new(&variable("HOME")?).join(".cargo").into_os_string())
}

/// Static, and without paths of this machine: they would tell who built it, and make a different program of every clone.
fn rust_flags(project: &Project, cargo_home: Option<OsString>) -> Vec<String> {
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
    // The last that fits counts: the target folder mostly is below the project's.
    for (path, name) in [
        (cargo_home, CARGO_HOME),
        (Some(project.workspace_root.clone().into_os_string()), PROJECT),
        (Some(project.target_directory.clone().into_os_string()), TARGET),
    ] {
        // A path that is not text cannot be part of a flag; it stays in the program.
        if let Some(path) = path.and_then(|path| path.into_string().ok()) {
            flags.push(format!("--remap-path-prefix={path}={name}"));
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn options(variables: &'static [(&'static str, &'static str)]) -> BuildOptions {
        let project = Project::find(Path::new(env!("CARGO_MANIFEST_DIR")), None).await.expect("a package");
        let toolchain = Toolchain {
            target: "aarch64-unknown-linux-gnu".to_owned(),
            compiler: Some("aarch64-linux-gnu-gcc".to_owned()),
            reason: String::new(),
        };
        let project =
            Project { workspace_root: "/w \"x\"".into(), target_directory: "/w/target".into(), ..project };
        cargo_options(&project, &toolchain, "release", |name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
        })
    }

    #[tokio::test]
    async fn flags_join_those_of_configuration_files() {
        let options = options(&[("HOME", "/home/ann")]).await;
        assert_eq!(
            options.arguments,
            [
                "--target",
                "aarch64-unknown-linux-gnu",
                "--profile",
                "release",
                "--config",
                "target.aarch64-unknown-linux-gnu.rustflags=[\"-Ctarget-feature=+crt-static\",\
                 \"--remap-path-prefix=/home/ann/.cargo=/cargo\",\"--remap-path-prefix=/w \\\"x\\\"=/project\",\
                 \"--remap-path-prefix=/w/target=/target\"]"
            ]
        );
        let compiler = OsString::from("aarch64-linux-gnu-gcc");
        assert_eq!(
            options.environment,
            [
                ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER".to_owned(), compiler.clone()),
                ("CC_aarch64_unknown_linux_gnu".to_owned(), compiler)
            ]
        );
    }

    #[tokio::test]
    async fn flags_join_those_of_the_environment() {
        let options = options(&[
            ("CARGO_HOME", "/c"),
            ("RUSTFLAGS", "-Copt-level=s  -Cpanic=abort"),
            ("CC_aarch64_unknown_linux_gnu", "mine"),
        ])
        .await;
        assert!(!options.arguments.iter().any(|argument| argument == "--config"));
        let (name, value) = &options.environment[0];
        assert_eq!(name, "CARGO_ENCODED_RUSTFLAGS");
        let flags = value.to_str().expect("text");
        assert!(
            flags.starts_with(
                "-Copt-level=s\x1f-Cpanic=abort\x1f-Ctarget-feature=+crt-static\x1f--remap-path-prefix=/c="
            ),
            "{flags}"
        );
        assert!(!options.environment.iter().any(|(name, _)| name.starts_with("CC_")));
    }
}
