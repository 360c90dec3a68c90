//! From the text of a marker to its row and values.

use std::ops::Range;

use serde_json::Value;

use super::{
    Argument, Arguments, Definition, Marker, MarkerArgument, MarkerError, Target, ValueKind,
    lookup::{self, Found},
    nearest::nearest,
    syntax::Parser,
};

/// Reads a marker that stands where these targets are.
///
/// `text` goes from the `+` to the end of the line. Which of several rows of one name is meant, and whether the marker may stand
/// here at all, depends on `targets`: a spec of a custom resource is both [`Target::Type`] and [`Target::Kind`].
///
/// ```
/// use kubewright_manifests::marker::{Target, parse};
///
/// let marker = parse("+kubebuilder:validation:Maximum=3", &[Target::Field]).unwrap();
/// assert_eq!(marker.value(), Some(&serde_json::json!(3)));
///
/// let error = parse("+kubebuilder:validation:Maxmium=3", &[Target::Field]).unwrap_err();
/// assert_eq!(error.code, "unknown-marker");
/// assert_eq!(error.help, ["write `kubebuilder:validation:Maximum`"]);
/// ```
///
/// # Errors
///
/// A name that is not in the table, a place where the marker has no meaning, an argument that is missing, unknown, given
/// twice or of the wrong type, and text that no argument takes. The ranges of errors lie within `text`, on the
/// borders of characters.
pub fn parse(text: &str, targets: &[Target]) -> Result<Marker, MarkerError> {
    let here = targets.iter().map(|target| target.describe()).collect::<Vec<_>>().join(" or ");
    parse_on(text, targets, &here)
}

/// [`parse`] with another word for the place, as in `a function`.
pub(crate) fn parse_on(text: &str, targets: &[Target], here: &str) -> Result<Marker, MarkerError> {
    read(text, targets, here).map_err(|mut error| {
        let floor =
            |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let ceiling =
            |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let start = floor(error.range.start);
        error.range = start..ceiling(error.range.end).max(start);
        error
    })
}

fn read(text: &str, targets: &[Target], here: &str) -> Result<Marker, MarkerError> {
    let head = Head::of(text);
    let found = lookup::find(head.name, head.equals.is_some())
        .ok_or_else(|| lookup::unknown(head.name, 1..1 + head.name.len()))?;
    let definition = choose(&found, targets, here, 1..1 + found.written.len())?;
    let mut marker = Marker {
        definition,
        name: found.name,
        text: text.to_owned(),
        on_items: found.on_items,
        arguments: Vec::new(),
    };
    match definition.arguments {
        Arguments::None => {
            if let Some(equals) = head.equals {
                return Err(MarkerError::new(
                    "unexpected-value",
                    format!("`{}` takes no value", found.written),
                    1 + found.written.len()..text.len(),
                )
                .help(if text[equals + 1..].trim() == "false" {
                    "leave the marker out instead".to_owned()
                } else {
                    format!("write `+{}`", found.written)
                }));
            }
        }
        Arguments::Value(kind) | Arguments::OptionalValue(kind) => {
            if found.written.len() < head.name.len() {
                let extra = 1 + found.written.len()..1 + head.name.len();
                return Err(MarkerError::new(
                    "unknown-argument",
                    format!("`{}` takes one value, not arguments with names", found.written),
                    extra,
                )
                .help(format!("write `{}=..`", found.written)));
            }
            let optional = matches!(definition.arguments, Arguments::OptionalValue(_));
            match head.equals {
                Some(equals) => {
                    let mut parser = Parser::new(text, equals + 1);
                    if !(optional && parser.at_end()) {
                        let (value, range) = parser.value(kind)?;
                        finish(&mut parser, text, kind)?;
                        marker.arguments.push(MarkerArgument { name: "", value, range });
                    }
                }
                None if optional => {}
                None => {
                    return Err(MarkerError::new(
                        "missing-value",
                        format!("`{}` needs a value: {}", found.written, kind.describe()),
                        0..1 + head.name.len(),
                    )
                    .help(format!("write `{}=..`", found.written)));
                }
            }
        }
        Arguments::Named(known) => marker.arguments = arguments(known, text, &head, &found.written)?,
    }
    if head.equals.is_none() && head.end < text.trim_end().len() {
        return Err(MarkerError::new(
            "syntax",
            format!("there is text after `{}`", found.written),
            head.end..text.trim_end().len(),
        )
        .help("a marker is a line of its own; write prose and comments on other lines"));
    }
    Ok(marker)
}

