//! Requests that are nearly right: the corpus with a mistake in each of its cases, of which a server must survive every one.
//!
//! This is a fuzzer of all that reads bytes behind the API server: bodies in JSON, YAML and protobuf, the three kinds of patches and
//! applies, selectors, continue tokens, paths, CEL in definitions and policies, and schemas. The corpus is its seeds. It does the same on
//! each run, unless `KUBEWRIGHT_MUTATIONS_SEED` is another; `KUBEWRIGHT_MUTATIONS` is how many cases are played. Single decoders are tried more
//! often, and without a server: see `decoders.rs`.

mod decoders;
mod mistake;

use std::{io::Write, panic::AssertUnwindSafe};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::FutureExt;
use kubewright_conformance::{
    area,
    case::{Case, Step},
    player,
    target::Target,
};
use kubewright_world::Random;
use mistake::{WORDS, index, pick, splice, text};
use serde_json::{Value, json};

/// How many cases are played unless it is said.
const PLAYED: u64 = 800;

#[tokio::test(start_paused = true)]
async fn no_request_that_is_nearly_right_is_a_panic() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("KUBEWRIGHT_MUTATIONS_SEED").unwrap_or(1);
    let played = number("KUBEWRIGHT_MUTATIONS").unwrap_or(PLAYED);
    let cases: Vec<Case> =
        area::all().iter().flat_map(|area| area::files(area)).flat_map(|file| file.cases).collect();
    let (mut requests, mut answered) = (0, 0);
    for round in 0..played {
        let random = Random::seeded(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let mut case = pick(&random, &cases).clone();
        let step = index(&random, case.steps.len());
        mutate(&random, &mut case.steps[step]);
        requests += case.steps.len();
        let target = Target::embedded(&case);
        // The player refuses what is no request at all, and says so where nothing comes: both are as they should be.
        let result = AssertUnwindSafe(player::play(&case, &target)).catch_unwind().await;
        match result {
            Ok(Ok(_)) => answered += 1,
            Ok(Err(_)) => {}
            Err(_) => panic!(
                "a panic in {} with KUBEWRIGHT_MUTATIONS_SEED={seed}, round {round}: {:#?}",
                case.name, case.steps[step]
            ),
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{played} cases with a mistake, {requests} requests, {answered} cases answered to their end"
    );
}

/// Makes one to three mistakes in a step.
fn mutate(random: &Random, step: &mut Step) {
    for _ in 0..=random.below(3) {
        match random.below(10) {
            0 | 1 => {
                if let Some(place) = step.send.as_mut().or(step.watch.as_mut()) {
                    // The method stays, so that something is asked.
                    let (method, path) =
                        place.split_once(' ').map_or(("", &**place), |(method, path)| (method, path));
                    let path = text(random, path);
                    *place = if method.is_empty() { path } else { format!("{method} {path}") };
                }
            }
            2 => {
                let names = [
                    "Content-Type",
                    "Accept",
                    "If-None-Match",
                    "Authorization",
                    "Impersonate-User",
                    "Accept-Encoding",
                ];
                let values = [
                    "application/yaml",
                    "application/json",
                    "application/vnd.kubernetes.protobuf",
                    "application/apply-patch+yaml",
                    "application/strategic-merge-patch+json",
                    "application/json;as=Table;v=v1;g=meta.k8s.io",
                    "Bearer a.b.c",
                    "gzip",
                    "*/*;q=2",
                ];
                step.headers.insert((*pick(random, &names)).to_owned(), (*pick(random, &values)).to_owned());
            }
            3..=6 => {
                if let Some(body) = &mut step.body {
                    value(random, body, 0);
                }
            }
            _ => bytes(random, step),
        }
    }
}

/// Changes the bytes of a body.
fn bytes(random: &Random, step: &mut Step) {
    if let Some(encoded) = &step.base64 {
        let mut content = STANDARD.decode(encoded).unwrap_or_default();
        splice(random, &mut content);
        step.base64 = Some(STANDARD.encode(content));
        return;
    }
    let body = step.raw.take().or_else(|| step.body.take().map(|body| body.to_string()));
    if let Some(body) = body {
        step.raw = Some(text(random, &body));
    }
}

/// Puts something else in the place of a part of a value.
fn value(random: &Random, place: &mut Value, depth: usize) {
    let goes_on = depth < 12 && random.below(4) != 0;
    match place {
        Value::Object(members) if goes_on && !members.is_empty() => {
            let name = members.keys().nth(index(random, members.len())).cloned().unwrap_or_default();
            if random.below(8) == 0 {
                let moved = members.remove(&name).unwrap_or_default();
                members.insert((*pick(random, WORDS)).to_owned(), moved);
            } else if let Some(member) = members.get_mut(&name) {
                value(random, member, depth + 1);
            }
        }
        Value::Array(items) if goes_on && !items.is_empty() => {
            let at = index(random, items.len());
            if random.below(8) == 0 {
                items.push(items[at].clone());
            } else {
                value(random, &mut items[at], depth + 1);
            }
        }
        _ => *place = odd(random, place),
    }
}

fn odd(random: &Random, place: &Value) -> Value {
    match random.below(9) {
        0 => Value::Null,
        1 => json!(i64::MIN),
        2 => json!(u64::MAX),
        3 => json!(-1.5e300),
        4 => json!([place]),
        5 => json!({ "a": place }),
        6 => (0..100 + random.below(400)).fold(Value::Null, |inner, _| json!([inner])),
        7 => json!("a".repeat(index(random, 3_000))),
        _ => json!(pick(random, WORDS)),
    }
}
