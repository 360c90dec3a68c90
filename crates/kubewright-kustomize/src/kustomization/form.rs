//! The fields of kustomizations and of the files that belong to them.
//!
//! serde would refuse unknown fields too. This says where they stand and which name is meant, takes names in any case
//! and null for nothing, as kustomize does.

use serde_json::{Map, Value};

/// What a value has to be.
#[derive(Debug)]
pub(crate) enum Form {
    Text,
    Flag,
    Integer,
    Texts,
    /// A map of strings.
    Pairs,
    Object(&'static [(&'static str, Form)]),
    Objects(&'static [(&'static str, Form)]),
    /// A field that is known and not supported, unless it has nothing in it.
    Unsupported(&'static str),
}

/// What becomes of fields that are not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Refused,
    Ignored,
}

use Form::{Flag, Integer, Object, Objects, Pairs, Text, Texts, Unsupported};

type Fields = &'static [(&'static str, Form)];

const PLUGINS: &str =
    "it runs plugins, of which only what has a field of its own in the kustomization is built in";
const HELM: &str =
    "it runs helm: write the chart's output to a file (`helm template`) and name it in `resources`";

pub(crate) static KUSTOMIZATION: Form = Object(&[
    ("apiVersion", Text),
    ("kind", Text),
    ("metadata", Object(&[("name", Text), ("namespace", Text), ("labels", Pairs), ("annotations", Pairs)])),
    ("resources", Texts),
    ("components", Texts),
    ("namespace", Text),
    ("namePrefix", Text),
    ("nameSuffix", Text),
    ("labels", Objects(LABEL)),
    ("commonLabels", Pairs),
    ("commonAnnotations", Pairs),
    ("images", Objects(IMAGE)),
    ("imageTags", Objects(IMAGE)),
    ("replicas", Objects(&[("name", Text), ("count", Integer)])),
    ("patches", Objects(PATCH)),
    ("patchesStrategicMerge", Texts),
    ("patchesJson6902", Objects(PATCH)),
    ("replacements", Objects(REPLACEMENT_ENTRY)),
    ("configMapGenerator", Objects(GENERATOR)),
    ("secretGenerator", Objects(GENERATOR)),
    ("generatorOptions", Object(GENERATOR_OPTIONS)),
    ("configurations", Texts),
    ("crds", Texts),
    ("openapi", Pairs),
    ("vars", Objects(VARIABLE)),
    ("sortOptions", Object(SORT_OPTIONS)),
    ("buildMetadata", Texts),
    ("bases", Texts),
    ("generators", Unsupported(PLUGINS)),
    ("transformers", Unsupported(PLUGINS)),
    ("validators", Unsupported(PLUGINS)),
    ("helmCharts", Unsupported(HELM)),
    ("helmGlobals", Unsupported(HELM)),
    ("helmChartInflationGenerator", Unsupported(HELM)),
]);

/// A file of `configurations`.
pub(crate) static CONFIGURATION: Form = Object(&[
    ("namePrefix", Objects(FIELD_SPEC)),
    ("nameSuffix", Objects(FIELD_SPEC)),
    ("namespace", Objects(FIELD_SPEC)),
    ("commonLabels", Objects(FIELD_SPEC)),
    ("labels", Objects(FIELD_SPEC)),
    ("templateLabels", Objects(FIELD_SPEC)),
    ("commonAnnotations", Objects(FIELD_SPEC)),
    (
        "nameReference",
        Objects(&[("kind", Text), ("version", Text), ("group", Text), ("fieldSpecs", Objects(FIELD_SPEC))]),
    ),
    ("varReference", Objects(FIELD_SPEC)),
    ("images", Objects(FIELD_SPEC)),
    ("replicas", Objects(FIELD_SPEC)),
]);

pub(crate) static REPLACEMENT: Form = Object(REPLACEMENT_ENTRY);
pub(crate) static REPLACEMENTS: Form = Objects(REPLACEMENT_ENTRY);

const FIELD_SPEC: Fields =
    &[("path", Text), ("create", Flag), ("kind", Text), ("version", Text), ("group", Text)];
const LABEL: Fields = &[
    ("pairs", Pairs),
    ("includeSelectors", Flag),
    ("includeTemplates", Flag),
    ("fields", Objects(FIELD_SPEC)),
];
const IMAGE: Fields =
    &[("name", Text), ("newName", Text), ("newTag", Text), ("digest", Text), ("tagSuffix", Text)];
const SELECTOR: Fields = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
    ("labelSelector", Text),
    ("annotationSelector", Text),
];
const PATCH: Fields = &[
    ("path", Text),
    ("patch", Text),
    ("target", Object(SELECTOR)),
    ("options", Object(&[("allowNameChange", Flag), ("allowKindChange", Flag)])),
];
const FIELD_OPTIONS: Fields =
    &[("delimiter", Text), ("index", Integer), ("encoding", Text), ("create", Flag)];
