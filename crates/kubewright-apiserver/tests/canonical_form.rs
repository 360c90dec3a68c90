//! Objects as Kubernetes' own serializer writes them decode strictly, without errors, to themselves.

use std::path::PathBuf;

use kubewright_apiserver::types::{Types, strict};
use serde_json::Value;

/// The golden objects of the API, fully filled in, by file name.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn objects() -> Vec<(String, Vec<u8>)> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens");
    let folder = std::env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(default, PathBuf::from);
    let Ok(entries) = std::fs::read_dir(folder.join("k8s-proto/testdata")) else {
        eprintln!("SKIPPED: no goldens at {}; set KUBEWRIGHT_GOLDENS", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    paths.into_iter().map(|path| (name(&path), std::fs::read(path).unwrap())).collect()
}

#[test]
fn every_built_in_object_decodes_to_itself() {
    let mut wrong = Vec::new();
    // A watch event is no object: servers write it, and nobody sends one.
    for (name, body) in objects().into_iter().filter(|(name, _)| name != "core.v1.WatchEvent") {
        let object: Value = serde_json::from_slice(&body).unwrap();
        let api_version = object["apiVersion"].as_str().unwrap_or_default();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = object["kind"].as_str().unwrap_or_default();
        let Some(ty) = Types::get().kind(group, version, kind) else {
            wrong.push(format!("{name}: no type"));
            continue;
        };
        match strict::decode(&body, Some(ty)) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(decoded) if !decoded.strict_errors.is_empty() => {
                wrong.push(format!("{name}: {:?}", decoded.strict_errors));
            }
            Ok(decoded) if decoded.value != object => {
                wrong.push(format!("{name}:{}", difference("", &decoded.value, &object)));
            }
            Ok(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn difference(path: &str, got: &Value, want: &Value) -> String {
    match (got, want) {
        (Value::Object(got), Value::Object(want)) => got
            .keys()
            .chain(want.keys().filter(|key| !got.contains_key(*key)))
            .map(|key| {
                let value = |side: &serde_json::Map<String, Value>| side.get(key).cloned();
                match (value(got), value(want)) {
                    (Some(got), Some(want)) => difference(&format!("{path}.{key}"), &got, &want),
                    (got, want) => format!(" {path}.{key}: got {got:?}, want {want:?}"),
                }
            })
            .collect(),
        (Value::Array(got), Value::Array(want)) if got.len() == want.len() => got
            .iter()
            .zip(want)
            .enumerate()
            .map(|(i, (got, want))| difference(&format!("{path}[{i}]"), got, want))
            .collect(),
        _ if got == want => String::new(),
        _ => format!(" {path}: got {got}, want {want}"),
    }
}
