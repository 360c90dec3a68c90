//! Definitions that generators write, and objects of their kinds: the verdict of the server is that of a real one.
//!
//! The definitions are those that controller-gen and our generator write in other tests and for the examples. Of each schema, objects are
//! made that are valid and objects with one mistake each. `data/verdicts` has them with the answers of a real
//! kube-apiserver, one file for each definition. The test of this file sends them to the embedded server.
//! `conformance/verdicts` records them anew, and with `--check` it fails if an answer has changed.
//!
//! Definitions whose versions are the same are sent the same objects. Of such, one has them in its file, and the others name
//! it if a real server answered the same about them (`likeness.rs`).

mod definition;
mod likeness;
mod mistake;
mod recorded;
mod recording;
mod sample;
mod server;
mod text;

use std::{
    collections::BTreeSet,
    env, fs,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use definition::Definition;
use kubewright_apiserver::ApiServer;
use recorded::{Recorded, Verdict};
use server::Server;

/// How many objects of each schema there are at least.
const OBJECTS: usize = 20;

/// Definitions of which no object is valid: the bounds of 64 bits, written as floats, do not fit 64 bits.
const WITHOUT_VALID_OBJECTS: &str = "extremes.yaml";

/// Errors of our generator about what an API server takes, each with its reason.
const STRICTER: [(&str, &str); 9] = [
    ("contradiction", "only one of two can be meant, and the document has the first"),
    ("derive-panicked", "the operator would panic where it makes the definition itself"),
    ("no-served-version", "nobody could make an object"),
    ("no-such-field", "the column or the number of replicas would always be empty"),
    ("other-type", "the column would always be empty"),
    ("storage-version", "none or several are said to be stored, and the document has one"),
    ("unique-items", "a server refuses the keyword, and the document is without it"),
    ("unknown-marker", "what it was to say is not in the document"),
    ("wrong-type", "no value of the field's type is what the marker allows"),
];

#[test]
fn verdicts_on_generated_definitions_and_their_objects_are_those_of_a_real_server() {
    let definitions = definition::all();
    // The large ones take the most time, and are not to be the last.
    let mut queue: Vec<&Definition> = definitions.iter().collect();
    queue.sort_by_cached_key(|definition| std::cmp::Reverse(definition.crd.to_string().len()));
    let next = AtomicUsize::new(0);
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let (mut compared, mut wrong) = (0, Vec::new());
        while let Some(definition) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(recorded) = Recorded::read(definition) else {
                wrong.push(format!(
                    "{}: nothing is recorded; run conformance/verdicts/record",
                    definition.path
                ));
                continue;
            };
            let found = runtime.block_on(async {
                let server = Server::embedded(&ApiServer::builder().build());
                recorded.replay(&server, definition, &definitions).await
            });
            compared += 1 + recorded.objects(definition, &definitions).1.len();
            wrong.extend(found.into_iter().map(|text| format!("{}: {text}", definition.path)));
        }
        (compared, wrong)
    };
    let (mut compared, mut wrong) = (0, Vec::new());
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let (more, found) = worker.join().expect("the worker's panic is above");
            compared += more;
            wrong.extend(found);
        }
    });
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {compared} verdicts differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_accepted_definition_has_enough_objects_of_either_kind() {
    let definitions = definition::all();
    let mut few = Vec::new();
    for definition in &definitions {
        let Some(recorded) = Recorded::read(definition) else { continue };
        if !recorded.definition.is_created() {
            continue;
        }
        let (_, cases) = recorded.objects(definition, &definitions);
        let absent: BTreeSet<&str> = definition.unserved_versions().map(definition::name).collect();
        let (unserved, served): (Vec<_>, Vec<_>) =
            cases.iter().partition(|case| absent.contains(case.version.as_str()));
        let valid = served.iter().filter(|case| case.verdict.is_created()).count();
        let invalid = served.len() - valid;
        let least_valid = if definition.path.ends_with(WITHOUT_VALID_OBJECTS) { 0 } else { 3 };
        let sends_none = definition.sent_versions().next().is_none();
        let enough = served.len() >= OBJECTS && valid >= least_valid && invalid >= 8;
        if !(enough || sends_none) || unserved.len() < absent.len() {
            few.push(format!("{}: {valid} valid, {invalid} invalid", definition.path));
        }
        assert!(unserved.iter().all(|case| case.verdict.code == 404), "{}", definition.path);
    }
    assert!(few.is_empty(), "too few objects:\n{}", few.join("\n"));
}

#[test]
fn our_generator_finds_an_error_where_a_real_server_refuses_its_definition_and_nowhere_else() {
    let mut wrong = Vec::new();
    let mut unused: BTreeSet<&str> = STRICTER.map(|(code, _)| code).into();
    for definition in definition::all().into_iter().filter(Definition::is_ours) {
        let Some(recorded) = Recorded::read(&definition) else { continue };
        let is_stricter = |code: &String| STRICTER.iter().any(|(stricter, _)| code == stricter);
        unused.retain(|code| !definition.errors.iter().any(|found| found == code));
        let is_error = definition.errors.iter().any(|code| !is_stricter(code));
        if is_error == recorded.definition.is_created() {
            wrong.push(format!("{}: {:?}, but {}", definition.path, definition.errors, recorded.definition));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unused.is_empty(), "no definition has the errors {unused:?}");
}

#[test]
fn each_recorded_file_is_of_a_definition() {
    let stale = Recorded::stale(&definition::all());
    assert!(stale.is_empty(), "without a definition: {stale:#?}");
}

/// Records, or compares with what is recorded if `KUBEWRIGHT_CHECK` is set; the kubeconfig is that of a real server.
/// `KUBEWRIGHT_ONLY` has parts of paths, with blanks between them: only such definitions are sent.
#[tokio::test]
#[ignore = "needs a real kube-apiserver; conformance/verdicts/record starts one"]
async fn record() {
    let kubeconfig = env::var_os("KUBECONFIG").expect("KUBECONFIG names that of a real server");
    let check = env::var_os("KUBEWRIGHT_CHECK").is_some();
    let only = env::var("KUBEWRIGHT_ONLY").unwrap_or_default();
    let is_wanted =
        |path: &str| only.trim().is_empty() || only.split_whitespace().any(|part| path.contains(part));
    let server = Server::real(kubeconfig.as_ref()).await;
    let definitions = definition::all();
    let wanted: Vec<&Definition> =
        definitions.iter().filter(|definition| is_wanted(&definition.path)).collect();
    let mut changed = if check {
        recording::check(&server, &wanted, &definitions).await
    } else {
        recording::record(&server, &wanted, &definitions).await;
        Vec::new()
    };
    for file in Recorded::stale(&definitions) {
        if check {
            changed.push(format!("{}: there is no such definition", file.display()));
        } else {
            fs::remove_file(file).expect("a file that can be removed");
        }
    }
    let recorded = wanted.iter().filter_map(|definition| Some((definition, Recorded::read(definition)?)));
    let objects: usize =
        recorded.map(|(definition, recorded)| recorded.objects(definition, &definitions).1.len()).sum();
    say(&format!("{} definitions, {objects} objects", wanted.len()));
    assert!(changed.is_empty(), "{} answers have changed:\n{}", changed.len(), changed.join("\n"));
}

#[allow(clippy::print_stderr, reason = "whoever records wants to know")]
fn say(text: &str) {
    eprintln!("{text}");
}

/// What differs, for people.
fn difference(what: &str, expected: &Verdict, got: &Verdict) -> Option<String> {
    (expected != got).then(|| format!("{what}\n  expected {expected}\n  got      {got}"))
}
