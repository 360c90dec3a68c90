//! Scaffolded projects build without a warning, are formatted, and pass their tests.
//!
//! Some of them on every run; all of them, which takes long, with `KUBEWRIGHT_SCAFFOLDS=all`. They are members of one workspace, so
//! that what they depend on is built once.

mod deployed;
mod process;
mod recording;
mod taken_over;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A project: its name, the commands that make it after `init`, and what its user then does.
struct Scaffold {
    name: &'static str,
    init: &'static [&'static str],
    commands: &'static [&'static str],
    edit: fn(&Path),
    /// Whether it is built on every run.
    always: bool,
}

const MEMCACHED: &str = "create api --group cache --version v1alpha1 --kind Memcached --image=memcached:1.4.36-alpine \
                         --image-container-command=memcached,-m=64,-o,modern,-v --image-container-port=11211 \
                         --run-as-user=1001 --plugins=deploy-image/v1-alpha --make=false";
const HARBOUR: &str = concat!(
    "create api --from-crd ",
    env!("CARGO_MANIFEST_DIR"),
    "/../kubewright-scaffold/tests/data/harbours.yaml"
);
const HARBOUR_V1BETA1: &str = concat!(
    "create api --from-crd ",
    env!("CARGO_MANIFEST_DIR"),
    "/../kubewright-scaffold/tests/data/harbours.yaml --version v1beta1"
);
const REDIS: &str = "create api --group cache --version v1alpha1 --kind Redis";

