//! A type before and after a marker was put on it.

use std::sync::Arc;

use kubewright_manifests::{
    Style,
    diagnostic::Diagnostic,
    marker::{Marker, Target, parse},
    schema::{self, Options},
};
use schemars::JsonSchema;
use serde_json::Value;

/// What comes out.
pub(crate) struct Outcome {
    pub(crate) document: Value,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

type Make = Arc<dyn Fn(Style) -> Outcome>;

/// A marker, what it stands on, and what is made of that without and with it.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) target: Target,
    /// What it stands on, for readers: `a field: i32`.
    pub(crate) shown: String,
    /// The Rust type; empty if it is not of this kind.
    pub(crate) subject: String,
    /// The lines of the comment before and after; the last one of these is the marker.
    pub(crate) before_markers: Vec<String>,
    pub(crate) after_markers: Vec<String>,
    /// Whether it may stand there, but cannot have its effect on such a type.
    pub(crate) is_refused: bool,
    /// Whether it says what is so without it.
    pub(crate) is_default: bool,
    /// Whether controller-gen refuses it for a reason of its own.
    pub(crate) is_refused_by_controller_gen: bool,
    before: Make,
    after: Make,
}

// === impl Entry ===

impl Entry {
    pub(crate) fn new(
        target: Target,
        shown: impl Into<String>,
        lines: (&[&str], &[&str]),
        before: impl Fn(Style) -> Outcome + 'static,
        after: impl Fn(Style) -> Outcome + 'static,
    ) -> Self {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Self {
            target,
            shown: shown.into(),
            subject: String::new(),
            before_markers: owned(lines.0),
            after_markers: owned(lines.1),
            is_refused: false,
            is_default: false,
            is_refused_by_controller_gen: false,
            before: Arc::new(before),
            after: Arc::new(after),
        }
    }

    /// A schema of `B` that becomes that of `A`.
    pub(crate) fn of_schemas<B: JsonSchema + 'static, A: JsonSchema + 'static>(
        target: Target,
        subject: &str,
        lines: (&[&str], &[&str]),
    ) -> Self {
        // Within another macro a type has blanks around its brackets.
        let subject = subject.replace(" < ", "<").replace(" >", ">");
        let shown = format!("{}: {subject}", target.describe());
        Self { subject, ..Self::new(target, shown, lines, compiled::<B>, compiled::<A>) }
    }

    /// It stands where it has no meaning.
    pub(crate) fn refused(mut self) -> Self {
        self.is_refused = true;
        self
    }

    /// It says what is so anyway.
    pub(crate) fn says_the_default(mut self) -> Self {
        self.is_default = true;
        self
    }

    /// controller-gen refuses it, since it does not look behind the reference to a type.
    pub(crate) fn refused_by_controller_gen(mut self) -> Self {
        self.is_refused_by_controller_gen = true;
        self
    }

    /// The marker that is looked at.
    pub(crate) fn marker(&self) -> Marker {
        read(self.after_markers.last().expect("a marker"), self.target)
    }

    pub(crate) fn before(&self, style: Style) -> Outcome {
        (self.before)(style)
    }

    pub(crate) fn after(&self, style: Style) -> Outcome {
        (self.after)(style)
    }

    /// The optional argument that is new, if nothing else is.
    pub(crate) fn new_arguments(&self) -> Option<&'static str> {
        let marker = self.marker();
        let was = self.before_markers.iter().filter(|line| line.starts_with('+'));
        let was = was
            .map(|line| read(line, self.target))
            .find(|other| std::ptr::eq(other.definition, marker.definition));
        let was: Vec<&str> =
            was.iter().flat_map(|marker| &marker.arguments).map(|argument| argument.name).collect();
        let required = |name: &str| {
            marker
                .definition
                .named_arguments()
                .iter()
                .any(|argument| argument.name == name && argument.required)
        };
        let mut new = marker.arguments.iter().map(|argument| argument.name);
        let mut new = new.by_ref().filter(|name| !was.contains(name) && !required(name));
        let first = new.next()?;
        new.next().is_none().then_some(first)
    }
}

