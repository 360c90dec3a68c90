//! Whatever the files are, building them gives objects or an error.

use std::{collections::BTreeMap, fs, path::Path, sync::LazyLock};

use kubewright_kustomize::{Builder, Memory};
use proptest::prelude::*;

use crate::cases::cases;

/// The files of a case, by their paths in it.
type Files = BTreeMap<String, Vec<u8>>;

static CASES: LazyLock<Vec<Files>> = LazyLock::new(|| {
    cases()
        .iter()
        .map(|case| {
            let mut files = Files::new();
            read(case, case, &mut files);
            files
        })
        .collect()
});

fn read(case: &Path, folder: &Path, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(case, &path, files);
        } else {
            let name = path.strip_prefix(case).unwrap().to_string_lossy().into_owned();
            files.insert(name, fs::read(path).unwrap());
        }
    }
}

/// Texts that mean something in one of the files.
const PIECES: &[&str] = &[
    "null",
    "[]",
    "{}",
    "- ",
    ": ",
    "\n",
    "\n---\n",
    "&a ",
    "*a",
    "<<: ",
    "$patch: delete",
    "$patch: replace",
    "0",
    "-1",
    "*",
    "[name=web]",
    "[=a]",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "..",
    "/",
    "(",
    ")",
    "name",
    "metadata",
    "spec",
    "resources",
    "kustomization.yaml",
    "!!int ",
    "!!binary ",
    "é",
    "\u{0}",
    ".",
    "\t",
    "yes",
    "~",
    "|\n  ",
    "options: {create: true}",
    "delimiter: '-'",
    "index: -1",
    "$(",
    "$$",
];

#[derive(Clone, Debug)]
enum Edit {
    Insert(&'static str),
    Remove(usize),
    /// Copies a part to another place.
    Copy {
        length: usize,
        to: usize,
    },
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => prop::sample::select(PIECES).prop_map(Edit::Insert),
        3 => (1..30_usize).prop_map(Edit::Remove),
        2 => (1..80_usize, any::<usize>()).prop_map(|(length, to)| Edit::Copy { length, to }),
    ]
}

fn apply(bytes: &mut Vec<u8>, at: usize, edit: &Edit) {
    let at = at % (bytes.len() + 1);
    match edit {
        Edit::Insert(piece) => drop(bytes.splice(at..at, piece.bytes())),
        Edit::Remove(length) => drop(bytes.drain(at..bytes.len().min(at + length))),
        Edit::Copy { length, to } => {
            let part = bytes[at..bytes.len().min(at + length)].to_vec();
            let to = to % (bytes.len() + 1);
            drop(bytes.splice(to..to, part));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn edited_cases_are_built_or_refused(
        case in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<usize>(), edit()), 0..6),
    ) {
        let mut files = case.get(&CASES).clone();
        for (file, at, edit) in &edits {
            let name = file.get(&files.keys().cloned().collect::<Vec<_>>()).clone();
            apply(files.entry(name).or_default(), *at, edit);
        }
        let folder = if files.keys().any(|name| name.starts_with("overlay/")) { "overlay" } else { "/" };
        let builder = Builder::new(Memory::from_iter(files));
        let first = builder.build(folder).map_err(|error| error.to_string());
        if let Ok(built) = &first {
            let _ = built.to_yaml();
        }
        prop_assert_eq!(builder.build(folder).map_err(|error| error.to_string()), first);
    }
}
