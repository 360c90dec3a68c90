//! Each decoder reads its seeds, and these with mistakes in them, and keeps its promises.
//!
//! This is what the fuzz targets do, for a bounded time and without their compiler. `KUBEWRIGHT_MUTATIONS_SEED` makes other
//! mistakes, `KUBEWRIGHT_DECODED` says how many inputs each decoder reads.

use std::{
    fs,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    thread,
};

use kubewright_conformance::decoders::{DECODERS, Decoder, issued_token, seeds};
use kubewright_world::Random;

use crate::mistake::{pick, splice};

/// How many inputs each decoder reads unless it is said.
const READ: u64 = 2_000;

#[test]
fn decoders_keep_their_promises() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("KUBEWRIGHT_MUTATIONS_SEED").unwrap_or(1);
    let read = number("KUBEWRIGHT_DECODED").unwrap_or(READ);
    thread::scope(|scope| {
        for decoder in DECODERS {
            scope.spawn(move || check(decoder, seed, read));
        }
    });
}

#[test]
fn a_seed_shows_the_token_that_holds() {
    let decoder = DECODERS.iter().find(|decoder| decoder.name == "bearer_token").expect("a decoder");
    let seed = fs::read_to_string(seeds(decoder).join("issued")).expect("a seed");
    assert_eq!(seed, format!("Bearer {}", issued_token()));
}

fn check(decoder: &Decoder, seed: u64, read: u64) {
    let inputs = inputs(decoder);
    assert!(!inputs.is_empty(), "{} has no seeds", decoder.name);
    for (path, input) in &inputs {
        try_it(decoder, input, &path.display().to_string());
    }
    let random = Random::seeded(seed);
    for round in 0..read {
        let (path, input) = pick(&random, &inputs);
        let mut input = input.clone();
        for _ in 0..=random.below(4) {
            splice(&random, &mut input);
        }
        try_it(decoder, &input, &format!("{}, in round {round} of seed {seed}", path.display()));
    }
    let _ = writeln!(std::io::stderr(), "{}: {} seeds, {read} with mistakes", decoder.name, inputs.len());
}

fn try_it(decoder: &Decoder, input: &[u8], origin: &str) {
    let result = catch_unwind(AssertUnwindSafe(|| (decoder.read)(input)));
    let shown = String::from_utf8_lossy(input);
    assert!(result.is_ok(), "{} fails on what was made of {origin}: {shown:?}", decoder.name);
}

fn inputs(decoder: &Decoder) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = seeds(decoder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort_unstable();
    files.into_iter().map(|path| (path.clone(), fs::read(&path).expect("a readable file"))).collect()
}
