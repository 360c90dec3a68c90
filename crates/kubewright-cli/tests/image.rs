//! `kubewright image`, from the sources of an operator to its program in a registry and back.

mod registry;

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use kubewright_image::{
    Image, Platform, Reference, layout,
    registry::{Options, Registry as Client},
};
use registry::{Registry, Wanted};
use serde_json::{Value, json};

/// An operator that is as small as it can be, and tells where it was built if nothing keeps that out of it.
const MAIN: &str = r#"
fn main() {
    assert!(std::env::args().count() < 9, "a message with a place");
    println!("zoo at {}: {:?}", file!(), std::env::args().nth(1));
}
"#;

const MANIFEST: &str = r#"
[package]
name = "zoo"
version = "1.2.3"
edition = "2024"
description = "Keeps mice"
license = "Apache-2.0"

[workspace]
"#;

/// `ann:secret` as htpasswd has it.
const LOGIN: &str = "ann:$2a$04$AOp7Y/1nXxmgsxzgOIl0muU5aY9A4J3L0rd9/aUfMsfJJQJal28ZC\n";

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("src")).expect("writable");
        fs::write(folder.path().join("Cargo.toml"), MANIFEST).expect("writable");
        fs::write(folder.path().join("src/main.rs"), MAIN).expect("writable");
        Self(folder)
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Builds its image, or says that the test is skipped where programs cannot be linked statically.
    fn build(&self, arguments: &[&str]) -> Option<Run> {
        let run = image(self.folder(), &[&["build", "--tag", "team/zoo:v1"], arguments].concat(), &[]);
        if run.stderr.contains("cannot build a static program") {
            let _ = writeln!(std::io::stderr(), "skipped: {}", run.stderr);
            return None;
        }
        Some(run)
    }
}

struct Run {
    success: bool,
    stdout: String,
    stderr: String,
}

impl Run {
    fn ok(self) -> Self {
        assert!(self.success, "failed: {}", self.stderr);
        self
    }

    fn json(self) -> Value {
        serde_json::from_str(&self.ok().stdout).expect("one JSON object")
    }

    fn failed(self) -> String {
        assert!(!self.success, "succeeded: {}", self.stderr);
        assert_eq!(self.stdout, "");
        self.stderr
    }
}

/// Runs `kubewright image` without the logins of whoever runs the tests.
fn image(folder: &Path, arguments: &[&str], environment: &[(&str, &Path)]) -> Run {
    image_with_input(folder, arguments, environment, "")
}

