use std::{collections::BTreeMap, net::IpAddr};

use jiff::Timestamp;
use kube::{
    Api, Client,
    api::{DynamicObject, ListParams},
    discovery::{Discovery, verbs},
};
use serde_json::{Map, Value};

/// The objects of a cluster without what differs between two clusters in which the same has happened: uids, versions,
/// times, generated names, addresses. By kind, sorted.
pub(super) type State = BTreeMap<String, Vec<Value>>;

/// Kinds whose objects tell the time, or the story and not its end.
const PASSED_OVER: [&str; 2] = ["Event", "Lease"];

/// The names that the server, or a controller, has made up.
#[derive(Default)]
struct Aliases {
    /// By the name, what stands for it.
    names: BTreeMap<String, String>,
}

/// The state of the cluster that `client` talks to.
pub(super) async fn state_of(client: &Client) -> Result<State, kube::Error> {
    let discovery = Discovery::new(client.clone()).run().await?;
    let mut kinds = Vec::new();
    for group in discovery.groups() {
        for (resource, capabilities) in group.recommended_resources() {
            if capabilities.supports_operation(verbs::LIST) && !PASSED_OVER.contains(&&*resource.kind) {
                kinds.push(resource);
            }
        }
    }
    let (mut objects, mut aliases) = (Vec::new(), Aliases::default());
    for resource in kinds {
        let api = Api::<DynamicObject>::all_with(client.clone(), &resource);
        for object in api.list(&ListParams::default()).await? {
            let metadata = &object.metadata;
            if let (Some(name), Some(prefix)) = (&metadata.name, &metadata.generate_name) {
                aliases.names.insert(name.clone(), format!("{prefix}*"));
            }
            let kind = format!("{}.{}", resource.kind, resource.group);
            objects.push((kind, serde_json::to_value(object).unwrap_or_default()));
        }
    }
    let mut state = State::new();
    for (kind, mut object) in objects {
        let generation = object["metadata"]["generation"].clone();
        aliases.clean(&mut object, &generation);
        state.entry(kind).or_default().push(object);
    }
    for objects in state.values_mut() {
        objects.sort_by_cached_key(Value::to_string);
    }
    Ok(state)
}

impl Aliases {
    fn clean(&self, value: &mut Value, generation: &Value) {
        match value {
            Value::Object(fields) => self.clean_fields(fields, generation),
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item, generation)),
            Value::String(text) => {
                if let Some(alias) = self.names.get(text) {
                    text.clone_from(alias);
                } else if text.parse::<Timestamp>().is_ok() {
                    "(a time)".clone_into(text);
                } else if text.parse::<IpAddr>().is_ok() {
                    "(an address)".clone_into(text);
                } else if text.starts_with("kube-api-access-") {
                    "kube-api-access-*".clone_into(text);
                } else if let Some((scheme, _)) = text.split_once("://")
                    && scheme == "containerd"
                {
                    "containerd://*".clone_into(text);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn clean_fields(&self, fields: &mut Map<String, Value>, generation: &Value) {
        // How many changes led to the end is no part of it, but whether all of them were seen is.
        for field in ["uid", "resourceVersion", "managedFields", "generation"] {
            fields.remove(field);
        }
        if let Some(observed) = fields.get_mut("observedGeneration")
            && observed == generation
        {
            *observed = "(current)".into();
        }
        fields.values_mut().for_each(|value| self.clean(value, generation));
        // A list by type, whose order says which came first.
        if let Some(Value::Array(conditions)) = fields.get_mut("conditions") {
            conditions.sort_by_cached_key(|condition| condition["type"].to_string());
        }
    }
}

/// The objects that one state has and the other has not, in short; empty if there are none.
pub(super) fn difference(expected: &State, found: &State) -> String {
    const SHOWN: usize = 4;
    let none = Vec::new();
    let mut lines = Vec::new();
    for kind in expected.keys().chain(found.keys().filter(|kind| !expected.contains_key(*kind))) {
        let (expected, found) = (expected.get(kind).unwrap_or(&none), found.get(kind).unwrap_or(&none));
        let missing = without(expected, found).into_iter().map(|object| ("without faults", object));
        let added = without(found, expected).into_iter().map(|object| ("here", object));
        lines.extend(missing.chain(added).map(|(place, object)| format!("{kind}, {place}: {object}")));
    }
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

/// `all` without those of `others`, each taken once.
fn without<'v>(all: &'v [Value], others: &[Value]) -> Vec<&'v Value> {
    let mut others: Vec<_> = others.iter().collect();
    all.iter()
        .filter(|object| match others.iter().position(|other| other == object) {
            Some(index) => {
                others.remove(index);
                false
            }
            None => true,
        })
        .collect()
}
