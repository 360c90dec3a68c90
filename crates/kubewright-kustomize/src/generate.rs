//! `configMapGenerator` and `secretGenerator`, and the hashes in the names of what they make.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    json::go_json,
    kustomization::{Generator, GeneratorOptions},
    node::{Dialect, Kind, Map, Node, Scalar},
    resource::{Behavior, Resource},
};

/// What a generator makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generated {
    ConfigMap,
    Secret,
}

impl Generated {
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }

    /// The object of an entry. `load` gives the content of a file.
    pub(crate) fn make<E: From<String>>(
        self,
        generator: &Generator,
        all: Option<&GeneratorOptions>,
        load: &mut dyn FnMut(&str) -> Result<Vec<u8>, E>,
    ) -> Result<Resource, E> {
        if generator.name.is_empty() {
            return Err(format!("a {} needs a `name`", self.kind()).into());
        }
        let options = match (&generator.options, all) {
            (None, None) => GeneratorOptions::default(),
            (own, all) => own.clone().unwrap_or_default().or(all.unwrap_or(&GeneratorOptions::default())),
        };
        let mut metadata = Map::default();
        metadata.insert("name", Node::string(&generator.name));
        if !generator.namespace.is_empty() {
            metadata.insert("namespace", Node::string(&generator.namespace));
        }
        let mut body = Map::default();
        body.insert("apiVersion", Node::plain("v1"));
        body.insert("kind", Node::plain(self.kind()));
        body.insert("metadata", Node::Map(metadata));
        if self == Self::Secret {
            let of = if generator.secret_type.is_empty() { "Opaque" } else { &generator.secret_type };
            body.insert("type", Node::string(of));
        }
        if options.immutable {
            body.insert("immutable", Node::Scalar(Scalar::of("true", Kind::Bool)));
        }
        let mut resource = Resource::new(body);
        self.fill(&mut resource, entries(generator, load)?);
        resource.set_labels(&options.labels);
        resource.set_annotations(&options.annotations);
        resource.needs_hash = !options.disable_name_suffix_hash;
        resource.behavior = match generator.behavior.as_str() {
            "merge" => Behavior::Merge,
            "replace" => Behavior::Replace,
            _ => Behavior::Create,
        };
        Ok(resource)
    }

    fn fill(self, resource: &mut Resource, entries: BTreeMap<String, Vec<u8>>) {
        if self == Self::Secret {
            let data: Map =
                entries.into_iter().map(|(key, bytes)| (key, Node::string(base64_lines(&bytes)))).collect();
            resource.body.insert("data", Node::Map(data));
            return;
        }
        let (mut data, mut binary) = (BTreeMap::new(), BTreeMap::new());
        for (key, bytes) in entries {
            match String::from_utf8(bytes) {
                Ok(text) => data.insert(key, text),
                Err(error) => binary.insert(key, base64_lines(error.as_bytes())),
            };
        }
        resource.set_data("data", &data);
        resource.set_data("binaryData", &binary);
    }
}

/// The keys and values of an entry: of its files of variables, its literals and its files.
fn entries<E: From<String>>(
    generator: &Generator,
    load: &mut dyn FnMut(&str) -> Result<Vec<u8>, E>,
) -> Result<BTreeMap<String, Vec<u8>>, E> {
    let mut entries = BTreeMap::new();
    let mut add = |key: String, value: Vec<u8>| match entries.insert(key.clone(), value) {
        None => Ok(()),
        Some(_) => Err(format!("{} has the key `{key}` twice", generator.name)),
    };
    for path in &generator.envs {
        for (index, line) in load(path)?.split(|byte| *byte == b'\n').enumerate() {
            let line =
                std::str::from_utf8(line).map_err(|_| format!("{path}: line {} is no UTF-8", index + 1))?;
            let line = if index == 0 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
            let line = line.strip_suffix('\r').unwrap_or(line).trim_start();
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            if !line.starts_with('#') && !key.is_empty() {
                add(key.to_owned(), value.as_bytes().to_vec())?;
            }
        }
    }
    for literal in &generator.literals {
        let (key, value) = literal
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| format!("the literal `{literal}` is not of the form key=value"))?;
        add(key.to_owned(), unquoted(value).as_bytes().to_vec())?;
    }
    for file in &generator.files {
        let (key, path) = match file.split_once('=') {
            None => (file.rsplit('/').next().unwrap_or(file), file.as_str()),
            Some(("", _) | (_, "")) => {
                return Err(format!("the file `{file}` is not of the form path or key=path").into());
            }
            Some((_, path)) if path.contains('=') => {
                return Err(format!("the file `{file}` has more than one `=`").into());
            }
            Some(both) => both,
        };
        add(key.to_owned(), load(path)?)?;
    }
    Ok(entries)
}

fn unquoted(value: &str) -> &str {
    let between = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    between('"').or_else(|| between('\'')).unwrap_or(value)
}

/// Base64, in lines if it is longer than one.
fn base64_lines(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let text = STANDARD.encode(bytes);
    if text.len() < LINE {
        return text;
    }
    let mut lines = String::with_capacity(text.len() + text.len() / LINE + 1);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(LINE));
        lines.push_str(line);
        lines.push('\n');
        rest = more;
    }
    lines
}

/// The hash that goes into the name of a ConfigMap or Secret with this content.
pub(crate) fn hash(resource: &Resource) -> Result<String, String> {
    let field = |name: &str| match resource.body.get(name) {
        None => Ok(Value::from("")),
        Some(Node::Scalar(scalar)) => Ok(Value::from(scalar.text())),
        Some(node) => node.to_json(Dialect::Version2),
    };
    // The name counts as empty: kustomize looks for it where it is not.
    let mut content = match resource.kind() {
        "ConfigMap" => json!({"kind": "ConfigMap", "name": "", "data": field("data")?}),
        "Secret" => json!({"kind": "Secret", "type": field("type")?, "name": "", "data": field("data")?}),
        // A patch may have made something else of it.
        _ => resource.to_json()?,
    };
    let more = if resource.kind() == "Secret" { "stringData" } else { "binaryData" };
    if let more_value @ Value::Object(_) = field(more)? {
        content[more] = more_value;
    }
    let digest = Sha256::digest(go_json(&content));
    // Letters and digits that make no words.
    let letter = |nibble: u8| match char::from_digit(nibble.into(), 16).unwrap_or('0') {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    };
    Ok(digest.iter().take(5).flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect())
}
