//! The columns of the table of markers, and a marker that was read by it.

use std::ops::Range;

use serde_json::Value;

use super::syntax::list_of;

/// One row of the table of markers: everything that is known of one marker.
///
/// Parsing, errors, the reference page, shell completion and the documentation come from these rows.
#[derive(Debug)]
#[non_exhaustive]
pub struct Definition {
    /// The name without the `+`, such as `kubebuilder:validation:Maximum`.
    pub name: &'static str,
    /// Other spellings of the same, such as `k8s:listType` for `listType`.
    pub aliases: &'static [&'static str],
    /// What it may stand on.
    pub targets: &'static [Target],
    /// What it takes.
    pub arguments: Arguments,
    /// Whether `kubebuilder:validation:items:` before the last part of its name applies it to the items of a list.
    pub on_items: bool,
    /// Markers of one node are applied from the lowest priority to the highest; equal ones in the order of the source.
    pub priority: u8,
    /// What it does.
    pub effect: Effect,
    /// One or two sentences for people.
    pub help: &'static str,
    /// A marker as it is written; empty if it is the name alone.
    pub example: &'static str,
    /// The native attribute that says the same, such as `#[schemars(range(max = 3))]`.
    pub native: Option<&'static str>,
}

/// What a marker may stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// A package as a whole: an inner comment of a file or module, or a comment between items.
    Package,
    /// Code that is no type: a function, an `impl`, a constant.
    Code,
    /// A type.
    Type,
    /// The spec of a custom resource, which speaks for the kind.
    Kind,
    /// A field.
    Field,
}

/// The form of a marker's arguments.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Arguments {
    /// None: `+nullable`.
    None,
    /// One value after the `=`: `+kubebuilder:validation:Minimum=1`.
    Value(ValueKind),
    /// One value, which may be left out together with its `=`: `+groupName`.
    OptionalValue(ValueKind),
    /// Named ones: `+kubebuilder:rbac:groups=apps,verbs=get;list`.
    Named(&'static [Argument]),
}

/// A named argument.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Argument {
    /// The name.
    pub name: &'static str,
    /// What it takes.
    pub kind: ValueKind,
    /// Whether it is an error to leave it out.
    pub required: bool,
    /// One sentence for people.
    pub help: &'static str,
}

/// The type of a value.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ValueKind {
    /// Text, quoted or bare.
    String,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words in any case; read as it stands here.
    AnyCase(&'static [&'static str]),
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// All that is left, as a whole number with an optional sign, as Go's `Atoi` knows it.
    Atoi,
    /// All that is left, as a number in any form that Go's `ParseFloat` knows, such as `+5`, `1e3` or `0x10p0`.
    ParseFloat,
    /// `true` or `false`.
    Bool,
    /// Several of one kind.
    List(&'static ValueKind),
    /// Anything; the type is guessed from the text as controller-gen does.
    Any,
    /// JSON text. `ref(..)`, which names a constant of Go, is read as `null`.
    Json,
    /// A value of this kind, after which a comment may follow that begins with `#`.
    Commented(&'static ValueKind),
    /// Everything after the `=`, as it stands.
    Raw,
}

/// What a marker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Changes the schema of the type or field.
    Schema(SchemaEffect),
    /// Changes the CRD or one version of it.
    Crd(CrdEffect),
    /// Is about the package.
    Package(PackageEffect),
    /// Adds a rule to a role.
    Rbac,
    /// Adds a webhook.
    Webhook,
    /// Names a webhook configuration.
    WebhookConfiguration,
    /// Nothing: it is known, and has no meaning in Rust.
    Nothing,
}

/// What a marker does to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the marker of the same name says it")]
pub enum SchemaEffect {
    Maximum,
    Minimum,
    ExclusiveMaximum,
    ExclusiveMinimum,
    MultipleOf,
    MinProperties,
    MaxProperties,
    MinLength,
    MaxLength,
    Pattern,
    MinItems,
    MaxItems,
    UniqueItems,
    Enum,
    Format,
    Type,
    PreserveUnknownFields,
    EmbeddedResource,
    IntOrString,
    Validation,
    AtMostOneOf,
    ExactlyOneOf,
    AtLeastOneOf,
    EnumOfVariants,
    Required,
    /// `k8s:required`, which also forbids the empty value.
    RequiredNotEmpty,
    Optional,
    Nullable,
    Default,
    Example,
    Schemaless,
    Immutable,
    Title,
    ExternalDocs,
    ListType,
    ListMapKey,
    MapType,
    StructType,
    /// Limits or drops the descriptions from here on.
    Description,
    /// Opens a recursive type at this field.
    Recursion,
}

/// What a marker does to a CRD or to one of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the marker of the same name says it")]
pub enum CrdEffect {
    Resource,
    StatusSubresource,
    ScaleSubresource,
    PrintColumn,
    SelectableField,
    StorageVersion,
    UnservedVersion,
    DeprecatedVersion,
    SkipVersion,
    Metadata,
    /// `kubewright:conversion`, which controller-gen does not have.
    Conversion,
}

