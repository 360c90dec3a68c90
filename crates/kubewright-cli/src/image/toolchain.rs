//! With what a static program for a platform can be built on this machine, or what is missing for that.

use std::{
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use kubewright_image::Platform;

use super::error::ImageFailure;
use crate::error::Error;

/// The first glibc whose static programs can resolve names by DNS without its shared libraries.
const GLIBC: (u32, u32) = (2, 34);

/// A way to build a static program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Toolchain {
    /// The Rust target.
    pub(super) target: String,
    /// The C compiler, which links; none where cargo knows it.
    pub(super) compiler: Option<String>,
    /// Why this one, for people.
    pub(super) reason: String,
}

/// What there is on this machine. A value, so that tests can have other machines.
pub(super) trait Machine {
    /// The Rust target of this machine.
    fn host(&self) -> &str;
    /// Whether the standard library of a Rust target is there.
    fn has_target(&self, target: &str) -> bool;
    /// An environment variable.
    fn variable(&self, name: &str) -> Option<OsString>;
    /// Whether there is such a program.
    fn has_program(&self, name: &str) -> bool;
    /// Whether a C compiler has a static C library.
    fn has_static_libc(&self, compiler: &str) -> bool;
    /// The version of glibc that a C compiler compiles for.
    fn glibc(&self, compiler: &str) -> Option<(u32, u32)>;
}

/// Chooses how to build for `platform`: with glibc where that can be linked statically, since its allocator is the faster one and its
/// compiler the more common, otherwise with musl.
pub(super) fn choose(machine: &impl Machine, platform: &Platform) -> Result<Toolchain, Error> {
    let mut missing = Vec::new();
    for (libc, try_it) in [("gnu", glibc as fn(_, &str, &str) -> _), ("musl", musl)] {
        let Some(target) = target(platform, libc) else { continue };
        match try_it(machine, &target, &compiler(&target)) {
            Ok(toolchain) => return Ok(toolchain),
            Err(found) => missing.push((target, found)),
        }
    }
    Err(ImageFailure::NoToolchain { platform: platform.clone(), missing }.into())
}

fn target(platform: &Platform, libc: &str) -> Option<String> {
    // The 32-bit ARM has its calling convention in the name.
    let abi = if platform.architecture == "arm" { "eabihf" } else { "" };
    Some(format!("{}-unknown-linux-{libc}{abi}", platform.rust_architecture()?))
}

/// What the C compiler for a Rust target is called where it is not the machine's own: `aarch64-linux-gnu-gcc`.
fn compiler(target: &str) -> String {
    let target = target.replace("-unknown-", "-").replace("riscv64gc", "riscv64").replace("armv7-", "arm-");
    format!("{target}-gcc")
}

