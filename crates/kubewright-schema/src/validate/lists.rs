//! Duplicates in lists of type set and map.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{
    error::{ErrorList, FieldError, FieldPath},
    structural::{ListType, Schema},
};

pub(super) fn validate(schema: &Schema, value: &Value, path: &FieldPath) -> ErrorList {
    let mut walk = Walk { path: path.clone(), errors: ErrorList::new() };
    walk.node(schema, value);
    walk.errors
}

struct Walk {
    path: FieldPath,
    errors: ErrorList,
}

impl Walk {
    fn node(&mut self, schema: &Schema, value: &Value) {
        if !schema.subtree.lists {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let Some((field_schema, length)) = schema.enter_field(name, &mut self.path) else {
                        continue;
                    };
                    self.node(field_schema, field);
                    self.path.truncate(length);
                }
            }
            Value::Array(items) => {
                match schema.list_type {
                    Some(ListType::Set) => self.duplicates(items.iter().cloned()),
                    Some(ListType::Map) => self.map(schema, items),
                    Some(ListType::Atomic) | None => {}
                }
                let Some(item_schema) = &schema.items else { return };
                for (index, item) in items.iter().enumerate() {
                    let length = self.path.push_index(index);
                    self.node(item_schema, item);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn map(&mut self, schema: &Schema, items: &[Value]) {
        if let Some((index, item)) =
            items.iter().enumerate().find(|(_, item)| !item.is_object() && !item.is_null())
        {
            let path = self.path.index(index);
            let detail = "must be an object for an array of list-type map";
            self.errors.push(FieldError::invalid(&path, item.clone(), detail));
            return;
        }
        self.duplicates(items.iter().map(|item| {
            let fields: Map<String, Value> = schema
                .list_map_keys
                .iter()
                .filter_map(|key| Some((key.clone(), item.get(key)?.clone())))
                .collect();
            fields.into()
        }));
    }

    /// Reports the second appearance of every value that appears more than once.
    fn duplicates(&mut self, values: impl Iterator<Item = Value>) {
        let mut seen = BTreeMap::<String, usize>::new();
        for (index, value) in values.enumerate() {
            let times = seen.entry(value.to_string()).or_default();
            *times += 1;
            if *times == 2 {
                self.errors.push(FieldError::duplicate(&self.path.index(index), value));
            }
        }
    }
}
