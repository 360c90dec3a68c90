//! The words of a command line, as controller-gen has them.

use serde_json::Value;

use super::{
    Generator, OptionError, Output,
    table::{self, options},
};
use crate::marker::{MarkerArgument, named_arguments, nearest::nearest};

/// A word of the command line.
///
/// ```
/// use kubewright_manifests::options::{Generator, Word};
///
/// let Word::Generator { generator, options } = Word::parse("crd:maxDescLen=0,allowDangerousTypes=true")? else {
///     panic!("it names a generator");
/// };
/// assert_eq!(generator, Generator::Crd);
/// assert_eq!(options, [("maxDescLen", 0.into()), ("allowDangerousTypes", true.into())]);
/// assert_eq!(Word::parse("paths=./...")?, Word::Path(".".into()));
/// # Ok::<(), kubewright_manifests::options::OptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Word {
    /// `crd` or `crd:maxDescLen=0`: a generator to run, and its options.
    Generator {
        /// The generator.
        generator: Generator,
        /// Its options by name, with values of the types that the table says.
        options: Vec<(&'static str, Value)>,
    },
    /// `output:dir=config` or `output:crd:stdout`.
    Output {
        /// The generator whose files are meant; none for all that have no rule of their own.
        generator: Option<Generator>,
        /// Where they go.
        output: Output,
    },
    /// `paths=./...`, or anything else: the folder of the package.
    Path(String),
    /// A generator of controller-gen whose output Rust has no need for.
    Needless(&'static str),
}

/// Generators of controller-gen that are no word here, and why.
const OTHERS: &[(&str, &str)] = &[
    ("applyconfiguration", "the fields of a server-side apply are those that the applied value has"),
    ("schemapatch", "a CRD is always made as a whole; run `crd` instead"),
];

// === impl Word ===

impl Word {
    /// Reads a word.
    ///
    /// # Errors
    ///
    /// An option or an output rule that is not known or that has a wrong value, a generator that is not there, and paths
    /// below a package, since a package is read as a whole.
    pub fn parse(word: &str) -> Result<Self, OptionError> {
        let end = word.find([':', '=']).unwrap_or(word.len());
        let (head, tail) = word.split_at(end);
        if let Some(generator) = Generator::named(head) {
            let read = named_arguments(head, options(generator), word).map_err(|error| {
                error
                    .help
                    .into_iter()
                    .fold(OptionError::new(format!("`{word}`"), error.message), OptionError::help)
            })?;
            return Ok(Self::Generator { generator, options: read.into_iter().map(pair).collect() });
        }
        match (head, tail.chars().next()) {
            ("paths", Some('=')) => path(word, &tail[1..]),
            ("output", Some(':')) => output(word, &tail[1..]),
            ("object", _) => Ok(Self::Needless("object")),
            _ => {
                if let Some((_, reason)) = OTHERS.iter().find(|(name, _)| *name == head) {
                    return Err(OptionError::new(
                        format!("`{word}`"),
                        format!("there is no generator `{head}`: {reason}"),
                    ));
                }
                // A path may have a colon or an equals sign in it, but not so that it looks like one of these words.
                match suggestion(head) {
                    Some(right) if !tail.is_empty() => {
                        Err(OptionError::new(format!("`{word}`"), format!("there is no generator `{head}`"))
                            .help(format!("write `{right}{tail}`")))
                    }
                    _ => Ok(Self::Path(word.to_owned())),
                }
            }
        }
    }
}

/// The name of a generator, or another word with a meaning, that `word` is probably a slip of.
#[must_use]
pub fn suggestion(word: &str) -> Option<&'static str> {
    nearest(word, Generator::ALL.into_iter().map(Generator::name).chain(["output", "paths"]))
}

fn pair(argument: MarkerArgument) -> (&'static str, Value) {
    (argument.name, argument.value)
}

/// Go's patterns of packages: a path, and `/...` for all that is below it.
fn path(word: &str, paths: &str) -> Result<Word, OptionError> {
    let mut folders = paths.split(';').map(|path| path.trim_matches('"').trim_end_matches("/..."));
    match (folders.next(), folders.next()) {
        (Some(folder), None) if !folder.is_empty() => Ok(Word::Path(folder.to_owned())),
        _ => Err(OptionError::new(format!("`{word}`"), "a package is read as a whole")
            .help("name the folder of its Cargo.toml, as in `paths=./...`")),
    }
}

