//! What the types of these tests give in our own style.
//!
//! The documents are in `data/our_style`, each after a comment for every error that is found in it: such a document is not
//! written for a user, but shows here what could be made. Nothing in them is right because it is there: they show what
//! a change of the generator changes. The API server's test of verdicts sends them, and objects of their kinds, to both
//! servers, and says that there are errors where a server refuses the document and nowhere else. With `KUBEWRIGHT_RECORD`
//! set, a test writes its document instead of comparing it.

use std::{env, fs, path::Path};

use kubewright_manifests::{
    crd::{Built, CrdBuilder, CrdOptions},
    diagnostic::{Diagnostic, Place},
    yaml,
};
use serde_json::Value;

/// Larger ones are kept on one line: nobody reads them.
const LARGEST: usize = 100 << 10;

/// Compares the document of `builder` in our style, without descriptions, with that of this name.
#[track_caller]
pub(crate) fn assert_unchanged(name: &str, builder: CrdBuilder) {
    let mut options = CrdOptions::default();
    options.schema.max_description_length = Some(0);
    assert_unchanged_with(name, builder, options);
}

/// [`assert_unchanged`] with other options.
#[track_caller]
pub(crate) fn assert_unchanged_with(name: &str, builder: CrdBuilder, options: CrdOptions) {
    let built = builder.options(options).build();
    let diagnostics = built.diagnostics.iter().cloned().chain(checked(&built)).collect();
    assert_documents_unchanged(name, &[(built.document, diagnostics)]);
}

/// Compares documents, and what is wrong with them, with those of this name.
#[track_caller]
pub(crate) fn assert_documents_unchanged(name: &str, documents: &[(Value, Vec<Diagnostic>)]) {
    let text = |show: fn(&Value) -> String| -> String {
        let one = |(document, found): &(Value, Vec<Diagnostic>)| comments(found) + &show(document);
        documents.iter().map(one).collect()
    };
    let mut extensions = ["yaml", "json"];
    let mut text = [text(|document| yaml::stream([document])), text(|document| format!("---\n{document}\n"))];
    if text[0].len() > LARGEST {
        extensions.reverse();
        text.reverse();
    }
    let [mut text, _] = text;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/our_style");
    let [file, other] = extensions.map(|extension| folder.join(format!("{name}.{extension}")));
    let finds_errors = cfg!(feature = "check");
    if env::var_os("KUBEWRIGHT_RECORD").is_some() {
        assert!(finds_errors, "the errors to record are found with the feature `check`");
        fs::create_dir_all(folder).expect("a folder to write to");
        let _ = fs::remove_file(other);
        fs::write(&file, text).expect("a writable file");
        return;
    }
    let mut recorded = fs::read_to_string(&file).unwrap_or_default();
    if !finds_errors {
        // Some errors are unknown.
        for text in [&mut text, &mut recorded] {
            *text = without_comments(text);
        }
    }
    let same = text.lines().zip(recorded.lines()).take_while(|(one, other)| one == other).count();
    assert!(
        text == recorded,
        "{} is not what our style gives now, from line {}; set KUBEWRIGHT_RECORD to write it",
        file.display(),
        same + 1
    );
}

/// What a user is told in addition when the document is generated; nothing without the feature `check`.
fn checked(built: &Built) -> Vec<Diagnostic> {
    #[cfg(feature = "check")]
    {
        let style = kubewright_manifests::Style::Kubewright;
        kubewright_manifests::crd::check(&built.document, &built.origins, style)
    }
    #[cfg(not(feature = "check"))]
    {
        let _ = built;
        Vec::new()
    }
}

/// A comment for each error: it keeps a user from using the document.
fn comments(found: &[Diagnostic]) -> String {
    let comment = |error: &Diagnostic| {
        let place = match &error.place {
            Place::Doc { type_name, field, marker, range } => {
                let field = field.as_ref().map(|field| format!(".{field}")).unwrap_or_default();
                let at = marker.get(range.clone()).unwrap_or_default();
                let at = if at.is_empty() { String::new() } else { format!(", at `{at}` of `{marker}`") };
                format!("{type_name}{field}{at}")
            }
            Place::Document { path, .. } => format!("the document, at `{path}`"),
            other => panic!("there are no files here: {other:?}"),
        };
        let message = error.message.replace('\n', "\n#   ");
        format!("# error[{}] in {place}:\n#   {message}\n", error.code)
    };
    found.iter().filter(|found| found.is_error()).map(comment).collect()
}

fn without_comments(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with('#')).collect()
}

/// Definitions that are made elsewhere and not shown here would be unknown to the servers.
#[test]
fn every_test_that_makes_definitions_shows_them() {
    fn read(path: &Path, text: &mut String) {
        if path.is_dir() {
            for entry in fs::read_dir(path).expect("a folder") {
                read(&entry.expect("an entry").path(), text);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).expect("a readable file"));
        }
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let mut text = String::new();
        read(&path, &mut text);
        if !path.ends_with("our_style") && text.contains(".build()") && !text.contains("our_style::assert_") {
            found.push(path);
        }
    }
    assert!(found.is_empty(), "these make definitions and do not show them in our style: {found:#?}");
}
