//! Tables of the `fieldpath` package: path elements and `fieldsV1`.

use std::borrow::Cow;

use kubewright_apiserver::apply::typed::Duplicates;
use kubewright_apiserver::apply::{ObjectType, PathElement, Set};
use serde_json::Value;

use super::goldens::{Goldens, Report, plain, yaml};

pub(crate) fn run(goldens: &Goldens, report: &mut Report) {
    let file = "fieldpath_serialize-pe";
    for (_, case) in goldens.table(file, "TestPathElementRoundTrip.tests", report) {
        let text = case[0].as_str().unwrap();
        let want = constructed(&case[1]);
        let got = PathElement::decode(text).unwrap_or_else(|e| panic!("{text}: {e}")).unwrap();
        report.equal(text, &got, &want);
        report.equal(text, &got.encode().as_str(), &text);
    }
    for (_, case) in goldens.table(file, "TestDeserializePathElementError.tests", report) {
        let text = case.as_str().unwrap();
        report.check(text, PathElement::decode(text).is_err(), || "must not decode".into());
    }
    for (_, case) in goldens.table(file, "TestDeserializePathElementSuccess.tests", report) {
        let text = case[0].as_str().unwrap();
        let got = PathElement::decode(text).unwrap_or_else(|e| panic!("{text}: {e}")).unwrap();
        report.equal(text, &got, &constructed(&case[1]));
    }
    for (name, case) in goldens.table("fieldpath_serialize", "TestSerializeV1GoldenData.examples", report) {
        let fields: Value = serde_json::from_str(case.as_str().unwrap()).unwrap();
        let set = Set::from_fields_v1(&fields).unwrap();
        report.equal(&name, &set.to_fields_v1(), &fields);
    }
    // Inputs of a benchmark, without an expectation of their own: what they mention round-trips.
    for (_, case) in goldens.table("fieldpath_fromvalue", "BenchmarkFromValue.cases", report) {
        let text = case.as_str().unwrap();
        let object = yaml(text);
        let object = ObjectType::deduced().check(Cow::Borrowed(&object), Duplicates::Allow).unwrap();
        let set = object.field_set().unwrap();
        report.check(text, !set.is_empty(), || "mentions nothing".into());
        report.equal(text, &Set::from_fields_v1(&set.to_fields_v1()).unwrap(), &set);
    }
}

/// A path element written as a call of its Go constructor.
fn constructed(value: &Value) -> PathElement {
    let args = value["args"].as_array().unwrap();
    match value["$call"].as_str().unwrap() {
        "FieldNameElement" => PathElement::field(args[0].as_str().unwrap()),
        "IndexElement" => PathElement::Index(args[0].as_i64().unwrap()),
        "ValueElement" => PathElement::value(plain(&args[0])),
        "KeyElement" => PathElement::key(
            args.iter().map(|field| (field["Name"].as_str().unwrap(), plain(&field["Value"]))),
        ),
        other => panic!("unknown constructor {other}"),
    }
}
