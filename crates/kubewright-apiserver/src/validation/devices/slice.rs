//! What drivers offer.

use kubewright_schema::names;

use super::{at_most, check_unique, name_of, taint, validate_name, validate_pool_name};
use crate::validation::{
    Field,
    core::{pod::affinity::validate_node_selector, validate_csi_driver_name},
};

const MOST_DEVICES: usize = 128;
const TEXT_LENGTH: usize = 64;
/// The forms that the value of an attribute may have.
const ATTRIBUTE_FORMS: [&str; 8] =
    ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"];

/// Checks what a driver offers.
pub(super) fn validate(spec: Field<'_>, old: Option<Field<'_>>) {
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
    check_unique(devices, name_of);
}

fn validate_pool(pool: Field<'_>) {
    let (slices, generation) = (pool.child("resourceSliceCount"), pool.child("generation"));
    validate_pool_name(pool.child("name"));
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
    device.child("name").check(names::dns1123_label);
    for (name, attribute) in device.child("attributes").entries() {
        validate_name(device.child("attributes"), name);
        validate_attribute(attribute);
    }
    for (name, _) in device.child("capacity").entries() {
        validate_name(device.child("capacity"), name);
    }
    device.child("taints").items().for_each(|taint| taint::validate(taint, None));
}

fn validate_attribute(attribute: Field<'_>) {
    let set: Vec<&str> = ATTRIBUTE_FORMS.into_iter().filter(|form| attribute.child(form).is_set()).collect();
    let texts = std::iter::once(attribute.child("string")).chain(attribute.child("strings").items());
    let version = Some(attribute.child("version")).filter(|version| version.is_set());
    let versions: Vec<Field<'_>> = version.into_iter().chain(attribute.child("versions").items()).collect();
    for version in &versions {
        if !is_semantic_version(version.text()) {
            version.invalid(version.text(), "must be a string compatible with semver.org spec 2.0.0");
        }
    }
    for text in texts.chain(versions) {
        if text.text().len() > TEXT_LENGTH {
            text.too_long(64);
        }
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

/// Whether a text is a version as semver.org has it.
fn is_semantic_version(text: &str) -> bool {
    let is_number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'))
            && !text.is_empty()
    };
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_identifier =
        |text: &str| is_word(text) && (is_number(text) || text.bytes().any(|byte| !byte.is_ascii_digit()));
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    let (core, release) = rest.split_once('-').map_or((rest, None), |(core, release)| (core, Some(release)));
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && release.is_none_or(|release| release.split('.').all(is_identifier))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use super::is_semantic_version;

    #[test]
    fn versions_have_three_numbers_and_perhaps_more() {
        for text in ["1.2.3", "0.0.0", "1.2.3-alpha.1", "1.2.3-0-1.x+build.01", "1.2.3+a-b"] {
            assert!(is_semantic_version(text), "{text}");
        }
        for text in ["", "1.2", "1.2.3.4", "01.2.3", "v1.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b"] {
            assert!(!is_semantic_version(text), "{text}");
        }
    }
}
