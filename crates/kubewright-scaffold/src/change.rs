//! From a change of the model to a change of files.

use std::path::{Path, PathBuf};

use kubewright_manifests::output::{self, Action};

use crate::{
    Project, ScaffoldError, merge,
    project::FILE,
    record,
    render::{Formatter, notice, own_files, render},
    tree::{Files, Tree},
};

/// A change of a project: what it was, and what it is to be.
#[must_use]
pub struct Change<'f> {
    before: Option<Project>,
    after: Project,
    force: bool,
    upgrade: bool,
    /// Files that no template makes, such as types from a definition.
    others: Files,
    format: Formatter<'f>,
}

/// What a change does to files. Nothing is written before [`Plan::write`].
#[derive(Debug)]
pub struct Plan {
    changes: Vec<output::Change>,
    conflicts: Vec<Conflict>,
}

/// What stands in the way of a change, in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub problem: Problem,
}

/// A way in which a user's file is at odds with a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file would be created, and one with another content is there.
    Exists,
    /// The file would be removed, and the user changed it.
    Changed,
    /// The user changed the lines that would change; what to paste is in them.
    Lines(Vec<merge::Conflict>),
}

// === impl Change ===

impl std::fmt::Debug for Change<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Change")
            .field("before", &self.before)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}

impl<'f> Change<'f> {
    /// A new project.
    pub fn init(project: Project) -> Self {
        Self::new(None, project)
    }

    /// A project that becomes another one.
    pub fn between(before: Project, after: Project) -> Self {
        Self::new(Some(before), after)
    }

    /// The same project, with the files that this version of the templates makes for it. What the user changed is kept; where
    /// both changed the same lines, the file gets conflict marks.
    pub fn upgrade(project: Project) -> Self {
        let mut after = project.clone();
        after.set_current_version();
        Self { upgrade: true, ..Self::new(Some(project), after) }
    }

    fn new(before: Option<Project>, after: Project) -> Self {
        Self { before, after, force: false, upgrade: false, others: Files::new(), format: &|_| None }
    }

    /// Whether files of the user are replaced and removed where they stand in the way. Default: they are conflicts.
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Writes this file too, which no template makes.
    pub fn file(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.others.insert(path.into(), text.into());
        self
    }

    /// Brings source files into the usual form by this. Default: they are as the templates have them.
    pub fn format(mut self, format: Formatter<'f>) -> Self {
        self.format = format;
        self
    }

    /// Compares with the files that are there.
    ///
    /// # Errors
    ///
    /// If there is a project already and a new one is to be written without [`force`](Self::force), or a file cannot be read.
    pub fn plan(&self, tree: &Tree) -> Result<Plan, ScaffoldError> {
        if self.before.is_none() && !self.force && tree.read(Path::new(FILE))?.is_some() {
            return Err(ScaffoldError::IsProject { folder: tree.path(Path::new("")) });
        }
        let base = record::read(tree)?;
        let next = self.next(&base);
        let mut plan = Plan { changes: Vec::new(), conflicts: Vec::new() };
        let paths: std::collections::BTreeSet<&PathBuf> = base.keys().chain(next.keys()).collect();
        for path in paths {
            let ours = tree.read(path)?;
            self.file_plan(&mut plan, tree.path(path), [base.get(path), ours.as_ref(), next.get(path)]);
        }
        // Last, so that a command that was cut off before is done again from the beginning.
        for (path, text) in [(record::FILE, record::to_text(&next)), (FILE, self.after.to_text())] {
            let path = Path::new(path);
            plan.put(tree.path(path), tree.read(path)?.as_deref(), text);
        }
        Ok(plan)
    }

    /// The files as they are to be recorded: those of the record, with the differences between the two projects.
    ///
    /// The record may be that of an older version of the templates. Only an upgrade changes over to this one.
    fn next(&self, base: &Files) -> Files {
        let mut after = render(&self.after, self.format);
        let kept = self.before.as_ref().map(|before| carry(before, &self.after, base, &mut after));
        for (path, text) in &self.others {
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            let formatted = if is_source { (self.format)(text) } else { None };
            after.insert(path.clone(), formatted.unwrap_or_else(|| text.clone()));
        }
        let (Some(before), false) = (&self.before, self.upgrade) else { return after };
        let mut before = render(before, self.format);
        before.extend(kept.unwrap_or_default());
        let mut next = base.clone();
        for path in before.keys().filter(|path| !after.contains_key(*path)) {
            next.remove(path);
        }
        for (path, text) in after {
            let merged = match (before.get(&path), base.get(&path)) {
                (Some(before), Some(base)) if *before == text => base.clone(),
                (Some(before), Some(base)) => {
                    let merged = merge::merge(before, base, &text);
                    if merged.conflicts.is_empty() { merged.text } else { text }
                }
                _ => text,
            };
            next.insert(path, merged);
        }
        next
    }

