//! The types of modules.

use std::path::{Component, Path};

use super::{SourceFile, Sources, subject::SubjectKind};

// === impl Sources ===

impl Sources {
    /// The types of a module and of those below it, or the one type that the path names, by the names of their schemas: each
    /// once, in the order of files and lines. None if no source has such a module or type.
    ///
    /// A path begins with the name of a crate of the sources, or with `crate` for the operator's own, as in `operator::api::v1`.
    /// Where a file says with `#[path = ..]` that a module is elsewhere, that is not seen.
    #[must_use]
    pub fn types_in(&self, path: &str) -> Option<Vec<String>> {
        let wanted: Vec<&str> = path.split("::").collect();
        let mut is_there = false;
        let mut found: Vec<String> = Vec::new();
        for file in &self.files {
            let Some(package) = self.packages.get(file.package) else { continue };
            let name =
                if file.package == 0 && wanted.first() == Some(&"crate") { "crate" } else { &package.name };
            let mut at = vec![name.replace('-', "_")];
            at.extend(modules(file, &package.root));
            is_there |= begins_with(&at, &wanted);
            if !begins_with(&at, &wanted) && !begins_with(&wanted, &at) {
                continue;
            }
            for (mut within, rust_name, schema) in types(file) {
                within.push(rust_name);
                let full: Vec<String> = at.iter().cloned().chain(within).collect();
                if begins_with(&full, &wanted) {
                    is_there = true;
                    if !found.contains(&schema) {
                        found.push(schema);
                    }
                }
            }
        }
        is_there.then_some(found)
    }
}

fn begins_with<A: AsRef<str>, B: AsRef<str>>(path: &[A], start: &[B]) -> bool {
    path.len() >= start.len() && path.iter().zip(start).all(|(part, other)| part.as_ref() == other.as_ref())
}

/// The modules that a file is in, by its place below `src`.
fn modules(file: &SourceFile, root: &Path) -> Vec<String> {
    let below = file.path.strip_prefix(root).unwrap_or(&file.path);
    let below = below.strip_prefix("src").unwrap_or(below).with_extension("");
    let mut parts: Vec<String> = below
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    let is_root = parts.len() == 1 && matches!(parts[0].as_str(), "main" | "lib");
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// The types of a file: the modules within it that they are in, their names in Rust, and those of their schemas.
fn types(file: &SourceFile) -> Vec<(Vec<String>, String, String)> {
    let subjects = file.subjects().unwrap_or_default();
    let name = |subject: &super::subject::Subject| {
        let name = file.text.get(subject.name.clone()).unwrap_or_default();
        name.strip_prefix("r#").unwrap_or(name).to_owned()
    };
    let types = subjects.iter().filter(|subject| !file.is_test_code(&subject.range)).filter_map(|subject| {
        let SubjectKind::Type(of) = &subject.kind else { return None };
        let around = subjects
            .iter()
            .filter(|other| matches!(other.kind, SubjectKind::Module) && other.contains(&subject.range));
        Some((around.map(name).collect(), name(subject), of.schema.clone()))
    });
    types.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_files_folders_and_blocks() {
        let text = |path: &str, text: &str| (path.into(), text.to_owned());
        let sources = Sources::of_texts(
            "my-operator",
            [
                text("src/main.rs", "mod api; struct Root; mod inner { mod deep { struct Deep; } }"),
                text("src/api/mod.rs", "mod v1; #[schemars(rename = \"Renamed\")] struct Shared;"),
                text(
                    "src/api/v1.rs",
                    "struct Spec { a: u8 } enum Kind { A } #[cfg(test)] mod t { struct Test; }",
                ),
                text("src/api/v1beta1.rs", "struct Spec { b: u8 }"),
                text("src/controller.rs", "fn reconcile() {}"),
            ],
        );
        for (path, expected) in [
            ("my_operator::api", Some(vec!["Renamed", "Spec", "Kind"])),
            ("crate::api::v1", Some(vec!["Spec", "Kind"])),
            ("crate::api::v1::Kind", Some(vec!["Kind"])),
            ("my_operator::inner", Some(vec!["Deep"])),
            ("my_operator::inner::deep::Deep", Some(vec!["Deep"])),
            ("crate", Some(vec!["Root", "Deep", "Renamed", "Spec", "Kind"])),
            ("my_operator::controller", Some(vec![])),
            ("my_operator::api::v2", None),
            ("other::api", None),
        ] {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect());
            let mut found = sources.types_in(path);
            if path == "crate" {
                found = found.map(|mut found: Vec<String>| {
                    found.sort_by_key(|name| {
                        ["Root", "Deep", "Renamed", "Spec", "Kind"].iter().position(|n| n == name)
                    });
                    found
                });
            }
            assert_eq!(found, expected, "{path}");
        }
    }
}
