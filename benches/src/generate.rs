//! `kubewright generate` beside controller-gen: the roles and webhooks of many markers, and everything after an edit of a type.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    Result,
    peers::run,
    report::{Row, Unit},
};

/// How often each is measured. The median counts.
const ROUNDS: usize = 7;

/// Files with markers, and how many each has: every tenth is a webhook.
const FILES: usize = 20;
const MARKERS: usize = 10;

/// What is edited in the API, in both languages.
const EDITED: &str = "the number of memcached instances";

const PEER: &str = "controller-gen";

/// Measures, with the program of controller-gen as the peer if there is one.
///
/// The API in Rust is that of the Memcached example, copied into a workspace of its own. Its first build is not measured
/// and takes some minutes; it is kept in `target/benches`.
pub(crate) fn measure(controller_gen: Option<&Path>) -> Result<Vec<Row>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let kubewright = build(&root)?;
    let folder = tempfile::tempdir()?;
    Ok(vec![
        markers(&kubewright, controller_gen, folder.path())?,
        edit(&root, &kubewright, controller_gen, folder.path())?,
    ])
}

/// Builds the command as this program was built, and gives where it lies.
fn build(root: &Path) -> Result<PathBuf> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root).args(["build", "--quiet", "--release", "-p", "kubewright-cli"]);
    run(&mut command)?;
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent).ok_or("this program lies in no target folder")?;
    Ok(target.join("release/kubewright"))
}

fn markers(kubewright: &Path, controller_gen: Option<&Path>, folder: &Path) -> Result<Row> {
    let (ours, theirs) = (folder.join("markers-rust"), folder.join("markers-go"));
    fs::create_dir_all(ours.join("src"))?;
    fs::create_dir_all(&theirs)?;
    fs::write(
        ours.join("Cargo.toml"),
        "[package]\nname = \"markers\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    )?;
    fs::write(theirs.join("go.mod"), "module example.com/markers\n\ngo 1.26.0\n")?;
    let mut main = String::new();
    for file in 0..FILES {
        let text = file_of_markers(file);
        fs::write(
            ours.join(format!("src/controller{file}.rs")),
            format!("{text}\npub fn reconcile() {{}}\n"),
        )?;
        fs::write(
            theirs.join(format!("controller{file}.go")),
            format!("package markers\n\n{text}\nfunc reconcile{file}() {{}}\n"),
        )?;
        writeln!(main, "mod controller{file};")?;
    }
    fs::write(ours.join("src/main.rs"), format!("{main}\nfn main() {{}}\n"))?;
    let arguments = ["rbac:roleName=manager-role", "webhook"];
    let time = median(|_| run(Command::new(kubewright).current_dir(&ours).arg("generate").args(arguments)))?;
    let what = format!("generate roles and webhooks of {} markers", FILES * MARKERS);
    let row = Row::new(what, milliseconds(time), Unit::Milliseconds);
    let Some(controller_gen) = controller_gen else { return Ok(row) };
    let time = median(|_| {
        run(Command::new(controller_gen).current_dir(&theirs).args(arguments).arg("paths=./..."))
    })?;
    Ok(row.beside(PEER, milliseconds(time)))
}

/// Comment lines with markers. They differ, so that rules are merged as in a large project.
fn file_of_markers(file: usize) -> String {
    let mut text = String::new();
    for line in 0..MARKERS {
        let number = file * MARKERS + line;
        // Writing to a string cannot fail.
        let _ = if line == 0 {
            writeln!(
                text,
                "// +kubebuilder:webhook:path=/mutate-{number},mutating={},failurePolicy=fail,sideEffects=None,\
                 groups=g{file}.example.com,resources=r{number},verbs=create;update,versions=v1,\
                 name=h{number}.example.com,admissionReviewVersions=v1",
                file.is_multiple_of(2)
            )
        } else {
            let verbs = ["get;list;watch", "create", "update;patch", "delete"][line % 4];
            let group = number % 7;
            writeln!(
                text,
                "// +kubebuilder:rbac:groups=g{group}.example.com,resources=r{},verbs={verbs}",
                number % 31
            )
        };
    }
    text
}

fn edit(root: &Path, kubewright: &Path, controller_gen: Option<&Path>, folder: &Path) -> Result<Row> {
    let workspace = folder.join("rust");
    copy(&root.join("examples/memcached-operator/src"), &workspace.join("operator/src"))?;
    fs::copy(root.join("examples/memcached-operator/Cargo.toml"), workspace.join("operator/Cargo.toml"))?;
    fs::copy(root.join("Cargo.lock"), workspace.join("Cargo.lock"))?;
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let crates = root.join("crates");
    let members = |line: &str| {
        if line.starts_with("members = ") { "members = [\"operator\"]".to_owned() } else { line.to_owned() }
    };
    let manifest: Vec<String> = manifest.lines().map(members).collect();
    let manifest = manifest.join("\n").replace("path = \"crates", &format!("path = \"{}", crates.display()));
    fs::write(workspace.join("Cargo.toml"), manifest)?;

    let operator = workspace.join("operator");
    let ours = |_| {
        run(Command::new(kubewright)
            .current_dir(&operator)
            .env("CARGO_TARGET_DIR", root.join("target/benches"))
            .args(["generate", "crd", "rbac:roleName=manager-role", "webhook"]))
    };
    ours(0)?;
    let api = operator.join("src/api/v1alpha1/memcached.rs");
    let time = median(|round| rewrite(&api, round).and_then(|()| ours(round)))?;
    let row = Row::new(
        "generate everything after an edit of a type, cargo's build included",
        milliseconds(time),
        Unit::Milliseconds,
    );
    let Some(controller_gen) = controller_gen else { return Ok(row) };

    let module = folder.join("go");
    copy(&root.join("benches/generate/memcached"), &module)?;
    let theirs = |_| {
        run(Command::new(controller_gen).current_dir(&module).args([
            "crd",
            "rbac:roleName=manager-role",
            "webhook",
            "paths=./...",
        ]))
    };
    theirs(0)?;
    let api = module.join("api/v1alpha1/memcached_types.go");
    let time = median(|round| rewrite(&api, round).and_then(|()| theirs(round)))?;
    Ok(row.beside(PEER, milliseconds(time)))
}

/// Changes one line of a comment.
fn rewrite(file: &Path, round: usize) -> Result<()> {
    let text = fs::read_to_string(file)?;
    let start = text.find(EDITED).ok_or_else(|| format!("{} does not have {EDITED:?}", file.display()))?;
    let end = start + text.get(start..).and_then(|rest| rest.find('\n')).unwrap_or_default();
    let line = format!("{EDITED}, in edition {round}.");
    fs::write(
        file,
        [text.get(..start).unwrap_or_default(), &line, text.get(end..).unwrap_or_default()].concat(),
    )?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

fn median(mut work: impl FnMut(usize) -> Result<()>) -> Result<Duration> {
    let mut times = (0..ROUNDS).map(|round| timed(|| work(round))).collect::<Result<Vec<_>>>()?;
    times.sort();
    times.get(ROUNDS / 2).copied().ok_or_else(|| "nothing was measured".into())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
