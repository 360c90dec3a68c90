//! `kubewright init`, `create`, `edit`, `delete` and `upgrade` on folders of their own. Nothing is built here: see `scaffold_builds`.

mod messages;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// A folder in which commands run.
struct Folder {
    folder: tempfile::TempDir,
}

/// How a command ended.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

const INIT: &[&str] = &["init", "--domain", "example.com", "--project-name", "zoo-operator", "--quiet"];
const MOUSE: &[&str] = &["create", "api", "--group", "zoo", "--version", "v1", "--kind", "Mouse", "--quiet"];

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn project() -> Self {
        let folder = Self::new();
        folder.run(INIT).ok();
        folder
    }

    fn with_mouse() -> Self {
        let folder = Self::project();
        folder.run(MOUSE).ok();
        folder
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let output = self.command(arguments).output().expect("the kubewright binary runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no {from:?}:\n{text}");
        self.write(path, &text.replace(from, to));
    }

    /// All files and what is in them.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.path()).expect("below").to_owned();
                    found.insert(name, fs::read_to_string(path).expect("text"));
                }
            }
        }
        found
    }
}

impl Run {
    fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    /// Failed, with this in its error.
    fn failed(&self, text: &str) {
        assert_eq!(self.code, Some(1), "{}{}", self.stdout, self.stderr);
        assert!(self.stderr.contains("error") && self.stderr.contains(text), "{}", self.stderr);
    }
}

#[test]
fn the_lines_of_the_article_make_an_operator() {
    let folder = Folder::new();
    let line = [
        "init",
        "--domain=example.com",
        "--repo=example.com/memcached-operator",
        "--project-name=memcached-operator",
    ];
    let run = folder.run(&line).ok();
    assert!(
        run.stderr.contains("Created src/main.rs") && run.stderr.contains("create api"),
        "{}",
        run.stderr
    );
    let line = [
        "create",
        "api",
        "--group",
        "cache",
        "--version",
        "v1alpha1",
        "--kind",
        "Memcached",
        "--image=memcached:1.4.36-alpine",
        "--image-container-command=memcached,-m=64,-o,modern,-v",
        "--image-container-port=11211",
        "--run-as-user=1001",
        "--plugins=deploy-image/v1-alpha",
        "--make=false",
    ];
    let run = folder.run(&line).ok();
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    assert!(run.stderr.contains("kubewright dev --once"), "{}", run.stderr);
    let deployment = folder.read("src/controller/memcached/deployment.rs");
    for part in ["\"memcached\", \"-m=64\", \"-o\", \"modern\", \"-v\"", "run_as_user: Some(1001)"] {
        assert!(deployment.contains(part), "{deployment}");
    }
    assert!(
        folder
            .read("config/manager/manager.yaml")
            .contains("- name: MEMCACHED_IMAGE\n          value: memcached:1.4.36-alpine")
    );
    // The role is written too: it takes no build.
    assert!(folder.read("config/rbac/role.yaml").contains("- deployments\n"));
}

#[test]
fn two_runs_give_equal_bytes_and_a_third_changes_nothing() {
    let (one, other) = (Folder::with_mouse(), Folder::with_mouse());
    assert_eq!(one.files(), other.files());
    let run =
        one.run(&["create", "api", "--group", "zoo", "--version", "v1", "--kind", "Mouse", "--force"]).ok();
    assert!(!run.stderr.contains("Changed"), "{}", run.stderr);
    assert_eq!(one.files(), other.files());
}

#[test]
fn a_kind_that_is_deleted_leaves_no_trace() {
    let folder = Folder::with_mouse();
    folder.run(&["delete", "api", "--group", "zoo", "--version", "v1", "--kind", "Mouse", "--quiet"]).ok();
    assert_eq!(folder.files(), Folder::project().files());
    folder
        .run(&["delete", "api", "--group", "zoo", "--version", "v1", "--kind", "Mouse"])
        .failed("the project has no API");
}

