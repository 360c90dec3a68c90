//! Asks a real server: its answers become the recorded ones, or are compared with them.

use std::{collections::BTreeMap, ptr};

use futures::{StreamExt, stream};
use serde_json::json;
use tokio::sync::Mutex;

use crate::{
    definition::{self, Definition},
    likeness::Likeness,
    mistake,
    recorded::{Case, Recorded, named, send_all},
    server::Server,
};

/// What differs from what is recorded.
pub(crate) async fn check(server: &Server, wanted: &[&Definition], all: &[Definition]) -> Vec<String> {
    let found = at_once(wanted, async |definition| {
        let found = match Recorded::read(definition) {
            Some(recorded) => recorded.replay(server, definition, all).await,
            None => vec!["nothing is recorded".to_owned()],
        };
        server.remove_definition(definition).await;
        found.into_iter().map(|text| format!("{}: {text}", definition.path)).collect::<Vec<_>>()
    });
    found.await.concat()
}

/// Writes the answers. The first of those that have the same versions comes before the others.
pub(crate) async fn record(server: &Server, wanted: &[&Definition], all: &[Definition]) {
    let mut first_with: BTreeMap<String, &Definition> = BTreeMap::new();
    for definition in all {
        first_with.entry(definition.essence()).or_insert(definition);
    }
    let first_like = |definition: &Definition| first_with[&definition.essence()];
    let (first, others): (Vec<&Definition>, Vec<&Definition>) =
        wanted.iter().partition(|definition| ptr::eq(first_like(definition), **definition));
    let ask = async |definition: &Definition, like: Option<(&Definition, Recorded)>| {
        record_one(server, definition, like).await.write(definition);
        server.remove_definition(definition).await;
    };
    at_once(&first, async |definition| ask(definition, None).await).await;
    at_once(&others, async |definition| {
        let first = first_like(definition);
        let recorded = Recorded::read(first).filter(|recorded| recorded.definition.is_created());
        ask(definition, recorded.map(|recorded| (first, recorded))).await;
    })
    .await;
}

/// How many definitions a real server has at once. It needs seconds for each, and does nothing in most of that time.
const AT_ONCE: usize = 12;

/// Does something with each definition, with some at the same time, but not with two that have a kind in common. The
/// results are in the order of the definitions.
async fn at_once<T>(definitions: &[&Definition], action: impl AsyncFn(&Definition) -> T) -> Vec<T> {
    let mut kinds: BTreeMap<(&str, &str), Mutex<()>> = BTreeMap::new();
    for definition in definitions {
        kinds.entry(definition.group_kind()).or_default();
    }
    let (kinds, action) = (&kinds, &action);
    let actions = definitions.iter().map(|definition| async move {
        let _alone = kinds[&definition.group_kind()].lock().await;
        action(definition).await
    });
    stream::iter(actions).buffered(AT_ONCE).collect().await
}

/// Asks a real server about a definition and its objects; about those of `like`, if that has the same versions.
async fn record_one(
    server: &Server,
    definition: &Definition,
    like: Option<(&Definition, Recorded)>,
) -> Recorded {
    let verdict = server.define(definition).await;
    let mut recorded =
        Recorded { definition: verdict, like: None, bases: BTreeMap::new(), cases: Vec::new() };
    if !recorded.definition.is_created() {
        return recorded;
    }
    if let Some((other, of_other)) = like {
        let (bases, cases) = Likeness::new(other, definition).of(&of_other);
        let differences = send_all(server, definition, &bases, &cases).await;
        if differences.is_empty() {
            recorded.like = Some(other.path.clone());
            return recorded;
        }
        let (path, other) = (&definition.path, &other.path);
        crate::say(&format!("{path} is not answered like {other}:\n{}", differences.join("\n")));
        server.remove_definition(definition).await;
        server.define(definition).await;
    }
    for version in definition.sent_versions() {
        let schema = &version["schema"]["openAPIV3Schema"];
        let name = definition::name(version);
        let mut base = None;
        for candidate in definition.candidates(name, schema) {
            let verdict = server.create(definition, name, &named(&candidate, "try")).await;
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
    for version in definition.unserved_versions() {
        let name = definition::name(version);
        let mut base = json!({"metadata": {}});
        definition.give_type(name, &mut base);
        let mut case = Case::of_unserved(name);
        case.verdict = case.send(server, definition, &base, recorded.cases.len()).await;
        recorded.cases.push(case);
        recorded.bases.insert(name.to_owned(), base);
    }
    recorded
}
