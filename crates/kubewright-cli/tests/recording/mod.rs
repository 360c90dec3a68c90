//! The recording of the README: what a terminal shows from an empty folder to a deployed operator.
//!
//! The commands are run for real, and what they say is kept but for what differs from one run to the next: cargo's lines, what is
//! waited for, a port, and the place of the checkout. It is drawn as a picture that moves, which needs no program to be seen.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use crate::{as_member, building, process::Cluster};

/// The folder of the recorded project.
pub(crate) const PROJECT: &str = "redis-operator";

const COLUMNS: usize = 110;
const ROWS: usize = 26;
const WIDTH: usize = 8;
const HEIGHT: usize = 18;
const MARGIN: usize = 16;

/// What the user types, and what is added to it here, where no port is free for certain and no log is wanted.
struct Step {
    typed: &'static str,
    added: &'static [&'static str],
}

/// The first commands, which write the project.
const WRITE: &[Step] = &[
    Step { typed: "init --domain example.com", added: &["--framework-source=path"] },
    Step { typed: "create api --group cache --version v1alpha1 --kind Redis", added: &[] },
];

/// Those that run it.
const RUN: &[Step] = &[
    Step { typed: "dev --once", added: &["--", "--health-probe-bind-address=0", "--log-level=error"] },
    Step { typed: "deploy --image registry.example.com/redis-operator:v1", added: &[] },
];

/// A recording while it is made.
#[derive(Default)]
pub(crate) struct Recording {
    lines: Vec<(Kind, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Typed,
    Said,
}

impl Recording {
    /// Writes the project, as a member of the workspace.
    pub(crate) fn write_project(&mut self, workspace: &Path) {
        let folder = workspace.join(PROJECT);
        fs::create_dir(&folder).expect("made");
        for step in WRITE {
            self.step(step, &folder, None);
        }
        as_member(&folder);
    }

    /// Runs the project and puts it on a cluster.
    pub(crate) fn run_project(&mut self, workspace: &Path) {
        let cluster = Cluster::start();
        for step in RUN {
            self.step(step, &workspace.join(PROJECT), Some(&cluster.kubeconfig()));
        }
    }

    fn step(&mut self, step: &Step, folder: &Path, kubeconfig: Option<&Path>) {
        let mut words: Vec<&str> = step.typed.split_whitespace().collect();
        words.extend(step.added);
        let mut command = building(env!("CARGO_BIN_EXE_kubewright"), folder, &words);
        if let Some(kubeconfig) = kubeconfig {
            command.env("KUBECONFIG", kubeconfig);
        }
        let output = command.output().expect("the kubewright binary runs");
        let said = String::from_utf8(output.stderr).expect("text")
            + &String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success(), "{}: {said}", step.typed);
        self.lines.push((Kind::Typed, format!("kubewright {}", step.typed)));
        let repository =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it exists");
        for line in said.lines().filter(|line| !is_of_the_moment(line)) {
            let mut line = line.replace(&*repository.to_string_lossy(), "~/src/kubewright");
            // The port is any that is free.
            if let Some((before, _)) = line.split_once("https://127.0.0.1:") {
                line = format!("{before}https://127.0.0.1:6443");
            }
            self.lines.push((Kind::Said, line.chars().take(COLUMNS).collect()));
        }
    }

    /// Compares with the picture of the README, or draws it anew with `KUBEWRIGHT_UPDATE=1`.
    pub(crate) fn assert_recorded(&self) {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/recording.svg");
        let drawn = self.draw();
        if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
            fs::write(&file, &drawn).expect("writable");
        }
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        let text: Vec<&str> = self.lines.iter().map(|(_, line)| line.as_str()).collect();
        assert!(
            recorded == drawn,
            "docs/recording.svg is not what is said; KUBEWRIGHT_UPDATE=1 records it:\n{}",
            text.join("\n")
        );
    }

    fn draw(&self) -> String {
        // When each line comes, in milliseconds: what is typed takes its time, and is looked at before the next.
        let mut now = 500;
        let mut times = Vec::new();
        for (at, (kind, _)) in self.lines.iter().enumerate() {
            if *kind == Kind::Typed {
                now += if at == 0 { 500 } else { 2500 };
            }
            times.push(now);
            now += if *kind == Kind::Typed { 800 } else { 60 };
        }
        let total = now + 5000;
        let percent = |time: usize| {
            format!("{:.3}%", f64::from(u32::try_from(time * 100_000 / total).unwrap_or(0)) / 1000.0)
        };
        let (width, height) = (COLUMNS * WIDTH + 2 * MARGIN, ROWS * HEIGHT + 2 * MARGIN);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title>From an empty folder to a deployed operator</title>\n<style>\n\
             text {{ font: 13px ui-monospace, monospace; fill: #d0d7de; white-space: pre; }}\n\
             .typed {{ fill: #ffffff; font-weight: bold; }}\n.verb {{ fill: #3fb950; font-weight: bold; }}\n.warning {{ fill: #d29922; }}\n\
             #lines {{ animation: scroll {total}ms step-end infinite; }}\n@keyframes scroll {{\n"
        );
        for (at, time) in times.iter().enumerate().filter(|(at, _)| *at >= ROWS) {
            let _ = writeln!(
                out,
                "{} {{ transform: translateY(-{}px); }}",
                percent(*time),
                (at + 1 - ROWS) * HEIGHT
            );
        }
        out.push_str("}\n");
        for (at, time) in times.iter().enumerate() {
            let _ = writeln!(
                out,
                "#l{at} {{ animation: l{at} {total}ms step-end infinite; }} @keyframes l{at} {{ 0% {{ opacity: 0; }} {} {{ opacity: 1; }} }}",
                percent(*time)
            );
        }
        let _ = writeln!(
            out,
            "</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
             <svg x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{}\" height=\"{}\">\n<g id=\"lines\">",
            COLUMNS * WIDTH,
            ROWS * HEIGHT
        );
        for (at, (kind, line)) in self.lines.iter().enumerate() {
            let y = at * HEIGHT + 13;
            let _ = writeln!(out, "<text id=\"l{at}\" x=\"0\" y=\"{y}\">{}</text>", spans(*kind, line));
        }
        out.push_str("</g>\n</svg>\n</svg>\n");
        out
    }
}

fn spans(kind: Kind, line: &str) -> String {
    if kind == Kind::Typed {
        return format!("$ <tspan class=\"typed\">{}</tspan>", escaped(line));
    }
    if line.starts_with("warning") {
        return format!("<tspan class=\"warning\">{}</tspan>", escaped(line));
    }
    // A verb of twelve columns, as cargo's.
    match line.split_at_checked(12) {
        Some((verb, rest)) if rest.starts_with(' ') && !verb.ends_with(' ') => {
            format!("<tspan class=\"verb\">{}</tspan>{}", escaped(verb), escaped(rest))
        }
        _ => escaped(line),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Whether a line is one that another run has not: cargo's, which says how long it took and what it found built, and what was waited
/// for, which may have been there at once.
fn is_of_the_moment(line: &str) -> bool {
    let verbs = [
        "Waiting",
        "Compiling",
        "Finished",
        "Blocking",
        "Locking",
        "Adding",
        "Fresh",
        "Downloading",
        "Downloaded",
        "Updating",
    ];
    line.trim_start().split(' ').next().is_some_and(|verb| verbs.contains(&verb))
}
