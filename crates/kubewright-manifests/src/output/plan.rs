//! The files that should be there.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Component, Path, PathBuf},
};

use super::{Action, Change, Header, Mark, OutputError, foreign::is_crd_of_controller_gen};
use crate::Style;

/// The files that generators want, and the folders in which stale ones are looked for.
///
/// ```no_run
/// use std::path::Path;
/// use kubewright_manifests::{Style, output::{self, Header, Mark, Plan}};
///
/// # fn main() -> Result<(), output::OutputError> {
/// let mark = Mark::new("rbac", "memcached-operator");
/// let mut plan = Plan::new(Style::Kubewright);
/// plan.folder(Path::new("config/rbac"), &mark);
/// let header = Header::none(Style::Kubewright, mark);
/// plan.file(Path::new("config/rbac"), "role.yaml", &header, "---\nkind: ClusterRole\n")?;
/// let comparison = plan.compare()?;
/// for change in &comparison.changes {
///     println!("{}", change.diff());
/// }
/// output::write(&comparison.changes)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    style: Style,
    files: BTreeMap<PathBuf, File>,
    folders: Vec<(PathBuf, Mark)>,
}

#[derive(Clone, Debug)]
struct File {
    header: Header,
    documents: String,
}

/// What [`Plan::compare`] saw.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Comparison {
    /// Every planned file and every stale one, in the order of their paths.
    pub changes: Vec<Change>,
    /// Files that controller-gen seems to have written, that are not planned and are left alone: whether they are stale
    /// is for the user to say. Always empty in controller-gen's style.
    pub foreign: Vec<PathBuf>,
}

// === impl Plan ===

impl Plan {
    /// A plan with no files.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self { style, files: BTreeMap::new(), folders: Vec::new() }
    }

    /// Looks for stale files with this mark in `folder`, but not below it. The folder need not exist.
    pub fn folder(&mut self, folder: &Path, mark: &Mark) {
        let entry = (folder.to_owned(), mark.clone());
        if !self.folders.contains(&entry) {
            self.folders.push(entry);
        }
    }

    /// Plans a file with these YAML documents.
    ///
    /// # Errors
    ///
    /// If `name` has a path in it, or if the file is planned already.
    pub fn file(
        &mut self,
        folder: &Path,
        name: &str,
        header: &Header,
        documents: &str,
    ) -> Result<(), OutputError> {
        let mut parts = Path::new(name).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            return Err(OutputError::Name { name: name.to_owned() });
        }
        let path = folder.join(name);
        if let Some(present) = self.files.get(&path) {
            return Err(OutputError::Twice {
                path,
                first: describe(&present.documents),
                second: describe(documents),
            });
        }
        self.files.insert(path, File { header: header.clone(), documents: documents.to_owned() });
        Ok(())
    }

    /// The documents of all files, for standard output: in the order of the paths, without header and marks.
    #[must_use]
    pub fn documents(&self) -> String {
        self.files.values().map(|file| file.documents.as_str()).collect()
    }

    /// Whether there are no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Compares the plan with what is there. Changes nothing.
    ///
    /// # Errors
    ///
    /// If a file or a folder cannot be read, or if there is something else in the place of a file.
    pub fn compare(&self) -> Result<Comparison, OutputError> {
        let mut changes = BTreeMap::new();
        for (path, file) in &self.files {
            let after = file.header.file(&file.documents);
            let (action, before) = match read(path)? {
                None => (Action::Create, String::new()),
                Some(before) if before == after.as_bytes() => (Action::Keep, after.clone()),
                Some(before) => (Action::Update, String::from_utf8_lossy(&before).into_owned()),
            };
            changes.insert(path.clone(), Change { path: path.clone(), action, before, after });
        }
        let mut foreign = Vec::new();
        for (folder, mark) in &self.folders {
            for path in manifests(folder)? {
                if changes.contains_key(&path) {
                    continue;
                }
                let Some(bytes) = read(&path)? else { continue };
                // What is not text was not made by a generator.
                let Ok(before) = String::from_utf8(bytes) else { continue };
                let stale = match self.style {
                    Style::Kubewright => {
                        if is_crd_of_controller_gen(&path, &before) && !foreign.contains(&path) {
                            foreign.push(path.clone());
                        }
                        mark.is_on(&before)
                    }
                    Style::ControllerGen => mark.is_on(&before) || is_crd_of_controller_gen(&path, &before),
                };
                if stale {
                    let change =
                        Change { path: path.clone(), action: Action::Remove, before, after: String::new() };
                    changes.insert(path, change);
                }
            }
        }
        Ok(Comparison { changes: changes.into_values().collect(), foreign })
    }
}

/// The kind and name of the first of these documents, as far as a glance tells.
fn describe(documents: &str) -> String {
    let value = |prefix: &str| documents.lines().find_map(|line| line.strip_prefix(prefix)).unwrap_or("?");
    format!("the {} `{}`", value("kind: "), value("  name: "))
}

/// The content of a file; none if it is not there.
fn read(path: &Path) -> Result<Option<Vec<u8>>, OutputError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::IsADirectory => {
            Err(OutputError::NotAFile { path: path.to_owned() })
        }
        Err(error) => Err(OutputError::io("read", path)(error)),
    }
}

