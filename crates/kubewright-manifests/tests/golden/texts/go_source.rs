//! Types, fields and comments in the source of a Go package.
//!
//! It reads what is formatted by gofmt, line by line, and no more of Go than API types have: declarations of one type each,
//! structs without structs in them, comments of lines.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, Default)]
pub(super) struct Package {
    types: BTreeMap<String, GoType>,
    /// Import paths by the names that the files have for them.
    imports: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(super) struct GoType {
    pub(super) comment: Comment,
    pub(super) fields: Vec<GoField>,
    /// What is right of its name, if it is no struct.
    pub(super) target: String,
}

#[derive(Clone, Debug)]
pub(super) struct GoField {
    /// The name in JSON; empty if it has the fields of its type in place of itself.
    pub(super) json_name: String,
    pub(super) go_type: String,
    pub(super) comment: Comment,
}

/// A comment as it stands above a declaration.
#[derive(Clone, Debug, Default)]
pub(super) struct Comment {
    /// The lines directly above, without the slashes and the blank after them.
    doc: Vec<String>,
    /// The lines above those, between blank lines. Only their markers count.
    apart: Vec<String>,
}

/// Reads the package in a folder.
pub(super) fn read(folder: &Path) -> Package {
    let files = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut package = Package::default();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".go") && !name.ends_with("_test.go") && !name.starts_with("zz_generated") {
            let text =
                fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            package.read(&text);
        }
    }
    package
}

// === impl Package ===

impl Package {
    pub(super) fn get(&self, name: &str) -> Option<&GoType> {
        self.types.get(name)
    }

    /// The path of the package that has a type, and its name there, from the name that it has in the package `path`; none
    /// if it has no name.
    pub(super) fn resolve(&self, path: &str, go_type: &str) -> Option<(String, String)> {
        let name = go_type.trim_start_matches('*');
        match name.split_once('.') {
            _ if name.is_empty() || name.contains(['[', '{', '(']) => None,
            Some((package, name)) => Some((self.imports.get(package)?.clone(), name.to_owned())),
            None => Some((path.to_owned(), name.to_owned())),
        }
    }

    fn read(&mut self, text: &str) {
        for line in text.lines() {
            let line = line.trim().trim_start_matches("import ").trim();
            if let Some((alias, path)) = line.strip_suffix('"').and_then(|line| line.split_once('"'))
                && !alias.contains(|c: char| !(c.is_alphanumeric() || c == '_' || c == ' '))
            {
                let last = path.rsplit('/').next().unwrap_or_default();
                let alias = if alias.trim().is_empty() { last } else { alias.trim() };
                self.imports.insert(alias.to_owned(), path.to_owned());
            }
            if line.starts_with("type ") {
                break;
            }
        }
        let mut comment = Comment::default();
        let mut open: Option<(String, GoType)> = None;
        for line in text.lines() {
            let code = line.trim();
            if code.is_empty() {
                comment.blank_line();
                continue;
            }
            if let Some(text) = code.strip_prefix("//") {
                comment.line(text);
                continue;
            }
            let comment = std::mem::take(&mut comment);
            if let Some((name, mut go_type)) = open.take() {
                if line == "}" {
                    self.types.insert(name, go_type);
                } else {
                    go_type.fields.extend(field(code, comment));
                    open = Some((name, go_type));
                }
            } else if let Some(declaration) = line.strip_prefix("type ") {
                let Some((name, target)) = declaration.split_once(' ') else { continue };
                let mut go_type = GoType { comment, fields: Vec::new(), target: String::new() };
                if target == "struct {" {
                    open = Some((name.to_owned(), go_type));
                } else {
                    if !target.starts_with("struct") {
                        go_type.target = target.trim_start_matches(['=', ' ']).to_owned();
                    }
                    self.types.insert(name.to_owned(), go_type);
                }
            }
        }
    }
}

/// A line of a struct; none if it is not in the JSON.
fn field(code: &str, comment: Comment) -> Option<GoField> {
    let (declared, tags) = code.split_once('`')?;
    let (_, tag) = tags.split_once("json:\"")?;
    let (json_name, options) = match tag.split_once('"')?.0.split_once(',') {
        Some((json_name, options)) => (json_name, options),
        None => (tag.split_once('"')?.0, ""),
    };
    let is_inline = options.split(',').any(|option| option == "inline");
    if json_name == "-" || (json_name.is_empty() && !is_inline) {
        return None;
    }
    let go_type = declared.split_whitespace().last()?.to_owned();
    Some(GoField { json_name: json_name.to_owned(), go_type, comment })
}

// === impl Comment ===

impl Comment {
    /// What a Rust programmer would write for it: the markers that stand apart, and the comment itself, as it is.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        let markers = self.apart.iter().filter(|line| line.trim_start().starts_with('+'));
        markers.chain(&self.doc).map(String::as_str)
    }

    fn blank_line(&mut self) {
        if !self.doc.is_empty() {
            self.apart = std::mem::take(&mut self.doc);
        }
    }

    fn line(&mut self, text: &str) {
        let name = text.split_once(':').map_or("", |(name, _)| name);
        // A directive for Go's tools is no comment.
        let is_directive =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        if !is_directive {
            self.doc.push(text.strip_prefix(' ').unwrap_or(text).to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"time"
)

// +mark:apart
// Nobody's.

// Queue is a type.
//   indented
//nolint:revive
// +mark
type Queue struct {
	metav1.TypeMeta `json:",inline"`
	*Inner `json:",inline"`

	// After is a field.
	After map[string]time.Duration `json:"after,omitempty" protobuf:"bytes,1"`
	Hidden string `json:"-"`
}

type Inner = Deep

type Deep struct {
	Value int `json:"value"` // not a doc comment
}

type Empty struct{}
"#;

    fn lines(comment: &Comment) -> Vec<&str> {
        comment.lines().collect()
    }

    #[test]
    fn comments_stand_above_what_they_are_about() {
        let mut package = Package::default();
        package.read(SOURCE);
        let queue = package.get("Queue").unwrap();
        assert_eq!(lines(&queue.comment), ["+mark:apart", "Queue is a type.", "  indented", "+mark"]);
        let [metadata, inner, after] = queue.fields.as_slice() else { panic!("{:?}", queue.fields) };
        assert_eq!((metadata.json_name.as_str(), inner.json_name.as_str()), ("", ""));
        assert_eq!((after.json_name.as_str(), after.go_type.as_str()), ("after", "map[string]time.Duration"));
        assert_eq!(lines(&after.comment), ["After is a field."]);
        assert_eq!(package.get("Inner").unwrap().target, "Deep");
        let deep = package.get("Deep").unwrap();
        assert_eq!(lines(&deep.fields[0].comment), [""; 0]);
        assert!(package.get("Empty").unwrap().fields.is_empty());
    }

    #[test]
    fn types_are_found_by_the_names_that_a_file_has_for_them() {
        let mut package = Package::default();
        package.read(SOURCE);
        let there = |path: &str, name: &str| Some((path.to_owned(), name.to_owned()));
        let metadata = package.resolve("example.com/v1", "metav1.TypeMeta");
        assert_eq!(metadata, there("k8s.io/apimachinery/pkg/apis/meta/v1", "TypeMeta"));
        assert_eq!(package.resolve("example.com/v1", "time.Duration"), there("time", "Duration"));
        assert_eq!(package.resolve("example.com/v1", "*Inner"), there("example.com/v1", "Inner"));
        assert_eq!(package.resolve("example.com/v1", "[]Inner"), None);
    }
}