#[test]
fn what_the_user_wrote_is_kept() {
    let folder = Folder::project();
    folder.edit(
        "src/main.rs",
        "    manager.start().await",
        "    announce(&manager);\n    manager.start().await",
    );
    folder.edit("config/manager/manager.yaml", "replicas: 1", "replicas: 2");
    folder.run(MOUSE).ok();
    let main = folder.read("src/main.rs");
    assert!(main.contains("announce(&manager);\n    controller::mouse::register(&manager)?;"), "{main}");
    folder.run(&["edit", "--namespaced", "--quiet"]).ok();
    let manager = folder.read("config/manager/manager.yaml");
    assert!(manager.contains("replicas: 2") && manager.contains("WATCH_NAMESPACE"), "{manager}");
    assert!(folder.read("config/rbac/role.yaml").contains("kind: Role\n"));
}

#[test]
fn a_conflict_says_what_to_paste_where_and_writes_nothing() {
    let folder = Folder::project();
    folder.edit("src/lib.rs", "kubewright::extern_crates!();", "mod mine;");
    folder.edit("src/main.rs", "use kubewright::prelude::*;\n", "use kubewright::{Result, prelude::*};\n");
    folder.edit(
        "src/main.rs",
        "    let manager = Manager::new(Options::parse()).await?;\n    manager.start().await\n",
        "    mine::start().await\n",
    );
    let before = folder.files();
    let run = folder.run(MOUSE);
    run.failed("src/main.rs was changed where it would change now");
    assert!(run.stderr.contains("controller::mouse::register(&manager)?;"), "{}", run.stderr);
    assert!(run.stderr.contains("nothing was written"), "{}", run.stderr);
    assert_eq!(folder.files(), before);
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let folder = Folder::new();
    folder.write("src/main.rs", "fn main() {}\n");
    folder.write("notes.txt", "mine\n");
    let before = folder.files();
    let run = folder.run(INIT);
    run.failed("src/main.rs is there already");
    assert_eq!(folder.files(), before);
    let mut forced = INIT.to_vec();
    forced.push("--force");
    folder.run(&forced).ok();
    assert_eq!(folder.read("notes.txt"), "mine\n");
    folder.run(INIT).failed("there is a project in");
}

#[test]
fn a_dry_run_is_a_diff_and_writes_nothing() {
    let folder = Folder::project();
    let before = folder.files();
    let mut line = MOUSE.to_vec();
    line.push("--dry-run");
    let run = folder.run(&line).ok();
    assert!(run.stdout.contains("+++ b/src/controller/mouse.rs"), "{}", run.stdout);
    assert!(run.stdout.contains("+    controller::mouse::register(&manager)?;"), "{}", run.stdout);
    assert_eq!(folder.files(), before);
}

#[test]
fn bad_names_are_refused_with_the_name_that_was_meant() {
    let folder = Folder::project();
    let create = |group: &str, version: &str, kind: &str| {
        folder.run(&["create", "api", "--group", group, "--version", version, "--kind", kind])
    };
    create("zoo", "v1", "mouse").failed("did you mean `Mouse`?");
    create("zoo", "1", "Mouse").failed("did you mean `v1`?");
    create("Zoo", "v1", "Mouse").failed("did you mean `zoo.example.com`?");
    create("zoo", "v1", "Self").failed("cannot be a kind");
    folder.run(&["create", "api", "--group", "zoo"]).failed("--version is missing");
    folder
        .run(&[
            "create",
            "api",
            "--group",
            "zoo",
            "--version",
            "v1",
            "--kind",
            "Mouse",
            "--image=a",
            "--image-container-port=0",
        ])
        .failed("is not a port");
    Folder::new()
        .run(&["init", "--domain", "not a domain", "--project-name", "a"])
        .failed("cannot be a domain");
    Folder::new().run(&["init", "--project-name", "self"]).failed("did you mean `self-operator`?");
}