fn glibc(machine: &dyn Machine, target: &str, cross: &str) -> Result<Toolchain, Vec<String>> {
    let native = machine.host() == target;
    let mut missing = target_missing(machine, target);
    let compiler = match configured(machine, target) {
        Some(linker) => linker,
        None if native => "cc".to_owned(),
        None => cross.to_owned(),
    };
    if !machine.has_program(&compiler) {
        let package =
            if native { "gcc".to_owned() } else { format!("gcc-{}", cross.trim_end_matches("-gcc")) };
        missing.push(format!("there is no C compiler `{compiler}` (on Debian: `apt install {package}`)"));
        return Err(missing);
    }
    if !machine.has_static_libc(&compiler) {
        missing.push(format!(
            "`{compiler}` has no static C library (Debian has it in libc6-dev, Fedora in glibc-static)"
        ));
    }
    let version = machine.glibc(&compiler);
    match version {
        Some(version) if version < GLIBC => missing.push(format!(
            "glibc {}.{} cannot resolve names in static programs, {}.{} can",
            version.0, version.1, GLIBC.0, GLIBC.1
        )),
        None => missing.push(format!("`{compiler}` does not compile for glibc")),
        _ => {}
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    let (major, minor) = version.unwrap_or(GLIBC);
    let whose = if native { "this machine's own".to_owned() } else { format!("that of {compiler}") };
    Ok(Toolchain {
        target: target.to_owned(),
        compiler: (!native).then_some(compiler),
        reason: format!("static with glibc {major}.{minor}, {whose}"),
    })
}

fn musl(machine: &dyn Machine, target: &str, cross: &str) -> Result<Toolchain, Vec<String>> {
    let mut missing = target_missing(machine, target);
    // `musl-gcc` is for this machine's processor alone.
    let native =
        target.split('-').next() == machine.host().split('-').next() && machine.host().contains("linux");
    let candidates =
        [configured(machine, target), native.then(|| "musl-gcc".to_owned()), Some(cross.to_owned())];
    let compiler = candidates.into_iter().flatten().find(|compiler| machine.has_program(compiler));
    if compiler.is_none() {
        let (name, fix) =
            if native { ("musl-gcc", " (on Debian: `apt install musl-tools`)") } else { (cross, "") };
        missing.push(format!("there is no C compiler `{name}`{fix}"));
    }
    match compiler {
        Some(compiler) if missing.is_empty() => Ok(Toolchain {
            target: target.to_owned(),
            reason: format!("static with musl by {compiler}, for want of a static glibc"),
            compiler: Some(compiler),
        }),
        _ => Err(missing),
    }
}

fn target_missing(machine: &dyn Machine, target: &str) -> Vec<String> {
    if machine.has_target(target) {
        return Vec::new();
    }
    vec![format!("the Rust target is not installed (`rustup target add {target}`)")]
}

/// The linker that the environment names for a target.
fn configured(machine: &dyn Machine, target: &str) -> Option<String> {
    let linker = machine.variable(&linker_variable(target))?;
    linker.into_string().ok().filter(|linker| !linker.is_empty())
}

/// Where cargo looks for the linker of a target.
pub(super) fn linker_variable(target: &str) -> String {
    format!("CARGO_TARGET_{}_LINKER", target.replace('-', "_").to_uppercase())
}

/// This machine.
#[derive(Debug)]
pub(super) struct ThisMachine {
    host: String,
    sysroot: PathBuf,
}

impl ThisMachine {
    /// Asks the compiler that cargo uses in `folder`.
    pub(super) fn ask(folder: &Path) -> Result<Self, Error> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let said = |arguments: &[&str]| {
            let mut command = Command::new(&rustc);
            command.args(arguments).current_dir(folder).stdin(Stdio::null());
            output(&mut command)
        };
        let version = said(&["-vV"])?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.ok_or_else(|| ImageFailure::Compiler {
            command: "rustc -vV".to_owned(),
            reason: "it does not name its host".to_owned(),
        })?;
        Ok(Self { host: host.to_owned(), sysroot: said(&["--print", "sysroot"])?.trim().into() })
    }
}

impl Machine for ThisMachine {
    fn host(&self) -> &str {
        &self.host
    }

    fn has_target(&self, target: &str) -> bool {
        self.sysroot.join("lib/rustlib").join(target).join("lib").is_dir()
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn has_program(&self, name: &str) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    }

    fn has_static_libc(&self, compiler: &str) -> bool {
        // A compiler repeats the name of what it does not find.
        output(Command::new(compiler).arg("-print-file-name=libc.a"))
            .is_ok_and(|path| Path::new(path.trim()).is_absolute())
    }

