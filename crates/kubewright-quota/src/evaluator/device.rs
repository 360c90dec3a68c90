//! Claims of devices.

use std::collections::BTreeMap;

use serde_json::Value;

use super::items;
use crate::{Quantity, ResourceList};

const OF_CLASS: &str = ".deviceclass.resource.k8s.io/devices";
/// How many devices one claim may get at most, which is what one that wants all of them counts for.
const MAX_DEVICES: usize = 32;

pub(super) fn counts(name: &str) -> bool {
    name.ends_with(OF_CLASS)
}

pub(super) fn usage(claim: &Value) -> ResourceList {
    let mut usage = ResourceList::default();
    for request in items(&claim["spec"]["devices"], "requests") {
        // Of alternatives, the worst counts.
        let mut most: BTreeMap<String, usize> = BTreeMap::new();
        for wanted in items(request, "firstAvailable").chain(request.get("exactly")) {
            let class = wanted["deviceClassName"].as_str().unwrap_or_default();
            let devices = most.entry(format!("{class}{OF_CLASS}")).or_default();
            *devices = (*devices).max(number(wanted));
        }
        for (name, number) in most {
            let mut one = ResourceList::default();
            one.set(name, Quantity::count(number));
            usage.add(&one);
        }
    }
    usage
}

fn number(wanted: &Value) -> usize {
    match wanted["allocationMode"].as_str() {
        Some("ExactCount") => {
            wanted["count"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
        }
        Some("All") => MAX_DEVICES,
        _ => 0,
    }
}