#[test]
fn a_broken_project_is_told_from_none() {
    let folder = Folder::new();
    folder.run(MOUSE).failed("make one with `kubewright init`");
    let folder = Folder::with_mouse();
    folder.write("PROJECT", "resources: [");
    folder.run(MOUSE).failed("PROJECT is not a project file that can be used");
    folder.write("PROJECT", "layout:\n- go.kubebuilder.io/v4\nprojectName: p\nversion: \"3\"\n");
    folder.run(MOUSE).failed("its layout is `go.kubebuilder.io/v4`");
}

#[test]
fn a_command_that_was_cut_off_is_done_again() {
    let folder = Folder::with_mouse();
    let done = folder.files();
    // As if it had been killed between two files: those that come last are missing.
    let before = Folder::project().files();
    for file in ["PROJECT", ".kubewright/scaffold.json", "tests/mouse.rs", "src/main.rs"] {
        match before.get(Path::new(file)) {
            Some(text) => folder.write(file, text),
            None => fs::remove_file(folder.path(file)).expect("it is there"),
        }
    }
    folder.run(MOUSE).ok();
    assert_eq!(folder.files(), done);
}

#[test]
fn a_command_that_is_interrupted_has_done_all_or_nothing() {
    let (before, done) = (Folder::project().files(), Folder::with_mouse().files());
    let mut outcomes = BTreeSet::new();
    // The later the file is in the order of writing, the later the signal comes.
    for file in ["config/crd", "config/samples", "src/api/v1", "tests", "src/api/v1/mouse.rs", "PROJECT"] {
        let folder = Folder::project();
        let mut child = folder.command(MOUSE).spawn().expect("the kubewright binary runs");
        let id = child.id();
        let path = folder.path(file);
        let aside = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => parent.join(format!(".{}.{id}.tmp", name.to_string_lossy())),
            _ => path.clone(),
        };
        let is_new = !path.exists();
        while child.try_wait().expect("it can be asked").is_none() {
            if aside.exists() || (is_new && path.exists()) {
                let id = i32::try_from(id).expect("a process id");
                // It may have ended right now.
                let _ = kill(Pid::from_raw(id), Signal::SIGINT);
                break;
            }
            std::thread::yield_now();
        }
        child.wait().expect("it ends");
        let after = folder.files();
        assert!(after == before || after == done, "{file}: {:?}", after.keys());
        outcomes.insert(after == done);
    }
    assert!(outcomes.contains(&true), "no command was interrupted while it wrote");
}

#[test]
fn a_file_in_place_of_a_folder_leaves_all_as_it_was() {
    let folder = Folder::project();
    folder.write("src/api", "not a folder\n");
    let before = folder.files();
    folder.run(MOUSE).failed("src/api");
    assert_eq!(folder.files(), before);
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    fs::set_permissions(folder.path("."), fs::Permissions::from_mode(0o555)).expect("ours");
    if fs::write(folder.path("probe"), "").is_ok() {
        // An administrator may write anywhere.
        fs::remove_file(folder.path("probe")).expect("ours");
        return;
    }
    folder.run(INIT).failed("cannot");
    assert_eq!(folder.files(), BTreeMap::new());
    fs::set_permissions(folder.path("."), fs::Permissions::from_mode(0o755)).expect("ours");
}