fn output(word: &str, rule: &str) -> Result<Word, OptionError> {
    let first = rule.split(':').next().unwrap_or_default();
    let (generator, rule) = match Generator::named(first) {
        Some(generator) => (Some(generator), rule[first.len()..].trim_start_matches(':')),
        None => (None, rule),
    };
    let failed = |message: String| OptionError::new(format!("`{word}`"), message);
    let name = rule.split([':', '=']).next().unwrap_or_default();
    let folder = |folder: &str| {
        let folder = folder.trim_matches('"');
        if folder.is_empty() {
            Err(failed(format!("`{name}` needs a folder")))
        } else {
            Ok(Output::Folder(folder.into()))
        }
    };
    let output = match (name, &rule[name.len()..]) {
        ("stdout", "") => Output::Stdout,
        ("none", "") => Output::Nowhere,
        ("dir", value) => folder(value.trim_start_matches('='))?,
        // Where code would go does not matter, since none is generated.
        ("artifacts", value) => {
            let config = value.split([':', ',']).find_map(|part| part.strip_prefix("config="));
            folder(config.unwrap_or_default())?
        }
        _ => {
            let error = failed(format!("there is no output rule `{rule}`"));
            let words =
                Generator::ALL.into_iter().map(Generator::name).chain(["dir", "stdout", "none", "artifacts"]);
            return Err(match nearest(name, words) {
                Some(right) => error.help(format!("write `{right}`")),
                None => {
                    error.help("the rules are `dir=FOLDER`, `stdout`, `none` and `artifacts:config=FOLDER`")
                }
            });
        }
    };
    Ok(Word::Output { generator, output })
}

/// The names of the options of a generator.
pub(super) fn option_names(generator: Generator) -> impl Iterator<Item = &'static str> {
    table::options(generator).iter().map(|option| option.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(word: &str) -> String {
        Word::parse(word).expect_err("no word").to_string()
    }

    #[test]
    fn the_line_of_a_kubebuilder_makefile_is_understood() {
        let words = [
            "rbac:roleName=manager-role",
            "crd",
            "webhook",
            "paths=./...",
            "output:crd:artifacts:config=config/crd/bases",
        ];
        let words: Vec<Word> = words.into_iter().map(|word| Word::parse(word).expect("valid")).collect();
        let generator = |generator, options: &[(&'static str, &str)]| Word::Generator {
            generator,
            options: options.iter().map(|(name, value)| (*name, Value::from(*value))).collect(),
        };
        assert_eq!(
            words,
            [
                generator(Generator::Rbac, &[("roleName", "manager-role")]),
                generator(Generator::Crd, &[]),
                generator(Generator::Webhook, &[]),
                Word::Path(".".to_owned()),
                Word::Output {
                    generator: Some(Generator::Crd),
                    output: Output::Folder("config/crd/bases".into())
                },
            ]
        );
        assert_eq!(Word::parse("object:headerFile=hack/boilerplate.go.txt"), Ok(Word::Needless("object")));
    }

    #[test]
    fn values_have_the_types_of_the_table() {
        let options = |word: &str| match Word::parse(word).expect("valid") {
            Word::Generator { options, .. } => options,
            other => panic!("{other:?}"),
        };
        assert_eq!(options("crd:maxDescLen=-1"), [("maxDescLen", Value::from(-1))]);
        assert_eq!(options("crd:crdVersions={v1}"), [("crdVersions", Value::from(vec!["v1"]))]);
        assert_eq!(options("rbac:headerFile=\"a b\""), [("headerFile", Value::from("a b"))]);
        assert_eq!(options("rbac:year=2026"), [("year", Value::from("2026"))]);
    }

    #[test]
    fn output_rules_are_those_of_controller_gen() {
        let rule = |word: &str| match Word::parse(word).expect("valid") {
            Word::Output { generator, output } => (generator, output),
            other => panic!("{other:?}"),
        };
        assert_eq!(rule("output:stdout"), (None, Output::Stdout));
        assert_eq!(rule("output:rbac:none"), (Some(Generator::Rbac), Output::Nowhere));
        assert_eq!(rule("output:dir=a/b"), (None, Output::Folder("a/b".into())));
        assert_eq!(rule("output:artifacts:code=x,config=y"), (None, Output::Folder("y".into())));
    }

    #[test]
    fn slips_are_errors_with_the_right_word() {
        assert_eq!(
            error("crd:maxDescLenn=0"),
            "`crd:maxDescLenn=0`: `crd` has no argument `maxDescLenn`; write `maxDescLen`"
        );
        assert_eq!(
            error("rabc:roleName=x"),
            "`rabc:roleName=x`: there is no generator `rabc`; write `rbac:roleName=x`"
        );
        assert_eq!(
            error("output:crd:dri=x"),
            "`output:crd:dri=x`: there is no output rule `dri=x`; write `dir`"
        );
        assert_eq!(
            error("output:crb:stdout"),
            "`output:crb:stdout`: there is no output rule `crb:stdout`; write `crd`"
        );
        assert_eq!(error("output:dir="), "`output:dir=`: `dir` needs a folder");
        assert!(error("crd:maxDescLen=short").contains("number"), "{}", error("crd:maxDescLen=short"));
        assert!(error("schemapatch:manifests=x").contains("run `crd` instead"));
        assert!(error("paths=./a/...;./b/...").contains("a package is read as a whole"));
        assert_eq!(suggestion("rbca"), Some("rbac"));
        assert_eq!(suggestion("examples/memcached-operator"), None);
    }

    #[test]
    fn anything_else_is_a_path() {
        for path in [".", "examples/memcached-operator", "C:operator", "a=b", "./crd"] {
            assert_eq!(Word::parse(path), Ok(Word::Path(path.to_owned())));
        }
    }
}
