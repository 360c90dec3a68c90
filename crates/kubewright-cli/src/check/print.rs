//! How changes are printed.

use std::fmt::Write;

use kubewright_manifests::compatibility::{Class, Report};
use serde_json::{Value, json};

/// For people: the changes with their reasons, the worst first, and how many there are.
pub(super) fn text(report: &Report, colored: bool) -> String {
    let mut text = String::new();
    for change in &report.changes {
        let (color, plain) = match (colored, change.allowed, change.class) {
            (false, ..) => ("", ""),
            (_, true, _) | (.., Class::Safe) => ("\x1b[32m", "\x1b[0m"),
            (.., Class::NeedsConversion) => ("\x1b[1;33m", "\x1b[0m"),
            _ => ("\x1b[1;31m", "\x1b[0m"),
        };
        let class = change.class.as_str();
        let allowed = if change.allowed { " (allowed)" } else { "" };
        let version = change.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let (crd, path, what, rule) = (&change.crd, &change.path, change.what(), change.rule.id);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{color}{class}{plain}{allowed}: {crd}{version} {path}: {what} [{rule}]");
        let _ = writeln!(text, "    {}", change.reason);
    }
    let _ = writeln!(text, "{}", summary(report));
    text
}

fn summary(report: &Report) -> String {
    let count = |class: Class| {
        report.changes.iter().filter(|change| !change.allowed && change.class == class).count()
    };
    let counts = [
        (count(Class::Unsafe), "unsafe"),
        (count(Class::NeedsConversion), "needing conversion"),
        (count(Class::Safe), "safe"),
        (report.changes.iter().filter(|change| change.allowed).count(), "allowed"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() { "no changes".to_owned() } else { format!("changes: {}", parts.join(", ")) }
}

/// For programs: the verdict and the changes.
pub(super) fn json(report: &Report) -> Value {
    json!({
        "compatible": report.is_compatible(),
        "worst": report.worst(),
        "changes": report.changes,
    })
}
