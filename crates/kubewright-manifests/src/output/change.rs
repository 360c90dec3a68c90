//! What has to happen to one file.

use std::path::PathBuf;

use serde::Serialize;
use similar::TextDiff;

/// How many lines around a difference a diff shows.
const CONTEXT: usize = 3;

/// One file as it is and as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What has to happen to it.
    pub action: Action,
    /// What is in it; nothing if it is not there. Bytes that are not UTF-8 are shown as `U+FFFD`.
    pub before: String,
    /// What should be in it; nothing if it should not be there.
    pub after: String,
}

/// What has to happen to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Action {
    /// It is missing.
    Create,
    /// It differs.
    Update,
    /// It is as it should be.
    Keep,
    /// It is stale.
    Remove,
}

// === impl Change ===

impl Change {
    /// A change of a file that holds `before`, if it is there, to one that holds `after`, if it is to be there.
    pub fn new(
        path: impl Into<PathBuf>,
        action: Action,
        before: impl Into<String>,
        after: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), action, before: before.into(), after: after.into() }
    }

    /// What is to be changed, as a unified diff from what is there to what should be. Empty if nothing is.
    ///
    /// The names in it are `a/` and `b/` before the path, as in git's diffs, so that `git apply` and `patch -p1` can read it;
    /// `/dev/null` stands for a file that is not there.
    #[must_use]
    pub fn diff(&self) -> String {
        let path = self.path.strip_prefix("/").unwrap_or(&self.path).display();
        let absent = || "/dev/null".to_owned();
        let (from, to) = match self.action {
            Action::Keep => return String::new(),
            Action::Create => (absent(), format!("b/{path}")),
            Action::Remove => (format!("a/{path}"), absent()),
            Action::Update => (format!("a/{path}"), format!("b/{path}")),
        };
        TextDiff::from_lines(&self.before, &self.after)
            .unified_diff()
            .context_radius(CONTEXT)
            .header(&from, &to)
            .to_string()
    }
}

impl Action {
    /// Whether the file has to be touched.
    #[must_use]
    pub fn is_needed(self) -> bool {
        self != Self::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(action: Action, before: &str, after: &str) -> Change {
        Change { path: "config/role.yaml".into(), action, before: before.to_owned(), after: after.to_owned() }
    }

    #[test]
    fn a_diff_shows_the_lines_around() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let diff = change(Action::Update, before, &before.replace("8\n", "eight\n")).diff();
        assert_eq!(
            diff,
            "--- a/config/role.yaml\n+++ b/config/role.yaml\n@@ -5,5 +5,5 @@\n 5\n 6\n 7\n-8\n+eight\n 9\n"
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_dev_null() {
        assert_eq!(
            change(Action::Create, "", "a\n").diff(),
            "--- /dev/null\n+++ b/config/role.yaml\n@@ -0,0 +1 @@\n+a\n"
        );
        assert_eq!(
            change(Action::Remove, "a\n", "").diff(),
            "--- a/config/role.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
        );
        assert_eq!(change(Action::Keep, "a\n", "a\n").diff(), "");
    }

    #[test]
    fn a_missing_last_line_break_is_told() {
        let diff = change(Action::Update, "a", "a\n").diff();
        assert!(diff.ends_with("-a\n\\ No newline at end of file\n+a\n"), "{diff}");
    }
}
