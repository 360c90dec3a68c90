//! What kubectl prints against the embedded API server, command for command, beside what it printed against a real one.
//!
//! `tests/transcripts/NAME.txt` has files and commands. `tests/transcripts/VERSION/NAME.txt` is what kubectl of that version said
//! when it ran them against kube-apiserver, and is compared; what differs from run to run has been replaced by its name.
//!
//! `conformance/suites/run -server real kubectl` records: it names the cluster in `KUBEWRIGHT_TRANSCRIPT_KUBECONFIG`, and sets
//! `KUBEWRIGHT_UPDATE=1`. The programs come from `conformance/suites/clients`, in the folder named by `KUBEWRIGHT_CLIENTS`; without
//! it, kubectl of `KUBECTL` or of the `PATH` is taken if it has one of the versions.

mod process;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use process::{Cluster, client};
use regex::Regex;
use similar::TextDiff;

/// One test for each transcript and version of kubectl.
macro_rules! transcripts {
    ($($name:ident)*) => {
        mod kubectl_1_32 { $(#[test] fn $name() { super::check("1.32", stringify!($name)); })* }
        mod kubectl_1_37 { $(#[test] fn $name() { super::check("1.37", stringify!($name)); })* }

        #[test]
        fn every_transcript_is_tested() {
            let files = fs::read_dir(folder()).expect("the folder of transcripts").map(|entry| entry.expect("an entry").path());
            let mut found: Vec<_> = files
                .filter(|path| path.is_file())
                .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),*]);
        }
    };
}

transcripts! { access apply change create delete describe get }

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

fn check(version: &str, name: &str) {
    let Some(kubectl) = client("kubectl", version) else { return };
    let script =
        fs::read_to_string(folder().join(format!("{name}.txt"))).expect("the transcript is readable");
    let recorded = folder().join(version).join(format!("{name}.txt"));

    let own;
    let kubeconfig = match std::env::var_os("KUBEWRIGHT_TRANSCRIPT_KUBECONFIG") {
        Some(kubeconfig) => kubeconfig.into(),
        None => {
            own = Cluster::start_without_controllers();
            own.kubeconfig()
        }
    };
    let home = tempfile::tempdir().expect("a temporary folder");
    let said = run(&script, &kubectl, &kubeconfig, home.path());

    if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
        fs::create_dir_all(recorded.parent().expect("a folder")).expect("the folder is writable");
        fs::write(&recorded, said).expect("the transcript is writable");
        return;
    }
    let expected = fs::read_to_string(&recorded).expect("there is a record; conformance/suites/run makes it");
    if said != expected {
        let difference = TextDiff::from_lines(&expected, &said);
        panic!(
            "kubectl {version} says something else than against a real server:\n{}",
            difference.unified_diff().context_radius(4).header("real", "embedded")
        );
    }
}

/// Writes the files of `script` to `home`, runs its commands there, and returns what they said.
fn run(script: &str, kubectl: &Path, kubeconfig: &Path, home: &Path) -> String {
    let mut sections = script.split("\n-- ");
    sections.next();
    let mut commands = "";
    for section in sections {
        let (name, text) = section.split_once(" --\n").expect("a section has a name");
        match name {
            "commands" => commands = text,
            file => fs::write(home.join(file), text.to_owned() + "\n").expect("the folder is writable"),
        }
    }
    let varying = Varying::new(home);
    let mut transcript = String::new();
    for line in commands.lines() {
        let words = words(line);
        let assignments = words.iter().take_while(|word| word.contains('=')).count();
        let (assignments, words) = words.split_at(assignments);
        assert_eq!(words[0], "kubectl", "{line}");
        let mut command = Command::new(kubectl);
        command
            .args(&words[1..])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("KUBECONFIG", kubeconfig)
            .envs(assignments.iter().filter_map(|word| word.split_once('=')))
            .current_dir(home)
            .stdin(Stdio::null());
        let output = command.output().expect("kubectl runs");
        writeln!(transcript, "$ {line}").expect("a string");
        for line in varying.replaced(&output.stdout).lines() {
            writeln!(transcript, "{line}").expect("a string");
        }
        for line in varying.replaced(&output.stderr).lines() {
            writeln!(transcript, "2> {line}").expect("a string");
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => writeln!(transcript, "exit code {code}").expect("a string"),
            None => writeln!(transcript, "ended by a signal").expect("a string"),
        }
    }
    transcript
}

/// Splits a command as a shell does; quotes are single.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    let mut begun = false;
    for character in line.chars() {
        match character {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            _ => {
                word.push(character);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// What is another on each run, and the name that is put in its place.
struct Varying {
    patterns: Vec<(Regex, &'static str)>,
    home: String,
}

impl Varying {
    fn new(home: &Path) -> Self {
        let patterns = [
            // A wait that ends at its own timeout tells of the watch that it ended, if it did so within a second of its
            // beginning: how busy the machine is decides that, not the server.
            (r"(?m)^I\d{4} .*very short watch: .*\n", ""),
            (r"https://127\.0\.0\.1:\d+", "SERVER"),
            (r"127\.0\.0\.1:\d+", "ADDRESS"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}( UTC)?", "TIME"),
            (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
            (r#"((resourceVersion\\*"?: ?\\*")|(Resource Version: +))\d+"#, "${1}VERSION"),
            // From the range of addresses for services.
            (r"\b10\.\d+\.\d+\.\d+\b", "IP"),
            (r"\b3[0-2]\d{3}\b", "NODEPORT"),
            (r"\b(LIVE|MERGED)-\d+", "$1"),
            // The name begins with that of the program.
            (r#"/[^/\s"]+-edit-\d+\.yaml"#, "/KUBECTL-edit-NUMBER.yaml"),
            // Ages, and with them the width of their column.
            (r"(?m)( |^)(\d+[smh]){1,2}( +|$)", "${1}AGE "),
            // Log lines of the client begin with a time and the number of its process.
            (r"(?m)^[EWI]\d{4} \S+ +\d+ ", "LOG "),
            (r"(?m)[ \t]+$", ""),
            (r"(\S) {2,}", "$1  "),
        ];
        Self {
            patterns: patterns
                .into_iter()
                .map(|(pattern, name)| (Regex::new(pattern).expect("a pattern"), name))
                .collect(),
            home: home.display().to_string(),
        }
    }

    fn replaced(&self, text: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(text).replace(&self.home, "HOME");
        for (pattern, name) in &self.patterns {
            text = pattern.replace_all(&text, *name).into_owned();
        }
        text
    }
}