fn scaffolds() -> Vec<Scaffold> {
    let project = |name, init, commands| Scaffold { name, init, commands, edit: |_| {}, always: false };
    let always = |scaffold: Scaffold| Scaffold { always: true, ..scaffold };
    let edited = |edit: fn(&Path), scaffold: Scaffold| Scaffold { edit, ..scaffold };
    vec![
        always(project("article", &[], &[MEMCACHED])),
        project("empty", &[], &[]),
        project("empty-namespaced", &["--namespaced"], &[]),
        project("plain", &[], &[REDIS]),
        // The module of the kind has the name of the crate.
        project("same-name", &[], &["create api --group cache --version v1 --kind ScaffoldSameName"]),
        project("plain-namespaced", &["--namespaced"], &[REDIS]),
        always(project(
            "groups-namespaced",
            &["--namespaced", "--multigroup", "--license=none", "--makefile"],
            &[
                MEMCACHED,
                "create api --group farm --version v1 --kind Cow",
                "create api --group farm --version v1 --kind Farm --namespaced=false --controller=false",
            ],
        )),
        project(
            "cluster-scoped",
            &["--license=mit", "--owner=Zoo Ltd"],
            &["create api --group zoo --version v1 --kind Zoo --namespaced=false"],
        ),
        project(
            "image-alone",
            &[],
            &["create api --group box --version v1 --kind Busybox --image=busybox:1.36"],
        ),
        project(
            "image-of-root",
            &[],
            &[
                "create api --group box --version v1 --kind Busybox --image=localhost:5000/busybox@sha256:0000 --run-as-user=0",
            ],
        ),
        project(
            "image-with-port",
            &[],
            &[
                "create api --group web --version v1beta1 --kind Nginx --image=nginx --image-container-port=80",
            ],
        ),
        project("image-namespaced", &["--namespaced"], &[MEMCACHED]),
        project(
            "two-images",
            &[],
            &[
                MEMCACHED,
                "create api --group cache --version v1alpha1 --kind Redis --image=redis:7 --image-container-port=6379",
            ],
        ),
        project("image-and-plain", &[], &[MEMCACHED, REDIS]),
        project(
            "two-versions",
            &[],
            &[REDIS, "create api --group cache --version v1 --kind Redis --controller=false"],
        ),
        project(
            "older-version-has-none",
            &[],
            &[
                "create api --group cache --version v1alpha1 --kind Redis --controller=false",
                "create api --group cache --version v1 --kind Redis",
            ],
        ),
        project(
            "no-controller",
            &[],
            &["create api --group cache --version v1 --kind Redis --controller=false"],
        ),
        project(
            "controller-later",
            &[],
            &[
                "create api --group cache --version v1 --kind Redis --controller=false",
                "create api --group cache --version v1 --kind Redis --resource=false --controller",
            ],
        ),
        project(
            "core-deployment",
            &[],
            &["create api --group apps --version v1 --kind Deployment --resource=false"],
        ),
        project("core-pod", &[], &["create api --group core --version v1 --kind Pod --resource=false"]),
        project(
            "core-ingress",
            &["--namespaced"],
            &["create api --group networking --version v1 --kind Ingress --resource=false"],
        ),
        project(
            "core-and-own",
            &["--multigroup"],
            &["create api --group batch --version v1 --kind Job --resource=false", REDIS],
        ),
        always(project(
            "odd-names",
            &[],
            &[
                "create api --group zoo --version v1 --kind Type",
                "create api --group zoo --version v1 --kind DNSRecord --plural dnsrecordsets",
                "create api --group zoo --version v1 --kind AVeryLongKindOfWhichTheNameFillsMoreThanHalfOfALineOfCode",
                "create api --group zoo --version v1 --kind X509",
            ],
        )),
        project(
            "odd-groups",
            &["--multigroup"],
            &[
                "create api --group my-farm.eu --version v1 --kind Cow",
                "create api --group type --version v1 --kind Cow",
            ],
        ),
        project("plural", &[], &["create api --group zoo --version v1 --kind Mouse"]),
        project(
            "becomes-multigroup",
            &[],
            &[REDIS, "edit --multigroup", "create api --group farm --version v1 --kind Cow"],
        ),
        project("becomes-namespaced", &[], &[MEMCACHED, "edit --namespaced"]),
        project("becomes-clusterwide", &["--namespaced"], &[REDIS, "edit --namespaced=false"]),
        project("changes-license", &[], &[REDIS, "edit --license mit --owner Somebody --makefile"]),
        project(
            "loses-a-kind",
            &[],
            &[MEMCACHED, REDIS, "delete api --group cache --version v1alpha1 --kind Memcached"],
        ),
        project("loses-all", &[], &[REDIS, "delete api --group cache --version v1alpha1 --kind Redis"]),
        always(project(
            "webhooks",
            &[],
            &[
                MEMCACHED,
                "create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --programmatic-validation",
            ],
        )),
        always(project(
            "webhook-conversion",
            &["--multigroup"],
            &[
                REDIS,
                "create api --group cache --version v1 --kind Redis --controller=false",
                "create api --group cache --version v2 --kind Redis --controller=false",
                "create webhook --group cache --version v1 --kind Redis --conversion --spoke v1alpha1,v2",
                "create webhook --group cache --version v1 --kind Redis --programmatic-validation",
            ],
        )),
        project(
            "webhook-of-the-cluster",
            &[],
            &[
                "create api --group zoo --version v1 --kind Type --namespaced=false",
                "create webhook --group zoo --version v1 --kind Type --defaulting --defaulting-path=/types",
            ],
        ),
        project(
            "webhook-of-pods",
            &[],
            &["create webhook --group core --version v1 --kind Pod --defaulting --programmatic-validation"],
        ),
        project("upgraded", &[], &[MEMCACHED, "upgrade"]),
        always(project("taken-over", &[], &[HARBOUR])),
        project(
            "taken-over-namespaced",
            &["--namespaced", "--license=mit"],
            &[HARBOUR, "edit --multigroup --license=apache2", "upgrade"],
        ),
        project(
            "several-controllers",
            &["--multigroup"],
            &[
                REDIS,
                "create api --group cache --version v1alpha1 --kind Redis --resource=false --controller-name backup",
                "create api --group apps --version v1 --kind Deployment --resource=false --controller-name night-watch",
                "create api --group cache --version v1alpha1 --kind Dragonfly --controller-name dragon",
            ],
        ),
        project("taken-over-one-version", &[], &[HARBOUR_V1BETA1]),
        edited(
            |folder| {
                replace(
                    folder,
                    "src/lib.rs",
                    "kubewright::extern_crates!();\n",
                    "kubewright::extern_crates!();\n\npub mod billing;\n",
                );
                fs::write(folder.join("src/billing.rs"), "//! Bills.\n").expect("writable");
                replace(
                    folder,
                    "src/main.rs",
                    "    manager.start().await",
                    "    println!(\"starting\");\n    manager.start().await",
                );
            },
            project("edited", &[], &[MEMCACHED, "user", REDIS]),
        ),
        edited(
            |folder| {
                replace(
                    folder,
                    "src/api/v1alpha1/redis.rs",
                    "    pub foo: Option<String>,\n",
                    "    pub foo: Option<String>,\n\n    /// Size is a number.\n    pub size: i32,\n",
                );
                replace(folder, "config/manager/manager.yaml", "replicas: 1", "replicas: 2");
            },
            project("edited-types", &[], &[REDIS, "user", "edit --multigroup", "upgrade"]),
        ),
    ]
}

