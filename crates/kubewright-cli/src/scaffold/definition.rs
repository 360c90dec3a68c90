//! The definition that a kind is taken from.

use std::path::Path;

use kubewright_scaffold::types::Definition;
use serde_json::Value;

use super::options::CreateApiOptions;
use crate::{definitions, error::Error};

/// Finds it in a file, or by its name on the cluster that the flags name.
pub(super) fn find(source: &str, options: &CreateApiOptions, verbose: u8) -> Result<Definition, Error> {
    let cluster = &options.cluster;
    let is_file = Path::new(source).exists();
    // A name on a cluster has no slash, and ends with a group.
    let is_name =
        !source.contains('/') && source.contains('.') && !definitions::is_manifest(Path::new(source));
    if !is_file && !is_name {
        return Err(Error::Arguments(format!(
            "--from-crd: there is no file {source}, and it is no name of a definition, as httproutes.gateway.networking.k8s.io"
        )));
    }
    let found = if is_file {
        definitions::of_path(Path::new(source))?
    } else {
        definitions::of_cluster(&[source.to_owned()], true, cluster, verbose)?
    };
    let member = |definition: &Value, path: &str| {
        definition.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let asked = |definition: &&Value| {
        let (kind, group) = (member(definition, "/spec/names/kind"), member(definition, "/spec/group"));
        let of_group = |asked: &String| group == *asked || group.split('.').next() == Some(asked);
        options.of.kind.as_ref().is_none_or(|asked| *asked == kind)
            && options.of.group.as_ref().is_none_or(of_group)
    };
    let chosen: Vec<&Value> = found.iter().filter(asked).collect();
    match chosen.as_slice() {
        [only] => Ok(Definition::read(only).map_err(kubewright_scaffold::ScaffoldError::from)?),
        several => {
            let all = if several.is_empty() { found.iter().collect() } else { several.to_vec() };
            let names: Vec<String> = all
                .iter()
                .map(|one| format!("{} ({})", member(one, "/spec/names/kind"), member(one, "/spec/group")))
                .collect();
            Err(Error::Arguments(format!(
                "{source} has {}; name one with --kind and --group",
                names.join(", ")
            )))
        }
    }
}
