use serde_json::Value;

use super::{Cells, Object, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "FlowSchema" => flow_schema,
        "PriorityLevelConfiguration" => priority_level,
        _ => return None,
    })
}

/// Flow schemas are listed in the order in which they are matched.
pub(in crate::table) fn sort_flow_schemas(schemas: &mut [&Value]) {
    let precedence = |schema: &Value| schema.pointer("/spec/matchingPrecedence").and_then(Value::as_i64);
    let name = |schema: &Value| schema.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned);
    schemas.sort_by_cached_key(|schema| (precedence(schema), name(schema)));
}

fn flow_schema(object: Object<'_>) -> Vec<Value> {
    let dangling = object.condition("Dangling").map_or("?", |condition| condition.text("/status"));
    row![
        object.name(),
        object.text("/spec/priorityLevelConfiguration/name"),
        object.int("/spec/matchingPrecedence"),
        object.get("/spec/distinguisherMethod").map_or("<none>", |method| method.text("/type")),
        object.age(),
        dangling,
    ]
}

fn priority_level(object: Object<'_>) -> Vec<Value> {
    let limited = object.get("/spec/limited");
    let queuing = limited.and_then(|limited| limited.get("/limitResponse/queuing"));
    let number = |from: Option<Object<'_>>, path| {
        from.map_or_else(|| Value::from("<none>"), |from| Value::from(from.int(path)))
    };
    row![
        object.name(),
        object.text("/spec/type"),
        number(limited, "/nominalConcurrencyShares"),
        number(queuing, "/queues"),
        number(queuing, "/handSize"),
        number(queuing, "/queueLengthLimit"),
        object.age(),
    ]
}