    fn glibc(&self, compiler: &str) -> Option<(u32, u32)> {
        let mut command = Command::new(compiler);
        command
            .args(["-E", "-P", "-x", "c", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        // One that does not read it answers nothing.
        let _ = child.stdin.take()?.write_all(b"#include <features.h>\n__GLIBC__ __GLIBC_MINOR__\n");
        let said = child.wait_with_output().ok()?;
        let text = String::from_utf8(said.stdout).ok()?;
        let mut numbers = text.lines().last()?.split_whitespace().map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

fn output(command: &mut Command) -> Result<String, Error> {
    let failed = |command: &Command, reason: String| ImageFailure::Compiler {
        command: command.get_program().to_string_lossy().into_owned(),
        reason,
    };
    let said = command.output().map_err(|error| failed(command, error.to_string()))?;
    if !said.status.success() {
        return Err(failed(command, String::from_utf8_lossy(&said.stderr).trim().to_owned()).into());
    }
    Ok(String::from_utf8_lossy(&said.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Other {
        host: &'static str,
        targets: &'static [&'static str],
        programs: &'static [&'static str],
        variables: &'static [(&'static str, &'static str)],
        static_libc: bool,
        glibc: Option<(u32, u32)>,
    }

    const DEBIAN: Other = Other {
        host: "x86_64-unknown-linux-gnu",
        targets: &["x86_64-unknown-linux-gnu"],
        programs: &["cc"],
        variables: &[],
        static_libc: true,
        glibc: Some((2, 36)),
    };

    impl Machine for Other {
        fn host(&self) -> &str {
            self.host
        }
        fn has_target(&self, target: &str) -> bool {
            self.targets.contains(&target)
        }
        fn variable(&self, name: &str) -> Option<OsString> {
            self.variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
        }
        fn has_program(&self, name: &str) -> bool {
            self.programs.contains(&name)
        }
        fn has_static_libc(&self, _: &str) -> bool {
            self.static_libc
        }
        fn glibc(&self, _: &str) -> Option<(u32, u32)> {
            self.glibc
        }
    }

    fn chosen(machine: &Other, platform: &str) -> Result<(String, Option<String>, String), String> {
        let platform = platform.parse().expect("known");
        choose(machine, &platform)
            .map(|toolchain| (toolchain.target, toolchain.compiler, toolchain.reason))
            .map_err(|error| error.to_string())
    }

    fn choice(
        target: &str,
        compiler: Option<&str>,
        reason: &str,
    ) -> Result<(String, Option<String>, String), String> {
        Ok((target.to_owned(), compiler.map(str::to_owned), reason.to_owned()))
    }

    const MUSL: &[&str] = &["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl"];

    #[test]
    fn glibc_is_taken_where_it_can_be_linked_and_resolves_names() {
        let own = choice("x86_64-unknown-linux-gnu", None, "static with glibc 2.36, this machine's own");
        assert_eq!(chosen(&DEBIAN, "linux/amd64"), own);
        let both = Other { targets: MUSL, programs: &["cc", "musl-gcc"], ..DEBIAN };
        assert_eq!(chosen(&both, "linux/amd64"), own);
        let musl = choice(
            "x86_64-unknown-linux-musl",
            Some("musl-gcc"),
            "static with musl by musl-gcc, for want of a static glibc",
        );
        assert_eq!(chosen(&Other { static_libc: false, ..both }, "linux/amd64"), musl);
        assert_eq!(
            chosen(
                &Other { glibc: Some((2, 31)), targets: MUSL, programs: &["cc", "musl-gcc"], ..DEBIAN },
                "linux/amd64"
            ),
            musl
        );
    }

    #[test]
    fn other_processors_need_a_target_and_a_compiler() {
        let cross = Other {
            targets: &["aarch64-unknown-linux-gnu"],
            programs: &["cc", "aarch64-linux-gnu-gcc"],
            ..DEBIAN
        };
        let gcc = choice(
            "aarch64-unknown-linux-gnu",
            Some("aarch64-linux-gnu-gcc"),
            "static with glibc 2.36, that of aarch64-linux-gnu-gcc",
        );
        assert_eq!(chosen(&cross, "linux/arm64"), gcc);
        let mac = Other {
            host: "aarch64-apple-darwin",
            targets: &["aarch64-unknown-linux-musl"],
            programs: &["cc", "aarch64-linux-musl-gcc", "musl-gcc"],
            ..DEBIAN
        };
        let musl = choice(
            "aarch64-unknown-linux-musl",
            Some("aarch64-linux-musl-gcc"),
            "static with musl by aarch64-linux-musl-gcc, for want of a static glibc",
        );
        assert_eq!(chosen(&mac, "linux/arm64"), musl);
        let named = Other {
            targets: &["armv7-unknown-linux-gnueabihf"],
            programs: &["my-cc"],
            variables: &[("CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_LINKER", "my-cc")],
            ..DEBIAN
        };
        assert!(chosen(&named, "linux/arm/v7").is_ok());
    }

    #[test]
    fn what_is_missing_is_named_with_its_fix() {
        assert_eq!(
            chosen(&DEBIAN, "linux/arm64").expect_err("no compiler"),
            "cannot build a static program for linux/arm64 here:\n  aarch64-unknown-linux-gnu: the Rust target is not installed \
             (`rustup target add aarch64-unknown-linux-gnu`); there is no C compiler `aarch64-linux-gnu-gcc` (on Debian: \
             `apt install gcc-aarch64-linux-gnu`)\n  aarch64-unknown-linux-musl: the Rust target is not installed (`rustup \
             target add aarch64-unknown-linux-musl`); there is no C compiler `aarch64-linux-musl-gcc`\ninstall what is \
             missing, or give a program that was built elsewhere: --binary linux/arm64=FILE"
        );
        let fedora = chosen(&Other { static_libc: false, ..DEBIAN }, "linux/amd64").expect_err("no libc.a");
        assert!(
            fedora.contains("Fedora in glibc-static") && fedora.contains("apt install musl-tools"),
            "{fedora}"
        );
        let old = chosen(&Other { glibc: Some((2, 31)), ..DEBIAN }, "linux/amd64").expect_err("an old one");
        assert!(old.contains("glibc 2.31 cannot resolve names in static programs, 2.34 can"), "{old}");
    }
}
