use crate::validation::Field;

/// The names of the time zones of IANA, sorted, a line each.
static NAMES: &str = include_str!("../../../data/time_zones.txt");

/// Checks the name of a time zone.
pub(super) fn validate(zone: Field<'_>) {
    let text = zone.text();
    if text.is_empty() {
        return zone.invalid("", "timeZone must be nil or non-empty string");
    }
    let is_part = |part: &str| {
        !matches!(part, "." | "..")
            && !part.starts_with('-')
            && (1..=14).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte))
    };
    if !text.split('/').all(is_part) {
        return zone.invalid(text, format!("unknown time zone {text}"));
    }
    if text.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        zone.invalid(text, detail);
    }
    if !is_known(text) {
        zone.invalid(text, format!("unknown time zone {text}"));
    }
}

/// Whether there is such a time zone. That of the machine is one too.
pub(super) fn is_known(name: &str) -> bool {
    matches!(name, "" | "UTC" | "Local") || NAMES.lines().any(|own| own == name)
}