    fn file_plan(&self, plan: &mut Plan, path: PathBuf, [base, ours, theirs]: [Option<&String>; 3]) {
        match (base, ours, theirs) {
            // What is the user's is there to stay, and what the user removed is not brought back.
            (_, None, None) | (None, Some(_), None) => {}
            (Some(base), None, Some(theirs)) if base == theirs && !self.force => {}
            (_, None, Some(theirs)) => plan.put(path, None, theirs.clone()),
            (Some(base), Some(ours), None) => {
                if base == ours || self.force {
                    plan.remove(path, ours);
                } else {
                    plan.conflicts.push(Conflict { path, problem: Problem::Changed });
                }
            }
            (None, Some(ours), Some(theirs)) => {
                if ours == theirs || self.force {
                    plan.put(path, Some(ours), theirs.clone());
                } else {
                    plan.conflicts.push(Conflict { path, problem: Problem::Exists });
                }
            }
            (Some(base), Some(ours), Some(theirs)) => {
                let merged = merge::merge(base, ours, theirs);
                if merged.conflicts.is_empty() || self.upgrade {
                    plan.put(path, Some(ours), merged.text);
                } else if self.force {
                    plan.put(path, Some(ours), theirs.clone());
                } else {
                    plan.conflicts.push(Conflict { path, problem: Problem::Lines(merged.conflicts) });
                }
            }
        }
    }
}

/// Takes the files that no template makes to where their kinds go. Returns them as they were.
fn carry(before: &Project, after: &Project, base: &Files, files: &mut Files) -> Files {
    let mut kept = Files::new();
    let later = own_files(after);
    for (key, from) in own_files(before) {
        let to = later.iter().find(|(other, _)| *other == key).map(|(_, to)| to);
        for (at, from) in from.into_iter().enumerate() {
            let Some(text) = base.get(&from) else { continue };
            if let Some(to) = to {
                let text = match text.strip_prefix(&notice(before)) {
                    Some(rest) if at == 0 => notice(after) + rest,
                    _ => text.clone(),
                };
                files.insert(to[at].clone(), text);
            }
            kept.insert(from, text.clone());
        }
    }
    kept
}

// === impl Plan ===

impl Plan {
    /// What stands in the way. Nothing is written while something does.
    #[must_use]
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// Every file that is to be created, changed or removed.
    #[must_use]
    pub fn changes(&self) -> &[output::Change] {
        &self.changes
    }

    /// Their paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.changes.iter().map(|change| change.path.as_path())
    }

    /// The files in which an upgrade leaves conflict marks.
    pub fn marked(&self) -> impl Iterator<Item = &Path> {
        let marked = |change: &&output::Change| change.after.contains("\n>>>>>>> the new scaffold\n");
        self.changes.iter().filter(marked).map(|change| change.path.as_path())
    }

    /// Writes and removes the files: all of them, or none if one cannot be written.
    ///
    /// # Errors
    ///
    /// If something stands in the way, or a file cannot be written.
    pub fn write(&self) -> Result<(), ScaffoldError> {
        if let Some(conflict) = self.conflicts.first() {
            return Err(ScaffoldError::Refused(conflict.to_string()));
        }
        Ok(output::write(&self.changes)?)
    }

    fn put(&mut self, path: PathBuf, before: Option<&str>, after: String) {
        let action = match before {
            None => Action::Create,
            Some(before) if before == after => return,
            Some(_) => Action::Update,
        };
        self.changes.push(output::Change::new(path, action, before.unwrap_or_default(), after));
    }

    fn remove(&mut self, path: PathBuf, before: &str) {
        self.changes.push(output::Change::new(path, Action::Remove, before, ""));
    }
}

