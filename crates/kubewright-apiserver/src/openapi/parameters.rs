//! The parameters of operations, with what they are for.

use serde_json::{Value, json};

/// A parameter of the query: its name, the type of its value, and what it is for.
pub(super) type Parameter = (&'static str, &'static str, &'static str);

const ALLOW_WATCH_BOOKMARKS: Parameter = (
    "allowWatchBookmarks",
    "boolean",
    "Asks a watch for events of type BOOKMARK, which say how far it has come. How often they are sent is up to the server.",
);
const CONTINUE: Parameter = (
    "continue",
    "string",
    "The token of the answer before, for the next page of a list that was asked for with a limit. A token is good for some \
     minutes; after that the server answers 410, with a token for a list that is not consistent with the pages before.",
);
const DRY_RUN: Parameter = (
    "dryRun",
    "string",
    "With All, the request goes all its way but nothing is stored. No other value is valid.",
);
const FIELD_MANAGER: Parameter = (
    "fieldManager",
    "string",
    "The name under which the fields that are written are noted: at most 128 printable characters. Apply needs one; other \
     writes take the first part of the user agent.",
);
const FIELD_SELECTOR: Parameter = (
    "fieldSelector",
    "string",
    "Restricts the list to objects whose fields have these values. Without it, all are listed.",
);
const FIELD_VALIDATION: Parameter = (
    "fieldValidation",
    "string",
    "What becomes of unknown fields and of fields that come twice: Strict refuses the request, Warn tells of them in \
     warnings, Ignore drops them silently. Warn is the default.",
);
const FORCE: Parameter = (
    "force",
    "boolean",
    "Lets an apply take fields that other managers own. It must not be set for other patches.",
);
const GRACE_PERIOD: Parameter = (
    "gracePeriodSeconds",
    "integer",
    "After how many seconds the object is deleted; 0 is at once. Without it, the default of the kind counts.",
);
const IGNORE_STORE_READ_ERROR: Parameter = (
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "boolean",
    "Deletes an object that cannot be read from the store, without finalizers, admission and preconditions. It may break \
     whatever relies on these.",
);
const LABEL_SELECTOR: Parameter = (
    "labelSelector",
    "string",
    "Restricts the list to objects whose labels are selected. Without it, all are listed.",
);
const LIMIT: Parameter = (
    "limit",
    "integer",
    "The most objects that one answer lists. If there are more, its metadata has a token to continue with.",
);
const ORPHAN_DEPENDENTS: Parameter = (
    "orphanDependents",
    "boolean",
    "The older form of propagationPolicy: whether dependents are left behind. Only one of the two may be set.",
);
const PRETTY: Parameter = (
    "pretty",
    "string",
    "With true, the answer is indented. That is also the default for browsers, curl and wget.",
);
const PROPAGATION_POLICY: Parameter = (
    "propagationPolicy",
    "string",
    "What becomes of dependents: Orphan leaves them, Background deletes them after the object, Foreground before it.",
);
const RESOURCE_VERSION: Parameter = (
    "resourceVersion",
    "string",
    "How new the state must be that is read. Without it, it is the newest one; 0 is whatever the server has at hand.",
);
const RESOURCE_VERSION_MATCH: Parameter = (
    "resourceVersionMatch",
    "string",
    "How resourceVersion counts for a list: Exact or NotOlderThan. It must not be set without that one.",
);
const SEND_INITIAL_EVENTS: Parameter = (
    "sendInitialEvents",
    "boolean",
    "Lets a watch begin with an event for each object that is there, and a bookmark after these.",
);
const SHARD_SELECTOR: Parameter = (
    "shardSelector",
    "string",
    "Restricts the list to those objects whose hash is in a range, so that several clients share the work.",
);
const TIMEOUT: Parameter = (
    "timeoutSeconds",
    "integer",
    "After how many seconds a list is given up or a watch ends, whatever happens.",
);
const WATCH: Parameter = (
    "watch",
    "boolean",
    "Answers with a stream of what changes instead of a list. A resourceVersion says from where on.",
);

pub(super) const WRITE: [Parameter; 3] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];
pub(super) const PATCH: [Parameter; 4] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE];
pub(super) const READ: [Parameter; 1] = [RESOURCE_VERSION];
pub(super) const DELETE: [Parameter; 5] =
    [DRY_RUN, GRACE_PERIOD, IGNORE_STORE_READ_ERROR, ORPHAN_DEPENDENTS, PROPAGATION_POLICY];
pub(super) const LIST: [Parameter; 11] = [
    ALLOW_WATCH_BOOKMARKS,
    CONTINUE,
    FIELD_SELECTOR,
    LABEL_SELECTOR,
    LIMIT,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    SEND_INITIAL_EVENTS,
    SHARD_SELECTOR,
    TIMEOUT,
    WATCH,
];
/// The options of a list and those of a delete.
pub(super) const DELETE_COLLECTION: [Parameter; 14] = [
    CONTINUE,
    DRY_RUN,
    FIELD_SELECTOR,
    GRACE_PERIOD,
    IGNORE_STORE_READ_ERROR,
    LABEL_SELECTOR,
    LIMIT,
    ORPHAN_DEPENDENTS,
    PROPAGATION_POLICY,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    SEND_INITIAL_EVENTS,
    SHARD_SELECTOR,
    TIMEOUT,
];

/// A parameter as a document has it.
pub(super) fn described((name, kind, description): &Parameter) -> Value {
    json!({
        "name": name, "in": "query", "description": description,
        "schema": {"type": kind, "uniqueItems": true},
    })
}

/// The parameters that stand in a path, or fit each operation on it. The path is one of objects of `kind`.
pub(super) fn of_path(path: &str, kind: &str) -> Vec<Value> {
    let name = format!("name of the {kind}");
    let namespace =
        "The namespace of the object, within which names are unique and which roles may be bound in.";
    let in_path = [("name", name.as_str()), ("namespace", namespace)];
    let mut parameters: Vec<Value> = in_path
        .into_iter()
        .filter(|(name, _)| path.contains(&format!("{{{name}}}")))
        .map(|(name, description)| {
            json!({
                "name": name, "in": "path", "required": true, "description": description,
                "schema": {"type": "string", "uniqueItems": true},
            })
        })
        .collect();
    parameters.push(described(&PRETTY));
    parameters
}
