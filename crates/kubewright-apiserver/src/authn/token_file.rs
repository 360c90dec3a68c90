//! The file of static tokens (kube-apiserver's `--token-auth-file`).

use std::path::{Path, PathBuf};

use tracing::warn;

use crate::user::User;

/// A file of static tokens that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the token file {}: {what}", path.display())]
pub struct TokenFileError {
    path: PathBuf,
    what: String,
}

/// Reads a file of static tokens: lines of comma separated values, `token,user,uid` or `token,user,uid,"group,group"`.
///
/// As a real server does, it leaves out a line without a token and lets the later of two lines with the same token win;
/// it says so in the log. What stands after the groups means nothing.
///
/// # Errors
/// If the file cannot be read or a line has too few columns; the file and the line are named.
pub fn read_token_file(path: &Path) -> Result<Vec<(String, User)>, TokenFileError> {
    let failed = |what: String| TokenFileError { path: path.to_owned(), what };
    let file = std::fs::File::open(path).map_err(|error| failed(error.to_string()))?;
    // Lines may differ in their number of columns, and the first is one like the others.
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file);
    let mut tokens: Vec<(String, User)> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| failed(error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let (Some(token), Some(name), Some(uid)) = (record.get(0), record.get(1), record.get(2)) else {
            return Err(failed(format!(
                "line {line} has {} of the at least 3 columns token,user,uid; a fourth may hold the groups, as \
                 \"group1,group2\"",
                record.len()
            )));
        };
        if token.is_empty() {
            warn!(file = %path.display(), line, "a line of the token file has an empty token; it is left out");
            continue;
        }
        let groups = record.get(3).map(|groups| groups.split(',').map(str::to_owned).collect());
        let user = User {
            name: name.to_owned(),
            uid: uid.to_owned(),
            groups: groups.unwrap_or_default(),
            ..User::default()
        };
        if tokens.iter().any(|(other, _)| other == token) {
            warn!(file = %path.display(), line, "a token of the token file is there twice; the later line counts");
        }
        tokens.push((token.to_owned(), user));
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, User)>, TokenFileError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens.csv");
        std::fs::write(&path, text).expect("a file");
        read_token_file(&path)
    }

    #[test]
    fn lines_are_read_as_by_kube_apiserver() {
        let text = "t1,jane,u1,\"dev,ops\"\n\nt2,joe,u2\n,nobody,u3\n\"t,3\",\"a \"\"b\"\"\",u4,one,more\nt1,again,u5\n";
        let read = read(text).expect("valid lines");
        let user = |name: &str, uid: &str, groups: &[&str]| User {
            name: name.to_owned(),
            uid: uid.to_owned(),
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
            ..User::default()
        };
        let expected = [
            ("t1", user("jane", "u1", &["dev", "ops"])),
            ("t2", user("joe", "u2", &[])),
            ("t,3", user("a \"b\"", "u4", &["one"])),
            ("t1", user("again", "u5", &[])),
        ];
        assert_eq!(read, expected.map(|(token, user)| (token.to_owned(), user)));
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named_with_the_line() {
        let error = read("t1,jane,u1\nt2,joe\n").expect_err("a column is missing").to_string();
        assert!(error.contains("tokens.csv: line 2 has 2 of the at least 3 columns"), "{error}");
        let error = read_token_file(Path::new("no/such/file")).expect_err("no file").to_string();
        assert!(error.starts_with("cannot use the token file no/such/file: "), "{error}");
    }
}
