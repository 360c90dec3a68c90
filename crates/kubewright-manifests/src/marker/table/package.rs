//! What is said of a whole package.

use super::PACKAGE;
use crate::marker::{
    Arguments::{None as Nothing, OptionalValue, Value},
    Definition,
    Effect::Package,
    PackageEffect as P,
    ValueKind::String as Text,
};

pub(super) static ROWS: &[Definition] = &[
    Definition::new(
        "groupName",
        PACKAGE,
        OptionalValue(Text),
        Package(P::GroupName),
        "The API group of the package. In Rust each kind says it, in an attribute that the compiler wants.",
    )
    .example("+groupName=cache.example.com")
    .native("#[kube(group = \"cache.example.com\")]"),
    Definition::new(
        "versionName",
        PACKAGE,
        Value(Text),
        Package(P::VersionName),
        "The version of the package. In Rust each kind says it, in an attribute that the compiler wants.",
    )
    .example("+versionName=v1")
    .native("#[kube(version = \"v1\")]"),
    Definition::new(
        "kubebuilder:skip",
        PACKAGE,
        Nothing,
        Package(P::Skip),
        "Leaves out the kinds of the package. In Rust what the operator does not register is not generated.",
    ),
    Definition::new(
        "kubebuilder:validation:Optional",
        PACKAGE,
        Nothing,
        Package(P::OptionalFields),
        "Fields may be left out unless they are marked as required. In Rust an `Option` or a `#[serde(default)]` says it of each field.",
    ),
    Definition::new(
        "kubebuilder:validation:Required",
        PACKAGE,
        Nothing,
        Package(P::RequiredFields),
        "Fields must be there unless they are marked as optional. In Rust that is so of every field that is no `Option` and has no `#[serde(default)]`.",
    ),
];
