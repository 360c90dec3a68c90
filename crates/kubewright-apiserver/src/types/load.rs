//! Reading the generated table.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::{Field, ListType, PatchStrategy, Shape, Special, Type, TypeId, Types, ValueType};

#[derive(Deserialize)]
struct TypeRow {
    #[serde(default)]
    kinds: Vec<(String, String, String)>,
    fields: Vec<FieldRow>,
    special: Option<Special>,
    mt: Option<String>,
}

/// The one-letter names are those of the table.
#[derive(Deserialize)]
struct FieldRow {
    j: String,
    k: String,
    t: String,
    v: Option<String>,
    #[serde(default)]
    i: u8,
    #[serde(default)]
    p: u8,
    #[serde(default)]
    o: u8,
    #[serde(default)]
    req: u8,
    r: Option<String>,
    lt: Option<String>,
    #[serde(default)]
    lk: Vec<String>,
    mt: Option<String>,
    ps: Option<String>,
    pk: Option<String>,
    d: Option<Value>,
    g: Option<String>,
    gw: Option<String>,
}

pub(super) fn load() -> Types {
    let rows: BTreeMap<String, TypeRow> = serde_json::from_str(super::TABLE)
        .unwrap_or_else(|error| unreachable!("the table is part of this crate: {error}"));
    let names: BTreeMap<String, TypeId> =
        rows.keys().enumerate().map(|(i, name)| (name.clone(), TypeId(i))).collect();
    let mut types = Vec::with_capacity(rows.len());
    let mut kinds = BTreeMap::new();
    for (i, (name, row)) in rows.iter().enumerate() {
        kinds.extend(row.kinds.iter().map(|kind| (kind.clone(), TypeId(i))));
        let mut fields = BTreeMap::new();
        collect_fields(&rows, &names, row, &mut Vec::new(), &mut fields);
        types.push(Type {
            name: name.clone(),
            special: row.special,
            atomic: row.mt.as_deref().map(|relationship| relationship == "atomic"),
            fields,
        });
    }
    Types { types, names, kinds }
}

/// Adds the fields of a row, and those of the structs it inlines.
fn collect_fields(
    rows: &BTreeMap<String, TypeRow>,
    names: &BTreeMap<String, TypeId>,
    row: &TypeRow,
    embedded_in: &mut Vec<String>,
    fields: &mut BTreeMap<String, Arc<Field>>,
) {
    for field in &row.fields {
        let referred = field.r.as_ref().and_then(|name| Some((name, rows.get(name)?)));
        match referred {
            Some((name, inlined)) if field.i == 1 => {
                embedded_in.push(name.rsplit('.').next().unwrap_or(name).to_owned());
                collect_fields(rows, names, inlined, embedded_in, fields);
                embedded_in.pop();
            }
            _ => {
                let field = Field {
                    position: fields.len(),
                    embedded_in: embedded_in.clone(),
                    ..self::field(field, names)
                };
                fields.insert(field.json.clone(), Arc::new(field));
            }
        }
    }
}

fn field(row: &FieldRow, names: &BTreeMap<String, TypeId>) -> Field {
    let (shape, value) = match row.k.as_str() {
        "rep" => (Shape::List, &row.t),
        "map" => (Shape::Map, row.v.as_ref().unwrap_or(&row.t)),
        _ => (Shape::One, &row.t),
    };
    let value = match (value.as_str(), row.r.as_ref().and_then(|name| names.get(name))) {
        ("message", Some(id)) => ValueType::Message(*id),
        ("string", _) => ValueType::String,
        ("bytes", _) => ValueType::Bytes,
        ("bool", _) => ValueType::Bool,
        ("int32", _) => ValueType::Int32,
        ("int64", _) => ValueType::Int64,
        ("double", _) => ValueType::Double,
        _ => ValueType::Any,
    };
    let strategies: Vec<&str> = row.ps.as_deref().unwrap_or_default().split(',').collect();
    Field {
        json: row.j.clone(),
        position: 0,
        embedded_in: Vec::new(),
        shape,
        value,
        pointer: row.p == 1,
        omit_empty: row.o == 1,
        required: row.req == 1,
        list_type: row.lt.as_deref().map(|list| match list {
            "set" => ListType::Set,
            "map" => ListType::Map(row.lk.clone()),
            _ => ListType::Atomic,
        }),
        atomic: row.mt.as_deref().map(|relationship| relationship == "atomic"),
        patch: PatchStrategy {
            merge: strategies.contains(&"merge"),
            replace: strategies.contains(&"replace"),
            retain_keys: strategies.contains(&"retainKeys"),
        },
        merge_key: row.pk.clone(),
        default: row.d.clone(),
        go_item: row.g.clone(),
        go_type: row.gw.clone(),
    }
}