fn read(line: &str, target: Target) -> Marker {
    let targets: &[Target] = match target {
        Target::Kind => &[Target::Type, Target::Kind],
        Target::Type => &[Target::Type],
        Target::Field => &[Target::Field],
        Target::Code => &[Target::Code],
        _ => &[Target::Package],
    };
    parse(line, targets).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn compiled<T: JsonSchema>(style: Style) -> Outcome {
    let mut options = Options::default();
    options.style = style;
    options.allow_dangerous_types = true;
    let compiled = schema::compile::<T>(&options);
    Outcome { document: compiled.schema, diagnostics: compiled.diagnostics }
}

// What has a value of the type.
#[derive(JsonSchema)]
#[schemars(rename = "Spec")]
pub(crate) struct Holder<T> {
    value: T,
}

// What has a spec.
#[derive(JsonSchema)]
#[schemars(rename = "Thing")]
pub(crate) struct Thing<S> {
    spec: S,
}

// A struct to put into lists and fields. It has no doc comment, which would be a description.
#[derive(JsonSchema)]
pub(crate) struct Item {
    name: String,
    port: Option<i32>,
}

/// The lines of a field's comment, without and with a marker.
macro_rules! field {
    ($of:ty: $marker:expr) => { field!($of, [] => [$marker]) };
    ($of:ty, [$($before:expr),*] => [$($after:expr),+]) => {{
        #[derive(schemars::JsonSchema)]
        #[schemars(rename = "Spec")]
        struct Before { $(#[doc = $before])* value: $of }
        #[derive(schemars::JsonSchema)]
        #[schemars(rename = "Spec")]
        struct After { $(#[doc = $after])+ value: $of }
        $crate::entry::Entry::of_schemas::<Before, After>(
            kubewright_manifests::marker::Target::Field, stringify!($of), (&[$($before),*], &[$($after),+]),
        )
    }};
}

/// The same of a type: one around another, a struct, or an enum.
macro_rules! typed {
    (struct $fields:tt: $marker:expr) => { typed!(struct $fields, [] => [$marker]) };
    (struct $fields:tt, [$($before:expr),*] => [$($after:expr),+]) => {
        typed!(@ (struct) $fields () stringify!($fields), [$($before),*] => [$($after),+])
    };
    (enum $variants:tt: $marker:expr) => {
        typed!(@ (enum) $variants () concat!("enum ", stringify!($variants)), [] => [$marker])
    };
    ($of:ty: $marker:expr) => { typed!($of, [] => [$marker]) };
    ($of:ty, [$($before:expr),*] => [$($after:expr),+]) => {
        typed!(@ (struct) ($of) (;) stringify!($of), [$($before),*] => [$($after),+])
    };
    (@ ($($word:tt)+) $body:tt ($($end:tt)*) $shown:expr, [$($before:expr),*] => [$($after:expr),+]) => {{
        #[derive(schemars::JsonSchema)]
        #[schemars(rename = "Value")]
        $(#[doc = $before])*
        $($word)+ Before $body $($end)*
        #[derive(schemars::JsonSchema)]
        #[schemars(rename = "Value")]
        $(#[doc = $after])+
        $($word)+ After $body $($end)*
        $crate::entry::Entry::of_schemas::<$crate::entry::Holder<Before>, $crate::entry::Holder<After>>(
            kubewright_manifests::marker::Target::Type, $shown, (&[$($before),*], &[$($after),+]),
        )
    }};
}

/// The same of the spec of a kind.
macro_rules! spec {
    ($marker:expr) => { spec!([] => [$marker]) };
    ([$($before:expr),*] => [$($after:expr),+]) => {{
        #[derive(schemars::JsonSchema)]
        #[schemars(rename = "ThingSpec")]
        $(#[doc = $before])*
        struct Before { first: Option<String>, second: Option<String> }
        #[derive(schemars::JsonSchema)]
        #[schemars(rename = "ThingSpec")]
        $(#[doc = $after])+
        struct After { first: Option<String>, second: Option<String> }
        $crate::entry::Entry::of_schemas::<$crate::entry::Thing<Before>, $crate::entry::Thing<After>>(
            kubewright_manifests::marker::Target::Kind,
            "{ first: Option<String>, second: Option<String> }",
            (&[$($before),*], &[$($after),+]),
        )
    }};
}

/// A validation marker on a field, a type, and the items of both.
macro_rules! values {
    ($of:ty: $marker:literal) => { values!($of, [] => $marker) };
    ($of:ty, [$($before:literal),*] => $marker:literal) => {[
        field!($of, [$(concat!("+kubebuilder:validation:", $before)),*] => [
            $(concat!("+kubebuilder:validation:", $before),)* concat!("+kubebuilder:validation:", $marker)
        ]),
        typed!($of, [$(concat!("+kubebuilder:validation:", $before)),*] => [
            $(concat!("+kubebuilder:validation:", $before),)* concat!("+kubebuilder:validation:", $marker)
        ]),
        field!(Vec<$of>, [$(concat!("+kubebuilder:validation:items:", $before)),*] => [
            $(concat!("+kubebuilder:validation:items:", $before),)* concat!("+kubebuilder:validation:items:", $marker)
        ]),
        typed!(Vec<$of>, [$(concat!("+kubebuilder:validation:items:", $before)),*] => [
            $(concat!("+kubebuilder:validation:items:", $before),)* concat!("+kubebuilder:validation:items:", $marker)
        ]),
    ]};
}
