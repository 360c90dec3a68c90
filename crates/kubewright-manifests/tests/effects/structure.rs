//! How server-side apply takes values apart.

use std::collections::BTreeMap;

use super::entry::{Entry, Item};

pub(crate) fn entries() -> Vec<Entry> {
    vec![
        field!(Vec<String>: "+listType=set"),
        field!(Vec<String>: "+k8s:listType=atomic"),
        typed!(Vec<String>: "+listType=set"),
        spec!("+listType=atomic").refused(),
        field!(Vec<Item>, ["+listType=map"] => ["+listType=map", "+listMapKey=name"]),
        field!(Vec<Item>, ["+k8s:listType=map"] => ["+k8s:listType=map", "+k8s:listMapKey=name"]),
        typed!(Vec<Item>, ["+listType=map"] => ["+listType=map", "+listMapKey=name"]),
        spec!("+listMapKey=first").refused(),
        field!(BTreeMap<String, String>: "+mapType=atomic"),
        typed!(BTreeMap<String, String>: "+mapType=granular"),
        spec!("+mapType=atomic"),
        field!(Item: "+structType=atomic"),
        typed!(struct { a: i32 }: "+structType=atomic"),
        spec!("+structType=granular"),
    ]
}
