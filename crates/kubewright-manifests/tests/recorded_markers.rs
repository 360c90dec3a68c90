//! The markers that controller-gen v0.23 knows and those that it refuses, against our table and our parser.
//!
//! What it knows and says is recorded in `conformance/controller-gen`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use kubewright_manifests::marker::{Arguments, Target, parse, table::definitions};

/// The folder of controller-gen's module, or something in it.
fn recorded(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/controller-gen").join(path)
}

fn read(path: impl AsRef<Path>) -> String {
    let path = recorded(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} is not there: {error}", path.display()))
}

/// Markers of which controller-gen's table says more than it means.
const LEFT_OUT: [&str; 2] = [
    // It is known there to be refused there.
    "k8s:enum field",
    // `sideEffects` may be left out by the table, and is an error afterwards.
    "kubebuilder:webhook package",
];

/// What a row of ours says in the form of `markers.txt`: arguments and whether they may be left out.
fn arguments(arguments: &Arguments) -> Vec<String> {
    match arguments {
        Arguments::None => Vec::new(),
        Arguments::Value(_) => vec![String::new()],
        Arguments::OptionalValue(_) => vec!["?".to_owned()],
        Arguments::Named(named) => {
            let mut names: Vec<String> = named
                .iter()
                .map(|argument| format!("{}{}", argument.name, if argument.required { "" } else { "?" }))
                .collect();
            names.sort();
            names
        }
        _ => panic!("an unknown form of arguments"),
    }
}

#[test]
fn the_table_has_every_marker_of_controller_gen_with_its_targets_and_arguments() {
    let mut ours: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for row in definitions() {
        for name in std::iter::once(&row.name).chain(row.aliases) {
            ours.entry((*name).to_owned()).or_default().push(row);
        }
        if row.on_items {
            let (start, last) = row.name.rsplit_once(':').unwrap();
            ours.entry(format!("{start}:items:{last}")).or_default().push(row);
        }
    }
    let mut missing = Vec::new();
    for line in read("markers.txt").lines() {
        let mut words = line.split(' ');
        let (name, target) = (words.next().unwrap(), words.next().unwrap());
        if LEFT_OUT.iter().any(|left_out| line.starts_with(left_out)) {
            continue;
        }
        let fits = |own: &Target| match target {
            "package" => *own == Target::Package,
            "type" => matches!(own, Target::Type | Target::Kind),
            _ => *own == Target::Field,
        };
        let rows = ours.get(name).map(Vec::as_slice).unwrap_or_default();
        let Some(row) = rows.iter().find(|row| row.targets.iter().any(fits)) else {
            missing.push(format!("{line}: not in the table"));
            continue;
        };
        let mut theirs: Vec<String> = words
            .map(|word| {
                let (name, kind) = word.split_once(':').unwrap();
                // What stands for the whole has a name in one place.
                let name = if name == "value" { "" } else { name };
                format!("{name}{}", if kind.ends_with('?') { "?" } else { "" })
            })
            .collect();
        theirs.sort();
        let own = arguments(&row.arguments);
        // We have more arguments than controller-gen, all of them optional.
        let kept: Vec<&String> =
            own.iter().filter(|name| theirs.contains(name) || !name.ends_with('?')).collect();
        if kept != theirs.iter().collect::<Vec<_>>() {
            missing.push(format!("{line}: takes {own:?}"));
        }
    }
    assert!(missing.is_empty(), "{} differ:\n{}", missing.len(), missing.join("\n"));
}

const ANYWHERE: [Target; 4] = [Target::Package, Target::Type, Target::Kind, Target::Field];

/// Whether a marker of this case cannot be read.
fn is_refused(case: &str) -> bool {
    let folder = recorded("cases/errors").join(case);
    fs::read_dir(&folder).unwrap().any(|file| {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
        let mut markers = comments.map(str::trim_start).filter(|comment| comment.starts_with('+'));
        markers.any(|marker| parse(marker.trim_end(), &ANYWHERE).is_err())
    })
}

#[test]
fn what_controller_gen_cannot_read_we_refuse() {
    let mut accepted = Vec::new();
    let mut compared = 0;
    for run in ["crd", "rbac"] {
        let mut last = String::new();
        for line in read(format!("cases/errors/expected/{run}/errors.txt")).lines() {
            // Errors of the parser name the place in the marker.
            let Some((case, _)) = line.split_once('/').filter(|_| line.contains("(at <input>")) else {
                continue;
            };
            if case != last {
                compared += 1;
                last = case.to_owned();
                if !is_refused(case) {
                    accepted.push(line.to_owned());
                }
            }
        }
    }
    assert!(compared > 15, "{compared} cases were compared");
    assert!(accepted.is_empty(), "accepted:\n{}", accepted.join("\n"));
}

/// controller-gen says nothing of them, and does nothing.
#[test]
fn unknown_markers_are_refused() {
    assert!(!read("cases/errors/expected/crd/errors.txt").contains("unknownmarker/"));
    assert!(is_refused("unknownmarker"));
}
