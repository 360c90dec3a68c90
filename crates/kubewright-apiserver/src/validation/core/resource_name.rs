//! Names of resources: of what a container uses, a node has, a quota counts.

use kubewright_quota::Quantity;

use kubewright_schema::names;

use crate::validation::Field;

const HUGE_PAGES: &str = "hugepages-";
const REQUESTS: &str = "requests.";

/// The resources that are measured: a quota may limit them, and storage may be asked for.
const MEASURED: [&str; 11] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "storage",
    "requests.storage",
];

/// The resources that are counted, in whole numbers.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Checks that a name is one of a resource. Gives whether it is.
pub(crate) fn validate(place: Field<'_>, name: &str) -> bool {
    let reasons = names::label_key(name);
    if !reasons.is_empty() {
        for reason in reasons {
            place.invalid(name, reason);
        }
        return false;
    }
    if !name.contains('/') && !is_standard(name) {
        place.invalid(name, "must be a standard resource type or fully qualified");
        return false;
    }
    true
}

/// Whether the resource is one that Kubernetes counts.
pub(crate) fn is_standard(name: &str) -> bool {
    MEASURED.contains(&name)
        || COUNTED.contains(&name)
        || is_huge_pages(name)
        || name.strip_prefix(REQUESTS).is_some_and(is_huge_pages)
}

/// Checks that a name is one of a resource that a container may ask for.
pub(crate) fn validate_of_container(place: Field<'_>, name: &str) {
    validate(place, name);
    if !name.contains('/') {
        if !matches!(name, "cpu" | "memory" | "ephemeral-storage") && !is_huge_pages(name) {
            place.invalid(name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        place.invalid(name, "doesn't follow extended resource name standard");
    }
}

/// Checks that a name is one of a resource that containers of a pod may share.
pub(crate) fn validate_of_pod(place: Field<'_>, name: &str) {
    if validate(place, name) && !is_of_pod(name) {
        place.not_supported(name, &["cpu", HUGE_PAGES, "memory"]);
    }
}

/// Checks that an amount of a resource is not negative, and a whole number if the resource is counted in such.
pub(crate) fn validate_amount(amount: Field<'_>, resource: &str) {
    let quantity = Quantity::of(amount.value());
    if quantity.is_negative() {
        amount.invalid(amount.text(), "must be greater than or equal to 0");
    }
    if (COUNTED.contains(&resource) || is_extended(resource)) && !quantity.is_integer() {
        amount.invalid(amount.text(), "must be an integer");
    }
}

/// Whether containers of a pod may share the resource.
pub(crate) fn is_of_pod(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_pages(name)
}

pub(crate) fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Whether the amount is some number of huge pages of the size that the resource's name says.
pub(crate) fn is_divisible(name: &str, amount: Quantity) -> bool {
    let size = name.strip_prefix(HUGE_PAGES).and_then(|size| Quantity::parse(size).ok());
    let size = size.filter(|size| size.is_positive() && size.is_integer());
    size.is_some_and(|size| amount.value() % size.value() == 0)
}

/// Whether the resource is one of Kubernetes itself.
pub(crate) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Whether the resource is one that somebody else has added.
pub(crate) fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with(REQUESTS)
        && names::label_key(&format!("{REQUESTS}{name}")).is_empty()
}

/// Whether limits may be above requests.
pub(crate) fn allows_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}