#[test]
fn a_definition_is_taken_over() {
    let harbours = concat!(env!("CARGO_MANIFEST_DIR"), "/../kubewright-scaffold/tests/data/harbours.yaml");
    let folder = Folder::project();
    let run = folder.run(&["create", "api", "--from-crd", harbours]).ok();
    assert!(run.stderr.contains("Harbour (sea/v1) is there"), "{}", run.stderr);
    let types = folder.read("src/api/v1/harbour.rs");
    assert!(types.contains("/// +kubebuilder:printcolumn:name=\"Berths\""), "{types}");
    assert!(folder.read("config/samples/sea_v1_harbour.yaml").contains("kind: Harbour"));
    assert!(folder.read("tests/harbour.rs").contains("becomes_available"));
    // It moves with its kind, and stays when the project is upgraded.
    folder.run(&["edit", "--multigroup", "--license", "mit", "--quiet"]).ok();
    let moved = folder.read("src/api/sea/v1/harbour.rs");
    assert!(moved.contains("SPDX-License-Identifier: MIT"), "{moved}");
    assert!(!folder.path("src/api/v1/harbour.rs").exists());
    folder.run(&["upgrade", "--check"]).ok();
    folder.run(&["create", "api", "--from-crd", harbours]).failed("use --force");
    for version in ["v1", "v1beta1"] {
        folder
            .run(&["delete", "api", "--group", "sea", "--version", version, "--kind", "Harbour", "--quiet"])
            .ok();
    }
    let left: Vec<PathBuf> = folder.files().into_keys().collect();
    assert!(!left.iter().any(|path| path.to_string_lossy().contains("harbour")), "{left:?}");

    let folder = Folder::project();
    folder.run(&["create", "api", "--from-crd", "none.yaml"]).failed("there is no file none.yaml");
    folder
        .run(&["create", "api", "--from-crd", harbours, "--kind", "Ship"])
        .failed("has Harbour (sea.example.com)");
    folder.run(&["create", "api", "--from-crd", harbours, "--version", "v9"]).failed("it has v1beta1, v1");
}

#[test]
fn several_groups_move_what_is_there() {
    let folder = Folder::with_mouse();
    folder
        .run(&["create", "api", "--group", "farm", "--version", "v1", "--kind", "Cow"])
        .failed("kubewright edit --multigroup");
    folder.run(&["edit", "--multigroup", "--quiet"]).ok();
    assert!(
        folder.path("src/api/zoo/v1/mouse.rs").exists()
            && !folder.path("src/api/v1").join("mouse.rs").exists()
    );
    folder.run(&["create", "api", "--group", "farm", "--version", "v1", "--kind", "Cow", "--quiet"]).ok();
    assert!(folder.read("src/main.rs").contains("controller::farm::cow::register(&manager)?;"));
    folder.run(&["edit", "--multigroup=false"]).failed("the project has several groups (farm, zoo)");
}

#[test]
fn an_upgrade_keeps_what_the_user_wrote() {
    let folder = Folder::with_mouse();
    folder.run(&["upgrade", "--check"]).ok();
    // As an older version would have left it.
    folder.edit(".kubewright/scaffold.json", "Starts the operator.", "Runs the operator.");
    folder.edit("src/main.rs", "Starts the operator.", "Runs the operator.");
    folder.edit("src/main.rs", ".await?;", ".await?; // mine");
    folder.run(&["upgrade", "--check"]).failed("run `kubewright upgrade`");
    folder.run(&["upgrade", "--quiet"]).ok();
    let main = folder.read("src/main.rs");
    assert!(main.contains("Starts the operator.") && main.contains("// mine"), "{main}");
    folder.run(&["upgrade", "--check"]).ok();

    folder.edit(".kubewright/scaffold.json", "Starts the operator.", "Runs the operator.");
    folder.edit("src/main.rs", "//! Starts the operator.", "//! Is the operator.");
    folder.run(&["upgrade"]).failed("decide between the conflict marks in src/main.rs");
    assert!(folder.read("src/main.rs").contains("<<<<<<< yours\n//! Is the operator."));
}

/// A project as the commit 937e602 of this repository wrote it: `init`, the article's `create api`, and one for a Redis. Its record has
/// every file.
fn of_an_earlier_version() -> Folder {
    let folder = Folder::new();
    let record = include_str!("data/scaffolded_by_937e602/scaffold.json");
    let files: BTreeMap<String, String> = serde_json::from_str(record).expect("a record");
    for (path, text) in &files {
        folder.write(path, text);
    }
    folder.write(".kubewright/scaffold.json", record);
    folder.write("PROJECT", include_str!("data/scaffolded_by_937e602/PROJECT"));
    folder
}

