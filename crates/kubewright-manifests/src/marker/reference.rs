//! The reference page of the markers, made of the table.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    Argument, Arguments, Definition, Target, ValueKind,
    table::{Section, TABLE},
};

/// How to read the page.
const PREFACE: &str = "\
# Markers

A marker is a line of a comment that begins with `+`. This page is made of the table that the generator reads them by:
`kubewright generate --markers` prints it.

* Markers of **types** and **fields** stand in their doc comments (`///`): schemars carries these into the schema of the
  compiled type, so that the operator, its tests and the generator see the same. A `//` comment is not carried, and a
  marker in one is an error.
* Markers of a **kind** stand on its spec, the type that derives `CustomResource`.
* Markers about **code** (permissions, webhooks) stand on any code, in `///` and `//` comments alike.
* Markers of a **package** stand in `//!` comments, or in `//` comments between items.

A marker is written `+name`, `+name=value` or `+name:argument=value,argument=value`. A text stands in `\"quotes\"` with
Go's escapes, in `` `backticks` `` as it is, or bare up to one of `,;}`. A list is written `a;b` or `{a, b}`, an object
`{key: value}`. Where any type may stand, it is guessed: `true` is a boolean, `3` a number, `100Mi` a text, and what is
quoted is always a text.

A name, an argument or a word that is not right is an error with the nearest right one. Lines of other tools, such as
`+protobuf=true`, are left alone, and so is what stands inside of a code block.
";

/// The reference page, in Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut page = PREFACE.to_owned();
    for Section { title, rows } in TABLE {
        let _ = write!(page, "\n## {title}\n");
        for row in *rows {
            describe(row, &mut page);
        }
    }
    page
}

fn describe(row: &Definition, page: &mut String) {
    let _ = write!(page, "\n### `{}`\n\n{}\n", row.name, row.help);
    let example = if row.example.is_empty() { format!("+{}", row.name) } else { row.example.to_owned() };
    let _ = write!(page, "\n```text\n{example}\n```\n\n");
    let _ = writeln!(page, "* stands on: {}", targets(row).join(", "));
    match row.arguments {
        Arguments::None => {}
        Arguments::Value(kind) => {
            let _ = writeln!(page, "* value: {}", kind.describe());
        }
        Arguments::OptionalValue(kind) => {
            let _ = writeln!(page, "* value: {}, or none", kind.describe());
        }
        Arguments::Named(_) => page.push_str("* arguments: below\n"),
    }
    if let Some(name) = row.items_name() {
        let _ = writeln!(page, "* for the items of a list: `{name}`");
    }
    if !row.aliases.is_empty() {
        let aliases: Vec<String> = row.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let _ = writeln!(page, "* also written: {}", aliases.join(", "));
    }
    if let Some(attribute) = row.native {
        let _ = writeln!(page, "* as an attribute: `{attribute}`");
    }
    if let Arguments::Named(arguments) = row.arguments {
        page.push_str("\n| argument | value | |\n|---|---|---|\n");
        for Argument { name, kind, required, help } in arguments {
            let required = if *required { " (required)" } else { "" };
            let _ = writeln!(page, "| `{name}`{required} | {} | {help} |", kind.describe());
        }
    }
}

/// Where a marker stands, in words; a kind is not named beside types, which it is one of.
fn targets(row: &Definition) -> Vec<&'static str> {
    let is_any = row.targets.contains(&Target::Code);
    if is_any {
        return vec!["any code"];
    }
    let is_implied = |target: &Target| *target == Target::Kind && row.targets.contains(&Target::Type);
    row.targets.iter().filter(|target| !is_implied(target)).map(|target| target.describe()).collect()
}

/// The table as JSON, for editors and other tools: an array of markers in the order of the page.
#[must_use]
pub fn json() -> Value {
    let of_section = |section: &Section| {
        let title = section.title;
        section.rows.iter().map(move |row| of_row(title, row)).collect::<Vec<_>>()
    };
    TABLE.iter().flat_map(of_section).collect()
}

fn of_row(section: &str, row: &Definition) -> Value {
    let arguments = row.named_arguments().iter().map(|argument| {
        json!({
            "name": argument.name,
            "required": argument.required,
            "type": kind(argument.kind),
            "help": argument.help,
        })
    });
    json!({
        "name": row.name,
        "section": section,
        "aliases": row.aliases,
        "itemsName": row.items_name(),
        "targets": row.targets.iter().map(|target| format!("{target:?}").to_lowercase()).collect::<Vec<_>>(),
        "value": match row.arguments {
            Arguments::Value(value) | Arguments::OptionalValue(value) => kind(value),
            _ => Value::Null,
        },
        "valueOptional": matches!(row.arguments, Arguments::OptionalValue(_)),
        "arguments": arguments.collect::<Vec<_>>(),
        "help": row.help,
        "example": if row.example.is_empty() { format!("+{}", row.name) } else { row.example.to_owned() },
        "attribute": row.native,
    })
}

/// A type of value: a name, or an object with what it is made of.
fn kind(kind: ValueKind) -> Value {
    match kind {
        ValueKind::String => json!("string"),
        ValueKind::Word(words) | ValueKind::AnyCase(words) => json!({"oneOf": words}),
        ValueKind::Integer | ValueKind::Atoi => json!("integer"),
        ValueKind::Number | ValueKind::ParseFloat => json!("number"),
        ValueKind::Bool => json!("boolean"),
        ValueKind::List(item) => json!({"listOf": self::kind(*item)}),
        ValueKind::Any => json!("any"),
        ValueKind::Json => json!("json"),
        ValueKind::Commented(inner) => self::kind(*inner),
        ValueKind::Raw => json!("raw"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/markers.md` is the page; `KUBEWRIGHT_UPDATE=1 cargo test -p kubewright-manifests` writes it.
    #[test]
    fn the_page_in_docs_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/markers.md");
        if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let is_same = std::fs::read_to_string(path).is_ok_and(|page| page == markdown());
        assert!(
            is_same,
            "docs/markers.md is out of date: run `KUBEWRIGHT_UPDATE=1 cargo test -p kubewright-manifests reference`"
        );
    }

    #[test]
    fn every_row_is_on_the_page_and_in_the_json() {
        let page = markdown();
        let table = json();
        let names: Vec<&str> =
            table.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert_eq!(names, crate::marker::table::definitions().map(|row| row.name).collect::<Vec<_>>());
        for name in names {
            assert!(page.contains(&format!("### `{name}`")), "{name}");
        }
    }
}
