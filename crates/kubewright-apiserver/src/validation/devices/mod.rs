//! Devices: what drivers offer in slices, what classes and claims ask for, and who may not use them.

mod claim;
mod selector;
mod slice;
mod taint;

use kubewright_schema::names;
use serde_json::Value;

use super::Field;

const NAME_LENGTH: usize = 32;
const POOL_NAME_LENGTH: usize = 253;

pub(super) fn create(plural: &str, object: Field<'_>) {
    let spec = object.child("spec");
    match plural {
        "deviceclasses" => claim::validate_class(spec, None),
        "devicetaintrules" => taint::validate_rule(spec, None),
        "resourceclaims" => claim::validate(spec),
        "resourceclaimtemplates" => claim::validate_template(spec),
        "resourceslices" => slice::validate(spec, None),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    match plural {
        "deviceclasses" => claim::validate_class(spec, Some(old_spec)),
        "devicetaintrules" if subresource.is_empty() => taint::validate_rule(spec, Some(old_spec)),
        "devicetaintrules" => taint::validate_status(new.child("status")),
        "resourceclaims" if subresource.is_empty() && spec.value() != old_spec.value() => {
            spec.invalid(Value::Null, "field is immutable");
        }
        "resourceclaimtemplates" => {
            spec.immutable_as(old_spec, "resource.ResourceClaimTemplateSpec");
            claim::validate_template(spec);
        }
        "resourceslices" => slice::validate(spec, Some(old_spec)),
        _ => {}
    }
}

/// The items of a list, none if there are too many.
fn at_most(list: Field<'_>, most: usize) -> impl Iterator<Item = Field<'_>> {
    if list.len() > most {
        list.too_many(most);
    }
    list.items().take(if list.len() > most { 0 } else { most })
}

/// Checks that no item has the key of one before it.
fn check_unique<'a>(list: Field<'a>, key: fn(&'a Value) -> &'a str) {
    for item in repeated(list, key) {
        item.duplicate(key(item.value()));
    }
}

/// The items that have the key of one before them.
fn repeated<'a>(list: Field<'a>, key: fn(&'a Value) -> &'a str) -> impl Iterator<Item = Field<'a>> {
    list.items().enumerate().filter_map(move |(index, item)| {
        let mut before = list.list().iter().take(index);
        before.any(|other| key(other) == key(item.value())).then_some(item)
    })
}

fn name_of(item: &Value) -> &str {
    item.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn itself(item: &Value) -> &str {
    item.as_str().unwrap_or_default()
}

fn validate_pool_name(name: Field<'_>) {
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