fn replace(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).expect("it is there");
    assert!(text.contains(from), "{file} has no {from:?}:\n{text}");
    fs::write(path, text.replace(from, to)).expect("writable");
}

fn kubewright(folder: &Path, arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the kubewright binary runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes the project in a folder of the workspace.
fn make(workspace: &Path, scaffold: &Scaffold) {
    let folder = workspace.join(scaffold.name);
    fs::create_dir(&folder).expect("made");
    let name = format!("scaffold-{}", scaffold.name);
    let mut init = vec![
        "init",
        "--quiet",
        "--yes",
        "--domain=example.com",
        "--framework-source=path",
        "--project-name",
        &name,
    ];
    init.extend(scaffold.init);
    kubewright(&folder, &init);
    for command in scaffold.commands {
        if *command == "user" {
            (scaffold.edit)(&folder);
        } else {
            let mut words: Vec<&str> = command.split_whitespace().collect();
            words.push("--quiet");
            kubewright(&folder, &words);
        }
    }
    as_member(&folder);
}

/// The project that an earlier version of the templates made.
const EARLIER: &str = "scaffold-earlier-1";

/// What the commit 937e602 of this repository wrote, upgraded.
fn of_an_earlier_version(workspace: &Path) {
    let folder = workspace.join(EARLIER);
    // Another name of the same length, since the example has this one.
    let renamed = |text: &str| {
        let text = text.replace("memcached-operator", EARLIER);
        text.replace("memcached_operator", &EARLIER.replace('-', "_"))
    };
    let record = renamed(include_str!("data/scaffolded_by_937e602/scaffold.json"));
    let files: std::collections::BTreeMap<String, String> = serde_json::from_str(&record).expect("a record");
    let others = [
        (".kubewright/scaffold.json".to_owned(), record),
        ("PROJECT".to_owned(), renamed(include_str!("data/scaffolded_by_937e602/PROJECT"))),
    ];
    for (path, text) in files.into_iter().chain(others) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    kubewright(&folder, &["edit", "--framework-source=path", "--quiet"]);
    kubewright(&folder, &["upgrade", "--quiet"]);
    kubewright(&folder, &["generate", "rbac", "--quiet"]);
    as_member(&folder);
}

/// What is no member of a workspace may have a profile; here it would be a warning.
fn as_member(folder: &Path) {
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("it is there");
    let (package, _) = text.split_once("\n# What is shipped").expect("a release profile");
    fs::write(manifest, package).expect("writable");
}

fn assert_same_files(one: &Path, other: &Path) {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let names = |root: &Path| {
            let entries = fs::read_dir(root.join(&folder)).expect("a folder");
            let mut names: Vec<PathBuf> =
                entries.map(|entry| folder.join(entry.expect("readable").file_name())).collect();
            names.sort();
            names
        };
        assert_eq!(names(one), names(other), "{}", one.display());
        for name in names(one) {
            if one.join(&name).is_dir() {
                folders.push(name);
            } else {
                let bytes = |root: &Path| fs::read(root.join(&name)).expect("readable");
                assert!(
                    bytes(one) == bytes(other),
                    "{} differs from {}",
                    one.join(&name).display(),
                    other.display()
                );
            }
        }
    }
}

