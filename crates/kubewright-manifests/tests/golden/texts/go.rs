//! Doc comments from the source of the Go types that a golden was made of.
//!
//! The source is in the folder named by `KUBEWRIGHT_GO_SOURCES`, in which each package has the folder of its import path, as in
//! the `vendor` folder of a Go module.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::PathBuf,
};

use kubewright_manifests::{
    Style,
    marker::{Target, docs},
};
use serde_json::{Map, Value};

use super::{
    KUBERNETES, Schemas, Texts,
    go_source::{self, Comment, GoField, Package},
    markers, referenced,
};

/// Where Kubernetes' own types are declared: the start of their names here, and the folder of their packages.
const ORIGINS: [(&str, &str); 2] =
    [("io.k8s.api.", "k8s.io/api/"), ("io.k8s.apimachinery.pkg.", "k8s.io/apimachinery/pkg/")];

/// Packages of Go that were read.
pub(crate) struct Sources {
    root: PathBuf,
    packages: BTreeMap<String, Package>,
    /// The markers that were left out.
    left_out: BTreeSet<(String, String)>,
}

/// Markers of the Go types that ours do not have: the type or its field, and the marker.
pub(crate) type LeftOut = &'static [(&'static str, &'static str)];

/// Where comments go.
struct Reader<'a> {
    sources: &'a mut Sources,
    schemas: &'a Schemas,
    packages: &'a [&'a str],
    left_out: LeftOut,
    texts: Texts,
}

// === impl Sources ===

impl Sources {
    /// The sources, if it is said where they are.
    pub(crate) fn find() -> Option<Self> {
        let Some(root) = env::var_os("KUBEWRIGHT_GO_SOURCES").map(PathBuf::from) else {
            #[expect(clippy::print_stderr, reason = "a test that does less has to say so")]
            {
                eprintln!("skipped: the comments of the Go types, see KUBEWRIGHT_GO_SOURCES");
            }
            return None;
        };
        assert!(root.is_dir(), "KUBEWRIGHT_GO_SOURCES is no folder: {}", root.display());
        Some(Self { root, packages: BTreeMap::new(), left_out: BTreeSet::new() })
    }

    #[track_caller]
    fn package(&mut self, path: &str) -> &Package {
        let folder = self.root.join(path);
        self.packages.entry(path.to_owned()).or_insert_with(|| go_source::read(&folder))
    }

    /// The field of a struct, or of a struct that is embedded in it, and the package that has it.
    #[track_caller]
    fn field(&mut self, path: &str, of: &str, json_name: &str) -> Option<(String, GoField)> {
        let package = self.package(path);
        let go_type = package.get(of)?;
        if let Some(field) = go_type.fields.iter().find(|field| field.json_name == json_name) {
            return Some((path.to_owned(), field.clone()));
        }
        let embedded = go_type.fields.iter().filter(|field| field.json_name.is_empty());
        let embedded = embedded.map(|field| &field.go_type).chain([&go_type.target]);
        let embedded: Vec<_> = embedded.filter_map(|name| package.resolve(path, name)).collect();
        embedded.into_iter().find_map(|(path, name)| self.field(&path, &name, json_name))
    }

    /// The doc comments of the types, each in the first of `packages` that has it, and of those of Kubernetes.
    ///
    /// The markers of our own types have to be those of the Go types.
    #[track_caller]
    pub(crate) fn texts(&mut self, schemas: &Schemas, packages: &[&str], left_out: LeftOut) -> Texts {
        let mut reader = Reader { sources: self, schemas, packages, left_out, texts: Texts::default() };
        for name in schemas.definitions.keys() {
            reader.definition(name);
        }
        reader.texts
    }

    /// Each marker that is to be left out has to be there.
    #[track_caller]
    pub(crate) fn assert_left_out(&self, markers: LeftOut) {
        for (site, marker) in markers {
            let place = ((*site).to_owned(), (*marker).to_owned());
            assert!(self.left_out.contains(&place), "{site} has no marker {marker} in Go");
        }
    }
}

// === impl Reader ===

