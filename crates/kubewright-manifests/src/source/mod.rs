//! Markers in Rust source text: which files a package has, where their markers are, and what these stand on.
//!
//! [`Sources::read`] reads the files of a package and of the packages that it depends on by path. There are two ways on
//! from there, because one of them has to be fast:
//!
//! * [`Sources::markers`] gives the markers about code (permissions, webhooks) and about packages. It looks at
//!   comments alone, so that whole projects take milliseconds.
//! * [`Sources::check`] parses those files that have markers, and says what is wrong with any of them: names,
//!   arguments, values, and places where they do nothing.
//!
//! What is there for tests only is left out of both: everything that `#[cfg(test)]` or `#[test]` takes away from the operator.

mod attributes;
mod check;
mod comment;
mod error;
mod file;
mod flattened;
mod json_name;
mod lexer;
mod modules;
mod package;
mod placement;
#[cfg(test)]
mod properties;
mod resolve;
mod subject;
mod syntax;
mod test_code;
#[cfg(test)]
mod tests;
mod values;

pub use error::SourceError;
pub use file::SourceFile;
pub use package::{Package, packages};

use std::{
    collections::BTreeSet,
    ops::Range,
    path::{Path, PathBuf},
};

use crate::{
    diagnostic::{Diagnostic, Place},
    marker::{Effect, Marker, Target, parse},
};

/// The sources of an operator.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sources {
    /// The packages, the operator's own first.
    pub packages: Vec<Package>,
    /// The files, by package and path. Those of test modules are not among them.
    pub files: Vec<SourceFile>,
}

/// A marker about code or about a package, and where it stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceMarker {
    /// The marker.
    pub marker: Marker,
    /// The name of the package.
    pub package: String,
    /// The file.
    pub file: PathBuf,
    /// The bytes of the marker in the file.
    pub range: Range<usize>,
}

// === impl Sources ===

impl Sources {
    /// Reads the package in `folder` and those that it depends on by path.
    ///
    /// # Errors
    ///
    /// Manifests or files that cannot be read.
    pub fn read(folder: &Path) -> Result<Self, SourceError> {
        let packages = packages(folder)?;
        let mut files = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, package) in packages.iter().enumerate() {
            let mut of_package = Vec::new();
            for path in package::files(package)? {
                // Targets of several packages may share a file.
                if seen.insert(path.clone()) {
                    let bytes = std::fs::read(&path)
                        .map_err(|source| SourceError::Read { path: path.clone(), source })?;
                    // The compiler says it better if this is no UTF-8; positions before the first wrong byte stay.
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    of_package.push(SourceFile::new(path, text, index));
                }
            }
            let tests: Vec<PathBuf> = of_package.iter().flat_map(SourceFile::test_modules).collect();
            of_package.retain(|file| !tests.iter().any(|test| file.is_module_at(test)));
            files.append(&mut of_package);
        }
        Ok(Self { packages, files })
    }

    /// Texts that are not on disk, as the sources of one package of this name. Test modules in files of their own stay.
    #[must_use]
    pub fn of_texts(package: &str, texts: impl IntoIterator<Item = (PathBuf, String)>) -> Self {
        Self {
            packages: vec![Package { name: package.to_owned(), root: PathBuf::new(), targets: Vec::new() }],
            files: texts.into_iter().map(|(path, text)| SourceFile::new(path, text, 0)).collect(),
        }
    }

    /// The markers about code and packages, in the order of files and lines, and what is wrong with markers that
    /// are meant to be such.
    #[must_use]
    pub fn markers(&self) -> (Vec<SourceMarker>, Vec<Diagnostic>) {
        let mut markers = Vec::new();
        let mut diagnostics = Vec::new();
        for file in &self.files {
            for candidate in file.candidates() {
                match parse(&candidate.text, &[Target::Package]) {
                    Ok(marker) if is_about_code(marker.definition.effect) => markers.push(SourceMarker {
                        marker,
                        package: self.package_of(file).to_owned(),
                        file: file.path.clone(),
                        range: candidate.range,
                    }),
                    // What stands on types is for the check that knows types.
                    Ok(_) => {}
                    Err(error) if error.code == "wrong-place" => {}
                    Err(error) => {
                        let range = candidate.narrow(&error.range);
                        diagnostics.push(error.at(Place::File { file: file.path.clone(), range }));
                    }
                }
            }
        }
        (markers, diagnostics)
    }

    fn package_of(&self, file: &SourceFile) -> &str {
        self.packages.get(file.package).map_or("", |package| &package.name)
    }
}

fn is_about_code(effect: Effect) -> bool {
    matches!(effect, Effect::Rbac | Effect::Webhook | Effect::WebhookConfiguration | Effect::Package(_))
}
