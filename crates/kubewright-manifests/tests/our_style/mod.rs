//! What the types of these tests give in our own style.
//!
//! The documents are in `data/our_style`. Nothing in them is right because it is there: they show what a change of the
//! generator changes, and the API server's test of verdicts sends them, and objects of their kinds, to both servers. With
//! `KUBEWRIGHT_RECORD` set, a test writes its document instead of comparing it.

use std::{env, fs, path::Path};

use kubewright_manifests::{
    crd::{CrdBuilder, CrdOptions},
    yaml,
};

/// Larger ones are not kept: nobody reads them.
const LARGEST: usize = 100 << 10;

/// Compares the document of `builder` in our style, without descriptions, with that of this name. Where our style refuses
/// the types, there is no document.
#[track_caller]
pub(crate) fn assert_unchanged(name: &str, builder: CrdBuilder) {
    let mut options = CrdOptions::default();
    options.schema.max_description_length = Some(0);
    let built = builder.options(options).build();
    let text = if built.has_errors() { String::new() } else { yaml::stream([&built.document]) };
    if text.len() > LARGEST {
        return;
    }
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/our_style").join(format!("{name}.yaml"));
    if env::var_os("KUBEWRIGHT_RECORD").is_some() {
        if text.is_empty() {
            let _ = fs::remove_file(&file);
        } else {
            fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder to write to");
            fs::write(&file, text).expect("a writable file");
        }
        return;
    }
    let recorded = fs::read_to_string(&file).unwrap_or_default();
    let first = text.lines().zip(recorded.lines()).position(|(one, other)| one != other);
    assert!(
        text == recorded,
        "{} is not what our style gives now, from line {}; set KUBEWRIGHT_RECORD to write it",
        file.display(),
        first.unwrap_or_default() + 1
    );
}
