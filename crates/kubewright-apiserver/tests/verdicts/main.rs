//! Definitions that generators write, and objects of their kinds: the verdict of the server is that of a real one.
//!
//! The definitions are those that controller-gen and our generator write in other tests. Of each schema, objects are
//! made that are valid and objects with one mistake each. `data/verdicts` has them with the answers of a real
//! kube-apiserver, one file for each definition. The test of this file sends them to the embedded server.
//! `conformance/verdicts` records them anew, and with `--check` it fails if an answer has changed.

mod definition;
mod mistake;
mod recorded;
mod sample;
mod server;
mod text;

use std::collections::BTreeMap;

use definition::Definition;
use kubewright_apiserver::ApiServer;
use recorded::{Recorded, Verdict};
use server::Server;

/// How many objects of each schema there are at least.
const OBJECTS: usize = 20;

/// Definitions of which no object is valid: the bounds of 64 bits, written as floats, do not fit 64 bits.
const WITHOUT_VALID_OBJECTS: &str = "extremes.yaml";

#[tokio::test(start_paused = true)]
async fn verdicts_on_generated_definitions_and_their_objects_are_those_of_a_real_server() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for definition in definition::all() {
        let Some(recorded) = Recorded::read(&definition) else {
            wrong.push(format!("{}: nothing is recorded; run conformance/verdicts/record", definition.path));
            continue;
        };
        let server = Server::embedded(&ApiServer::builder().build());
        let found = recorded.replay(&server, &definition).await;
        compared += 1 + recorded.cases.len();
        wrong.extend(found.into_iter().map(|text| format!("{}: {text}", definition.path)));
    }
    assert!(wrong.is_empty(), "{} of {compared} verdicts differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_accepted_schema_has_enough_objects_of_either_kind() {
    let mut few = Vec::new();
    let mut first_with: BTreeMap<String, String> = BTreeMap::new();
    for definition in definition::all() {
        let Some(recorded) = Recorded::read(&definition) else { continue };
        if !recorded.definition.is_created() {
            continue;
        }
        let versions = definition.crd["spec"]["versions"].to_string();
        if let Some(like) = first_with.get(&versions) {
            assert_eq!(recorded.like.as_ref(), Some(like), "{}", definition.path);
            continue;
        }
        first_with.insert(versions, definition.path.clone());
        let valid = recorded.cases.iter().filter(|case| case.verdict.is_created()).count();
        let invalid = recorded.cases.len() - valid;
        let least_valid = if definition.path.ends_with(WITHOUT_VALID_OBJECTS) { 0 } else { 3 };
        let serves_none = definition.served_versions().next().is_none();
        let enough = recorded.cases.len() >= OBJECTS && valid >= least_valid && invalid >= 8;
        if !enough && !serves_none {
            few.push(format!("{}: {valid} valid, {invalid} invalid", definition.path));
        }
    }
    assert!(few.is_empty(), "too few objects:\n{}", few.join("\n"));
}

/// Records, or compares with what is recorded if `KUBEWRIGHT_CHECK` is set; the kubeconfig is that of a real server.
#[tokio::test]
#[ignore = "needs a real kube-apiserver; conformance/verdicts/record starts one"]
async fn record() {
    let kubeconfig = std::env::var_os("KUBECONFIG").expect("KUBECONFIG names that of a real server");
    let check = std::env::var_os("KUBEWRIGHT_CHECK").is_some();
    let server = Server::real(kubeconfig.as_ref()).await;
    let mut first_with: BTreeMap<String, String> = BTreeMap::new();
    let mut changed = Vec::new();
    for definition in definition::all() {
        if check {
            let Some(recorded) = Recorded::read(&definition) else {
                changed.push(format!("{}: nothing is recorded", definition.path));
                continue;
            };
            let found = recorded.replay(&server, &definition).await;
            changed.extend(found.into_iter().map(|text| format!("{}: {text}", definition.path)));
        } else {
            let versions = definition.crd["spec"]["versions"].to_string();
            let like = first_with.get(&versions).cloned();
            let recorded = record_one(&server, &definition, like).await;
            if recorded.definition.is_created() {
                first_with.entry(versions).or_insert_with(|| definition.path.clone());
            }
            recorded.write(&definition);
        }
        server.remove_definition(&definition).await;
    }
    assert!(changed.is_empty(), "{} answers have changed:\n{}", changed.len(), changed.join("\n"));
}

async fn record_one(server: &Server, definition: &Definition, like: Option<String>) -> Recorded {
    let verdict = server.define(definition).await;
    let mut recorded = Recorded { definition: verdict, like, bases: BTreeMap::new(), cases: Vec::new() };
    if !recorded.definition.is_created() || recorded.like.is_some() {
        return recorded;
    }
    for version in definition.served_versions() {
        let schema = &version["schema"]["openAPIV3Schema"];
        let name = version["name"].as_str().expect("a version has a name");
        let mut base = None;
        for candidate in definition.candidates(name, schema) {
            let verdict = server.create(definition, name, "try", &candidate).await;
            server.delete(definition, name, "try").await;
            let good = verdict.is_created();
            base = base.or_else(|| Some(candidate.clone()));
            if good {
                base = Some(candidate);
                break;
            }
        }
        let base = base.expect("there is a candidate");
        for mut case in mistake::cases(definition, name, schema, &base) {
            case.verdict = case.send(server, definition, &base, recorded.cases.len()).await;
            recorded.cases.push(case);
        }
        recorded.bases.insert(name.to_owned(), base);
    }
    recorded
}

/// What differs, for people.
fn difference(what: &str, expected: &Verdict, got: &Verdict) -> Option<String> {
    (expected != got).then(|| format!("{what}\n  expected {expected}\n  got      {got}"))
}
