//! Checks of strings that stand in fields of built-in kinds: names of ports, variables and headers, percentages. An
//! empty answer means that the string is fine.

use super::syntax::{SUBDOMAIN_LENGTH, mismatch, too_many_characters};

const PORT_NAME_LENGTH: usize = 15;

/// A subdomain of DNS in which labels may have underscores: `_ldap._tcp.example.com`.
pub fn dns1123_subdomain_with_underscore(value: &str) -> Vec<String> {
    let end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let label = label.strip_prefix('_').unwrap_or(label).as_bytes();
        label.first().is_some_and(|&byte| end(byte))
            && label.last().is_some_and(|&byte| end(byte))
            && label.iter().all(|&byte| end(byte) || byte == b'-' || byte == b'_')
    };
    let mut reasons = Vec::new();
    if value.len() > SUBDOMAIN_LENGTH {
        reasons.push(too_many_characters(SUBDOMAIN_LENGTH));
    }
    if !value.split('.').all(is_label) {
        reasons.push(mismatch(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and \
             must start and end with an alphanumeric character",
            r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*",
            &["example.com"],
        ));
    }
    reasons
}

/// The name of a port: `http`, `metrics-2`.
///
/// ```
/// use kubewright_schema::names::port_name;
///
/// assert!(port_name("http").is_empty());
/// assert_eq!(port_name("8080"), ["must contain at least one letter (a-z)"]);
/// ```
pub fn port_name(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.len() > PORT_NAME_LENGTH {
        reasons.push(too_many_characters(PORT_NAME_LENGTH));
    }
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if value.is_empty() || !value.bytes().all(fits) {
        reasons.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !value.bytes().any(|byte| byte.is_ascii_lowercase()) {
        reasons.push("must contain at least one letter (a-z)".to_owned());
    }
    if value.contains("--") {
        reasons.push("must not contain consecutive hyphens".to_owned());
    }
    if value.starts_with('-') || value.ends_with('-') {
        reasons.push("must not begin or end with a hyphen".to_owned());
    }
    reasons
}

/// The name of an environment variable: printable ASCII without `=`.
pub fn environment_variable_name(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.is_empty() {
        reasons.push("environment variable name must be non-empty".to_owned());
    }
    if !value.bytes().all(|byte| (byte == b' ' || byte.is_ascii_graphic()) && byte != b'=') {
        let reason = "a valid environment variable name must consist only of printable ASCII characters other than '='";
        reasons.push(reason.to_owned());
    }
    reasons
}

/// The name of an HTTP header: `X-Header-Name`.
pub fn http_header_name(value: &str) -> Vec<String> {
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Vec::new();
    }
    let text = "a valid HTTP header must consist of alphanumeric characters or '-'";
    vec![mismatch(text, "[-A-Za-z0-9]+", &["X-Header-Name"])]
}

/// A percentage: `25%`.
pub fn percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let text = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![mismatch(text, "[0-9]+%", &["1%", "93%"])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_names() {
        assert!(port_name("a-1").is_empty());
        assert_eq!(port_name("").len(), 2);
        assert_eq!(
            port_name("-A--0123456789-"),
            [
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                "must contain at least one letter (a-z)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ]
        );
        assert_eq!(port_name("a123456789012345"), ["must be no more than 15 characters"]);
    }

    #[test]
    fn other_words() {
        assert!(environment_variable_name("my.env-NAME 1").is_empty());
        assert_eq!(environment_variable_name("a=b").len(), 1);
        assert_eq!(environment_variable_name("é").len(), 1);
        assert!(http_header_name("X-A").is_empty() && http_header_name("X A").len() == 1);
        assert!(percent("10%").is_empty() && percent("10").len() == 1 && percent("%").len() == 1);
        assert!(dns1123_subdomain_with_underscore("_a_b.c").is_empty());
        assert_eq!(dns1123_subdomain_with_underscore("__a").len(), 1);
    }
}
