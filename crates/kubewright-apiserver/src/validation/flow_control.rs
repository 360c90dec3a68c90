//! Priority and fairness: which requests belong together, and how many of them may be served at once.

use kubewright_schema::names;

use super::Field;

const VERBS: [&str; 9] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const LAST_PRECEDENCE: i64 = 10_000;
const MOST_QUEUES: i64 = 10_000_000;
const HASH_BITS: f64 = 60.0;
const EXEMPT: &str = "exempt";

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "flowschemas" => validate_schema(object),
        "prioritylevelconfigurations" => validate_level(object),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>) {
    if subresource == "status" {
        validate_status(new.child("status"));
    } else {
        create(plural, new);
    }
}

fn validate_status(status: Field<'_>) {
    let conditions = status.child("conditions");
    for (index, condition) in conditions.items().enumerate() {
        let kind = condition.child("type");
        if conditions.items().take(index).any(|other| other.child("type").text() == kind.text()) {
            kind.duplicate(kind.text());
        }
        kind.require();
    }
}

fn validate_schema(schema: Field<'_>) {
    let spec = schema.child("spec");
    let (precedence, method) = (spec.child("matchingPrecedence"), spec.child("distinguisherMethod"));
    match precedence.number() {
        ..=0 => precedence.invalid(precedence.number(), "must be a positive value"),
        1 if schema.child("metadata").child("name").text() != EXEMPT => {
            precedence.invalid(1, "only the schema named 'exempt' may have matchingPrecedence 1");
        }
        number if number > LAST_PRECEDENCE => {
            precedence.invalid(number, format!("must not be greater than {LAST_PRECEDENCE}"));
        }
        _ => {}
    }
    if method.is_set() && !matches!(method.child("type").text(), "ByNamespace" | "ByUser") {
        let ty = method.at("type");
        ty.not_supported_as("flowcontrol.FlowDistinguisherMethod", &["ByNamespace", "ByUser"]);
    }
    let level = spec.child("priorityLevelConfiguration").child("name");
    if level.require_or("must reference a priority level") {
        level.check(names::dns1123_subdomain);
    }
    spec.child("rules").items().for_each(check_rule);
    validate_status(schema.child("status"));
}

