use crate::validation::Field;

const SHORTEST_TOKEN: i64 = 600;
const LONGEST_TOKEN: i64 = 1 << 32;
const SHORTEST_PERIOD: i64 = 10;

pub(super) fn validate(spec: Field<'_>) {
    for (field, place) in [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ] {
        if !spec.child(field).is_set() {
            spec.at(place).required("");
        }
    }
    let policy = spec.child("fsGroupPolicy");
    if policy.is_set() {
        policy.one_of(&["File", "None", "ReadWriteOnceWithFSType"]);
    }
    let tokens = spec.child("tokenRequests");
    check_tokens(tokens);
    let modes = spec.child("volumeLifecycleModes");
    for mode in modes.items() {
        // Kubernetes does not say which one.
        modes.with(mode.value()).one_of(&["Persistent", "Ephemeral"]);
    }
    if !spec.child("seLinuxMount").is_set() {
        spec.child("seLinuxMount").required("");
    }
    let period = spec.child("nodeAllocatableUpdatePeriodSeconds");
    if let Some(seconds) = period.int().filter(|seconds| *seconds < SHORTEST_PERIOD) {
        period.invalid(seconds, "must be greater than or equal to 10 seconds");
    }
    let in_secrets = spec.child("serviceAccountTokenInSecrets");
    if in_secrets.is_set() && tokens.is_empty() {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        in_secrets.invalid(in_secrets.value().clone(), detail);
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    validate(spec);
    let attach = spec.child("attachRequired");
    if attach.value() != old_spec.child("attachRequired").value() {
        spec.at("attachedRequired").invalid(attach.value().clone(), "field is immutable");
    }
    spec.child("volumeLifecycleModes").immutable(old_spec.child("volumeLifecycleModes"));
}

pub(super) fn warnings(driver: Field<'_>, old: Option<Field<'_>>) -> Option<String> {
    let spec = driver.child("spec");
    let tokens = spec.child("tokenRequests");
    let is_new = old.is_none_or(|old| old.child("spec").child("tokenRequests").value() != tokens.value());
    (is_new && !tokens.is_empty() && !spec.child("serviceAccountTokenInSecrets").is_set()).then(|| {
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible \
         logging of tokens in volume attributes"
            .to_owned()
    })
}

fn check_tokens(tokens: Field<'_>) {
    for (index, token) in tokens.items().enumerate() {
        let (audience, seconds) = (token.child("audience"), token.child("expirationSeconds"));
        if tokens.items().take(index).any(|other| other.child("audience").text() == audience.text()) {
            audience.duplicate(audience.text());
            continue;
        }
        match seconds.int() {
            Some(number) if number < SHORTEST_TOKEN => {
                seconds.invalid(number, "may not specify a duration less than 10 minutes");
            }
            Some(number) if number > LONGEST_TOKEN => {
                seconds.invalid(number, "may not specify a duration larger than 2^32 seconds");
            }
            _ => {}
        }
    }
}
