//! What is said of a custom resource and its versions.

use kubewright_manifests::{
    Style,
    crd::{CrdBuilder, CrdOptions, check},
    marker::Target,
};
use schemars::JsonSchema;

use super::entry::{Entry, Outcome, Thing};

/// A kind with a status.
#[derive(JsonSchema)]
#[schemars(rename = "Sized")]
struct Sized<S> {
    spec: S,
    status: Option<Status>,
}

#[derive(JsonSchema)]
struct Status {
    size: i32,
    selector: String,
}

/// Another version of the kind.
#[derive(JsonSchema)]
#[schemars(rename = "OtherSpec")]
struct Other {
    size: i32,
}

/// +kubebuilder:storageversion
#[derive(JsonSchema)]
#[schemars(rename = "StoredSpec")]
struct Stored {
    size: i32,
}

fn outcome(builder: CrdBuilder, style: Style) -> Outcome {
    let mut options = CrdOptions::default();
    options.schema.style = style;
    let built = builder.options(options).build();
    let mut diagnostics = built.diagnostics;
    diagnostics.extend(check(&built.document, &built.origins, style));
    Outcome { document: built.document, diagnostics }
}

/// The only version of a kind.
fn single<T: JsonSchema + 'static>() -> CrdBuilder {
    CrdBuilder::of_root::<T>("example.com", "v1", "Thing")
}

/// The older version of a kind of which `S` is the newer one.
fn older<T: JsonSchema + 'static, S: JsonSchema + 'static>() -> CrdBuilder {
    CrdBuilder::of_root::<T>("example.com", "v1beta1", "Thing").root_version::<Sized<S>>("v1")
}

macro_rules! kind {
    ($shown:literal, $root:ident, $build:ident $(, $newer:ident)?: $marker:expr) => {
        kind!($shown, $root, $build $(, $newer)?, [] => [$marker])
    };
    (
        $shown:literal, $root:ident, $build:ident $(, $newer:ident)?,
        [$($before:expr),*] => [$($after:expr),+]
    ) => {{
        #[derive(JsonSchema)]
        #[schemars(rename = "ThingSpec")]
        $(#[doc = $before])*
        struct Before { size: i32, color: Option<String> }
        #[derive(JsonSchema)]
        #[schemars(rename = "ThingSpec")]
        $(#[doc = $after])+
        struct After { size: i32, color: Option<String> }
        Entry::new(
            Target::Kind,
            concat!("the spec of a custom resource: ", $shown),
            (&[$($before),*], &[$($after),+]),
            |style| outcome($build::<$root<Before> $(, $newer)?>(), style),
            |style| outcome($build::<$root<After> $(, $newer)?>(), style),
        )
    }};
}

/// The only version of a kind that has a status.
macro_rules! only {
    ($($markers:tt)+) => { kind!("its only version", Sized, single $($markers)+) };
}

/// The older of two versions, of which the newer one is stored.
macro_rules! second {
    ($marker:expr) => { kind!("the older version", Sized, older, Stored: $marker) };
    ($before:tt => $after:tt) => { kind!("the older version", Sized, older, Stored, $before => $after) };
}

pub(crate) fn entries() -> Vec<Entry> {
    let mut all = vec![
        only!(: "+kubebuilder:resource:path=sizes"),
        only!(: "+kubebuilder:resource:singular=onething"),
        only!(: "+kubebuilder:resource:scope=Cluster"),
        only!(: "+kubebuilder:resource:shortName=th;tg"),
        only!(: "+kubebuilder:resource:categories=all;sizes"),
        only!(: "+kubebuilder:printcolumn:name=\"Size\",type=integer,JSONPath=`.spec.size`"),
        kind!("without a status", Thing, single: "+kubebuilder:subresource:status"),
        only!(: "+kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size"),
        only!(, ["+kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size"] => [
            "+kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size,selectorpath=.status.selector"
        ]),
        only!(: "+kubebuilder:selectablefield:JSONPath=`.spec.color`"),
        kind!("the older version", Sized, older, Other: "+kubebuilder:storageversion"),
        second!("+kubebuilder:unservedversion"),
        second!("+kubebuilder:deprecatedversion"),
        second!(["+kubebuilder:deprecatedversion"] => [
            "+kubebuilder:deprecatedversion:warning=\"use example.com/v1\""
        ]),
        second!("+kubebuilder:skipversion"),
        only!(: "+kubebuilder:metadata:annotations={\"example.com/owner=cache\",\"other=a=b\"}"),
        only!(: "+kubebuilder:metadata:labels={\"app=cache\"}"),
        second!("+kubewright:conversion:path=/other"),
        second!("+kubewright:conversion:url=\"https://example.com/convert\""),
        second!("+kubewright:conversion:serviceName=hooks"),
        second!("+kubewright:conversion:serviceNamespace=cache-system"),
        second!("+kubewright:conversion:servicePort=8443"),
        second!("+kubewright:conversion:reviewVersions=v1;v1beta1"),
        second!("+kubewright:conversion:injectCAFrom=cache-system/serving-cert"),
    ];
    macro_rules! column {
        ($($argument:literal),+) => {
            [$(only!(, ["+kubebuilder:printcolumn:name=\"Size\",type=integer,JSONPath=`.spec.size`"] => [concat!(
                "+kubebuilder:printcolumn:name=\"Size\",type=integer,JSONPath=`.spec.size`,", $argument
            )])),+]
        };
    }
    all.extend(column!("description=\"How many there are\"", "format=int32", "priority=1"));
    all
}
