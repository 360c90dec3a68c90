//! List types, map types, keys: what server-side apply goes by.

use kubewright_schema::{ListType, MapType, Schema};
use serde_json::Value;

use super::Walk;
use crate::compatibility::rule::{LIST_MAP_KEYS_CHANGED, LIST_TYPE_CHANGED, MAP_TYPE_CHANGED};

impl Walk<'_> {
    pub(super) fn ownership(&mut self, old: &Schema, new: &Schema) {
        let list_type = |schema: &Schema| schema.list_type.unwrap_or(ListType::Atomic);
        let (before, after) = (list_type(old), list_type(new));
        if before != after {
            let name = |list_type| match list_type {
                ListType::Atomic => "atomic",
                ListType::Set => "set",
                ListType::Map => "map",
            };
            self.add(
                LIST_TYPE_CHANGED,
                Some("x-kubernetes-list-type"),
                Some(name(before).into()),
                Some(name(after).into()),
            );
        } else {
            let keys = |schema: &Schema| {
                let mut keys = schema.list_map_keys.clone();
                keys.sort();
                Value::from(keys)
            };
            let (before, after) = (keys(old), keys(new));
            if before != after {
                self.add(
                    LIST_MAP_KEYS_CHANGED,
                    Some("x-kubernetes-list-map-keys"),
                    Some(before),
                    Some(after),
                );
            }
        }
        let map_type = |schema: &Schema| schema.map_type.unwrap_or(MapType::Granular);
        let (before, after) = (map_type(old), map_type(new));
        if before != after {
            let name = |map_type| match map_type {
                MapType::Atomic => "atomic",
                MapType::Granular => "granular",
            };
            self.add(
                MAP_TYPE_CHANGED,
                Some("x-kubernetes-map-type"),
                Some(name(before).into()),
                Some(name(after).into()),
            );
        }
    }
}