impl Reader<'_> {
    #[track_caller]
    fn definition(&mut self, name: &str) {
        let (packages, go_name) = if name.starts_with(KUBERNETES) {
            let (package, go_name) = name.rsplit_once('.').unwrap_or_default();
            let folders = ORIGINS.iter().filter_map(|(prefix, folder)| {
                Some(format!("{folder}{}", package.strip_prefix(prefix)?.replace('.', "/")))
            });
            // Later versions of Kubernetes have more packages.
            let there = folders.filter(|folder| self.sources.root.join(folder).is_dir());
            (there.collect(), go_name)
        } else {
            (self.packages.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>(), name)
        };
        let found = packages.iter().find(|path| self.sources.package(path).get(go_name).is_some());
        let Some(path) = found else {
            // Later versions of Kubernetes have more types.
            assert!(name.starts_with(KUBERNETES), "there is no Go type {go_name} in {packages:?}");
            return;
        };
        let comment = self.sources.package(path).get(go_name).map(|go_type| go_type.comment.clone());
        self.comment(name, "", &comment.unwrap_or_default());
        let properties = self.schemas.node(name, "/properties").and_then(Value::as_object);
        for property in properties.into_iter().flat_map(Map::keys) {
            self.property(name, path, go_name, property);
        }
    }

    fn property(&mut self, definition: &str, path: &str, go_name: &str, property: &str) {
        // What every object has is not the type's to say.
        if definition == self.schemas.name && ["apiVersion", "kind", "metadata"].contains(&property) {
            return;
        }
        let Some((path, field)) = self.sources.field(path, go_name, property) else {
            // Later versions of Kubernetes have more fields.
            assert!(
                definition.starts_with(KUBERNETES),
                "the Go type of {definition} has no field {property}"
            );
            return;
        };
        let pointer = format!("/properties/{property}");
        if field.comment.lines().all(|line| line.trim_start().starts_with('+')) {
            self.of_type(definition, &pointer, &path, &field.go_type, Some(&field.comment));
        } else {
            self.comment(definition, &pointer, &field.comment);
            self.inner(definition, &pointer, &path, &field.go_type);
        }
    }

    /// Where a field says nothing, its type does, and in Rust that may be no type of its own.
    fn of_type(&mut self, definition: &str, pointer: &str, path: &str, go_type: &str, own: Option<&Comment>) {
        let Some(node) = self.schemas.node(definition, pointer) else { return };
        let of_type = match referenced(node) {
            None => self.comment_of_type(path, go_type),
            Some(_) => Comment::default(),
        };
        let prose = of_type.lines().filter(|line| !line.trim_start().starts_with('+'));
        let lines: Vec<&str> = own.into_iter().flat_map(Comment::lines).chain(prose).collect();
        self.lines(definition, pointer, &lines);
        self.inner(definition, pointer, path, go_type);
    }

    /// What the types of items and of values in a map say.
    fn inner(&mut self, definition: &str, pointer: &str, path: &str, go_type: &str) {
        let go_type = go_type.trim_start_matches('*');
        let (keyword, inner) = match go_type.split_once(']') {
            Some((start, inner)) if start.starts_with("map[") => ("additionalProperties", inner),
            Some((_, inner)) => ("items", inner),
            None => return,
        };
        self.of_type(definition, &format!("{pointer}/{keyword}"), path, inner, None);
    }

    /// The comment on a type that is named in a package; none on what is part of Go.
    fn comment_of_type(&mut self, path: &str, go_type: &str) -> Comment {
        let Some((path, name)) = self.sources.package(path).resolve(path, go_type) else {
            return Comment::default();
        };
        self.sources.package(&path).get(&name).map(|go_type| go_type.comment.clone()).unwrap_or_default()
    }

    fn comment(&mut self, definition: &str, pointer: &str, comment: &Comment) {
        self.lines(definition, pointer, &comment.lines().collect::<Vec<_>>());
    }

    #[track_caller]
    fn lines(&mut self, definition: &str, pointer: &str, lines: &[&str]) {
        if definition.starts_with(KUBERNETES) {
            // No marker has an effect there.
            let text = docs::split(&lines.join("\n"), Style::ControllerGen).description;
            self.texts.replace(definition, pointer, text);
            return;
        }
        let site = match pointer.strip_prefix("/properties/") {
            Some(field) => format!("{definition}.{field}"),
            None => definition.to_owned(),
        };
        let (left_out, kept): (Vec<&str>, Vec<&str>) =
            lines.iter().partition(|line| self.left_out.contains(&(site.as_str(), line.trim())));
        let left_out = left_out.into_iter().map(|line| (site.clone(), line.trim().to_owned()));
        self.sources.left_out.extend(left_out);
        let text = kept.join("\n");
        let ours = self.schemas.node(definition, pointer).and_then(|node| node["description"].as_str());
        let targets: &[Target] =
            if pointer.is_empty() { &[Target::Type, Target::Kind] } else { &[Target::Field] };
        let said = |comment: &str| -> Vec<String> {
            let markers = docs::split(comment, Style::ControllerGen).markers;
            markers.iter().filter_map(|marker| markers::without_texts(marker, targets)).collect()
        };
        assert_eq!(
            said(ours.unwrap_or_default()),
            said(&text),
            "the markers of {site}: ours and those in Go"
        );
        self.texts.replace(definition, pointer, text);
    }
}
