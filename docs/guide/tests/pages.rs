//! What a reader of the book relies on: every page is in the table of contents, every link leads somewhere, and every
//! snippet is tested.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn guide() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> BTreeSet<String> {
    let files = fs::read_dir(guide().join("pages"))
        .expect("the pages")
        .map(|entry| entry.expect("a file").file_name());
    files.map(|name| name.into_string().expect("UTF-8")).filter(|name| name != "SUMMARY.md").collect()
}

/// The text of a page without what stands in code, and the targets of its links.
fn links(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut targets = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        if !in_code {
            let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            targets.extend(links.map(|(target, _)| target.to_owned()));
        }
    }
    targets
}

/// The anchors of a page, as mdBook and GitHub make them of headings.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).expect("a page");
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().chars();
        let kept = kept.filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

fn check_links(file: &Path, broken: &mut Vec<String>) {
    let text = fs::read_to_string(file).expect("a page");
    for target in links(&text) {
        if target.starts_with("http") {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let leads_to = match path {
            "" => file.to_owned(),
            path => file.parent().expect("a folder").join(path),
        };
        let is_there = leads_to.exists()
            && (anchor.is_empty() || leads_to.is_dir() || anchors(&leads_to).contains(anchor));
        if !is_there {
            broken.push(format!("{}: {target}", file.display()));
        }
    }
}

#[test]
fn every_page_is_in_the_table_of_contents_and_its_snippets_are_tested() {
    let summary = fs::read_to_string(guide().join("pages/SUMMARY.md")).expect("the table of contents");
    let listed = links(&summary);
    let unique: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(unique, pages());
    assert_eq!(unique.len(), listed.len(), "a page is listed twice: {listed:?}");
    let tested = fs::read_to_string(guide().join("lib.rs")).expect("the library");
    for page in pages() {
        assert!(tested.contains(&format!("\"{page}\"")), "lib.rs does not have {page}");
        let text = fs::read_to_string(guide().join("pages").join(&page)).expect("a page");
        let untested = text.lines().find(|line| line.starts_with("```rust") && line.contains("ignore"));
        assert_eq!(untested, None, "{page}");
    }
}

#[test]
fn links_lead_somewhere() {
    let root = guide().join("../..");
    let mut files: Vec<PathBuf> = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in [root.join("docs"), root.join("docs/parity"), guide().join("pages")] {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    let examples = fs::read_dir(root.join("examples")).expect("the examples");
    files.extend(
        examples.map(|entry| entry.expect("a folder").path().join("README.md")).filter(|path| path.exists()),
    );
    let mut broken = Vec::new();
    for file in &files {
        check_links(file, &mut broken);
    }
    assert!(files.len() > 20, "the pages were found: {files:?}");
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}
