//! The cases in `tests/cases`, and the projects of the test data, against what kubectl builds of them.
//!
//! A case is a folder. What is built is the folder `overlay` in it, or else itself. `expected.yaml` is what
//! `kubectl kustomize` prints of it; if kubectl fails, `kubectl.txt` is what it says, and `error.txt` what we say. A
//! case whose name begins with `unsupported` has only the latter.
//!
//! `KUBEWRIGHT_UPDATE=1` writes these files anew: ours always, those of kubectl if there is one.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use kubewright_kustomize::{Builder, Disk};
use regex::Regex;
use similar::TextDiff;

pub(crate) fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 30, "only {} cases", cases.len());
    cases
}

fn name(case: &Path) -> String {
    case.file_name().unwrap().to_string_lossy().into_owned()
}

/// The folder of a case that is built, from that of the crate.
fn built(case: &Path) -> PathBuf {
    let overlay = Path::new("tests/cases").join(name(case)).join("overlay");
    if overlay.is_dir() { overlay } else { Path::new("tests/cases").join(name(case)) }
}

fn update() -> bool {
    env::var_os("KUBEWRIGHT_UPDATE").is_some()
}

/// The kubectl whose kustomize is the one that we follow.
fn kubectl() -> Option<PathBuf> {
    let clients = env::var_os("KUBEWRIGHT_CLIENTS")?;
    Some(Path::new(&clients).join("kubectl-1.37")).filter(|kubectl| kubectl.is_file())
}

/// What kubectl prints of a folder, or else why it fails.
fn kustomize(kubectl: &Path, folder: &Path) -> Result<String, String> {
    let output = Command::new(kubectl).arg("kustomize").arg(folder).output().unwrap();
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout).unwrap());
    }
    let working = fs::canonicalize(".").unwrap();
    let text = String::from_utf8_lossy(&output.stderr).replace(&*working.to_string_lossy(), "");
    // It shows where in memory it has something.
    let text = Regex::new("0x[0-9a-f]+").unwrap().replace_all(&text, "0x0");
    Err(text.lines().filter(|line| !line.starts_with("# Warning")).map(|line| format!("{line}\n")).collect())
}

/// Compares a text with a file, or writes the file.
fn check(path: &Path, text: Option<&str>, wrong: &mut Vec<String>) {
    let old = fs::read_to_string(path).ok();
    if old.as_deref() == text {
        return;
    }
    if update() {
        match text {
            Some(text) => fs::write(path, text).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
        return;
    }
    let (old, text) = (old.unwrap_or_default(), text.unwrap_or_default());
    let diff = TextDiff::from_lines(old.as_str(), text).unified_diff().to_string();
    wrong.push(format!("{}:\n{diff}", path.display()));
}

#[test]
fn cases_are_built_as_kubectl_builds_them() {
    let mut wrong = Vec::new();
    for case in cases() {
        let (error, expected) = (case.join("error.txt"), case.join("expected.yaml"));
        match Builder::new(Disk).build(built(&case)) {
            Ok(built) => {
                check(&error, None, &mut wrong);
                let expected = fs::read_to_string(&expected).unwrap_or_default();
                let text = built.to_yaml();
                if text != expected {
                    let diff = TextDiff::from_lines(expected.as_str(), &text).unified_diff().to_string();
                    wrong.push(format!("{}: kubectl builds something else\n{diff}", case.display()));
                }
            }
            Err(why) => {
                check(&error, Some(&format!("{why}\n")), &mut wrong);
                if expected.exists() {
                    wrong.push(format!("{}: kubectl builds it, and we do not: {why}", case.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recorded_answers_are_those_of_kubectl() {
    let Some(kubectl) = kubectl() else {
        eprintln!(
            "skipped: KUBEWRIGHT_CLIENTS names no folder with kubectl-1.37 (conformance/suites/clients makes it)"
        );
        return;
    };
    let mut wrong = Vec::new();
    for case in cases() {
        if name(&case).starts_with("unsupported") {
            continue;
        }
        let answer = kustomize(&kubectl, &built(&case));
        check(&case.join("expected.yaml"), answer.as_deref().ok(), &mut wrong);
        check(&case.join("kubectl.txt"), answer.as_ref().err().map(String::as_str), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The test data, in the folder that the environment names or beside the clone.
fn goldens() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens");
    let folder = env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(beside, PathBuf::from).join("kubebuilder");
    if !folder.is_dir() {
        eprintln!("skipped: there is no {} (KUBEWRIGHT_GOLDENS names the test data)", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn projects_of_kubebuilder_are_built_to_their_install_yaml() {
    let Some(goldens) = goldens() else { return };
    for project in ["testdata/project-v4-with-plugins", "docs/book/src/getting-started/testdata/project"] {
        let project = goldens.join(project);
        let expected = fs::read_to_string(project.join("dist/install.yaml")).unwrap();
        // `make build-installer` sets the image first, which changes a file; here it changes none.
        let built = Builder::new(Disk)
            .image("controller", "controller:latest")
            .build(project.join("config/default"))
            .unwrap();
        let text = built.to_yaml();
        let diff = TextDiff::from_lines(expected.as_str(), &text).unified_diff().to_string();
        assert!(text == expected, "{}:\n{diff}", project.display());
        assert_eq!(built.warnings, [""; 0]);
    }
}

#[test]
fn each_folder_of_the_projects_is_built_as_kubectl_builds_it() {
    let (Some(goldens), Some(kubectl)) = (goldens(), kubectl()) else {
        eprintln!("skipped: it needs the test data and kubectl-1.37");
        return;
    };
    let mut count = 0;
    for project in ["testdata/project-v4-with-plugins", "docs/book/src/getting-started/testdata/project"] {
        for folder in fs::read_dir(goldens.join(project).join("config")).unwrap() {
            let folder = folder.unwrap().path();
            if folder.join("kustomization.yaml").is_file() {
                let ours = Builder::new(Disk).build(&folder).map(|built| built.to_yaml());
                let expected = kustomize(&kubectl, &folder);
                assert_eq!(ours.map_err(|_| ()), expected.map_err(|_| ()), "{}", folder.display());
                count += 1;
            }
        }
    }
    assert!(count >= 12, "only {count} folders");
}
