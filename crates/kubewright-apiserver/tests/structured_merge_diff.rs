//! The test tables of the structured-merge-diff library, run against this implementation.
//!
//! The tables are read from the goldens folder (`KUBEWRIGHT_GOLDENS`, else `shared/goldens` beside
//! the workspace). Without it the tests say so and pass.

mod structured_merge_diff {
    pub(crate) mod fieldpath;
    pub(crate) mod goldens;
    pub(crate) mod merge;
    pub(crate) mod typed;
}

use structured_merge_diff::{fieldpath, goldens::Goldens, merge, typed};

#[test]
#[expect(clippy::print_stderr, reason = "how many cases ran is what a reader of the log wants to know")]
fn every_table_of_the_go_library_holds() {
    let Some(goldens) = Goldens::open() else {
        eprintln!("SKIPPED: no goldens folder found; set KUBEWRIGHT_GOLDENS to run these tables");
        return;
    };
    let mut report = goldens.report();
    fieldpath::run(&goldens, &mut report);
    typed::run(&goldens, &mut report);
    merge::run(&goldens, &mut report);
    eprintln!(
        "{} table entries, {} checks, {} failures",
        report.entries,
        report.checks,
        report.failures.len()
    );
    assert_eq!(report.entries, 355, "every entry of every table is to be run");
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n\n"));
}
