//! `kubewright init`, `create`, `edit`, `delete` and `upgrade` on folders of their own. Nothing is built here: see `scaffold_builds`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
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

    fn run(&self, arguments: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_kubewright"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("the kubewright binary runs");
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

#[test]
fn webhooks_are_refused_while_no_operator_could_serve_them() {
    let folder = Folder::with_mouse();
    let before = folder.files();
    folder
        .run(&["create", "webhook", "--group", "zoo", "--version", "v1", "--kind", "Mouse", "--defaulting"])
        .failed("operators cannot serve webhooks yet");
    assert_eq!(folder.files(), before);
}
