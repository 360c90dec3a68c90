//! The options that a project keeps in its manifest.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Generator, OptionError, Output, Settings, options, settings::Keep, word::option_names};
use crate::{
    Style,
    marker::{ValueKind, nearest::nearest},
};

/// The table of the manifest.
const TABLE: &str = "package.metadata.kubewright.generate";

/// The keys for all generators at once.
const COMMON: &[&str] = &["compat", "bin", "headerFile", "year", "prune"];

/// The table in the text of a manifest.
pub(super) fn find(manifest: &str) -> Result<Option<Value>, OptionError> {
    let mut found: Value = toml::from_str(manifest)
        .map_err(|error: toml::de::Error| OptionError::new("Cargo.toml", error.message()))?;
    for part in TABLE.split('.') {
        let Some(inner) = found.get_mut(part) else { return Ok(None) };
        found = inner.take();
    }
    Ok(Some(found))
}

/// Puts the options of the manifest's table into `settings`. Its paths are relative to `folder`, that of the manifest.
pub(super) fn read(table: &Value, folder: &Path, settings: &mut Settings) -> Result<(), OptionError> {
    let entries = entries(table, TABLE)?;
    for (key, value) in entries {
        let place = format!("{TABLE}.{key}");
        if let Some(generator) = Generator::named(key) {
            of_generator(generator, self::entries(value, &place)?, folder, settings)?;
            continue;
        }
        match key.as_str() {
            "compat" => {
                settings.style = match value.as_str() {
                    Some("controller-gen") => Style::ControllerGen,
                    _ => {
                        return Err(OptionError::new(place, "it is not the name of a known generator")
                            .help("write `controller-gen`, or leave it out"));
                    }
                };
            }
            "bin" => settings.bin = Some(text(value, &place)?),
            "prune" => settings.prune = bool(value, &place)?,
            "headerFile" | "year" => {
                let value = resolved(key, &Value::from(text(value, &place)?), folder);
                for generator in Generator::ALL {
                    // What one generator has of its own wins, whatever comes first in the manifest.
                    if let Some(option) = options(generator).iter().find(|option| option.name == key) {
                        settings.set(generator, option.name, value.clone(), Keep::Old);
                    }
                }
            }
            _ => {
                let names = COMMON.iter().copied().chain(Generator::ALL.into_iter().map(Generator::name));
                return Err(unknown(place, key, names));
            }
        }
    }
    Ok(())
}

fn of_generator(
    generator: Generator,
    entries: &Map<String, Value>,
    folder: &Path,
    settings: &mut Settings,
) -> Result<(), OptionError> {
    for (key, value) in entries {
        let place = format!("{TABLE}.{generator}.{key}");
        if key == "dir" {
            let below = folder.join(text(value, &place)?);
            settings.outputs.insert(generator, Output::Folder(below));
            continue;
        }
        let Some(option) = options(generator).iter().find(|option| option.name == key) else {
            return Err(unknown(place, key, option_names(generator).chain(["dir"])));
        };
        // A year is a number to everyone who does not know better.
        let value = if key == "year" { Value::from(text(value, &place)?) } else { value.clone() };
        if !fits(&value, option.kind) {
            return Err(OptionError::new(place, format!("it is not {}", option.kind.describe())));
        }
        settings.set(generator, option.name, resolved(key, &value, folder), Keep::New);
    }
    Ok(())
}

/// Makes the path of an option that is one relative to where the command runs.
fn resolved(key: &str, value: &Value, folder: &Path) -> Value {
    match (key, value.as_str()) {
        ("headerFile", Some(path)) => Value::from(folder.join(path).to_string_lossy().into_owned()),
        _ => value.clone(),
    }
}

fn entries<'v>(value: &'v Value, place: &str) -> Result<&'v Map<String, Value>, OptionError> {
    value.as_object().ok_or_else(|| OptionError::new(place, "it is not a table"))
}

fn text(value: &Value, place: &str) -> Result<String, OptionError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) if number.is_u64() => Ok(number.to_string()),
        _ => Err(OptionError::new(place, "it is not a text")),
    }
}

fn bool(value: &Value, place: &str) -> Result<bool, OptionError> {
    value.as_bool().ok_or_else(|| OptionError::new(place, "it is neither true nor false"))
}

fn fits(value: &Value, kind: ValueKind) -> bool {
    match kind {
        ValueKind::Bool => value.is_boolean(),
        ValueKind::Integer => value.is_i64(),
        ValueKind::List(kind) => {
            value.as_array().is_some_and(|items| items.iter().all(|item| fits(item, *kind)))
        }
        _ => value.is_string(),
    }
}

fn unknown<'n>(place: String, key: &str, names: impl Iterator<Item = &'n str>) -> OptionError {
    let names: Vec<&str> = names.collect();
    let error = OptionError::new(place, format!("there is no option `{key}`"));
    match nearest(key, names.iter().copied()) {
        Some(right) => error.help(format!("write `{right}`")),
        None => error.help(format!("there are {}", names.join(", "))),
    }
}
