//! How the API server takes lists, maps and structs apart.

use super::TYPE_OR_FIELD;
use crate::marker::{
    Arguments::Value,
    Definition,
    Effect::Schema,
    SchemaEffect as S,
    ValueKind::{String as Text, Word},
};

pub(super) static ROWS: &[Definition] = &[
    Definition::new(
        "listType",
        TYPE_OR_FIELD,
        Value(Word(&["map", "set", "atomic"])),
        Schema(S::ListType),
        "How server-side apply merges a list: `map` by the keys of its items, `set` by the values, `atomic` as a whole.",
    ).example("+listType=map")
    .aliases(&["k8s:listType"])
    .priority(9)
    .native("#[schemars(extend(\"x-kubernetes-list-type\" = \"map\"))]"),
    Definition::new(
        "listMapKey",
        TYPE_OR_FIELD,
        Value(Text),
        Schema(S::ListMapKey),
        "A field that tells the items of a `listType=map` list apart. May be repeated. The field is required or has a default.",
    ).example("+listMapKey=name")
    .aliases(&["k8s:listMapKey"])
    .native("#[schemars(extend(\"x-kubernetes-list-map-keys\" = [\"name\"]))]"),
    Definition::new(
        "mapType",
        TYPE_OR_FIELD,
        Value(Word(&["granular", "atomic"])),
        Schema(S::MapType),
        "How server-side apply merges a map: `granular` entry by entry, `atomic` as a whole.",
    ).example("+mapType=atomic")
    .native("#[schemars(extend(\"x-kubernetes-map-type\" = \"atomic\"))]"),
    Definition::new(
        "structType",
        TYPE_OR_FIELD,
        Value(Word(&["granular", "atomic"])),
        Schema(S::StructType),
        "How server-side apply merges a struct: `granular` field by field, `atomic` as a whole.",
    ).example("+structType=atomic")
    .native("#[schemars(extend(\"x-kubernetes-map-type\" = \"atomic\"))]"),
];