fn check_rule(rule: Field<'_>) {
    let subjects = rule.child("subjects");
    if subjects.is_empty() {
        subjects.required("subjects must contain at least one value");
    }
    subjects.items().for_each(check_subject);
    let (resources, others) = (rule.child("resourceRules"), rule.child("nonResourceRules"));
    if resources.is_empty() && others.is_empty() {
        rule.required("at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    resources.items().for_each(check_resources);
    others.items().for_each(check_paths);
}

fn check_subject(subject: Field<'_>) {
    const KINDS: [(&str, &str); 3] =
        [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];
    let kind = subject.child("kind");
    let Some((_, own)) = KINDS.iter().find(|(name, _)| *name == kind.text()) else {
        kind.not_supported(kind.text(), &["Group", "ServiceAccount", "User"]);
        return;
    };
    let reference = subject.child(own);
    let (name, namespace) = (reference.child("name"), reference.child("namespace"));
    if !reference.is_set() {
        reference.required(format!("{own} is required when subject kind is '{}'", kind.text()));
    } else if name.require() && kind.text() == "ServiceAccount" && name.text() != "*" {
        name.check(names::dns1123_subdomain);
    }
    if reference.is_set()
        && kind.text() == "ServiceAccount"
        && namespace.require_or("must specify namespace for service account")
    {
        namespace.check(names::dns1123_label);
    }
    for (name, field) in KINDS.iter().filter(|(_, field)| field != own) {
        if subject.child(field).is_set() {
            let detail = format!("{field} is forbidden when subject kind is not '{name}'");
            subject.child(field).forbidden(detail);
        }
    }
}

fn has_wildcard(list: Field<'_>) -> bool {
    list.list().iter().any(|item| item == "*")
}

/// Checks a list in which a wildcard stands alone. `what` are its items. Gives whether there are other items.
fn check_list(list: Field<'_>, missing: &str, what: &str) -> bool {
    if list.is_empty() {
        list.required(missing);
        return false;
    }
    if has_wildcard(list) {
        if list.len() > 1 {
            list.invalid(list.value().clone(), format!("if '*' is present, must not specify other {what}"));
        }
        return false;
    }
    true
}

fn check_verbs(verbs: Field<'_>) {
    if check_list(verbs, "verbs must contain at least one value", "verbs")
        && !verbs.items().all(|verb| VERBS.contains(&verb.text()))
    {
        verbs.not_supported(verbs.value().clone(), &VERBS);
    }
}

fn check_resources(rule: Field<'_>) {
    check_verbs(rule.child("verbs"));
    check_list(rule.child("apiGroups"), "resource rules must supply at least one api group", "api groups");
    check_list(rule.child("resources"), "resource rules must supply at least one resource", "resources");
    let namespaces = rule.child("namespaces");
    if namespaces.is_empty() && rule.child("clusterScope").is_true() {
        return;
    }
    let missing = "resource rules that are not cluster scoped must supply at least one namespace";
    if check_list(namespaces, missing, "namespaces") {
        for namespace in namespaces.items() {
            for reason in names::dns1123_label(namespace.text()) {
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {reason}");
                namespace.invalid(namespace.text(), detail);
            }
        }
    }
}

fn check_paths(rule: Field<'_>) {
    check_verbs(rule.child("verbs"));
    let paths = rule.child("nonResourceURLs");
    if check_list(paths, "nonResourceURLs must contain at least one value", "non-resource URLs") {
        for path in paths.items() {
            if let Some(problem) = path_problem(path.text()) {
                path.invalid(path.text(), problem);
            }
        }
    }
}

fn path_problem(path: &str) -> Option<&'static str> {
    let wildcards = path.matches('*').count();
    if path.is_empty() {
        Some("must not be empty")
    } else if !path.starts_with('/') {
        Some("must start with slash")
    } else if path.contains(' ') {
        Some("must not contain white-space")
    } else if path.contains("//") {
        Some("must not contain double slash")
    } else if wildcards > 1 || (wildcards == 1 && !path.ends_with("/*")) {
        Some("wildcard can only do suffix matching")
    } else {
        None
    }
}

fn validate_level(level: Field<'_>) {
    let spec = level.child("spec");
    let (kind, limited, exempt) = (spec.child("type"), spec.child("limited"), spec.child("exempt"));
    let is_exempt = level.child("metadata").child("name").text() == EXEMPT;
    if is_exempt != (kind.text() == "Exempt") {
        kind.invalid(kind.text(), "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    match kind.text() {
        "Exempt" => check_shares(exempt),
        "Limited" if limited.is_set() => check_limited(limited),
        "Limited" | "" => {}
        _ => kind.one_of(&["Exempt", "Limited"]),
    }
    validate_status(level.child("status"));
    declared(kind, limited, exempt);
}

fn check_shares(level: Field<'_>) {
    let (shares, lendable) = (level.child("nominalConcurrencyShares"), level.child("lendablePercent"));
    if shares.number() < 0 {
        shares.invalid(shares.number(), "must be a non-negative integer");
    }
    if !(0..=100).contains(&lendable.number()) {
        lendable.invalid(lendable.number(), "must be between 0 and 100, inclusive");
    }
}

fn check_limited(limited: Field<'_>) {
    let shares = limited.child("nominalConcurrencyShares");
    if shares.number() < 0 {
        shares.invalid(shares.number(), "must be a non-negative integer");
    }
    let response = limited.child("limitResponse");
    let (kind, queuing) = (response.child("type"), response.child("queuing"));
    match kind.text() {
        "Queue" if queuing.is_set() => check_queuing(queuing),
        "Queue" | "Reject" | "" => {}
        _ => kind.one_of(&["Queue", "Reject"]),
    }
    let (lendable, borrowing) = (limited.child("lendablePercent"), limited.child("borrowingLimitPercent"));
    if !(0..=100).contains(&lendable.number()) {
        lendable.invalid(lendable.number(), "must be between 0 and 100, inclusive");
    }
    if borrowing.number() < 0 {
        borrowing.invalid(borrowing.number(), "if specified, must be a non-negative integer");
    }
}

/// What is found out after all else.
fn declared(kind: Field<'_>, limited: Field<'_>, exempt: Field<'_>) {
    if kind.text() != "Exempt" && exempt.is_set() {
        exempt.forbidden("");
    }
    match kind.text() {
        "Limited" if !limited.is_set() => limited.required(""),
        "Limited" => {}
        _ if limited.is_set() => limited.forbidden(""),
        _ => {}
    }
    kind.require();
    if !limited.is_set() {
        return;
    }
    let response = limited.child("limitResponse");
    let (kind, queuing) = (response.child("type"), response.child("queuing"));
    match kind.text() {
        "Queue" if !queuing.is_set() => queuing.required(""),
        "Queue" => {}
        _ if queuing.is_set() => queuing.forbidden(""),
        _ => {}
    }
    kind.require();
}

fn check_queuing(queuing: Field<'_>) {
    let (length, queues, hand) =
        (queuing.child("queueLengthLimit"), queuing.child("queues"), queuing.child("handSize"));
    if length.number() <= 0 {
        length.invalid(length.number(), "must be positive");
    }
    match queues.number() {
        ..=0 => queues.invalid(queues.number(), "must be positive"),
        number if number > MOST_QUEUES => {
            queues.invalid(number, format!("must not be greater than {MOST_QUEUES}"));
        }
        _ => {}
    }
    let (deck, size) = (queues.number(), hand.number());
    if size <= 0 {
        hand.invalid(size, "must be positive");
    } else if size > deck {
        hand.invalid(size, format!("should not be greater than queues ({deck})"));
    } else if entropy_bits(deck, size) > HASH_BITS {
        hand.invalid(
            size,
            format!(
                "required entropy bits of deckSize {deck} and handSize {size} should not be greater than {HASH_BITS}"
            ),
        );
    }
}

/// How many bits of a hash it takes to deal a hand of so many cards.
#[allow(clippy::cast_precision_loss, reason = "the numbers are far from where it matters")]
fn entropy_bits(deck: i64, hand: i64) -> f64 {
    ((deck as f64).log2() * hand as f64).ceil()
}