const REPLACEMENT_ENTRY: Fields = &[
    ("path", Text),
    (
        "source",
        Object(&[
            ("group", Text),
            ("version", Text),
            ("kind", Text),
            ("name", Text),
            ("namespace", Text),
            ("fieldPath", Text),
            ("options", Object(FIELD_OPTIONS)),
        ]),
    ),
    ("sourceValue", Text),
    (
        "targets",
        Objects(&[
            ("select", Object(SELECTOR)),
            ("reject", Objects(SELECTOR)),
            ("fieldPaths", Texts),
            ("options", Object(FIELD_OPTIONS)),
        ]),
    ),
];
const GENERATOR_OPTIONS: Fields =
    &[("labels", Pairs), ("annotations", Pairs), ("disableNameSuffixHash", Flag), ("immutable", Flag)];
const GENERATOR: Fields = &[
    ("name", Text),
    ("namespace", Text),
    ("behavior", Text),
    ("files", Texts),
    ("literals", Texts),
    ("envs", Texts),
    ("env", Text),
    ("options", Object(GENERATOR_OPTIONS)),
    ("type", Text),
];
const VARIABLE: Fields = &[
    ("name", Text),
    (
        "objref",
        Object(&[
            ("apiVersion", Text),
            ("group", Text),
            ("version", Text),
            ("kind", Text),
            ("name", Text),
            ("namespace", Text),
        ]),
    ),
    ("fieldref", Object(&[("fieldPath", Text)])),
];
const SORT_OPTIONS: Fields =
    &[("order", Text), ("legacySortOptions", Object(&[("orderFirst", Texts), ("orderLast", Texts)]))];

impl Form {
    /// Checks a value, gives its fields the names of the table and takes away those that are null.
    pub(crate) fn fit(&self, value: &mut Value, unknown: Unknown) -> Result<(), String> {
        self.fit_at(value, "", unknown)
    }

    fn fit_at(&self, value: &mut Value, place: &str, unknown: Unknown) -> Result<(), String> {
        match (self, &mut *value) {
            (Text, Value::String(_)) | (Flag, Value::Bool(_)) => Ok(()),
            (Integer, Value::Number(number)) if number.is_i64() => Ok(()),
            (Texts, Value::Array(items)) => {
                items.iter_mut().enumerate().try_for_each(|(at, item)| text(item, &format!("{place}[{at}]")))
            }
            (Pairs, Value::Object(map)) => {
                map.iter_mut().try_for_each(|(key, value)| text(value, &format!("{place}.{key}")))
            }
            (Object(fields), Value::Object(map)) => object(fields, map, place, unknown),
            (Objects(fields), Value::Array(items)) => {
                items.iter_mut().enumerate().try_for_each(|(at, item)| {
                    if item.is_null() {
                        *item = Value::Object(Map::new());
                    }
                    Object(fields).fit_at(item, &format!("{place}[{at}]"), unknown)
                })
            }
            (Unsupported(_), Value::Array(items)) if items.is_empty() => Ok(()),
            (Unsupported(why), _) => Err(format!("`{place}` is not supported: {why}")),
            _ => Err(self.refuse(value, place)),
        }
    }

    fn refuse(&self, value: &Value, place: &str) -> String {
        let place = if place.is_empty() { "it".to_owned() } else { format!("`{place}`") };
        let expected = match self {
            Text => "a string",
            Flag => "true or false",
            Integer => "an integer",
            Texts | Objects(_) => "a list",
            Pairs | Object(_) | Unsupported(_) => "a map",
        };
        let quotes = matches!((self, value), (Text, Value::Bool(_) | Value::Number(_)));
        format!("{place} is {expected}, not {value}{}", if quotes { ": put it into quotes" } else { "" })
    }
}

fn text(value: &mut Value, place: &str) -> Result<(), String> {
    if value.is_null() {
        *value = Value::String(String::new());
    }
    Text.fit_at(value, place, Unknown::Refused)
}

fn object(fields: Fields, map: &mut Map<String, Value>, place: &str, unknown: Unknown) -> Result<(), String> {
    for (key, mut value) in std::mem::take(map) {
        let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        let field = fields
            .iter()
            .find(|(name, _)| *name == key)
            .or_else(|| fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(&key)));
        let Some((name, form)) = field else {
            match unknown {
                Unknown::Refused => return Err(format!("unknown field `{place}`: {}", meant(&key, fields))),
                Unknown::Ignored => continue,
            }
        };
        if !value.is_null() {
            form.fit_at(&mut value, &place, unknown)?;
            map.insert((*name).to_owned(), value);
        }
    }
    Ok(())
}

/// What somebody who wrote `key` may have meant.
fn meant(key: &str, fields: Fields) -> String {
    let nearest =
        fields.iter().map(|(name, _)| (distance(&key.to_lowercase(), &name.to_lowercase()), name)).min();
    match nearest {
        Some((distance, name)) if distance <= 1 + key.chars().count() / 4 => {
            format!("did you mean `{name}`?")
        }
        _ => {
            let names: Vec<String> = fields
                .iter()
                .filter(|(_, form)| !matches!(form, Unsupported(_)))
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            format!("there are {}", names.join(", "))
        }
    }
}

/// The number of characters to add, remove or change that makes one text the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