/// A command that builds something in the workspace.
fn building(program: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        // With what the tests were built with, as far as it is the same.
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TERM_COLOR", "never");
    command
}

fn kubewright_building(folder: &Path, arguments: &[&str]) {
    let output = building(env!("CARGO_BIN_EXE_kubewright"), folder, arguments)
        .output()
        .expect("the kubewright binary runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn cargo(workspace: &Path, arguments: &[&str]) {
    let output = building(env!("CARGO"), workspace, arguments).output().expect("cargo runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}:\n{text}");
}

/// The target folder in which this test was built.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is below").to_owned()
}

#[test]
fn scaffolds_build_are_formatted_and_pass_their_tests() {
    let all = std::env::var("KUBEWRIGHT_SCAFFOLDS").is_ok_and(|which| which == "all");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it exists");
    let workspace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scaffolds");
    let _ = fs::remove_dir_all(&workspace);
    fs::create_dir_all(&workspace).expect("made");
    let chosen: Vec<Scaffold> = scaffolds().into_iter().filter(|scaffold| all || scaffold.always).collect();
    // Two runs give equal bytes.
    let again = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scaffolds-again");
    let _ = fs::remove_dir_all(&again);
    fs::create_dir_all(&again).expect("made");
    for scaffold in &chosen {
        make(&workspace, scaffold);
        make(&again, scaffold);
        assert_same_files(&workspace.join(scaffold.name), &again.join(scaffold.name));
    }
    fs::remove_dir_all(&again).expect("removed");
    if all {
        of_an_earlier_version(&workspace);
    }
    let mut members: Vec<&str> = chosen.iter().map(|scaffold| scaffold.name).collect();
    let goldens = if all { taken_over::goldens(&workspace) } else { Vec::new() };
    if !goldens.is_empty() {
        members.push(taken_over::GOLDENS);
    }
    members.push(recording::PROJECT);
    if all {
        members.push(EARLIER);
    }
    let mut recording = recording::Recording::default();
    recording.write_project(&workspace);
    fs::write(
        workspace.join("Cargo.toml"),
        format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"),
    )
    .expect("written");
    // The folder may be below this repository, whose form of sources is another one.
    fs::write(workspace.join("rustfmt.toml"), "").expect("written");
    fs::copy(repository.join("Cargo.lock"), workspace.join("Cargo.lock")).expect("copied");

    cargo(&workspace, &["fmt", "--all", "--check"]);
    cargo(&workspace, &["test", "--workspace"]);
    taken_over::assert_given_back(&workspace.join("taken-over"), &[taken_over::harbours()], None);
    recording.run_project(&workspace);
    recording.assert_recorded();
    let operator = deployed::Operator {
        project: workspace.join("article"),
        program: target().join("debug/scaffold-article"),
        name: "scaffold-article",
        sample: ("cache.example.com/v1alpha1", "Memcached", "memcached-sample"),
    };
    // The definition is generated by the operator, which is built for it.
    kubewright_building(&operator.project, &["generate", "--quiet"]);
    deployed::on_the_embedded_server(&operator);
    deployed::on_a_real_server(&operator);
    if !goldens.is_empty() {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/taken_over.txt");
        taken_over::assert_given_back(&workspace.join(taken_over::GOLDENS), &goldens, Some(&recorded));
    }
    if all {
        cargo(&workspace, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    } else {
        // Past the capture of the test harness: a skipped test must say so.
        let skipped = scaffolds().len() - chosen.len();
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {skipped} other scaffolds, and lints; KUBEWRIGHT_SCAFFOLDS=all builds them"
        );
    }
}
