//! Tables of the `typed` package: the operations on one value or two.

use std::borrow::Cow;
use std::sync::Arc;

use kubewright_apiserver::apply::schema::Schema;
use kubewright_apiserver::apply::typed::Duplicates::{Allow, Refuse};
use kubewright_apiserver::apply::{ObjectType, TypedValue};
use serde_json::Value;

use super::goldens::{Goldens, Report, named, plain, schema, set, yaml};

pub(crate) fn run(goldens: &Goldens, report: &mut Report) {
    validate(goldens, report);
    field_sets(goldens, report);
    merge(goldens, report);
    compare(goldens, report);
    remove(goldens, report);
    extract(goldens, report);
    reconcile(goldens, report);
}

fn validate(goldens: &Goldens, report: &mut Report) {
    for (_, case) in goldens.table("typed_validate", "validationCases", report) {
        let (name, ty) = case_type(&case);
        for text in strings(&case["validObjects"]) {
            let checked = ty.check(Cow::Owned(yaml(&text)), Refuse);
            report.check(&name, checked.is_ok(), || format!("{text}: {}", checked.unwrap_err()));
        }
        for text in strings(&case["invalidObjects"]).into_iter().chain(strings(&case["duplicatesObjects"])) {
            match ty.check(Cow::Owned(yaml(&text)), Refuse) {
                Ok(_) => report.check(&name, false, || format!("{text} must not be valid")),
                Err(errors) => {
                    let vague = errors.to_string().contains("invalid atom");
                    report.check(&name, !vague, || format!("{text}: {errors} is of no use"));
                }
            }
        }
        for text in strings(&case["duplicatesObjects"]) {
            let checked = ty.check(Cow::Owned(yaml(&text)), Allow);
            report.check(&name, checked.is_ok(), || format!("{text}: {}", checked.unwrap_err()));
        }
    }
    for (_, case) in goldens.table("typed_deduced", "TestValidateDeducedType.tests", report) {
        let text = case.as_str().unwrap();
        let checked = ObjectType::deduced().check(Cow::Owned(yaml(text)), Refuse);
        report.check(text, checked.is_ok(), || checked.unwrap_err().to_string());
    }
}

fn field_sets(goldens: &Goldens, report: &mut Report) {
    let check = |name: &str, ty: &ObjectType, case: &Value, report: &mut Report| {
        let object = object(ty, &case[0], Allow);
        report.equal(name, &object.field_set().unwrap(), &set(&case[1]));
    };
    for (_, case) in goldens.table("typed_toset", "fieldsetCases", report) {
        let (name, ty) = case_type(&case);
        for pair in case["pairs"].as_array().unwrap() {
            check(&name, &ty, pair, report);
        }
    }
    for (name, case) in goldens.table("typed_deduced", "TestToSetDeduced.tests", report) {
        check(&name, &ObjectType::deduced(), &case, report);
    }
}

fn merge(goldens: &Goldens, report: &mut Report) {
    let check = |name: &str, ty: &ObjectType, case: &Value, report: &mut Report| {
        let merged = object(ty, &case[0], Allow).merge(&object(ty, &case[1], Refuse));
        let want = object(ty, &case[2], Allow);
        match merged {
            Ok(merged) => report.check(name, same(merged.value(), want.value()), || {
                format!("{} + {}\n want {}\n  got {}", case[0], case[1], want.value(), merged.value())
            }),
            Err(errors) => report.check(name, false, || errors.to_string()),
        }
    };
    for (_, case) in goldens.table("typed_merge", "mergeCases", report) {
        let (name, ty) = case_type(&case);
        for triplet in case["triplets"].as_array().unwrap() {
            check(&name, &ty, triplet, report);
        }
    }
    for (name, case) in goldens.table("typed_deduced", "TestMergeDeduced.triplets", report) {
        check(&name, &ObjectType::deduced(), &case, report);
    }
}