/// The part of a marker before its values.
struct Head<'t> {
    /// The name, and for some markers that of the first argument after a colon.
    name: &'t str,
    /// Where the name ends.
    end: usize,
    /// Where the `=` is.
    equals: Option<usize>,
}

impl<'t> Head<'t> {
    fn of(text: &'t str) -> Self {
        let name = text.strip_prefix('+').unwrap_or(text);
        let start = text.len() - name.len();
        let end = start + name.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(name.len());
        let equals = text[end..].starts_with('=').then_some(end);
        let name = &text[start..end];
        // The old way to write `name:="value"`.
        let name = if equals.is_some() { name.strip_suffix(':').unwrap_or(name) } else { name };
        Self { name, end, equals }
    }
}

/// The row that fits the place.
fn choose(
    found: &Found,
    targets: &[Target],
    here: &str,
    range: Range<usize>,
) -> Result<&'static Definition, MarkerError> {
    if let Some(definition) =
        found.rows.iter().find(|row| row.targets.iter().any(|target| targets.contains(target)))
    {
        return Ok(definition);
    }
    let mut places: Vec<&str> = Vec::new();
    for target in found.rows.iter().flat_map(|row| row.targets) {
        // A type that is the spec of a custom resource is a type before all.
        let implied =
            *target == Target::Kind && found.rows.iter().any(|row| row.targets.contains(&Target::Type));
        if !implied && !places.contains(&target.describe()) {
            places.push(target.describe());
        }
    }
    Err(MarkerError::new("wrong-place", format!("`{}` has no meaning on {here}", found.written), range)
        .help(format!("it stands on {}", places.join(" or on "))))
}

/// Reads `name:argument=value,..` with the arguments that `known` has: the form of markers, which other things have too.
///
/// `text` begins with the name.
#[cfg(feature = "output")]
pub(crate) fn named_arguments(
    name: &str,
    known: &'static [Argument],
    text: &str,
) -> Result<Vec<MarkerArgument>, MarkerError> {
    let head = Head::of(text);
    if head.equals.is_none() && head.name.len() > name.len() {
        let range = name.len()..head.end;
        return Err(MarkerError::new("missing-value", format!("`{}` has no value", head.name), range)
            .help(format!("write `{}=..`", head.name)));
    }
    arguments(known, text, &head, name)
}

/// Reads named arguments.
fn arguments(
    known: &'static [Argument],
    text: &str,
    head: &Head<'_>,
    written: &str,
) -> Result<Vec<MarkerArgument>, MarkerError> {
    let start_of_name = usize::from(text.starts_with('+'));
    let mut read: Vec<MarkerArgument> = Vec::new();
    if let Some(equals) = head.equals {
        // The first name is the last part of the marker's, unless `:=` stands there.
        let first = start_of_name + written.len();
        let start = match text[first..equals].strip_prefix(':') {
            Some("") => equals + 1,
            Some(_) => first + 1,
            None => {
                return Err(MarkerError::new(
                    "unexpected-value",
                    format!("`{written}` takes arguments with names"),
                    equals..text.len(),
                )
                .help(format!(
                    "write `{written}:{}=..`",
                    known.first().map_or("name", |argument| argument.name)
                )));
            }
        };
        let mut parser = Parser::new(text, start);
        loop {
            let range = parser.argument_name().map_err(|error| match read.last() {
                Some(MarkerArgument { name, value: Value::Array(_), .. }) => MarkerError {
                    help: vec![format!("several values of `{name}` are written `{name}=a;b`")],
                    ..error
                },
                _ => error,
            })?;
            let name = &text[range.clone()];
            let Some(argument) = known.iter().find(|argument| argument.name == name) else {
                return Err(unknown_argument(known, written, name, range));
            };
            if read.iter().any(|present| present.name == name) {
                return Err(MarkerError::new("repeated-argument", format!("`{name}` is given twice"), range)
                    .maybe_help(
                        matches!(argument.kind, ValueKind::List(_))
                            .then(|| format!("several values are written `{name}=a;b`")),
                    ));
            }
            let (value, range) = parser.value(argument.kind)?;
            read.push(MarkerArgument { name: argument.name, value, range });
            if parser.at_end() {
                break;
            }
            if !parser.eat(',') {
                return Err(extra(&mut parser, text, argument.kind));
            }
        }
    }
    let is_given = |argument: &Argument| read.iter().any(|present| present.name == argument.name);
    match known.iter().find(|argument| argument.required && !is_given(argument)) {
        Some(missing) => Err(MarkerError::new(
            "missing-argument",
            format!("`{written}` needs the argument `{}`", missing.name),
            0..start_of_name + written.len(),
        )
        .help(format!("{}: {}", missing.name, lower_first(missing.help)))),
        None => Ok(read),
    }
}

