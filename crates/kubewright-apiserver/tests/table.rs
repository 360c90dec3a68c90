//! Tables have the columns and cells that a real kube-apiserver gives for the same objects.

use jiff::{SignedDuration, Timestamp};
use kubewright_apiserver::table::{Column, CustomColumn, IncludeObject, Printer, TableOptions};
use serde::Deserialize;
use serde_json::{Value, json};

/// A table that a real server answered, with whole objects in its rows.
#[derive(Deserialize)]
struct Recorded {
    group: String,
    version: String,
    kind: String,
    /// When it answered, to the second.
    now: Timestamp,
    table: Value,
}

fn recorded() -> Vec<Recorded> {
    let mut tables: Vec<Recorded> =
        serde_json::from_str(include_str!("../../../conformance/golden/tables.json")).unwrap();
    for table in &mut tables {
        // Metrics that autoscaling/v1 cannot express travel in an annotation, which the printer does not read.
        let rows = table.table["rows"].as_array_mut().unwrap();
        rows.retain(|row| {
            let annotations = row["object"]["metadata"].get("annotations");
            annotations.is_none_or(|all| all.get("autoscaling.alpha.kubernetes.io/metrics").is_none())
        });
    }
    tables
}

#[test]
fn built_in_kinds_have_the_cells_of_a_real_server() {
    let options = TableOptions { include_object: IncludeObject::Object, no_headers: true, beta: false };
    let mut rows = 0;
    for Recorded { group, version, kind, now, table } in recorded() {
        let printer = Printer::built_in(&group, &version, &kind);
        let items: Vec<&Value> = table["rows"].as_array().unwrap().iter().map(|row| &row["object"]).collect();
        rows += items.len();
        // The second may have turned between making the table and writing the date.
        let made = [0, -1].map(|seconds| {
            let now = now + SignedDuration::from_secs(seconds);
            printer.list_table(table["metadata"].clone(), items.clone(), options, now)
        });
        if made[1] != table {
            assert_eq!(made[0], table, "{group} {version} {kind}");
        }
    }
    assert!(rows > 100, "{rows} rows");
}

#[test]
fn every_recorded_kind_has_cells_of_its_own() {
    // A kind without a printer falls back to name and creation time; real servers do that for four kinds only.
    let plain: Vec<String> = recorded()
        .into_iter()
        .filter(|it| Printer::built_in(&it.group, &it.version, &it.kind).columns()[1].name == "Created At")
        .map(|it| it.kind)
        .collect();
    assert_eq!(plain, ["LimitRange", "ClusterRole", "Role", "CSIStorageCapacity"]);
}

#[test]
fn rows_carry_as_much_of_the_object_as_asked_for() {
    let printer = Printer::built_in("", "v1", "ConfigMap");
    let object = json!({"metadata": {"name": "a", "resourceVersion": "7"}, "data": {"b": "c"}});
    let table = |include_object, beta| {
        let options = TableOptions { include_object, beta, no_headers: false };
        printer.object_table(&object, options, Timestamp::UNIX_EPOCH)
    };

    let metadata = table(IncludeObject::Metadata, false);
    assert_eq!(metadata["metadata"], json!({"resourceVersion": "7"}));
    assert_eq!(metadata["rows"][0]["cells"], json!(["a", 1, "<unknown>"]));
    assert_eq!(
        metadata["rows"][0]["object"],
        json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
    );
    let columns: Vec<&Value> =
        metadata["columnDefinitions"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(columns, ["Name", "Data", "Age"]);

    let none = table(IncludeObject::None, true);
    assert_eq!(none["apiVersion"], "meta.k8s.io/v1beta1");
    assert_eq!(none["rows"][0]["object"], Value::Null);

    let whole = &table(IncludeObject::Object, false)["rows"][0]["object"];
    assert_eq!((&whole["apiVersion"], &whole["kind"]), (&json!("v1"), &json!("ConfigMap")));
    assert_eq!(whole["data"], object["data"]);
}

#[test]
fn the_mark_after_initial_events_is_never_left_out() {
    let bookmark = json!({"metadata": {
        "resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": "true"},
    }});
    let options = TableOptions { include_object: IncludeObject::None, no_headers: true, beta: false };
    let table =
        Printer::built_in("", "v1", "Namespace").object_table(&bookmark, options, Timestamp::UNIX_EPOCH);
    assert_eq!(table["columnDefinitions"], Value::Null);
    assert_eq!(table["rows"][0]["cells"], json!(["", "", "<unknown>"]));
    assert_eq!(table["rows"][0]["object"]["metadata"], bookmark["metadata"]);
}

#[test]
fn include_object_has_three_values() {
    assert_eq!("".parse(), Ok(IncludeObject::Metadata));
    assert_eq!("Object".parse(), Ok(IncludeObject::Object));
    assert_eq!(
        "Foo".parse::<IncludeObject>().unwrap_err().to_string(),
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": must be 'Metadata', \
         'Object', 'None', or empty"
    );
}

#[test]
fn custom_resources_show_their_printer_columns() {
    let size = json!({"name": "Size", "type": "integer", "jsonPath": ".spec.size"});
    let column = CustomColumn {
        column: Column::from_printer_column(&size),
        find: Box::new(|object| object.pointer("/spec/size")),
    };
    let printer = Printer::custom(vec![column]);
    let widget = json!({"metadata": {"name": "w"}, "spec": {"size": 3}});
    assert_eq!(printer.cells(&widget, Timestamp::UNIX_EPOCH), [json!("w"), json!(3)]);
    assert_eq!(printer.columns()[0].format, "name");
    assert_eq!(
        printer.columns()[1].description,
        "Custom resource definition column (in JSONPath format): .spec.size"
    );

    let plain = Printer::custom(Vec::new());
    let names: Vec<&str> = plain.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["Name", "Age"]);
    let made = json!({"metadata": {"name": "w", "creationTimestamp": "1970-01-01T00:00:00Z"}});
    let later = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(30);
    assert_eq!(plain.cells(&made, later), ["w", "30h"]);
}