/// The YAML files in a folder, in the order of their names. No folder, no files.
fn manifests(folder: &Path) -> Result<Vec<PathBuf>, OutputError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(OutputError::io("read the folder", folder)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(OutputError::io("read the folder", folder))?;
        let path = entry.path();
        let yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        // A link's file may be anywhere, and is somebody's.
        if yaml && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ROLE: &str = "---\nkind: ClusterRole\nmetadata:\n  name: manager-role\n";

    fn mark() -> Mark {
        Mark::new("crd", "zoo")
    }

    fn plan(style: Style, folder: &Path, files: &[&str]) -> Plan {
        let mut plan = Plan::new(style);
        plan.folder(folder, &mark());
        for name in files {
            plan.file(folder, name, &header(style), ROLE).expect("no file twice");
        }
        plan
    }

    fn header(style: Style) -> Header {
        Header::none(style, mark())
    }

    fn actions(plan: &Plan) -> Vec<(String, Action)> {
        let changes = plan.compare().expect("readable").changes;
        let name = |path: &Path| path.file_name().expect("a file").to_string_lossy().into_owned();
        changes.iter().map(|change| (name(&change.path), change.action)).collect()
    }

    #[test]
    fn what_is_written_is_kept_and_what_differs_is_updated() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let plan = plan(Style::Kubewright, folder.path(), &["a.yaml", "b.yaml", "c.yaml"]);
        fs::write(folder.path().join("a.yaml"), format!("{}\n{ROLE}", mark())).expect("writable");
        fs::write(folder.path().join("b.yaml"), ROLE).expect("writable");
        let expected = [("a.yaml", Action::Keep), ("b.yaml", Action::Update), ("c.yaml", Action::Create)];
        assert_eq!(actions(&plan), expected.map(|(name, action)| (name.to_owned(), action)));
    }

    #[test]
    fn only_files_with_the_mark_of_this_generator_and_package_are_stale() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).expect("writable");
        write("stale.yaml", format!("# Licence\n{}\n{ROLE}", mark()));
        write("stale.txt", format!("{}\n{ROLE}", mark()));
        write("by-hand.yaml", ROLE.to_owned());
        write("quoted.yaml", format!("{ROLE}  {}\n", mark()));
        write("rbac.yaml", format!("{}\n{ROLE}", Mark::new("rbac", "zoo")));
        write("other.yaml", format!("{}\n{ROLE}", Mark::new("crd", "farm")));
        fs::create_dir(folder.path().join("below.yaml")).expect("writable");
        write("below.yaml/x.yaml", format!("{}\n{ROLE}", mark()));
        fs::write(folder.path().join("binary.yaml"), [0xff, 0xfe]).expect("writable");
        let plan = plan(Style::Kubewright, folder.path(), &[]);
        assert_eq!(actions(&plan), [("stale.yaml".to_owned(), Action::Remove)]);
        assert_eq!(plan.compare().expect("readable").foreign, Vec::<PathBuf>::new());
    }

    #[test]
    fn crds_of_controller_gen_are_stale_in_its_style_and_reported_in_ours() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("zoo.io_mice.yaml");
        let crd = "kind: CustomResourceDefinition\nmetadata:\n  annotations:\n    \
                   controller-gen.kubebuilder.io/version: v0.23.0\nspec:\n  group: zoo.io\n  names:\n    plural: mice\n";
        fs::write(&path, crd).expect("writable");
        let theirs = plan(Style::ControllerGen, folder.path(), &[]);
        assert_eq!(actions(&theirs), [("zoo.io_mice.yaml".to_owned(), Action::Remove)]);
        let ours = plan(Style::Kubewright, folder.path(), &[]);
        assert_eq!(actions(&ours), []);
        assert_eq!(ours.compare().expect("readable").foreign, [path]);
        let planned = plan(Style::Kubewright, folder.path(), &["zoo.io_mice.yaml"]);
        assert_eq!(actions(&planned), [("zoo.io_mice.yaml".to_owned(), Action::Update)]);
        assert_eq!(planned.compare().expect("readable").foreign, Vec::<PathBuf>::new());
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_stale_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let plan = plan(Style::Kubewright, &folder.path().join("config/rbac"), &["role.yaml"]);
        assert_eq!(actions(&plan), [("role.yaml".to_owned(), Action::Create)]);
    }

    #[test]
    fn a_file_has_one_origin_and_a_plain_name() {
        let mut plan = plan(Style::Kubewright, Path::new("config"), &["role.yaml"]);
        let error = plan.file(
            Path::new("config"),
            "role.yaml",
            &header(Style::Kubewright),
            "---\nkind: Role\nmetadata:\n  name: x\n",
        );
        assert_eq!(
            error.expect_err("planned already").to_string(),
            "the ClusterRole `manager-role` and the Role `x` would both be written to config/role.yaml; give them \
             different output folders or file names"
        );
        for name in ["", ".", "..", "../role.yaml", "/role.yaml", "a/b.yaml"] {
            assert!(
                plan.file(Path::new("config"), name, &header(Style::Kubewright), ROLE).is_err(),
                "{name}"
            );
        }
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("role.yaml")).expect("writable");
        let error = plan(Style::Kubewright, folder.path(), &["role.yaml"]).compare().expect_err("a folder");
        assert!(matches!(error, OutputError::NotAFile { .. }), "{error}");
    }
}
