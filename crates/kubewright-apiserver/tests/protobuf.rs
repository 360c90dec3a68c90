//! Protobuf bodies decode to the JSON that Kubernetes' own serializers write for the same objects.

use std::path::PathBuf;

use kubewright_apiserver::wire::protobuf::{ProtobufError, WireError, decode, is_protobuf};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The folder of golden data, or `None` (and a word about it) where it is absent.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn goldens() -> Option<PathBuf> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens");
    let folder = std::env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(default, PathBuf::from);
    let folder = folder.join("k8s-proto/testdata");
    if !folder.is_dir() {
        println!("skipped: no golden data at {}; set KUBEWRIGHT_GOLDENS", folder.display());
        return None;
    }
    Some(folder)
}

/// Every golden body with its JSON form, ordered by name.
fn bodies() -> Vec<(String, Vec<u8>, Value)> {
    let Some(folder) = goldens() else { return Vec::new() };
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "pb"));
    names.sort();
    names
        .into_iter()
        .map(|path| {
            let json = std::fs::read(path.with_extension("json")).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap(), serde_json::from_slice(&json).unwrap())
        })
        .collect()
}

#[test]
fn every_built_in_kind_decodes_to_its_json() {
    let mut wrong = Vec::new();
    for (name, body, expected) in bodies() {
        match decode(&body) {
            Ok(decoded) if decoded == expected => {}
            Ok(decoded) => wrong.push(format!("{name}: {}", differences("", &decoded, &expected).join("; "))),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    // Servers write watch events outside of an envelope; clients never send one.
    wrong.retain(|difference| !difference.starts_with("core.v1.WatchEvent: "));
    assert_eq!(wrong, [""; 0]);
}

fn differences(path: &str, left: &Value, right: &Value) -> Vec<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => left
            .keys()
            .chain(right.keys().filter(|key| !left.contains_key(*key)))
            .flat_map(|key| {
                let side =
                    |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
                differences(&format!("{path}.{key}"), &side(left), &side(right))
            })
            .collect(),
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => left
            .iter()
            .zip(right)
            .enumerate()
            .flat_map(|(index, (left, right))| differences(&format!("{path}[{index}]"), left, right))
            .collect(),
        _ if left == right => Vec::new(),
        _ => vec![format!("{path}: {left} instead of {right}")],
    }
}

#[test]
fn every_truncation_is_an_error_or_a_shorter_object() {
    for (_, body, _) in bodies() {
        for length in (0..body.len()).step_by(97) {
            let _ = decode(&body[..length]);
        }
    }
}

#[test]
fn go_zeros_are_left_out_unless_they_mean_something() {
    let deployment = object(
        "apps/v1",
        "Deployment",
        &[
            message(1, &[bytes(1, b"d"), bytes(3, b"")]), // metadata: name, an empty namespace
            message(2, &[vec![0x08, 0], vec![0x28, 0], vec![0x30, 5], vec![0x38, 0]]), // spec: replicas 0, ..., paused false
            message(3, &[vec![0x08, 0], vec![0x10, 0]]),                               // status: zeros
        ],
    );
    assert_eq!(
        decode(&deployment).unwrap(),
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {"replicas": 0, "revisionHistoryLimit": 5},
        })
    );
}

#[test]
fn delete_options_come_in_the_group_of_their_target() {
    let options = object("policy/v1", "DeleteOptions", &[bytes(4, b"Background")]);
    assert_eq!(
        decode(&options).unwrap(),
        json!({"apiVersion": "policy/v1", "kind": "DeleteOptions", "propagationPolicy": "Background"})
    );
}

#[test]
fn errors_name_the_kind_and_the_field() {
    assert!(matches!(decode(b"{}"), Err(ProtobufError::NoPrefix)));
    assert!(!is_protobuf(b"{}"));
    let error = decode(&object("example.com/v1", "Widget", &[])).unwrap_err();
    assert_eq!(error.to_string(), "no kind \"Widget\" is registered for version \"example.com/v1\"");

    // A container whose image reaches over the end of the message.
    let pod = object("v1", "Pod", &[message(2, &[message(2, &[vec![0x12, 9]])])]);
    let error = decode(&pod).unwrap_err();
    assert!(
        matches!(&error, ProtobufError::Malformed { field, reason: WireError::Truncated, .. }
            if field == "spec.containers[0]"),
        "{error}"
    );
}

#[test]
fn endless_nesting_is_an_error() {
    // A schema within a schema within ..., each as `not`.
    let mut schema = Vec::new();
    for _ in 0..2000 {
        schema = message(28, &[schema]);
    }
    let crd = object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &[message(2, &[message(7, &[message(4, &[message(1, &[schema])])])])],
    );
    let error = decode(&crd).unwrap_err();
    assert!(matches!(error, ProtobufError::Malformed { reason: WireError::TooDeep, .. }), "{error}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(body in proptest::collection::vec(any::<u8>(), 0..400), kind in 0..KINDS.len()) {
        let _ = decode(&body);
        let (api_version, kind) = KINDS[kind];
        let _ = decode(&object(api_version, kind, &[body]));
    }
}

const KINDS: [(&str, &str); 6] = [
    ("v1", "Pod"),
    ("apps/v1", "StatefulSet"),
    ("v1", "Event"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apps/v1", "ControllerRevision"),
    ("networking.k8s.io/v1", "Ingress"),
];

fn object(api_version: &str, kind: &str, fields: &[Vec<u8>]) -> Vec<u8> {
    let type_meta = message(1, &[bytes(1, api_version.as_bytes()), bytes(2, kind.as_bytes())]);
    [b"k8s\0".to_vec(), type_meta, message(2, fields)].concat()
}

fn message(number: u8, fields: &[Vec<u8>]) -> Vec<u8> {
    bytes(number, &fields.concat())
}

fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = varint(u64::from(number) << 3 | 2);
    field.extend(varint(content.len() as u64));
    field.extend(content);
    field
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
