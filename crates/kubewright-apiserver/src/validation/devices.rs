//! Devices: what drivers offer in slices, what classes and claims ask for. What expressions say is not checked.

use kubewright_schema::names;
use serde_json::Value;

use super::{
    Field,
    core::{pod::affinity::validate_node_selector, validate_csi_driver_name},
    selector,
};

const MOST_REQUESTS: usize = 32;
const MOST_SUBREQUESTS: usize = 8;
const MOST_SELECTORS: usize = 32;
const MOST_DEVICES: usize = 128;
const NAME_LENGTH: usize = 32;
const POOL_NAME_LENGTH: usize = 253;
const TEXT_LENGTH: usize = 64;
const NOT_A_REQUEST: &str =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
/// The forms that the value of an attribute may have.
const ATTRIBUTE_FORMS: [&str; 8] =
    ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"];

pub(super) fn create(plural: &str, object: Field<'_>) {
    let spec = object.child("spec");
    match plural {
        "deviceclasses" => validate_class(spec),
        "resourceclaims" => validate_claim(spec),
        "resourceclaimtemplates" => validate_template(spec),
        "resourceslices" => validate_slice(spec, None),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    match plural {
        "deviceclasses" => validate_class(spec),
        "resourceclaims" if subresource.is_empty() && spec.value() != old_spec.value() => {
            spec.invalid(Value::Null, "field is immutable");
        }
        "resourceclaimtemplates" => {
            spec.immutable_as(old_spec, "resource.ResourceClaimTemplateSpec");
            validate_template(spec);
        }
        "resourceslices" => validate_slice(spec, Some(old_spec)),
        _ => {}
    }
}

fn validate_class(spec: Field<'_>) {
    validate_selectors(spec.child("selectors"));
    for config in at_most(spec.child("config"), MOST_REQUESTS) {
        validate_configuration(config);
    }
}

fn validate_template(spec: Field<'_>) {
    selector::validate_annotations(spec.child("metadata").child("annotations"));
    selector::validate_labels(spec.child("metadata").child("labels"));
    validate_claim(spec.child("spec"));
}

/// The items of a list, none if there are too many.
fn at_most(list: Field<'_>, most: usize) -> impl Iterator<Item = Field<'_>> {
    if list.len() > most {
        list.too_many(most);
    }
    list.items().take(if list.len() > most { 0 } else { most })
}

/// Checks that no item has the key of one before it.
fn check_unique<'a>(list: Field<'a>, key: fn(&'a Value) -> &'a str, whole: bool) {
    for (index, item) in list.items().enumerate() {
        if list.list().iter().take(index).any(|other| key(other) == key(item.value())) {
            item.duplicate(if whole { item.value().clone() } else { key(item.value()).into() });
        }
    }
}

fn name_of(item: &Value) -> &str {
    item.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn itself(item: &Value) -> &str {
    item.as_str().unwrap_or_default()
}

// === claims ===

fn validate_claim(spec: Field<'_>) {
    let devices = spec.child("devices");
    let requests = devices.child("requests");
    for request in at_most(requests, MOST_REQUESTS) {
        validate_request(request);
    }
    check_unique(requests, name_of, true);
    for constraint in at_most(devices.child("constraints"), MOST_REQUESTS) {
        validate_references(constraint.child("requests"), requests);
        let (same, distinct) = (constraint.child("matchAttribute"), constraint.child("distinctAttribute"));
        match (same.is_set(), distinct.is_set()) {
            (true, _) => validate_full_name(same),
            (false, true) => validate_full_name(distinct),
            (false, false) => constraint.required(
                "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
            ),
        }
    }
    for config in at_most(devices.child("config"), MOST_REQUESTS) {
        validate_references(config.child("requests"), requests);
        validate_configuration(config);
    }
}

fn validate_request(request: Field<'_>) {
    validate_request_name(request.child("name"));
    let (exactly, alternatives) = (request.child("exactly"), request.child("firstAvailable"));
    match (exactly.is_set(), !alternatives.is_empty()) {
        (false, false) => request.required("exactly one of `exactly` or `firstAvailable` is required"),
        (true, true) => request.invalid(
            Value::Null,
            "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
        ),
        (true, false) => validate_choice(exactly),
        (false, true) => {
            for alternative in at_most(alternatives, MOST_SUBREQUESTS) {
                validate_request_name(alternative.child("name"));
                validate_choice(alternative);
            }
            check_unique(alternatives, name_of, true);
        }
    }
}

fn validate_choice(choice: Field<'_>) {
    let class = choice.child("deviceClassName");
    if class.require() {
        class.check(names::dns1123_subdomain);
    }
    validate_selectors(choice.child("selectors"));
    let (mode, count) = (choice.child("allocationMode"), choice.child("count"));
    match mode.text() {
        "All" if count.number() != 0 => {
            count.invalid(count.number(), "must not be specified when allocationMode is 'All'");
        }
        "ExactCount" if count.number() <= 0 => count.invalid(count.number(), "must be greater than zero"),
        "All" | "ExactCount" => {}
        other => mode.not_supported(other, &["All", "ExactCount"]),
    }
    choice.child("tolerations").items().for_each(validate_toleration);
}

fn validate_toleration(toleration: Field<'_>) {
    let (key, operator) = (toleration.child("key"), toleration.child("operator"));
    let (value, effect) = (toleration.child("value"), toleration.child("effect"));
    if !key.is_empty() {
        key.check(names::label_key);
    }
    match operator.text() {
        "Exists" if !value.is_empty() => value.invalid(value.text(), "must be empty for operator `Exists`"),
        "Exists" => {}
        "Equal" => value.check(names::label_value),
        "" => operator.required(""),
        other => operator.not_supported(other, &["Equal", "Exists"]),
    }
    if key.is_empty() && operator.text() != "Exists" {
        key.required("must not be empty if operator is `Equal`");
    }
    if !effect.is_empty() {
        effect.one_of(&["NoExecute", "NoSchedule", "None"]);
    }
}

fn validate_request_name(name: Field<'_>) {
    if name.require() {
        name.check(names::dns1123_label);
    }
}

/// Checks the names of requests that are said elsewhere in a claim.
fn validate_references(references: Field<'_>, requests: Field<'_>) {
    for reference in at_most(references, MOST_REQUESTS) {
        let text = reference.text();
        let (request, alternative) = match text.split_once('/') {
            Some((_, rest)) if rest.contains('/') => {
                reference.invalid(text, NOT_A_REQUEST);
                continue;
            }
            Some((request, alternative)) => (request, Some(alternative)),
            None => (text, None),
        };
        for name in std::iter::once(request).chain(alternative) {
            for reason in names::dns1123_label(name) {
                reference.invalid(name, reason);
            }
        }
        let is_known = requests.items().filter(|own| own.child("name").text() == request).any(|own| {
            alternative
                .is_none_or(|name| own.child("firstAvailable").list().iter().any(|one| name_of(one) == name))
        });
        if !is_known {
            reference.invalid(text, NOT_A_REQUEST);
        }
    }
    check_unique(references, itself, false);
}

fn validate_selectors(selectors: Field<'_>) {
    for selector in at_most(selectors, MOST_SELECTORS) {
        let cel = selector.child("cel");
        if !cel.is_set() {
            cel.required("");
        }
    }
}

fn validate_configuration(config: Field<'_>) {
    let opaque = config.child("opaque");
    if !opaque.is_set() {
        return opaque.required("");
    }
    validate_csi_driver_name(opaque.child("driver"));
    let parameters = opaque.child("parameters");
    match parameters.value() {
        Value::Null => parameters.required(""),
        Value::Object(_) => {}
        _ => parameters.invalid("<value omitted>", "parameters must be a valid JSON object"),
    }
}

// === slices ===

fn validate_slice(spec: Field<'_>, old: Option<Field<'_>>) {
    let (driver, pool, node) = (spec.child("driver"), spec.child("pool"), spec.child("nodeName"));
    validate_csi_driver_name(driver);
    validate_pool(pool);
    if let Some(old) = old {
        pool.child("name").immutable(old.child("pool").child("name"));
        driver.immutable(old.child("driver"));
        node.immutable(old.child("nodeName"));
    }
    check_place(spec);
    let (devices, counters) = (spec.child("devices"), spec.child("sharedCounters"));
    if counters.is_set() && devices.is_set() {
        spec.invalid("", "only one of `sharedCounters` or `devices` is allowed");
    }
    for device in at_most(devices, MOST_DEVICES) {
        validate_device(device);
    }
    check_unique(devices, name_of, false);
}

fn validate_pool(pool: Field<'_>) {
    let (name, slices, generation) =
        (pool.child("name"), pool.child("resourceSliceCount"), pool.child("generation"));
    if name.require() {
        if name.text().len() > POOL_NAME_LENGTH {
            name.too_long(253);
        }
        for part in name.text().split('/') {
            for reason in names::dns1123_subdomain(part) {
                name.invalid(part, reason);
            }
        }
    }
    if slices.number() <= 0 {
        slices.invalid(slices.number(), "must be greater than zero");
    }
    if generation.number() < 0 {
        generation.invalid(generation.number(), "must be greater than or equal to zero");
    }
}

/// Checks that one field says where the devices are.
fn check_place(spec: Field<'_>) {
    let (name, nodes) = (spec.child("nodeName"), spec.child("nodeSelector"));
    let mut places = Vec::new();
    if name.is_set() {
        if name.is_empty() {
            name.invalid("", "must be either unset or set to a non-empty string");
        } else {
            places.push("`nodeName`");
            name.check(names::dns1123_subdomain);
        }
    }
    if nodes.is_set() {
        places.push("`nodeSelector`");
        validate_node_selector(nodes);
        let terms = nodes.child("nodeSelectorTerms");
        if terms.len() != 1 {
            terms.invalid_as("[]core.NodeSelectorTerm", "must have exactly one node selector term");
        }
    }
    for (field, place) in [("allNodes", "`allNodes`"), ("perDeviceNodeSelection", "`perDeviceNodeSelection`")]
    {
        match spec.child(field).bool() {
            Some(true) => places.push(place),
            Some(false) => spec.child(field).invalid(false, "must be either unset or set to true"),
            None => {}
        }
    }
    let one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    match places.as_slice() {
        [] => spec.required(one),
        [_] => {}
        places => {
            spec.invalid(format!("{{{}}}", places.join(", ")), format!("{one}, but multiple fields are set"));
        }
    }
}

fn validate_device(device: Field<'_>) {
    validate_request_name(device.child("name"));
    for (name, attribute) in device.child("attributes").entries() {
        validate_name(device.child("attributes"), name);
        validate_attribute(attribute);
    }
    for (name, _) in device.child("capacity").entries() {
        validate_name(device.child("capacity"), name);
    }
    for taint in device.child("taints").items() {
        selector::validate_label_key(taint.child("key"));
        taint.child("value").check(names::label_value);
        if taint.child("effect").require() {
            taint.child("effect").one_of(&["NoExecute", "NoSchedule", "None"]);
        }
    }
}

fn validate_attribute(attribute: Field<'_>) {
    let set: Vec<&str> = ATTRIBUTE_FORMS.into_iter().filter(|form| attribute.child(form).is_set()).collect();
    let text = attribute.child("string");
    if text.text().len() > TEXT_LENGTH {
        text.too_long(64);
    }
    let forms = || ATTRIBUTE_FORMS.map(|form| format!("`{form}`")).join(", ");
    match set.as_slice() {
        [] => attribute.invalid("", format!("must specify one of: {}", forms())),
        [_] => {}
        set => {
            let shown: Vec<String> = set.iter().map(|form| format!("`{form}`")).collect();
            let detail = format!("must specify exactly one of: {}", forms());
            attribute.invalid(format!("{{{}}}", shown.join(", ")), detail);
        }
    }
}

/// Checks a name that may have a domain.
fn validate_name(place: Field<'_>, name: &str) {
    match name.split_once('/') {
        None => check_identifier(place, name),
        Some((domain, rest)) if !rest.contains('/') => {
            if domain.is_empty() {
                place.invalid("", "the domain must not be empty");
            } else {
                for reason in names::dns1123_subdomain(domain) {
                    place.invalid(domain, reason);
                }
            }
            if rest.is_empty() {
                place.invalid("", "the name must not be empty");
            } else {
                check_identifier(place, rest);
            }
        }
        Some(_) => {}
    }
}

fn validate_full_name(name: Field<'_>) {
    validate_name(name, name.text());
    if !name.text().contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        name.invalid(name.text(), detail);
    }
}

fn check_identifier(place: Field<'_>, name: &str) {
    if name.len() > NAME_LENGTH {
        place.too_long(32);
    }
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_valid = name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit());
    if !is_valid {
        place.invalid(
            name,
            "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric \
             characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is \
             '[A-Za-z_][A-Za-z0-9_]*')",
        );
    }
}