fn unknown_argument(
    known: &'static [Argument],
    written: &str,
    name: &str,
    range: Range<usize>,
) -> MarkerError {
    let names = known.iter().map(|argument| argument.name);
    let help = match nearest(name, names.clone()) {
        Some(right) => format!("write `{right}`"),
        None => format!("it has {}", super::syntax::list_of(&names.collect::<Vec<_>>())),
    };
    MarkerError::new("unknown-argument", format!("`{written}` has no argument `{name}`"), range).help(help)
}

fn finish(parser: &mut Parser<'_>, text: &str, kind: ValueKind) -> Result<(), MarkerError> {
    if parser.at_end() { Ok(()) } else { Err(extra(parser, text, kind)) }
}

/// What is left after a value.
fn extra(parser: &mut Parser<'_>, text: &str, kind: ValueKind) -> MarkerError {
    let range = parser.rest();
    let error =
        MarkerError::new("syntax", format!("the value ends before `{}`", &text[range.clone()]), range);
    match kind {
        ValueKind::String
        | ValueKind::Any
        | ValueKind::Word(_)
        | ValueKind::AnyCase(_)
        | ValueKind::List(_) => {
            error.help("a text that has one of `,;}` in it stands in \"quotes\" or `backticks`")
        }
        _ => error,
    }
}

fn lower_first(sentence: &str) -> String {
    let mut characters = sentence.chars();
    let first: String = characters.next().map(|c| c.to_lowercase().collect()).unwrap_or_default();
    format!("{first}{}", characters.as_str().trim_end_matches('.'))
}