/// What a marker says of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the marker of the same name says it")]
pub enum PackageEffect {
    GroupName,
    VersionName,
    Skip,
    OptionalFields,
    RequiredFields,
}

/// A marker as it was read: the row of the table and the values of its arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Marker {
    /// Its row.
    pub definition: &'static Definition,
    /// The name as it was written, without `items:`: that of the row or one of its aliases.
    pub name: &'static str,
    /// The whole text from its `+` to the end of the line.
    pub text: String,
    /// Whether it is meant for the items of a list.
    pub on_items: bool,
    /// The arguments that are there, in the order of the text. That of a marker with one value has the name ``.
    pub arguments: Vec<MarkerArgument>,
}

/// An argument as it was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MarkerArgument {
    /// The name as the table has it.
    pub name: &'static str,
    /// The value: strings, numbers, booleans, arrays and objects for what the text says.
    pub value: Value,
    /// The bytes of the marker's text with the value.
    pub range: Range<usize>,
}

// === impl Definition ===

impl Definition {
    /// A row with no aliases, the usual priority, and no native attribute.
    pub(super) const fn new(
        name: &'static str,
        targets: &'static [Target],
        arguments: Arguments,
        effect: Effect,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            aliases: &[],
            targets,
            arguments,
            on_items: false,
            priority: 10,
            effect,
            help,
            example: "",
            native: None,
        }
    }

    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(super) const fn example(mut self, text: &'static str) -> Self {
        self.example = text;
        self
    }

    pub(super) const fn native(mut self, attribute: &'static str) -> Self {
        self.native = Some(attribute);
        self
    }

    pub(super) const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    pub(super) const fn on_items(mut self) -> Self {
        self.on_items = true;
        self
    }

    /// Whether it says one thing, so that a type or field has it once. Others add to each other.
    #[must_use]
    pub fn is_single(&self) -> bool {
        use SchemaEffect as S;
        match self.effect {
            Effect::Schema(effect) => !matches!(
                effect,
                S::Validation | S::AtMostOneOf | S::ExactlyOneOf | S::AtLeastOneOf | S::ListMapKey
            ),
            Effect::Crd(effect) => {
                // Names may be spread over several `resource` markers.
                !matches!(
                    effect,
                    CrdEffect::Resource
                        | CrdEffect::PrintColumn
                        | CrdEffect::SelectableField
                        | CrdEffect::Metadata
                )
            }
            Effect::Package(_) => true,
            Effect::Rbac | Effect::Webhook | Effect::WebhookConfiguration | Effect::Nothing => false,
        }
    }

    /// The named arguments; none if it takes none by name.
    #[must_use]
    pub fn named_arguments(&self) -> &'static [Argument] {
        match self.arguments {
            Arguments::Named(arguments) => arguments,
            _ => &[],
        }
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// The name for the items of a list; none if it does not apply to items.
    #[must_use]
    pub fn items_name(&self) -> Option<String> {
        let (family, last) = self.on_items.then(|| self.name.rsplit_once(':'))??;
        Some(format!("{family}:items:{last}"))
    }
}

// === impl Argument ===

impl Argument {
    pub(super) const fn required(name: &'static str, kind: ValueKind, help: &'static str) -> Self {
        Self { name, kind, required: true, help }
    }

    pub(crate) const fn optional(name: &'static str, kind: ValueKind, help: &'static str) -> Self {
        Self { name, kind, required: false, help }
    }
}

// === impl Target ===

impl Target {
    /// What it is, for people: `a field`.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Package => "a package",
            Self::Code => "code",
            Self::Type => "a type",
            Self::Kind => "the spec of a custom resource",
            Self::Field => "a field",
        }
    }
}

// === impl ValueKind ===

impl ValueKind {
    /// What is expected, for people: `a whole number`.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::String => "a text".to_owned(),
            Self::Word(words) => list_of(words),
            Self::AnyCase(words) => format!("{} in any case", list_of(words)),
            Self::Integer | Self::Atoi => "a whole number".to_owned(),
            Self::Number | Self::ParseFloat => "a number".to_owned(),
            Self::Bool => "`true` or `false`".to_owned(),
            Self::List(item) => format!("a list, each {}", item.describe()),
            Self::Any => "a value of any type".to_owned(),
            Self::Json => "JSON".to_owned(),
            Self::Commented(inner) => inner.describe(),
            Self::Raw => "anything".to_owned(),
        }
    }
}

// === impl Marker ===

impl Marker {
    /// The value of this argument; none if it was left out.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find(|argument| argument.name == name).map(|argument| &argument.value)
    }

    /// The value of a marker that takes one value without a name.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.argument("")
    }
}
