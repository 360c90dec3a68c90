use super::{Cells, Object, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "DeviceClass" | "ResourceClaimTemplate" => |object| row![object.name(), object.age()],
        "DeviceTaintRule" => |object| {
            let added = object.get("/spec/taint/timeAdded").map(|_| object.since("/spec/taint/timeAdded"));
            row![
                object.name(),
                object.text("/spec/taint/key"),
                object.text("/spec/taint/value"),
                object.text("/spec/taint/effect"),
                added.unwrap_or_default(),
                object.age(),
            ]
        },
        "ResourceClaim" => |object| row![object.name(), claim_state(object), object.age()],
        "ResourceSlice" => |object| {
            row![
                object.name(),
                object.text("/spec/nodeName"),
                object.text("/spec/driver"),
                object.text("/spec/pool/name"),
                object.age(),
            ]
        },
        _ => return None,
    })
}

fn claim_state(claim: Object<'_>) -> String {
    let mut states = Vec::new();
    if claim.deleting() {
        states.push("deleted");
    }
    if claim.has("/status/allocation") {
        states.push("allocated");
        if claim.len("/status/reservedFor") > 0 {
            states.push("reserved");
        }
    } else if !claim.deleting() {
        states.push("pending");
    }
    states.join(",")
}
