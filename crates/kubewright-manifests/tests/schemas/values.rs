//! Defaults and examples of every form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value;

use crate::assert_recorded;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Pair {
    /// +kubebuilder:default=a
    a: Option<String>,
    /// +kubebuilder:default=1
    b: Option<i32>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ValuesSpec {
    /// +kubebuilder:default=plain
    plain: Option<String>,
    /// +kubebuilder:default="quoted: \"text\"\twith a tab"
    quoted: Option<String>,
    /// +kubebuilder:default=`raw \d text`
    raw: Option<String>,
    /// +kubebuilder:default='single'
    single: Option<String>,
    /// +kubebuilder:default=""
    empty: Option<String>,
    /// +kubebuilder:default=bare with spaces
    bare: Option<String>,
    /// +kubebuilder:default="true"
    r#true: Option<String>,
    /// +kubebuilder:default="null"
    null: Option<String>,
    /// +kubebuilder:default="~"
    tilde: Option<String>,
    /// +kubebuilder:default="0x1F"
    hex: Option<String>,
    /// +kubebuilder:default="1_000"
    underscore: Option<String>,
    /// +kubebuilder:default="1:30"
    sexagesimal: Option<String>,
    /// +kubebuilder:default="2024-01-15"
    date: Option<String>,
    /// +kubebuilder:default="<<"
    merge: Option<String>,
    /// +kubebuilder:default="="
    equals: Option<String>,
    /// +kubebuilder:default=".inf"
    infinite: Option<String>,
    /// +kubebuilder:default="1e400"
    overflow: Option<String>,
    /// +kubebuilder:default="1e-999"
    underflow: Option<String>,
    /// +kubebuilder:default="99999999999999999999"
    digits: Option<String>,
    /// +kubebuilder:default="- dash"
    dash: Option<String>,
    /// +kubebuilder:default="? mark"
    mark: Option<String>,
    /// +kubebuilder:default="a: b"
    colon: Option<String>,
    /// +kubebuilder:default="a #b"
    hash: Option<String>,
    /// +kubebuilder:default=" lead"
    lead: Option<String>,
    /// +kubebuilder:default="trail "
    trail: Option<String>,
    /// +kubebuilder:default="two\nlines"
    lines: Option<String>,
    /// +kubebuilder:default="two\nlines\n"
    lines_end: Option<String>,
    /// +kubebuilder:default="two\nlines\n\n"
    lines_ends: Option<String>,
    /// +kubebuilder:default="\n"
    newline: Option<String>,
    /// +kubebuilder:default=" two\nlines"
    lines_lead: Option<String>,
    /// +kubebuilder:default="two \nlines"
    lines_trail: Option<String>,
    /// +kubebuilder:default="bell\a and \u00a0 and \u2028"
    control: Option<String>,
    /// +kubebuilder:default=100Mi
    size: Option<String>,
    /// +kubebuilder:default=087bdd
    commit: Option<String>,
    /// +kubebuilder:default=sha256:08a7b
    digest: Option<String>,
    /// +kubebuilder:default=5m
    minutes: Option<String>,
    /// +kubebuilder:default=1
    one: Option<i32>,
    /// +kubebuilder:default=-5
    negative: Option<i64>,
    /// +kubebuilder:default=010
    octal: Option<i64>,
    /// +kubebuilder:default=0.5
    half: Option<f64>,
    /// +kubebuilder:default=1e-7
    tiny: Option<f64>,
    /// +kubebuilder:default=1.0
    whole: Option<f64>,
    /// +kubebuilder:default=true
    flag: Option<bool>,
    /// +kubebuilder:default={a,b}
    list: Option<Vec<String>>,
    /// +kubebuilder:default=a;b;c
    legacy: Option<Vec<String>>,
    /// +kubebuilder:default={1,2}
    numbers: Option<Vec<i32>>,
    /// +kubebuilder:default={}
    empty_list: Option<Vec<String>>,
    /// +kubebuilder:default={}
    empty_map: Option<BTreeMap<String, String>>,
    /// +kubebuilder:default={}
    empty_struct: Option<Pair>,
    /// +kubebuilder:default={a: "x", b: 2}
    r#struct: Option<Pair>,
    /// +kubebuilder:default={{a: "x"}, {a: "y", b: 3}}
    structs: Option<Vec<Pair>>,
    /// +kubebuilder:default={"key one": "v", k2: "w"}
    map: Option<BTreeMap<String, String>>,
    /// +kubebuilder:default={a10: "1", a9: "2", B: "3", _c: "4", a-b: "5"}
    order: Option<BTreeMap<String, String>>,
    /// +default="json"
    json: Option<String>,
    /// +default={"a":"x","b":[1,2.50,null,true,{"c":"d"}]}
    free: Option<Value>,
    /// +default=null
    nothing: Option<String>,
    /// +default=1.50
    decimal: Option<f64>,
    /// +default=ref(Somewhere)
    reference: Option<String>,
    /// +kubebuilder:default=ours
    /// +default="theirs"
    both: Option<String>,
    /// +kubebuilder:example=12
    /// +kubebuilder:title=A title
    example: Option<String>,
    /// +kubebuilder:example={a: {1,2}, b: "c"}
    example_struct: Option<Value>,
    /// +kubebuilder:validation:Enum=a;"b c";`d`;e f;-1;1.0;true;0x1p
    r#enum: Option<Value>,
}

#[derive(JsonSchema)]
struct Owner {
    /// +kubebuilder:default={}
    spec: Option<ValuesSpec>,
}

#[test]
fn defaults_and_examples() {
    assert_recorded::<Owner>("values", "values");
}