#[test]
fn a_project_of_an_earlier_version_is_upgraded_with_what_its_user_made_of_it() {
    let untouched = of_an_earlier_version();
    untouched.run(&["upgrade", "--check"]).failed("run `kubewright upgrade`");
    let dry = untouched.run(&["upgrade", "--dry-run"]).ok();
    assert!(dry.stdout.contains("+        - --name=memcached-operator"), "{}", dry.stdout);
    untouched.run(&["upgrade", "--quiet"]).ok();
    untouched.run(&["upgrade", "--check"]).ok();

    let edited = of_an_earlier_version();
    edited.edit("src/main.rs", "    manager.start().await", "    announce();\n    manager.start().await");
    edited.edit("config/manager/manager.yaml", "replicas: 1", "replicas: 2");
    edited.edit("config/manager/manager.yaml", "cpu: 500m", "cpu: \"1\"");
    edited.edit(
        "src/controller/redis.rs",
        "// Bring about here",
        "self.connect().await?;\n        // Bring about here",
    );
    edited.write("src/notes.rs", "// mine\n");
    fs::remove_file(edited.path("Dockerfile")).expect("it was there");
    edited.run(&["upgrade", "--quiet"]).ok();
    let manager = edited.read("config/manager/manager.yaml");
    for part in ["replicas: 2", "cpu: \"1\"", "- --name=memcached-operator"] {
        assert!(manager.contains(part), "{part}: {manager}");
    }
    assert!(edited.read("src/main.rs").contains("    announce();\n"));
    assert!(edited.read("src/controller/redis.rs").contains("self.connect().await?;"));
    assert_eq!(edited.read("src/notes.rs"), "// mine\n");
    // Whatever the user left alone is as it is without a user.
    let ours = [
        "src/main.rs",
        "config/manager/manager.yaml",
        "src/controller/redis.rs",
        "src/notes.rs",
        "Dockerfile",
    ];
    let others = |folder: &Folder| {
        let mut files = folder.files();
        files.retain(|path, _| !ours.iter().any(|own| path == Path::new(own)));
        files
    };
    assert_eq!(others(&edited), others(&untouched));
    edited.run(&["upgrade", "--check"]).ok();

    let conflicting = of_an_earlier_version();
    conflicting.edit(
        "config/manager/manager.yaml",
        "        - --health-probe-bind-address=:8081\n        image: controller:latest\n",
        "        image: mine:1\n",
    );
    conflicting.run(&["upgrade"]).failed("decide between the conflict marks in config/manager/manager.yaml");
    let manager = conflicting.read("config/manager/manager.yaml");
    assert!(
        manager.contains("<<<<<<< yours\n") && manager.contains(">>>>>>> the new scaffold\n"),
        "{manager}"
    );
    assert!(manager.contains("image: mine:1") && manager.contains("- --name="), "{manager}");
}

/// In what the example differs from what the commands write, and why.
const OF_THE_EXAMPLE: &[(&str, &str)] = &[
    ("Cargo.toml", "it is a member of this repository's workspace"),
    ("README.md", "it says where to read"),
    ("config/crd/bases/cache.example.com_memcacheds.yaml", "it is generated from the types"),
    ("config/rbac/role.yaml", "it is generated from the markers, which let the operator see pods"),
    ("config/samples/cache_v1alpha1_memcached.yaml", "two instances show more than one"),
    (
        "src/api/v1alpha1/memcached.rs",
        "three instances at most, columns, the names of the pods in the status",
    ),
    ("src/controller/memcached.rs", "it reports the names of the pods"),
    ("tests/crd.rs", "it tests what the operator prints of its definition"),
    ("tests/memcached.rs", "it tests what is its own, too"),
    ("tests/simulation.rs", "it tests the operator on a bad network"),
];

