//! Making the folders fit a plan.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use super::{Action, Change, OutputError};

/// Writes and removes files as `changes` say. Those that are to be kept are not touched.
///
/// All new contents are written beside their files first, and put in their places by renaming only when every one of them is
/// on the disk: a full disk or a folder without the right to write leaves all files as they were, and nobody ever reads half
/// a file. If one of them cannot be put in its place after all, those that are get their old contents back. Missing folders are
/// made. A file's permissions stay, and a link stays a link to the file that is written.
///
/// # Errors
///
/// If a file cannot be written or removed.
pub fn write(changes: &[Change]) -> Result<(), OutputError> {
    let mut staged = Vec::new();
    for change in changes {
        if matches!(change.action, Action::Create | Action::Update) {
            staged.push((change, Staged::new(change)?));
        }
    }
    for at in 0..staged.len() {
        if let Err(error) = staged[at].1.place() {
            for (change, file) in staged[..at].iter().rev() {
                file.undo(change);
            }
            return Err(error);
        }
    }
    for change in changes.iter().filter(|change| change.action == Action::Remove) {
        match fs::remove_file(&change.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(OutputError::io("remove", &change.path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A new content beside the file that it is for. Dropped before it is in its place, it is removed.
struct Staged {
    aside: PathBuf,
    target: PathBuf,
    placed: bool,
}

// === impl Staged ===

impl Staged {
    fn new(change: &Change) -> Result<Self, OutputError> {
        let failed = |error| OutputError::io("write", &change.path)(error);
        let target = match change.action {
            // Renaming over a link would replace the link.
            Action::Update => fs::canonicalize(&change.path).map_err(failed)?,
            _ => change.path.clone(),
        };
        let folder = target.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(folder).map_err(OutputError::io("create the folder", folder))?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        // With the process in its name, two runs at once do not write into each other's files.
        let aside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).open(&aside).map_err(failed)?;
        let staged = Self { aside, target, placed: false };
        file.write_all(change.after.as_bytes()).map_err(failed)?;
        if let Ok(present) = fs::metadata(&staged.target) {
            file.set_permissions(present.permissions()).map_err(failed)?;
        }
        Ok(staged)
    }

    fn place(&mut self) -> Result<(), OutputError> {
        fs::rename(&self.aside, &self.target).map_err(OutputError::io("write", &self.target))?;
        self.placed = true;
        Ok(())
    }

    /// Gives the file its old content back, as far as that is possible.
    fn undo(&self, change: &Change) {
        let _ = match change.action {
            Action::Update => fs::write(&self.aside, &change.before)
                .and_then(|()| fs::set_permissions(&self.aside, fs::metadata(&self.target)?.permissions()))
                .and_then(|()| fs::rename(&self.aside, &self.target)),
            _ => fs::remove_file(&self.target),
        };
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.placed {
            // It may be gone, and nothing else can be done about it here.
            let _ = fs::remove_file(&self.aside);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn change(path: PathBuf, action: Action, after: &str) -> Change {
        Change { path, action, before: String::new(), after: after.to_owned() }
    }

    /// All names below a folder, sorted.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_created_updated_and_removed_and_others_left_alone() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| root.path().join(name);
        for name in ["update", "keep", "remove", "other"] {
            fs::write(at(name), "old").expect("writable");
        }
        let changes = [
            change(at("new/folder/create"), Action::Create, "new"),
            change(at("update"), Action::Update, "new"),
            change(at("keep"), Action::Keep, "never written"),
            change(at("remove"), Action::Remove, ""),
            change(at("gone"), Action::Remove, ""),
        ];
        write(&changes).expect("written");
        assert_eq!(names(root.path()), ["keep", "new", "other", "update"]);
        assert_eq!(names(&at("new/folder")), ["create"]);
        let text = |name: &str| fs::read_to_string(at(name)).expect("a file");
        assert_eq!([text("new/folder/create"), text("update")], ["new", "new"]);
        assert_eq!([text("keep"), text("other")], ["old", "old"]);
    }

    #[test]
    fn if_one_file_cannot_be_written_none_is() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| root.path().join(name);
        fs::write(at("update"), "old").expect("writable");
        fs::write(at("remove"), "old").expect("writable");
        fs::write(at("file"), "old").expect("writable");
        let changes = [
            change(at("remove"), Action::Remove, ""),
            change(at("update"), Action::Update, "new"),
            // Its folder is a file.
            change(at("file/below"), Action::Create, "new"),
        ];
        let error = write(&changes).expect_err("not a folder");
        assert!(error.to_string().starts_with("cannot create the folder "), "{error}");
        assert_eq!(names(root.path()), ["file", "remove", "update"]);
        assert_eq!(fs::read_to_string(at("update")).expect("a file"), "old");
    }

    #[test]
    fn if_one_file_cannot_be_put_in_its_place_the_others_are_as_before() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| root.path().join(name);
        let names_before = ["a-folder", "another", "update"];
        fs::create_dir(at("a-folder")).expect("made");
        let all = |place: usize| {
            let mut changes = vec![
                Change::new(at("update"), Action::Update, "old", "new"),
                Change::new(at("create"), Action::Create, "", "new"),
                Change::new(at("another"), Action::Update, "other", "new"),
            ];
            // A file cannot take the place of a folder.
            changes.insert(place, Change::new(at("a-folder"), Action::Create, "", "new"));
            changes
        };
        for place in 0..=3 {
            fs::write(at("update"), "old").expect("writable");
            fs::write(at("another"), "other").expect("writable");
            write(&all(place)).expect_err("a folder is in the way");
            assert_eq!(names(root.path()), names_before, "place {place}");
            let text = |name: &str| fs::read_to_string(at(name)).expect("a file");
            assert_eq!([text("update"), text("another")], ["old", "other"], "place {place}");
        }
    }

    #[test]
    fn permissions_and_links_stay() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let (file, link) = (root.path().join("file"), root.path().join("link"));
        fs::write(&file, "old").expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("ours");
        symlink(&file, &link).expect("a link");
        write(&[change(link.clone(), Action::Update, "new")]).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&file).expect("a file"), "new");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    }
}
