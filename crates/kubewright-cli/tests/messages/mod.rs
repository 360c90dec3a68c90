//! What the command says: its help, and the errors of bad input. It is recorded in `tests/snapshots`; `KUBEWRIGHT_UPDATE=1` records
//! it anew.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Folder, INIT, MOUSE};

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// Compares with what is recorded, or records it.
fn assert_recorded(file: &Path, text: &str) {
    if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("writable");
    }
    let recorded = fs::read_to_string(file).unwrap_or_default();
    assert!(
        recorded == text,
        "{} is not what is said; KUBEWRIGHT_UPDATE=1 records it:\n{text}",
        file.display()
    );
}

fn help(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(words)
        .arg("--help")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .expect("the kubewright binary runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    // No blank at the end of a line, as editors would leave it.
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The commands below one, as its help lists them.
fn commands(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map(|(_, list)| list).unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_help_of_every_command_is_as_recorded() {
    let mut left: Vec<Vec<String>> = vec![Vec::new()];
    let mut seen = Vec::new();
    while let Some(words) = left.pop() {
        let text = help(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let name = if words.is_empty() { "kubewright".to_owned() } else { words.join("-") };
        let file = format!("{name}.txt");
        assert_recorded(&snapshots().join("help").join(&file), &text);
        let below = commands(&text);
        let has_examples = text.contains("\nExamples:\n") || !below.is_empty();
        assert!(has_examples, "the help of `{}` has no examples", words.join(" "));
        left.extend(below.into_iter().map(|command| [words.clone(), vec![command]].concat()));
        seen.push(file);
    }
    // What is no command any more is not recorded either.
    let recorded = fs::read_dir(snapshots().join("help")).expect("a folder");
    for entry in recorded {
        let name = entry.expect("readable").file_name().to_string_lossy().into_owned();
        assert!(seen.contains(&name), "tests/snapshots/help/{name} is of no command");
    }
}

/// A project before a bad command.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    Project,
    Mouse,
}

/// A folder in a state that a command cannot work on: what it is called, how it comes about, the command.
type State = (&'static str, fn(&Folder), &'static [&'static str]);

#[test]
fn what_is_said_to_bad_input_is_as_recorded() {
    use Before::{Mouse, Nothing, Project};
    let create = |of: &'static str| format!("create api {of}");
    let lines: Vec<(Before, String)> = vec![
        (Nothing, "init --domain Example.com --project-name zoo".to_owned()),
        (Nothing, "init --domain exam_ple.com --project-name zoo".to_owned()),
        (Nothing, "init --project-name My-Operator".to_owned()),
        (Nothing, "init --project-name self".to_owned()),
        (Nothing, "init --project-name tokio".to_owned()),
        (Nothing, "init --project-name 3scale".to_owned()),
        (Nothing, "init --project-name a --license gpl".to_owned()),
        (Nothing, create("--group zoo --version v1 --kind Mouse")),
        (Nothing, "edit --multigroup".to_owned()),
        (Nothing, "upgrade".to_owned()),
        (Nothing, "deploy --image a".to_owned()),
        (Nothing, "creat api".to_owned()),
        (Project, "init --domain example.com --project-name zoo".to_owned()),
        (Project, create("")),
        (Project, create("--group Zoo --version v1 --kind Mouse")),
        (Project, create("--group zoo --version 1 --kind Mouse")),
        (Project, create("--group zoo --version v1gamma1 --kind Mouse")),
        (Project, create("--group zoo --version v1 --kind mouse")),
        (Project, create("--group zoo --version v1 --kind red-panda")),
        (Project, create("--group zoo --version v1 --kind Self")),
        (Project, create("--group zoo --version v1 --kind Request")),
        (Project, create("--group zoo --version v1 --kind Mouse --plural Mice")),
        (Project, create("--group zoo --version v1 --kind Mouse --resource=false")),
        (Project, create("--group zoo --version v1 --kind Mouse --resource=false --controller=false")),
        (Project, create("--group zoo --version v1 --kind Mouse --image=a --image-container-port=99999")),
        (Project, create("--group zoo --version v1 --kind Mouse --image=a --run-as-user=root")),
        (Project, create("--group zoo --version v1 --kind Deployment --image=a")),
        (Project, create("--group zoo --version v1 --kind Mouse --run-as-user=1")),
        (Project, create("--group zoo --version v1 --kind Mouse --kin Mouse")),
        (Project, create("--from-crd nothing.yaml")),
        (Project, create("--from-crd PROJECT")),
        (Mouse, create("--group zoo --version v1 --kind Mouse")),
        (Mouse, create("--group zoo --version v1 --kind Mice")),
        (Mouse, create("--group zoo --version v2 --kind Mouse")),
        (Mouse, create("--group zoo --version v2 --kind Mouse --controller=false --plural mouses")),
        (Mouse, create("--group farm --version v1 --kind Cow")),
        (Mouse, "delete api --group zoo --version v1 --kind Cat".to_owned()),
        (Mouse, "delete api --group zoo --version v1".to_owned()),
        (Mouse, "create webhook --group zoo --version v1 --kind Mouse".to_owned()),
        (Mouse, "edit --license gpl".to_owned()),
        (Mouse, "build-installer --no-generate".to_owned()),
        (Mouse, "install --no-generate --kubeconfig nowhere".to_owned()),
    ];
    let mut text = String::new();
    for (before, line) in lines {
        let folder = match before {
            Nothing => Folder::new(),
            Project => Folder::project(),
            Mouse => Folder::with_mouse(),
        };
        let files = folder.files();
        let run = folder.run(&line.split_whitespace().collect::<Vec<_>>());
        assert_ne!(run.code, Some(0), "{line}");
        assert_eq!(folder.files(), files, "{line}");
        record(
            &mut text,
            &folder,
            match before {
                Nothing => "in an empty folder",
                Project => "in a project",
                Mouse => "in a project with the kind Mouse",
            },
            &line,
            &run,
        );
    }
    let states: [State; 6] = [
        (
            "in a folder with a file that would be written",
            |folder| folder.write("src/main.rs", "fn main() {}\n"),
            INIT,
        ),
        (
            "in a project whose PROJECT is broken",
            |folder| {
                folder.run(INIT).ok();
                folder.write("PROJECT", "resources: [");
            },
            MOUSE,
        ),
        (
            "in a project of Kubebuilder",
            |folder| {
                folder.write("PROJECT", "layout:\n- go.kubebuilder.io/v4\nprojectName: p\nversion: \"3\"\n");
            },
            MOUSE,
        ),
        (
            "in a project whose record is broken",
            |folder| {
                folder.run(INIT).ok();
                folder.write(".kubewright/scaffold.json", "{");
            },
            MOUSE,
        ),
        (
            "in a project in which a line that would change was changed",
            |folder| {
                folder.run(INIT).ok();
                folder.edit("src/lib.rs", "kubewright::extern_crates!();", "mod mine;");
                folder.edit(
                    "src/main.rs",
                    "    let manager = Manager::new(Options::parse()).await?;\n    manager.start().await\n",
                    "    mine::start().await\n",
                );
            },
            MOUSE,
        ),
        (
            "in a project with a file where a folder would be",
            |folder| {
                folder.run(INIT).ok();
                folder.write("src/api", "\n");
            },
            MOUSE,
        ),
    ];
    for (state, prepare, line) in states {
        let folder = Folder::new();
        prepare(&folder);
        let files = folder.files();
        let run = folder.run(line);
        assert_ne!(run.code, Some(0), "{state}");
        assert_eq!(folder.files(), files, "{state}");
        record(&mut text, &folder, state, &line.join(" "), &run);
    }
    assert_recorded(&snapshots().join("bad_input.txt"), &text);
}

fn record(text: &mut String, folder: &Folder, state: &str, line: &str, run: &crate::Run) {
    let said = run.stderr.replace(&*folder.path("").to_string_lossy(), "[folder]/");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it exists");
    let said = said.replace(&*repository.to_string_lossy(), "[checkout]");
    let code = run.code.unwrap_or_default();
    let _ = writeln!(text, "# {state}\n$ kubewright {}\n{said}[exit code {code}]\n", line.trim());
}