/// The values of a marker with one list, or none.
impl Marker {
    /// The texts of a list argument; empty if it was left out. Items that are no texts are skipped.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<&str> {
        match self.argument(name) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The text of an argument; none if it was left out or is no text.
    #[must_use]
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.argument(name).and_then(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FIELD: &[Target] = &[Target::Field];
    const SPEC: &[Target] = &[Target::Type, Target::Kind];

    fn error(text: &str, targets: &[Target]) -> (&'static str, String, String) {
        let error = parse(text, targets).unwrap_err();
        (error.code, text[error.range].to_owned(), error.help.join("; "))
    }

    #[test]
    fn values_are_read_with_their_bytes() {
        let text = "+kubebuilder:resource:path=foos,shortName=f;fo,scope=Cluster";
        let marker = parse(text, SPEC).unwrap();
        assert_eq!(marker.argument("shortName"), Some(&json!(["f", "fo"])));
        let places: Vec<_> = marker.arguments.iter().map(|a| (a.name, &text[a.range.clone()])).collect();
        assert_eq!(places, [("path", "foos"), ("shortName", "f;fo"), ("scope", "Cluster")]);
        assert_eq!(marker.texts("shortName"), ["f", "fo"]);
        assert_eq!(marker.text_of("path"), Some("foos"));
    }

    #[test]
    fn the_old_assignment_is_understood() {
        let marker = parse("+kubebuilder:validation:Pattern:=\"^a$\"", FIELD).unwrap();
        assert_eq!(marker.value(), Some(&json!("^a$")));
        assert_eq!(parse("+kubebuilder:resource:=path=x", SPEC).unwrap().text_of("path"), Some("x"));
    }

    #[test]
    fn items_are_told_apart() {
        let marker = parse("+kubebuilder:validation:items:MinLength=1", FIELD).unwrap();
        assert!(marker.on_items);
        assert_eq!(marker.definition.name, "kubebuilder:validation:MinLength");
        let marker = parse("+kubebuilder:validation:items:XValidation:rule=true", FIELD).unwrap();
        assert!(marker.on_items && marker.text_of("rule") == Some("true"));
        assert_eq!(error("+kubebuilder:validation:items:Optional", FIELD).0, "unknown-marker");
    }

    #[test]
    fn one_name_may_mean_two_things() {
        let field = parse("+kubebuilder:validation:Optional", FIELD).unwrap();
        let package = parse("+kubebuilder:validation:Optional", &[Target::Package]).unwrap();
        assert_eq!(field.definition.name, "optional");
        assert_ne!(field.definition.effect, package.definition.effect);
    }

    #[test]
    fn an_optional_value_may_be_left_out() {
        for text in ["+groupName", "+groupName="] {
            assert_eq!(parse(text, &[Target::Package]).unwrap().value(), None, "{text}");
        }
        assert_eq!(error("+versionName=", &[Target::Package]).0, "missing-value");
    }

    #[test]
    fn errors_point_at_the_fault_and_say_what_is_right() {
        let at = |code, part: &str, help: &str| (code, part.to_owned(), help.to_owned());
        assert_eq!(
            error("+kubebuilder:validation:Maxmium=3", FIELD),
            at("unknown-marker", "kubebuilder:validation:Maxmium", "write `kubebuilder:validation:Maximum`")
        );
        assert_eq!(error("+kubebuilder:validation:nullable", FIELD).2, "write `nullable`");
        assert_eq!(error("+kubebuilder:Minimum=1", FIELD).2, "write `kubebuilder:validation:Minimum`");
        assert_eq!(error("+kubebuilder:rback:groups=apps", FIELD).2, "write `kubebuilder:rbac:groups=..`");
        assert_eq!(error("+kubebuilder:resource:paht", SPEC).2, "write `kubebuilder:resource:path=..`");
        assert_eq!(
            error("+kubebuilder:rbac:groups=apps,resuorces=pods,verbs=get", FIELD),
            at("unknown-argument", "resuorces", "write `resources`")
        );
        assert_eq!(
            error("+kubebuilder:rbac:groups=apps", FIELD).1,
            "+kubebuilder:rbac",
            "a missing argument is one of the whole marker"
        );
        assert_eq!(error("+listType=Map", FIELD), at("unknown-word", "Map", "write `map`"));
        assert_eq!(error("+kubebuilder:validation:MinLength=a", FIELD).1, "a");
        assert_eq!(
            error("+kubebuilder:validation:Pattern=^a{1,3}$", FIELD),
            at("syntax", ",3}$", "a text that has one of `,;}` in it stands in \"quotes\" or `backticks`")
        );
        assert_eq!(
            error("+kubebuilder:storageversion", FIELD),
            at("wrong-place", "kubebuilder:storageversion", "it stands on the spec of a custom resource")
        );
        assert_eq!(error("+optional=true", FIELD).0, "unexpected-value");
        assert_eq!(error("+optional for now", FIELD).1, " for now");
        assert_eq!(error("+kubebuilder:rbac=get", FIELD).2, "write `kubebuilder:rbac:groups=..`");
        assert_eq!(error("+kubebuilder:validation:Minimum:value=3", FIELD).1, ":value");
        assert_eq!(error("+kubebuilder:resource:path=a,path=b", SPEC), at("repeated-argument", "path", ""));
        assert_eq!(error("+kubebuilder:title=", FIELD).0, "missing-value");
        assert_eq!(error("+kubebuilder:validation:MaxLength", FIELD).0, "missing-value");
    }
}