fn image_with_input(folder: &Path, arguments: &[&str], environment: &[(&str, &Path)], input: &str) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command.arg("image").args(arguments).current_dir(folder);
    for name in [
        "CARGO_TARGET_DIR",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "SOURCE_DATE_EPOCH",
        "REGISTRY_AUTH_FILE",
        "XDG_RUNTIME_DIR",
    ] {
        command.env_remove(name);
    }
    // Cargo's own folder stays where it is.
    if let Some(home) = std::env::var_os("HOME") {
        command.env(
            "CARGO_HOME",
            std::env::var_os("CARGO_HOME").unwrap_or_else(|| Path::new(&home).join(".cargo").into()),
        );
        command.env(
            "RUSTUP_HOME",
            std::env::var_os("RUSTUP_HOME").unwrap_or_else(|| Path::new(&home).join(".rustup").into()),
        );
    }
    command.env("HOME", folder).env("DOCKER_CONFIG", folder).envs(environment.iter().copied());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the kubewright binary runs");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads, or does not care");
    let output = child.wait_with_output().expect("it ends");
    Run {
        success: output.status.success(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// The files of the last layer.
fn files(image: &Image) -> BTreeMap<String, Vec<u8>> {
    let manifests = image.manifests().expect("readable");
    let layer = manifests[0].1.layers.last().expect("a layer");
    let mut archive =
        tar::Archive::new(flate2::read::GzDecoder::new(&image.blob(&layer.digest).expect("there")[..]));
    let entries = archive.entries().expect("an archive");
    entries
        .map(|entry| {
            let mut entry = entry.expect("an entry");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("whole");
            (entry.path().expect("a path").to_string_lossy().into_owned(), content)
        })
        .collect()
}

/// What the program in the image in `layout` prints. It runs with an empty environment, as a static program can.
fn run_program(layout: &Path, arguments: &[&str]) -> String {
    let (image, _) = layout::read(layout).expect("an image");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let manager = folder.path().join("manager");
    fs::write(&manager, &files(&image)["manager"]).expect("writable");
    fs::set_permissions(&manager, fs::Permissions::from_mode(0o755)).expect("writable");
    let output = Command::new(&manager).args(arguments).env_clear().output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn contains(content: &[u8], text: &str) -> bool {
    content.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn two_clones_give_the_same_image_with_nothing_of_the_machine_in_it() {
    let (one, two) = (Project::new(), Project::new());
    let Some(first) = one.build(&["--output", "json", "--output", "zoo.tar"]) else { return };
    let first = first.json();
    let second = two.build(&["--output", "json"]).expect("it builds").json();
    assert_eq!(first["digest"], second["digest"]);

    assert_eq!(first["reference"], "docker.io/team/zoo:v1");
    assert_eq!(first["output"], "zoo.tar");
    let part = &first["platforms"][0];
    assert_eq!(part["layers"].as_array().map(Vec::len), Some(1));
    assert_eq!(part["size"], part["layers"][0]["size"]);
    let (image, name) = layout::read(&one.folder().join("zoo.tar")).expect("an image");
    assert_eq!(name.map(|name| name.to_string()).as_deref(), Some("docker.io/team/zoo:v1"));
    assert_eq!(first["digest"], image.root().digest.as_str());
    let (_, manifest) = image.manifests().expect("readable").remove(0);
    let config = image.config(&manifest).expect("readable");
    assert_eq!(config.config.user, "65532:65532");
    assert_eq!(
        json!(config.config.labels),
        json!({
            "org.opencontainers.image.title": "zoo",
            "org.opencontainers.image.version": "1.2.3",
            "org.opencontainers.image.description": "Keeps mice",
            "org.opencontainers.image.licenses": "Apache-2.0",
        })
    );
    let program = &files(&image)["manager"];
    assert_eq!(part["program"]["size"], program.len());
    for secret in [one.folder(), Path::new(&std::env::var("HOME").expect("a home")).join(".cargo").as_path()]
    {
        assert!(!contains(program, &secret.to_string_lossy()), "{} is in the program", secret.display());
    }
    assert_eq!(
        run_program(&one.folder().join("zoo.tar"), &["--help"]),
        "zoo at src/main.rs: Some(\"--help\")\n"
    );
}

#[test]
fn programs_that_do_not_fit_are_refused_and_nothing_is_written() {
    let project = Project::new();
    let this = std::env::current_exe().expect("a path").to_string_lossy().into_owned();
    let host = Platform::of_triple(std::env::consts::ARCH).expect("known");
    let other = if host.to_string() == "linux/arm64" { "linux/amd64" } else { "linux/arm64" };
    let build = |arguments: &[&str]| {
        image(project.folder(), &[&["build", "--tag", "zoo"], arguments].concat(), &[]).failed()
    };
    for (arguments, expected) in [
        (vec!["--binary", &this], format!("the program for {host} is not linked statically: it needs /lib")),
        (vec!["--binary", &format!("{other}={this}")], format!("{this} is for {host}, not for {other}")),
        (vec!["--binary", &this, "--binary", &this], format!("--binary gives two programs for {host}")),
        (
            vec!["--binary", &this, "--platform", other],
            format!("--binary gives a program for {host}, which --platform does not name"),
        ),
        (vec!["--binary", "Cargo.toml"], "Cargo.toml cannot be in an image: it is no ELF program".to_owned()),
        (vec!["--binary", "absent"], "cannot read absent: ".to_owned()),
        (vec!["--platform", "windows/amd64"], "`windows/amd64` is no platform to build for".to_owned()),
        (vec!["--label", "x"], "`x` is not KEY=VALUE".to_owned()),
        (vec!["--output", "a", "--output", "b"], "--output names one place and one form at most".to_owned()),
        (vec!["--username", "ann"], "--password-stdin".to_owned()),
    ] {
        let error = build(&arguments);
        assert!(error.contains(&expected), "{expected} in {error}");
    }
    let error = image(project.folder(), &["build", "--tag", "Zoo:v1"], &[]).failed();
    assert!(error.contains("a repository is lowercase; write `zoo`"), "{error}");
    let error = image(project.folder(), &["push"], &[]).failed();
    assert!(error.contains("there is no image in ") && error.contains("kubewright image build"), "{error}");
    assert!(!project.folder().join("target").exists());
}

#[test]
fn an_image_goes_to_a_registry_and_back() {
    let Some(registry) = Registry::start(&Wanted::default()) else { return };
    let project = Project::new();
    let Some(built) = project.build(&["--output", "json"]) else { return };
    let digest = built.json()["digest"].as_str().expect("a digest").to_owned();
    let name = format!("{}/team/zoo:v1", registry.address);
    let run = |arguments: &[&str]| image(project.folder(), arguments, &[]);

    let pushed = run(&["push", &name]).ok();
    assert_eq!(pushed.stdout, format!("{}/team/zoo@{digest}\n", registry.address));
    assert!(pushed.stderr.starts_with(&format!("      Pushed {name}\n")), "{}", pushed.stderr);
    let pulled = run(&["pull", &name, "--output", "pulled", "--output", "json"]).json();
    assert_eq!(pulled["digest"], digest.as_str());
    let pinned = format!("{}/team/zoo@{digest}", registry.address);
    run(&["pull", &pinned, "--output", "pulled.tar"]).ok();
    for layout in ["pulled", "pulled.tar"] {
        assert!(run_program(&project.folder().join(layout), &["--help"]).starts_with("zoo at "));
    }

    let absent = format!("{}/team/mouse:v1", registry.address);
    let error = run(&["pull", &absent, "--output", "absent"]).failed();
    assert!(
        error.contains(&format!("cannot pull {absent}: {} does not have it", registry.address)),
        "{error}"
    );
    assert!(error.contains("_UNKNOWN: "), "{error}");
    assert!(!project.folder().join("absent").exists());
}

#[test]
fn platforms_bases_and_pieces_are_what_a_registry_takes_them_for() {
    let Some(registry) = Registry::start(&Wanted::default()) else { return };
    let project = Project::new();
    let Some(built) = project.build(&["--output", "base"]) else { return };
    built.ok();
    let (base, _) = layout::read(&project.folder().join("base")).expect("an image");
    let program = project.folder().join("manager");
    fs::write(&program, &files(&base)["manager"]).expect("writable");
    // The same program, said to be for another processor: nobody runs it.
    let mut foreign = files(&base)["manager"].clone();
    let (number, platform) =
        if cfg!(target_arch = "aarch64") { (62, "linux/amd64") } else { (183, "linux/arm64") };
    foreign[18] = number;
    fs::write(project.folder().join("foreign"), foreign).expect("writable");
    let run = |arguments: &[&str]| image(project.folder(), arguments, &[]);
    let base_name = format!("{}/base:v1", registry.address);
    let name = format!("{}/team/zoo:v1", registry.address);
    run(&["build", "--tag", &base_name, "--binary", "manager", "--binary", "foreign", "--push"]).ok();
    let built = run(&[
        "build",
        "--tag",
        &name,
        "--binary",
        "manager",
        "--binary",
        &format!("{platform}=foreign"),
        "--base",
        &base_name,
        "--label",
        "a=b",
        "--push",
        "--output",
        "json",
    ])
    .json();
    assert_eq!(built["platforms"].as_array().map(Vec::len), Some(2));
    assert_eq!(built["mediaType"], "application/vnd.oci.image.index.v1+json");
    run(&["pull", &name, "--platform", platform, "--output", "one"]).ok();
    let (one, _) = layout::read(&project.folder().join("one")).expect("an image");
    let (_, manifest) = one.manifests().expect("readable").remove(0);
    assert_eq!(manifest.layers.len(), 2);
    assert_eq!(manifest.annotations["a"], "b");
    assert_eq!(manifest.annotations["org.opencontainers.image.base.name"], base_name);
    assert_eq!(one.config(&manifest).expect("readable").platform().to_string(), platform);
    run(&["pull", &name, "--output", "all", "--output", "json"]).ok();
    assert!(run_program(&project.folder().join("all"), &[]).starts_with("zoo at "));

    // In pieces, to a repository that has nothing of it.
    let pieces: Reference = format!("{}/pieces:v1", registry.address).parse().expect("a reference");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let options = Options { chunk: 100_000, pause: Duration::from_millis(10), ..Options::default() };
        let client = Client::new(pieces.registry(), options).expect("a client");
        client.push(&base, &pieces).await.expect("pushed");
        assert_eq!(client.pull(&pieces, None).await.expect("pulled"), base);
    });
}

#[test]
fn logins_come_from_files_helpers_and_the_command_line() {
    let Some(registry) = Registry::start(&Wanted { login: Some(LOGIN), ..Wanted::default() }) else { return };
    let project = Project::new();
    let Some(built) = project.build(&[]) else { return };
    built.ok();
    let address = registry.address.as_str();
    let name = format!("{address}/team/zoo:v1");
    let logins = tempfile::tempdir().expect("a temporary folder");
    let config =
        |text: Value| fs::write(logins.path().join("config.json"), text.to_string()).expect("writable");
    let path = std::env::join_paths(
        [logins.path().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").expect("a PATH"))),
    );
    let path = PathBuf::from(path.expect("a PATH"));
    let push = |more: &[&str], input: &str| {
        let environment = [("DOCKER_CONFIG", logins.path()), ("PATH", path.as_path())];
        image_with_input(project.folder(), &[&["push", &name], more].concat(), &environment, input)
    };

    let error = push(&[], "").failed();
    assert!(
        error.contains(&format!("{address} refuses to push {name}: there is no login for it")),
        "{error}"
    );

    // `ann:wrong`, then `ann:secret`.
    config(json!({"auths": {address: {"auth": "YW5uOndyb25n"}}}));
    let error = push(&[], "").failed();
    assert!(
        error.contains("the login of ann from ") && error.contains("config.json does not suffice"),
        "{error}"
    );
    config(json!({"auths": {address: {"auth": "YW5uOnNlY3JldA=="}}}));
    push(&[], "").ok();

    config(json!({"credHelpers": {address: "zoo"}}));
    let error = push(&[], "").failed();
    assert!(error.contains("docker-credential-zoo") && error.contains("it is not on the PATH"), "{error}");
    let helper = logins.path().join("docker-credential-zoo");
    let says = |script: &str| {
        fs::write(&helper, format!("#!/bin/sh\nread registry\n{script}\n")).expect("writable");
        fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).expect("writable");
    };
    says(
        r#"[ "$1" = get ] && echo "{\"ServerURL\":\"$registry\",\"Username\":\"ann\",\"Secret\":\"secret\"}""#,
    );
    push(&[], "").ok();
    config(json!({"credsStore": "zoo", "auths": {address: {}}}));
    push(&[], "").ok();
    says("echo 'credentials not found in native keychain'; exit 1");
    let error = push(&[], "").failed();
    assert!(error.contains("there is no login for it"), "{error}");
    says("echo 'the keychain is locked' >&2; exit 1");
    let error = push(&[], "").failed();
    assert!(
        error.contains("the credential helper docker-credential-zoo")
            && error.contains("the keychain is locked"),
        "{error}"
    );

    push(&["--username", "ann", "--password-stdin"], "secret\n").ok();
    let error = push(&["--username", "ann", "--password-stdin"], "wrong\n").failed();
    assert!(error.contains("the login of ann from the command line does not suffice"), "{error}");
    let error = push(&["--username", "ann", "--password-stdin"], "\n").failed();
    assert!(error.contains("the standard input has no password"), "{error}");
}

#[test]
fn https_is_spoken_with_whoever_can_show_a_certificate() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    let (certificate, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
    fs::write(&certificate, made.cert.pem()).expect("writable");
    fs::write(&key, made.signing_key.serialize_pem()).expect("writable");
    let wanted = Wanted { tls: Some((&certificate, &key)), ..Wanted::default() };
    let Some(registry) = Registry::start(&wanted) else { return };
    let project = Project::new();
    let Some(built) = project.build(&[]) else { return };
    built.ok();
    let name = format!("{}/team/zoo:v1", registry.address);
    let error = image(project.folder(), &["push", &name], &[]).failed();
    assert!(error.contains("has a certificate that is not trusted"), "{error}");
    image(project.folder(), &["push", &name], &[("SSL_CERT_FILE", &certificate)]).ok();
    image(project.folder(), &["pull", &name, "--output", "zoo"], &[("SSL_CERT_FILE", &certificate)]).ok();
}

/// The goal: what an operator's image may weigh, in bytes.
const GOAL: u64 = 12_000_000;

/// A copy of this repository, as a clone of it would be.
fn clone_of_this_repository(folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output().expect("git runs");
    let listed = String::from_utf8(listed.stdout).expect("text");
    for name in listed.split('\0').filter(|name| root.join(name).is_file()) {
        let to = folder.join(name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("made");
        fs::copy(root.join(name), to).expect("copied");
    }
    folder.join("examples/memcached-operator")
}

#[test]
#[ignore = "builds the example in release mode twice, which takes minutes"]
fn the_image_of_the_example_is_small_runs_and_is_the_same_of_two_clones() {
    let Some(registry) = Registry::start(&Wanted::default()) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = format!("{}/memcached-operator:v1", registry.address);
    let build = |clone: &str, more: &[&str]| -> Value {
        let example = clone_of_this_repository(&folder.path().join(clone));
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
        command.args(["image", "build", "--tag", &name, "--output", "json"]).args(more);
        // Each has a target folder of its own, as clones have.
        command.env_remove("CARGO_TARGET_DIR").env("CARGO_NET_OFFLINE", "true");
        let output = command
            .arg(example)
            .current_dir(folder.path())
            .stderr(Stdio::inherit())
            .output()
            .expect("it runs");
        assert!(output.status.success());
        fs::remove_dir_all(folder.path().join(clone).join("target")).expect("it was built there");
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let built = build("one", &["--push", "--output", "memcached.tar"]);
    let size = built["platforms"][0]["size"].as_u64().expect("a number");
    let _ = writeln!(std::io::stderr(), "the image of the example has {size} bytes");
    assert!(size <= GOAL, "{size} bytes");
    let pulled = image(folder.path(), &["pull", &name, "--output", "pulled", "--output", "json"], &[]).json();
    assert_eq!(pulled["digest"], built["digest"]);
    let help = run_program(&folder.path().join("pulled"), &["--help"]);
    assert!(help.starts_with("Usage: "), "{help}");
    let other = build("a-clone-with-a-longer-name", &["--output", "other.tar"]);
    assert_eq!(other["digest"], built["digest"]);
}
