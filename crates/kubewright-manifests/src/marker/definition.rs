//! The columns of the table of markers, and a marker that was read by it.

use std::ops::Range;

use serde_json::Value;

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
    /// The native attribute that says the same, such as `#[schemars(range(max = 3))]`.
    pub native: Option<&'static str>,
}

/// What a marker may stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// Anywhere in a package: it is about code or about the package as a whole.
    Package,
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
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// Several of one kind.
    List(&'static ValueKind),
    /// Anything; the type is guessed from the text as controller-gen does.
    Any,
    /// JSON text.
    Json,
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
    /// The whole text from its `+` to the end of the line.
    pub text: String,
    /// Whether it is meant for the items of a list.
    pub on_items: bool,
    /// The arguments, in the order of the text. That of a marker with one value has the name ``.
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