fn compare(goldens: &Goldens, report: &mut Report) {
    let check = |name: &str, ty: &ObjectType, case: &Value, report: &mut Report| {
        let (old, new) = (object(ty, &case["lhs"], Allow), object(ty, &case["rhs"], Allow));
        let there = old.compare(&new).unwrap();
        let name = format!("{name}: {} -> {}", case["lhs"], case["rhs"]);
        report.equal(&format!("{name} removed"), &there.removed, &set(&case["removed"]));
        report.equal(&format!("{name} modified"), &there.modified, &set(&case["modified"]));
        report.equal(&format!("{name} added"), &there.added, &set(&case["added"]));
        let back = new.compare(&old).unwrap();
        report.equal(&format!("{name} and back"), &back.modified, &there.modified);
        report.equal(&format!("{name} and back"), &back.removed, &there.added);
        report.equal(&format!("{name} and back"), &back.added, &there.removed);
    };
    for (_, case) in goldens.table("typed_symdiff", "symdiffCases", report) {
        let (name, ty) = case_type(&case);
        for quint in case["quints"].as_array().unwrap() {
            check(&name, &ty, quint, report);
        }
    }
    for (name, case) in goldens.table("typed_deduced", "TestSymdiffDeduced.quints", report) {
        check(&name, &ObjectType::deduced(), &case, report);
    }
}

fn remove(goldens: &Goldens, report: &mut Report) {
    for (_, case) in goldens.table("typed_remove", "removeCases", report) {
        let name = case["name"].as_str().unwrap();
        let ty = named(&shared_schema(goldens, &case["schema"]), case["rootTypeName"].as_str().unwrap());
        for quadruplet in case["quadruplets"].as_array().unwrap() {
            let (from, fields) = (object(&ty, &quadruplet[0], Refuse), set(&quadruplet[1]));
            for (i, got) in [(2, from.without(&fields)), (3, from.extract(&fields))] {
                if quadruplet[i] == "unparseable" {
                    continue;
                }
                let want = object(&ty, &quadruplet[i], Refuse);
                report.check(name, same(got.value(), want.value()), || {
                    format!("{quadruplet}[{i}]\n got {}", got.value())
                });
            }
        }
    }
}

fn extract(goldens: &Goldens, report: &mut Report) {
    for (_, case) in goldens.table("typed_remove", "reversibleExtractCases", report) {
        let name = case["name"].as_str().unwrap();
        let ty = named(&shared_schema(goldens, &case["schema"]), case["rootTypeName"].as_str().unwrap());
        for pair in case["pairs"].as_array().unwrap() {
            let (live, config) = (object(&ty, &pair[0], Refuse), object(&ty, &pair[1], Refuse));
            let extracted = live.merge(&config).unwrap().extract(&config.field_set().unwrap().leaves());
            report.check(name, same(extracted.value(), config.value()), || {
                format!("{pair}: extracted {}", extracted.value())
            });
        }
    }
    for (_, case) in goldens.table("typed_remove", "extractWithKeysCases", report) {
        let name = case["name"].as_str().unwrap();
        let ty = named(&shared_schema(goldens, &case["schema"]), case["rootTypeName"].as_str().unwrap());
        for triplet in case["triplets"].as_array().unwrap() {
            let from = object(&ty, &triplet["object"], Refuse);
            let got = from.extract_with_keys(&set(&triplet["set"])).unwrap();
            let want = match &triplet["wantOutput"] {
                Value::String(text) => yaml(text),
                value => plain(value),
            };
            report.check(name, same(got.value(), &want), || format!("{triplet}\n got {}", got.value()));
        }
    }
}

fn reconcile(goldens: &Goldens, report: &mut Report) {
    for (_, case) in goldens.table("typed_reconcile_schema", "reconcileCases", report) {
        let name = case["name"].as_str().unwrap();
        let schema = match case["newSchema"]["$call"].as_str().unwrap() {
            "granularSchema" => reconcile_schema(false),
            "atomicSchema" => reconcile_schema(true),
            other => panic!("unknown schema {other}"),
        };
        let ty = named(&schema, case["rootTypeName"].as_str().unwrap());
        let live = match &case["liveObject"] {
            Value::String(text) => yaml(text),
            _ => yaml(
                "{struct: {numeric: 1, string: two}, list: [one, two], stringMap: {key1: value1}, \
                 objectList: [{keyA: a1, keyB: b1, value: v1}], unchanged: {numeric: 10}}",
            ),
        };
        let live = ty.check(Cow::Owned(live), Refuse).unwrap();
        let got = live.reconcile(&set(&case["oldFields"]));
        let want = (!case["fixedFields"].is_null()).then(|| set(&case["fixedFields"]));
        report.equal(name, &got, &want);
    }
}

