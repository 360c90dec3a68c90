//! `kubewright check`: what a change breaks.

mod definitions;
mod print;

use std::process::ExitCode;

use kubewright_manifests::compatibility::{RULES, compare};

use self::definitions::Source;
use crate::{
    command::{CheckCrdOptions, OutputFormat},
    error::Error,
    terminal,
};

/// The end of a check that found what it looked for.
const INCOMPATIBLE: u8 = 1;

/// The end of a check that could not be made, so that a script does not take it for a verdict.
const NOT_CHECKED: u8 = 2;

/// Compares the CRDs and prints the changes.
pub(crate) fn crd(options: &CheckCrdOptions, verbose: u8) -> ExitCode {
    match verdict(options, verbose) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(INCOMPATIBLE),
        Err(error) => {
            terminal::error(&error);
            ExitCode::from(NOT_CHECKED)
        }
    }
}

/// Whether nothing is worse than safe.
fn verdict(options: &CheckCrdOptions, verbose: u8) -> Result<bool, Error> {
    let sources = [Source::parse(&options.old), Source::parse(&options.new)];
    let [old, new] = definitions::read(sources, options, verbose)?;
    let mut report = compare(&old, &new)?;
    report.allow(&options.allow);
    match options.output {
        OutputFormat::Text => terminal::print(&print::text(&report, terminal::colored_output())),
        OutputFormat::Json => terminal::result(print::json(&report)),
    }
    Ok(report.is_compatible())
}

/// The rules, for the end of the help.
pub(crate) fn rules_help() -> String {
    let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let mut text = format!("{EXAMPLES}\n\nRules, for --allow:\n");
    for rule in RULES {
        text.push_str(&format!("  {:width$}  {:16}  {}\n", rule.id, rule.class.as_str(), rule.summary));
    }
    text
}

/// What people do with the command.
pub(crate) const EXAMPLES: &str = "\
Examples:
  kubewright check crd main:config/crd/bases config/crd/bases
  kubewright check crd cluster config/crd/bases --context production
  kubewright check crd old.yaml new.yaml --allow field-removed:.spec.legacy
  kubewright check crd v1.2.0:config/crd/bases config/crd/bases --output json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_every_rule_with_its_class() {
        let help = rules_help();
        assert!(help.contains("field-removed"));
        assert!(
            help.lines()
                .any(|line| line.contains("storage-version-changed") && line.contains("needs-conversion"))
        );
        assert_eq!(
            help.lines()
                .filter(|line| RULES
                    .iter()
                    .any(|rule| line.trim_start().starts_with(&format!("{} ", rule.id))))
                .count(),
            RULES.len()
        );
    }
}
