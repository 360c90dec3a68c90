//! What limits values.

use super::{FIELD, TYPE, TYPE_OR_FIELD};
use crate::marker::{
    Argument,
    Arguments::{Named, None as Nothing, Value},
    Definition,
    Effect::Schema,
    SchemaEffect as S,
    ValueKind::{Any, Atoi, Bool, Commented, Integer, List, Number, ParseFloat, String as Text, Word},
};

const REASONS: &[&str] =
    &["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

const RULE: &[Argument] = &[
    Argument::required(
        "rule",
        Text,
        "The CEL expression, with the value as `self` and the one before an update as `oldSelf`.",
    ),
    Argument::optional("message", Text, "What the API server says when the rule is broken."),
    Argument::optional(
        "messageExpression",
        Text,
        "A CEL expression for that message; it wins over `message`.",
    ),
    Argument::optional(
        "reason",
        Word(REASONS),
        "The reason in the answer; `FieldValueInvalid` unless given.",
    ),
    Argument::optional(
        "fieldPath",
        Text,
        "The path, below the value, of the field that is to blame, such as `.replicas`.",
    ),
    Argument::optional(
        "optionalOldSelf",
        Bool,
        "Whether a rule that names `oldSelf` also runs when there is no old value.",
    ),
];

pub(super) static ROWS: &[Definition] = &[
    Definition::new(
        "kubebuilder:validation:Minimum",
        TYPE_OR_FIELD,
        Value(ParseFloat),
        Schema(S::Minimum),
        "The smallest number allowed.",
    ).example("+kubebuilder:validation:Minimum=1")
    .on_items()
    .native("#[schemars(range(min = 1))]"),
    Definition::new(
        "kubebuilder:validation:Maximum",
        TYPE_OR_FIELD,
        Value(ParseFloat),
        Schema(S::Maximum),
        "The largest number allowed.",
    ).example("+kubebuilder:validation:Maximum=3")
    .on_items()
    .native("#[schemars(range(max = 3))]"),
    Definition::new(
        "k8s:minimum",
        FIELD,
        Value(Commented(&ParseFloat)),
        Schema(S::Minimum),
        "The smallest number allowed, in the spelling of Kubernetes' declarative validation.",
    ).example("+k8s:minimum=1 # at least one")
    .native("#[schemars(range(min = 1))]"),
    Definition::new(
        "k8s:maximum",
        FIELD,
        Value(Commented(&ParseFloat)),
        Schema(S::Maximum),
        "The largest number allowed, in the spelling of Kubernetes' declarative validation.",
    ).example("+k8s:maximum=3")
    .native("#[schemars(range(max = 3))]"),
    Definition::new(
        "kubebuilder:validation:ExclusiveMinimum",
        TYPE_OR_FIELD,
        Value(Bool),
        Schema(S::ExclusiveMinimum),
        "Whether the number of `Minimum` itself is excluded.",
    ).example("+kubebuilder:validation:ExclusiveMinimum=true")
    .on_items()
    .native("#[schemars(extend(\"exclusiveMinimum\" = 0))]"),
    Definition::new(
        "kubebuilder:validation:ExclusiveMaximum",
        TYPE_OR_FIELD,
        Value(Bool),
        Schema(S::ExclusiveMaximum),
        "Whether the number of `Maximum` itself is excluded.",
    ).example("+kubebuilder:validation:ExclusiveMaximum=true")
    .on_items()
    .native("#[schemars(extend(\"exclusiveMaximum\" = 100))]"),
    Definition::new(
        "kubebuilder:validation:MultipleOf",
        TYPE_OR_FIELD,
        Value(Number),
        Schema(S::MultipleOf),
        "The number that every value is a multiple of.",
    ).example("+kubebuilder:validation:MultipleOf=5")
    .on_items()
    .native("#[schemars(extend(\"multipleOf\" = 5))]"),
    Definition::new(
        "kubebuilder:validation:MinLength",
        TYPE_OR_FIELD,
        Value(Integer),
        Schema(S::MinLength),
        "The smallest number of characters of a text.",
    ).example("+kubebuilder:validation:MinLength=1")
    .on_items()
    .native("#[schemars(length(min = 1))]"),
    Definition::new(
        "kubebuilder:validation:MaxLength",
        TYPE_OR_FIELD,
        Value(Integer),
        Schema(S::MaxLength),
        "The largest number of characters of a text. With it the API server can bound the cost of CEL rules.",
    ).example("+kubebuilder:validation:MaxLength=63")
    .on_items()
    .native("#[schemars(length(max = 63))]"),
    Definition::new(
        "kubebuilder:validation:Pattern",
        TYPE_OR_FIELD,
        Value(Text),
        Schema(S::Pattern),
        "The regular expression (RE2) that matches somewhere in the text; anchor it with `^` and `$`. Write it in backticks.",
    ).example("+kubebuilder:validation:Pattern=`^[a-z]{1,8}$`")
    .on_items()
    .native("#[schemars(regex(pattern = r\"^[a-z]+$\"))]"),
    Definition::new(
        "kubebuilder:validation:Format",
        TYPE_OR_FIELD,
        Value(Text),
        Schema(S::Format),
        "The format of the text or number, such as `date-time`, `uuid` or `int32`. API servers ignore formats that they do not know.",
    ).example("+kubebuilder:validation:Format=date-time")
    .on_items()
    .native("#[schemars(extend(\"format\" = \"ipv4\"))]"),
    Definition::new(
        "kubebuilder:validation:Enum",
        TYPE_OR_FIELD,
        Value(List(&Any)),
        Schema(S::Enum),
        "The values allowed. A Rust enum of unit variants says the same, and code can rely on it.",
    ).example("+kubebuilder:validation:Enum=small;large")
    .on_items()
    .native("#[schemars(extend(\"enum\" = [\"small\", \"large\"]))]"),
    Definition::new(
        "kubebuilder:validation:MinItems",
        TYPE_OR_FIELD,
        Value(Integer),
        Schema(S::MinItems),
        "The smallest number of items of a list.",
    ).example("+kubebuilder:validation:MinItems=1")
    .on_items()
    .native("#[schemars(length(min = 1))]"),
    Definition::new(
        "kubebuilder:validation:MaxItems",
        TYPE_OR_FIELD,
        Value(Atoi),
        Schema(S::MaxItems),
        "The largest number of items of a list. With it the API server can bound the cost of CEL rules.",
    ).example("+kubebuilder:validation:MaxItems=10")
    .on_items()
    .native("#[schemars(length(max = 10))]"),
    Definition::new(
        "k8s:maxItems",
        FIELD,
        Value(Commented(&Atoi)),
        Schema(S::MaxItems),
        "The largest number of items of a list, in the spelling of Kubernetes' declarative validation.",
    ).example("+k8s:maxItems=10")
    .native("#[schemars(length(max = 10))]"),
    Definition::new(
        "kubebuilder:validation:UniqueItems",
        TYPE_OR_FIELD,
        Value(Bool),
        Schema(S::UniqueItems),
        "Whether the items of a list differ from each other. API servers refuse a CRD with `true` here: use `listType=set`.",
    ).example("+kubebuilder:validation:UniqueItems=true")
    .on_items(),
    Definition::new(
        "kubebuilder:validation:MinProperties",
        TYPE_OR_FIELD,
        Value(Integer),
        Schema(S::MinProperties),
        "The smallest number of entries of a map, or of fields that are set.",
    ).example("+kubebuilder:validation:MinProperties=1")
    .on_items()
    .native("#[schemars(extend(\"minProperties\" = 1))]"),
    Definition::new(
        "kubebuilder:validation:MaxProperties",
        TYPE_OR_FIELD,
        Value(Integer),
        Schema(S::MaxProperties),
        "The largest number of entries of a map, or of fields that are set.",
    ).example("+kubebuilder:validation:MaxProperties=10")
    .on_items()
    .native("#[schemars(extend(\"maxProperties\" = 10))]"),
    Definition::new(
        "kubebuilder:validation:XValidation",
        TYPE_OR_FIELD,
        Named(RULE),
        Schema(S::Validation),
        "A CEL rule that every value obeys. May be repeated; the API server runs all of them.",
    ).example(r#"+kubebuilder:validation:XValidation:rule="self.min <= self.max",message="min is above max""#)
    .on_items()
    .native("#[x_kube(validation = Rule::new(\"self.min <= self.max\").message(\"min is above max\"))]"),
    Definition::new(
        "kubebuilder:validation:AtMostOneOf",
        TYPE,
        Value(List(&Text)),
        Schema(S::AtMostOneOf),
        "Optional fields, by their JSON names, of which at most one may be set.",
    ).example("+kubebuilder:validation:AtMostOneOf=secretName;configMapName")
    .priority(11),
    Definition::new(
        "kubebuilder:validation:ExactlyOneOf",
        TYPE,
        Value(List(&Text)),
        Schema(S::ExactlyOneOf),
        "Optional fields, by their JSON names, of which exactly one must be set. A Rust enum with data says the same.",
    ).example("+kubebuilder:validation:ExactlyOneOf=secretName;configMapName")
    .priority(12),
    Definition::new(
        "kubebuilder:validation:AtLeastOneOf",
        TYPE,
        Value(List(&Text)),
        Schema(S::AtLeastOneOf),
        "Optional fields, by their JSON names, of which at least one must be set.",
    ).example("+kubebuilder:validation:AtLeastOneOf=secretName;configMapName")
    .priority(13),
    Definition::new(
        "k8s:immutable",
        FIELD,
        Nothing,
        Schema(S::Immutable),
        "The value cannot change once it is set: two CEL rules, one of them on the object around an optional field.",
    )
    .native("#[x_kube(validation = Rule::new(\"self == oldSelf\").message(\"field is immutable\"))]"),
    Definition::new(
        "k8s:enum",
        TYPE,
        Nothing,
        Schema(S::EnumOfVariants),
        "The values allowed are those of the type's unit variants, sorted. A Rust enum needs no marker for that.",
    ),
];
