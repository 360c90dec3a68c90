//! The sources of the operator, followed.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, event::ModifyKind};
use tokio::sync::mpsc;

use crate::{error::Error, project::Project};

/// An editor writes several files, or one in several steps: a change is complete when nothing has followed it for
/// this long.
const QUIET: Duration = Duration::from_millis(75);

/// Tells when a source file was saved.
pub(crate) struct Sources {
    changes: mpsc::UnboundedReceiver<PathBuf>,
    /// Follows as long as it lives.
    _watcher: RecommendedWatcher,
}

impl Sources {
    /// Follows the folders of `project`. A change from now on is told, also if nobody waits at that moment.
    pub(crate) async fn follow(project: &Project) -> Result<Self, Error> {
        let (sender, changes) = mpsc::unbounded_channel();
        let target = project.target_directory.clone();
        let source_folders = project.source_folders().await?;
        let folders = source_folders.clone();
        let failed = |error: notify::Error| Error::Io {
            action: "follow the operator's sources".to_owned(),
            source: std::io::Error::other(error),
        };
        let mut watcher = notify::recommended_watcher(move |event: Result<Event, notify::Error>| {
            let Ok(event) = event else { return };
            for path in changed_sources(&event, &folders, &target) {
                // The receiver is gone only when the command ends.
                let _ = sender.send(path);
            }
        })
        .map_err(failed)?;
        for folder in &source_folders {
            watcher.watch(folder, RecursiveMode::Recursive).map_err(failed)?;
        }
        Ok(Self { changes, _watcher: watcher })
    }

    /// Waits for a change, and until no other has followed; returns the first file. Changes before the call
    /// count. Cancelling loses at most the name of a file, never a change that nobody was told of.
    pub(crate) async fn changed(&mut self) -> Result<PathBuf, Error> {
        let first = self.changes.recv().await.ok_or_else(|| Error::Io {
            action: "follow the operator's sources".to_owned(),
            source: std::io::Error::other("the watcher ended"),
        })?;
        while let Ok(Some(_)) = tokio::time::timeout(QUIET, self.changes.recv()).await {}
        Ok(first)
    }
}

fn changed_sources<'a>(
    event: &'a Event,
    folders: &'a [PathBuf],
    target: &'a Path,
) -> impl Iterator<Item = PathBuf> + 'a {
    let changes = match event.kind {
        EventKind::Create(_) | EventKind::Remove(_) => true,
        // Not metadata: reading a file updates its access time.
        EventKind::Modify(kind) => !matches!(kind, ModifyKind::Metadata(_)),
        _ => false,
    };
    event.paths.iter().filter(move |path| changes && is_source(path, folders, target)).cloned()
}

/// Whether the build could depend on `path`: not what cargo itself writes, nor what editors leave beside a file.
fn is_source(path: &Path, folders: &[PathBuf], target: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return false };
    let editors = name.ends_with('~') || name.ends_with(".swp") || name.ends_with(".tmp") || name == "4913";
    // Only below the project: the project itself may lie in a hidden folder, or in somebody's target directory.
    let folder = folders
        .iter()
        .filter(|folder| path.starts_with(folder))
        .max_by_key(|folder| folder.as_os_str().len());
    let below = folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
    let hidden = below.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
    let built = path.starts_with(target) && folder.is_none_or(|folder| !folder.starts_with(target));
    !(built || name == "Cargo.lock" || editors || hidden || path.is_dir())
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind, DataChange, MetadataKind};

    use super::*;

    fn sources(kind: EventKind, path: &str) -> usize {
        let event = Event::new(kind).add_path(path.into());
        changed_sources(&event, &["/.p".into()], Path::new("/.p/target")).count()
    }

    #[test]
    fn a_saved_file_is_a_change_and_a_read_one_is_not() {
        let saved = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        assert_eq!(sources(saved, "/.p/src/main.rs"), 1);
        assert_eq!(sources(EventKind::Create(CreateKind::File), "/.p/src/new.rs"), 1);
        assert_eq!(sources(EventKind::Access(AccessKind::Any), "/.p/src/main.rs"), 0);
        assert_eq!(sources(EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), "/.p/src/main.rs"), 0);
    }

    #[test]
    fn a_project_in_a_target_directory_is_followed_too() {
        let event =
            Event::new(EventKind::Create(CreateKind::File)).add_path("/w/target/tmp/p/src/main.rs".into());
        let folders = ["/w/target/tmp/p".into()];
        assert_eq!(changed_sources(&event, &folders, Path::new("/w/target")).count(), 1);
    }

    #[test]
    fn what_cargo_and_editors_write_is_no_source() {
        let saved = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        for path in [
            "/.p/target/debug/x",
            "/.p/Cargo.lock",
            "/.p/src/.main.rs.swp",
            "/.p/src/main.rs~",
            "/.p/.git/index",
        ] {
            assert_eq!(sources(saved, path), 0, "{path}");
        }
    }
}
