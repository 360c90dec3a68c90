//! The Gateway API, a large and well-known set of definitions, with objects that a real API server accepts and
//! refuses.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use kubewright_schema::{
    FieldPath, Structural,
    crd::{default_crd, validate_crd},
};
use serde_json::Value;

/// The test data, if it is there.
fn goldens() -> Option<PathBuf> {
    let root = env::var_os("KUBEWRIGHT_GOLDENS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens"), PathBuf::from);
    let gateway = root.join("crd-gateway");
    if gateway.is_dir() {
        return Some(gateway);
    }
    #[allow(clippy::print_stderr, reason = "a test that does nothing has to say so")]
    {
        eprintln!("skipped: no test data at {}, see KUBEWRIGHT_GOLDENS", gateway.display());
    }
    None
}

fn documents(folder: &Path) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(documents(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = fs::read_to_string(&path).unwrap();
            let values: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
            found.extend(values.into_iter().filter(Value::is_object).map(|value| (path.clone(), value)));
        }
    }
    found
}

/// Schemas by `apiVersion` and `kind`.
fn schemas(gateway: &Path) -> BTreeMap<(String, String), Structural> {
    let mut schemas = BTreeMap::new();
    for (path, mut crd) in documents(&gateway.join("crds")) {
        if crd["kind"] != "CustomResourceDefinition" {
            continue;
        }
        default_crd(&mut crd);
        let errors = validate_crd(&crd);
        assert!(errors.is_empty(), "{}: {}: {errors}", path.display(), crd["metadata"]["name"]);
        let spec = &crd["spec"];
        for version in spec["versions"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let api_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
            let schema = Structural::parse(&version["schema"]["openAPIV3Schema"]).unwrap();
            schemas.insert((api_version, text(&spec["names"]["kind"])), schema);
        }
    }
    schemas
}

/// The errors of an object on its way into storage, if its kind is one of the definitions.
fn admit(schemas: &BTreeMap<(String, String), Structural>, object: &Value) -> Option<String> {
    let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    let schema = schemas.get(&(text("apiVersion"), text("kind")))?;
    let mut object = object.clone();
    let pruned = schema.prune(&mut object);
    schema.drop_nulls(&mut object);
    schema.apply_defaults(&mut object);
    let errors = schema.validate(&object, None, &FieldPath::root());
    Some(if pruned.is_empty() { errors.to_string() } else { format!("unknown {pruned:?} {errors}") })
}

#[test]
fn the_gateway_api_accepts_and_refuses_what_a_real_server_does() {
    let Some(gateway) = goldens() else { return };
    let schemas = schemas(&gateway);
    assert!(schemas.len() >= 4, "the definitions were read");

    let mut accepted = 0;
    for (path, object) in documents(&gateway.join("valid")) {
        let Some(errors) = admit(&schemas, &object) else { continue };
        assert_eq!(errors, "", "{} is valid", path.display());
        accepted += 1;
    }
    assert!(accepted > 20, "valid objects were checked, {accepted} of them");

    let mut refused = 0;
    for (path, object) in documents(&gateway.join("invalid")) {
        let Some(errors) = admit(&schemas, &object) else { continue };
        assert_ne!(errors, "", "{} is invalid", path.display());
        refused += 1;
    }
    assert!(refused > 20, "invalid objects were checked, {refused} of them");
}