#[test]
fn the_example_is_what_the_commands_write_with_its_own_logic() {
    let folder = Folder::new();
    let init = ["init", "--domain=example.com", "--project-name=memcached-operator", "--license=none"];
    folder.run(&[&init[..], &["--framework-source=version", "--quiet"]].concat()).ok();
    let create = "create api --group cache --version v1alpha1 --kind Memcached --image=memcached:1.4.36-alpine \
                  --image-container-command=memcached,-m=64,-o,modern,-v --image-container-port=11211 --run-as-user=1001";
    folder.run(&create.split_whitespace().chain(["--quiet"]).collect::<Vec<_>>()).ok();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Sources have this repository's form.
    let sources: Vec<PathBuf> =
        folder.files().into_keys().filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    let formatted = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(repository.join("rustfmt.toml"))
        .args(sources)
        .current_dir(folder.path("."))
        .status()
        .expect("rustfmt runs");
    assert!(formatted.success());

    let written = folder.files();
    let example = repository.join("examples/memcached-operator");
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(&example)
        .output();
    let listed = String::from_utf8(listed.expect("git runs").stdout).expect("text");
    let present: BTreeSet<&str> = listed.lines().filter(|path| example.join(path).is_file()).collect();
    let all = present.iter().copied().chain(written.keys().map(|path| path.to_str().expect("text")));
    let mut different = BTreeSet::new();
    for path in all {
        let ours = fs::read_to_string(example.join(path)).ok();
        if ours.as_ref() != written.get(Path::new(path)) {
            different.insert(path.to_owned());
        }
    }
    let expected = OF_THE_EXAMPLE.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(different, expected);
}

#[test]
fn webhooks_come_with_all_that_calls_them() {
    let folder = Folder::with_mouse();
    let webhook = |more: &[&str]| {
        let words = ["create", "webhook", "--group", "zoo", "--version", "v1", "--kind", "Mouse"];
        folder.run(&[&words[..], more].concat())
    };
    let before = folder.files();
    webhook(&[]).failed("--programmatic-validation");
    webhook(&["--conversion", "--spoke=v2"]).failed("has no version v2; add it first");
    webhook(&["--defaulting", "--dry-run"]).ok();
    assert_eq!(folder.files(), before);

    let run = webhook(&["--defaulting", "--make=false"]).ok();
    assert!(run.stderr.contains("Created src/webhook/v1/mouse.rs"), "{}", run.stderr);
    let manifests = folder.read("config/webhook/manifests.yaml");
    assert!(manifests.contains("path: /mutate-zoo-example-com-v1-mouse"), "{manifests}");
    assert!(folder.read("src/main.rs").contains("    webhook::v1::mouse::register(&manager)?;\n"));
    assert!(folder.read("config/default/kustomization.yaml").contains("- ../webhook\n"));
    assert!(folder.read("PROJECT").contains("  webhooks:\n    defaulting: true\n    webhookVersion: v1\n"));

    // What the user wrote stays when more of them come.
    folder.edit("src/webhook/v1/mouse.rs", "        // Set what is missing.", "        // Mine.");
    webhook(&["--programmatic-validation", "--validation-path=/mice"]).ok();
    let code = folder.read("src/webhook/v1/mouse.rs");
    assert!(code.contains("// Mine.") && code.contains(".validator_at(\"/mice\", MouseValidator)"), "{code}");
    assert!(folder.read("config/webhook/manifests.yaml").contains("path: /mice"));
    webhook(&["--defaulting"]).failed("has a defaulting webhook already; use --force");

    folder
        .run(&[
            "create",
            "api",
            "--group=zoo",
            "--version=v2",
            "--kind=Mouse",
            "--controller=false",
            "--resource",
        ])
        .ok();
    webhook(&["--conversion", "--spoke", "v2"]).ok();
    assert!(folder.read("src/api/v2/mouse_conversion.rs").contains("impl Spoke for Mouse"));
    assert!(folder.read("src/api/v1/mouse.rs").contains("/// +kubebuilder:storageversion\n"));
    assert!(folder.read("config/crd/kustomization.yaml").contains("- path: patches/webhook_in_mice.yaml\n"));
}