/// A type with a struct, a list of scalars, a list of objects and a map, each one field or divided,
/// and types with undeclared content. The tables refer to it by name only.
fn reconcile_schema(atomic: bool) -> Arc<Schema> {
    let (maps, lists) = if atomic { ("atomic", "atomic") } else { ("separable", "associative") };
    let keys = if atomic { "" } else { "keys: [keyA, keyB], " };
    schema(&format!(
        "types:
- {{name: v1, map: {{fields: [
    {{name: struct, type: {{namedType: struct}}}}, {{name: list, type: {{namedType: list}}}},
    {{name: objectList, type: {{namedType: objectList}}}},
    {{name: stringMap, type: {{namedType: stringMap}}}},
    {{name: unchanged, type: {{namedType: unchanged}}}}]}}}}
- {{name: struct, map: {{elementRelationship: {maps}, fields: [
    {{name: numeric, type: {{scalar: numeric}}}}, {{name: string, type: {{scalar: string}}}}]}}}}
- {{name: list, list: {{elementType: {{scalar: string}}, elementRelationship: {lists}}}}}
- {{name: objectList, list: {{elementType: {{namedType: listItem}}, {keys}elementRelationship: {lists}}}}}
- {{name: listItem, map: {{fields: [
    {{name: keyA, type: {{scalar: string}}}}, {{name: keyB, type: {{scalar: string}}}},
    {{name: value, type: {{scalar: string}}}}]}}}}
- {{name: stringMap, map: {{elementType: {{scalar: string}}, elementRelationship: {maps}}}}}
- {{name: unchanged, map: {{fields: [{{name: numeric, type: {{scalar: numeric}}}}]}}}}
- {{name: empty, map: {{elementType: {{namedType: __untyped_deduced_}}}}}}
- {{name: emptyWithPreserveUnknown, map: {{fields: [
    {{name: preserveField, type: {{map: {{elementType: {{namedType: __untyped_deduced_}}}}}}}}]}}}}
- {{name: populatedWithPreserveUnknown, map: {{fields: [{{name: preserveField, type: {{map: {{
    fields: [{{name: list, type: {{namedType: list}}}}],
    elementType: {{namedType: __untyped_deduced_}}}}}}}}]}}}}
"
    ))
}

/// Tables name these schemas where other tables carry them.
fn shared_schema(goldens: &Goldens, reference: &Value) -> Arc<Schema> {
    let case = match reference["$id"].as_str().unwrap() {
        "simplePairSchema" => "simple pair",
        "structGrabBagSchema" => "struct grab bag",
        "associativeAndAtomicSchema" => return associative_and_atomic(),
        "nestedTypesSchema" => return goldens.schema("merge_nested", "nestedTypeParser"),
        other => panic!("unknown schema {other}"),
    };
    goldens.schema_of_case("typed_merge", "mergeCases", case)
}

/// A map list, an atomic list and map, and a map list of atomic maps.
fn associative_and_atomic() -> Arc<Schema> {
    schema(
        "types:
- {name: myRoot, map: {fields: [
    {name: list, type: {namedType: myList}},
    {name: atomicList, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}},
    {name: atomicMap, type: {namedType: myAtomicMap}},
    {name: atomicElementList, type: {list: {
        elementType: {namedType: myAtomicMap}, elementRelationship: associative, keys: [id]}}}]}}
- {name: myList, list: {
    elementType: {namedType: myElement}, elementRelationship: associative, keys: [key, id]}}
- {name: myAtomicMap, map: {elementRelationship: atomic, elementType: {scalar: string},
    fields: [{name: id, type: {scalar: string}}]}}
- {name: myElement, map: {fields: [
    {name: key, type: {scalar: string}}, {name: id, type: {scalar: numeric}},
    {name: value, type: {map: {elementType: {scalar: string}}}},
    {name: bv, type: {scalar: boolean}}, {name: nv, type: {scalar: numeric}}]}}
",
    )
}

fn case_type(case: &Value) -> (String, ObjectType) {
    let ty = named(&schema(case["schema"].as_str().unwrap()), case["rootTypeName"].as_str().unwrap());
    (case["name"].as_str().unwrap().to_owned(), ty)
}

fn object(
    ty: &ObjectType,
    text: &Value,
    duplicates: kubewright_apiserver::apply::typed::Duplicates,
) -> TypedValue<'static> {
    let value = yaml(text.as_str().unwrap());
    ty.check(Cow::Owned(value), duplicates).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// Whether two values are equal, numbers by value.
fn same(left: &Value, right: &Value) -> bool {
    super::merge::same(left, right)
}