// === impl Conflict ===

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match &self.problem {
            Problem::Exists => write!(
                f,
                "{path} is there already and is not what would be written; move it away, or use --force"
            ),
            Problem::Changed => {
                write!(f, "{path} would be removed, and you changed it; remove it yourself, or use --force")
            }
            Problem::Lines(places) => {
                write!(
                    f,
                    "{path} was changed where it would change now; change it by hand and run the command again:"
                )?;
                for place in places {
                    writeln!(f, "\n  at line {}:", place.line)?;
                    let removed = place.base.lines().map(|line| ('-', line));
                    let added = place.theirs.lines().map(|line| ('+', line));
                    for (sign, line) in removed.chain(added) {
                        writeln!(f, "  {sign} {line}")?;
                    }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::api::NewApi;

    fn project() -> Project {
        Project::new("example.com", "zoo-operator").expect("valid names")
    }

    fn with_mouse() -> Project {
        let mut project = project();
        project.add_api(&NewApi::new("zoo", "v1", "Mouse")).expect("a new kind");
        project
    }

    fn write(change: &Change<'_>, folder: &Path) {
        change.plan(&Tree::at(folder)).expect("readable").write().expect("written");
    }

    /// All files below a folder.
    fn files(folder: &Path) -> Files {
        let mut found = Files::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).expect("a folder") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(folder).expect("below").to_owned();
                    found.insert(name, fs::read_to_string(&path).expect("a text"));
                }
            }
        }
        found
    }

    fn edit(folder: &Path, file: &str, from: &str, to: &str) {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).expect("a text");
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).expect("writable");
    }

    #[test]
    fn a_project_that_grows_is_one_that_was_made_so() {
        let (grown, made) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        write(&Change::init(project()), grown.path());
        write(&Change::between(project(), with_mouse()), grown.path());
        write(&Change::init(with_mouse()), made.path());
        assert_eq!(files(grown.path()), files(made.path()));
        write(&Change::between(with_mouse(), project()), grown.path());
        let empty = tempfile::tempdir().expect("a folder");
        write(&Change::init(project()), empty.path());
        assert_eq!(files(grown.path()), files(empty.path()));
    }

    #[test]
    fn what_the_user_wrote_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        write(&Change::init(project()), folder.path());
        edit(
            folder.path(),
            "src/main.rs",
            "    manager.start().await",
            "    println!(\"here\");\n    manager.start().await",
        );
        edit(folder.path(), "src/lib.rs", "extern_crates!();\n", "extern_crates!();\n\nmod billing;\n");
        fs::remove_file(folder.path().join("Dockerfile")).expect("removed");
        write(&Change::between(project(), with_mouse()), folder.path());
        let files = files(folder.path());
        let main = &files[Path::new("src/main.rs")];
        assert!(main.contains("println!(\"here\");\n    controller::mouse::register(&manager)?;"), "{main}");
        let lib = &files[Path::new("src/lib.rs")];
        assert!(lib.contains("mod billing;") && lib.contains("pub mod api;"), "{lib}");
        assert!(!files.contains_key(Path::new("Dockerfile")));
    }

    #[test]
    fn conflicts_are_told_and_nothing_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        write(&Change::init(with_mouse()), folder.path());
        edit(folder.path(), "src/controller/mouse.rs", "Bring about here", "Do here");
        fs::create_dir_all(folder.path().join("src/api/v2")).expect("made");
        fs::write(folder.path().join("src/api/v2/mod.rs"), "// mine\n").expect("writable");
        let before = files(folder.path());

        let plan = Change::between(with_mouse(), project()).plan(&Tree::at(folder.path())).expect("readable");
        assert_eq!(plan.conflicts().len(), 1);
        assert!(
            plan.conflicts()[0]
                .to_string()
                .contains("src/controller/mouse.rs would be removed, and you changed it")
        );
        plan.write().expect_err("a conflict");

        let mut more = with_mouse();
        more.add_api(&NewApi::new("zoo", "v2", "Cat")).expect("a new kind");
        let plan =
            Change::between(with_mouse(), more.clone()).plan(&Tree::at(folder.path())).expect("readable");
        assert!(plan.conflicts()[0].to_string().contains("src/api/v2/mod.rs is there already"));
        plan.write().expect_err("a conflict");
        assert_eq!(files(folder.path()), before);

        write(&Change::between(with_mouse(), more).force(true), folder.path());
        assert!(files(folder.path())[Path::new("src/api/v2/mod.rs")].contains("mod cat;"));
    }

    #[test]
    fn a_command_that_is_repeated_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        write(&Change::init(with_mouse()), folder.path());
        let again = Change::between(with_mouse(), with_mouse());
        let plan = again.plan(&Tree::at(folder.path())).expect("readable");
        assert_eq!(plan.changes(), []);
        assert!(matches!(
            Change::init(with_mouse()).plan(&Tree::at(folder.path())),
            Err(ScaffoldError::IsProject { .. })
        ));
    }

    #[test]
    fn an_upgrade_merges_what_newer_templates_have() {
        let folder = tempfile::tempdir().expect("a folder");
        write(&Change::init(with_mouse()), folder.path());
        // As if an older version had written another comment, and no such file.
        let tree = Tree::at(folder.path());
        let mut old = record::read(&tree).expect("a record");
        let main = old.get_mut(Path::new("src/main.rs")).expect("recorded");
        *main = main.replace("Starts the operator.", "Runs the operator.");
        fs::write(folder.path().join("src/main.rs"), main.replace("await?;", "await?; // mine"))
            .expect("writable");
        old.remove(Path::new("Dockerfile"));
        fs::remove_file(folder.path().join("Dockerfile")).expect("removed");
        fs::write(folder.path().join(record::FILE), record::to_text(&old)).expect("writable");

        // Any other command leaves it at that.
        let plan = Change::between(with_mouse(), with_mouse()).plan(&tree).expect("readable");
        assert!(!plan.paths().any(|path| path.ends_with("src/main.rs")));

        let plan = Change::upgrade(with_mouse()).plan(&tree).expect("readable");
        assert_eq!(plan.marked().count(), 0);
        plan.write().expect("written");
        let files = files(folder.path());
        let main = &files[Path::new("src/main.rs")];
        assert!(main.contains("Starts the operator.") && main.contains("// mine"), "{main}");
        assert!(files.contains_key(Path::new("Dockerfile")));
        assert_eq!(Change::upgrade(with_mouse()).plan(&tree).expect("readable").changes(), []);
    }
}
