//! What holds for every row.

use std::collections::BTreeSet;

use super::*;
use crate::marker::{Arguments, ValueKind, parse};

#[test]
fn a_name_and_a_target_have_one_row() {
    let mut seen = BTreeSet::new();
    for row in definitions() {
        for name in row.names() {
            for target in row.targets {
                assert!(seen.insert((name, format!("{target:?}"))), "{name} is there twice for {target:?}");
            }
        }
    }
}

#[test]
fn every_row_has_help() {
    for row in definitions() {
        assert!(row.help.ends_with('.') && row.help.len() > 15, "{}", row.name);
        assert!(!row.targets.is_empty(), "{}", row.name);
        for argument in row.named_arguments() {
            assert!(argument.help.ends_with('.'), "{} {}", row.name, argument.name);
        }
        if row.on_items {
            assert!(row.name.starts_with("kubebuilder:validation:"), "{}", row.name);
        }
    }
}

#[test]
fn a_marker_without_arguments_is_read_by_each_of_its_names() {
    for row in definitions().filter(|row| matches!(row.arguments, Arguments::None)) {
        for name in row.names() {
            let marker = parse(&format!("+{name}"), row.targets).unwrap();
            assert!(std::ptr::eq(marker.definition, row) && marker.name == name);
        }
    }
}

/// What a marker of this row looks like with a wrong value, if there are wrong ones.
fn spoilt(row: &Definition) -> String {
    let name = row.name;
    match row.arguments {
        Arguments::None => format!("+{name}=true"),
        Arguments::Value(kind) | Arguments::OptionalValue(kind) => match wrong_value(kind) {
            Some(value) => format!("+{name}={value}"),
            None => format!("+{name}:of=1"),
        },
        Arguments::Named(arguments) => {
            let wrong =
                arguments.iter().find_map(|argument| Some((argument.name, wrong_value(argument.kind)?)));
            match wrong {
                Some((argument, value)) => format!("+{name}:{argument}={value}"),
                None => format!("+{name}:nothing=1"),
            }
        }
    }
}

fn wrong_value(kind: ValueKind) -> Option<&'static str> {
    Some(match kind {
        ValueKind::String => "a,b",
        ValueKind::Word(_) | ValueKind::AnyCase(_) => "something",
        ValueKind::Integer | ValueKind::Atoi | ValueKind::Number | ValueKind::ParseFloat => "many",
        ValueKind::Bool => "yes",
        ValueKind::List(_) => "a,b",
        ValueKind::Any => "{a: 1",
        ValueKind::Json => "{a: 1}",
        ValueKind::Commented(inner) => return wrong_value(*inner),
        ValueKind::Raw => return None,
    })
}

#[test]
fn every_example_is_a_marker_of_its_row() {
    for row in definitions() {
        match row.arguments {
            Arguments::None => assert_eq!(row.example, "", "{}: its name is the example", row.name),
            _ => {
                let marker = parse(row.example, row.targets).unwrap();
                assert!(std::ptr::eq(marker.definition, row), "{}", row.example);
                for argument in &marker.arguments {
                    assert!(!row.example[argument.range.clone()].is_empty());
                }
            }
        }
        if let Some(name) = row.items_name() {
            let example = if row.example.is_empty() { row.name } else { row.example };
            let marker =
                parse(&format!("+{}", example.trim_start_matches('+').replace(row.name, &name)), row.targets);
            assert!(marker.unwrap().on_items, "{name}");
        }
    }
}

/// What is said of a wrong value of every row, in `tests/snapshots/wrong_values.txt`.
#[cfg(feature = "source")]
#[test]
fn every_wrong_value_is_refused_with_a_reason() {
    use crate::diagnostic::{Place, Renderer};

    let mut said = String::new();
    for row in definitions() {
        let text = spoilt(row);
        let Err(error) = parse(&text, row.targets) else {
            // Raw values are never wrong, and a row with one may be that of a longer name.
            let is_raw = matches!(
                row.arguments,
                Arguments::Value(ValueKind::Raw) | Arguments::OptionalValue(ValueKind::Raw)
            );
            assert!(is_raw, "{text} is read");
            continue;
        };
        let place = Place::File { file: "src/api.rs".into(), range: error.range.clone() };
        let texts = |_: &std::path::Path| Some(text.clone());
        said.push_str(&Renderer::new(&texts).render(&error.at(place)));
        said.push_str("\n\n");
    }
    crate::snapshot::check("wrong_values.txt", &said);
}
