//! Checks of single strings. An empty answer means that the string is fine.

const LABEL_FORMAT: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_TEXT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and \
     must start and end with an alphanumeric character";
const SUBDOMAIN_FORMAT: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SUBDOMAIN_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
     or '.', and must start and end with an alphanumeric character";
const WILDCARD_TEXT: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, \
     which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
const DNS1035_FORMAT: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const DNS1035_TEXT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
     alphabetic character, and end with an alphanumeric character";
const KEY_FORMAT: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_TEXT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character";
const KEY_EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];
const VALUE_FORMAT: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const VALUE_TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
     '.', and must start and end with an alphanumeric character";
const CONFIG_KEY_TEXT: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";

const LABEL_LENGTH: usize = 63;
pub(super) const SUBDOMAIN_LENGTH: usize = 253;

/// What the names of a kind of object look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameRule {
    /// Dot-separated labels, up to 253 characters: most kinds and all custom resources.
    DnsSubdomain,
    /// One label of up to 63 characters: namespaces and, since 1.37, services.
    DnsLabel,
    /// One label that starts with a letter.
    Dns1035Label,
    /// Anything that can stand in a URL path: the kinds of RBAC.
    PathSegment,
}

impl NameRule {
    /// What is wrong with `name`. With `prefix`, it is a `generateName` that something will be appended to.
    ///
    /// ```
    /// use kubewright_schema::names::NameRule;
    ///
    /// assert!(NameRule::DnsSubdomain.check("my-app.example", false).is_empty());
    /// assert!(NameRule::DnsSubdomain.check("my-app-", true).is_empty());
    /// assert!(!NameRule::DnsSubdomain.check("my-app-", false).is_empty());
    /// ```
    pub fn check(self, name: &str, prefix: bool) -> Vec<String> {
        let masked = if prefix { mask_trailing_dash(name) } else { name.to_owned() };
        match self {
            Self::DnsSubdomain => dns1123_subdomain(&masked),
            Self::DnsLabel => dns1123_label(&masked),
            Self::Dns1035Label => dns1035_label(&masked),
            Self::PathSegment if prefix => path_segment_prefix(name),
            Self::PathSegment => path_segment_name(name),
        }
    }
}

/// A dash at the end of a prefix is fine. Kubernetes drops the character before it as well.
fn mask_trailing_dash(name: &str) -> String {
    match name.strip_suffix('-') {
        Some(rest) if rest.ends_with(|c: char| c.is_ascii()) => format!("{}a", &rest[..rest.len() - 1]),
        _ => name.to_owned(),
    }
}

/// A label of DNS as RFC 1123 has it: `my-name`, `123-abc`.
pub fn dns1123_label(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.len() > LABEL_LENGTH {
        reasons.push(too_many_characters(LABEL_LENGTH));
    }
    if !is_label(value) {
        reasons.push(if is_subdomain(value) {
            "must not contain dots".to_owned()
        } else {
            mismatch(LABEL_TEXT, LABEL_FORMAT, &["my-name", "123-abc"])
        });
    }
    reasons
}

/// A subdomain of DNS as RFC 1123 has it: `example.com`.
pub fn dns1123_subdomain(value: &str) -> Vec<String> {
    subdomain(value, too_many_characters)
}

/// A subdomain of DNS with a wildcard before it: `*.example.com`.
pub fn wildcard_dns1123_subdomain(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.len() > SUBDOMAIN_LENGTH {
        reasons.push(too_many_characters(SUBDOMAIN_LENGTH));
    }
    if !value.strip_prefix("*.").is_some_and(is_subdomain) {
        reasons.push(mismatch(WILDCARD_TEXT, &format!(r"\*\.{SUBDOMAIN_FORMAT}"), &["*.example.com"]));
    }
    reasons
}

/// A label of DNS as RFC 1035 has it, which starts with a letter: `my-name`, `abc-123`.
pub fn dns1035_label(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.len() > LABEL_LENGTH {
        reasons.push(too_many_characters(LABEL_LENGTH));
    }
    if !is_label(value) || !value.starts_with(|c: char| c.is_ascii_lowercase()) {
        reasons.push(mismatch(DNS1035_TEXT, DNS1035_FORMAT, &["my-name", "abc-123"]));
    }
    reasons
}

/// A label key, also called a qualified name: `name` or `example.com/name`.
pub fn label_key(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    let parts: Vec<&str> = value.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                reasons.push("prefix part must be non-empty".to_owned());
            } else {
                reasons.extend(
                    subdomain(prefix, too_many_bytes)
                        .into_iter()
                        .map(|reason| format!("prefix part {reason}")),
                );
            }
            *name
        }
        _ => {
            let reason = mismatch(KEY_TEXT, KEY_FORMAT, &KEY_EXAMPLES);
            return vec![format!(
                "a valid label key {reason} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        reasons.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_LENGTH {
        reasons.push(format!("name part {}", too_many_bytes(LABEL_LENGTH)));
    }
    if !is_key(name) {
        reasons.push(format!("name part {}", mismatch(KEY_TEXT, KEY_FORMAT, &KEY_EXAMPLES)));
    }
    reasons
}

/// A label value: empty or `MyValue`.
pub fn label_value(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.len() > LABEL_LENGTH {
        reasons.push(too_many_bytes(LABEL_LENGTH));
    }
    if !value.is_empty() && !is_key(value) {
        reasons.push(mismatch(VALUE_TEXT, VALUE_FORMAT, &["MyValue", "my_value", "12345"]));
    }
    reasons
}

/// A name that can be a segment of a URL path.
pub fn path_segment_name(value: &str) -> Vec<String> {
    if value == "." || value == ".." {
        return vec![format!("may not be '{value}'")];
    }
    path_segment_prefix(value)
}

/// A prefix of a name that can be a segment of a URL path.
pub fn path_segment_prefix(value: &str) -> Vec<String> {
    ['/', '%'].iter().filter(|c| value.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}

/// A key of a ConfigMap or Secret: `key.name`, `KEY_NAME`.
pub fn config_map_key(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.len() > SUBDOMAIN_LENGTH {
        reasons.push(too_many_characters(SUBDOMAIN_LENGTH));
    }
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
        reasons.push(mismatch(CONFIG_KEY_TEXT, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"]));
    }
    match value {
        "." | ".." => reasons.push(format!("must not be '{value}'")),
        _ if value.starts_with("..") => reasons.push("must not start with '..'".to_owned()),
        _ => {}
    }
    reasons
}

/// What is wrong with an `apiVersion`, if it is not `version` or `group/version`.
pub fn api_version_problem(value: &str) -> Option<String> {
    (value.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {value}"))
}

fn subdomain(value: &str, too_long: fn(usize) -> String) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.len() > SUBDOMAIN_LENGTH {
        reasons.push(too_long(SUBDOMAIN_LENGTH));
    }
    if !is_subdomain(value) {
        reasons.push(mismatch(SUBDOMAIN_TEXT, SUBDOMAIN_FORMAT, &["example.com"]));
    }
    reasons
}

fn is_label(value: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    is_enclosed(value, inner, |byte| inner(byte) || byte == b'-')
}

fn is_subdomain(value: &str) -> bool {
    value.split('.').all(is_label)
}

fn is_key(value: &str) -> bool {
    is_enclosed(
        value,
        |byte| byte.is_ascii_alphanumeric(),
        |byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte),
    )
}

fn is_enclosed(value: &str, end: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = value.as_bytes();
    bytes.first().is_some_and(|&byte| end(byte))
        && bytes.last().is_some_and(|&byte| end(byte))
        && bytes.iter().all(|&byte| inner(byte))
}

pub(super) fn mismatch(text: &str, format: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{text} (e.g. {}regex used for validation is '{format}')", examples.join(" or "))
}

// Kubernetes changed the wording for labels and not for names.

pub(super) fn too_many_characters(most: usize) -> String {
    format!("must be no more than {most} characters")
}

fn too_many_bytes(most: usize) -> String {
    format!("must be no more than {most} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_names() {
        for name in ["a", "a-b", "0", "a0"] {
            assert!(dns1123_label(name).is_empty(), "{name}");
        }
        assert_eq!(dns1123_label("a.b"), ["must not contain dots"]);
        assert_eq!(
            dns1123_label("A"),
            [
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            ]
        );
        assert_eq!(dns1123_label(&"a".repeat(64)), ["must be no more than 63 characters"]);
        for name in ["example.com", "a.b-c.d"] {
            assert!(dns1123_subdomain(name).is_empty(), "{name}");
        }
        assert_eq!(
            dns1123_subdomain("Bad_Name"),
            [
                r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ]
        );
        assert!(dns1035_label("0a")[0].starts_with("a DNS-1035 label must consist of"));
        for name in ["", "-", "a-", ".a", "a..b"] {
            assert_eq!(dns1123_subdomain(name).len(), 1, "{name}");
        }
    }

    #[test]
    fn label_keys_and_values() {
        for key in ["a", "a/b", "example.com/A_b.c"] {
            assert!(label_key(key).is_empty(), "{key}");
        }
        assert_eq!(label_key("/a"), ["prefix part must be non-empty"]);
        assert_eq!(label_key("a/").len(), 2);
        assert_eq!(label_key(&"a".repeat(64)), ["name part must be no more than 63 bytes"]);
        assert!(label_key("A/b")[0].starts_with("prefix part a lowercase RFC 1123 subdomain"));
        assert!(label_key("a/b/c")[0].ends_with("prefix and '/' (e.g. 'example.com/MyName')"));
        assert!(label_value("").is_empty() && label_value("a.B_c").is_empty());
        assert_eq!(label_value(&"a".repeat(64)), ["must be no more than 63 bytes"]);
        assert!(label_value("a b")[0].starts_with("a valid label must be an empty string or consist"));
    }

    #[test]
    fn path_segments() {
        assert!(path_segment_name("system:node").is_empty());
        assert_eq!(path_segment_name(".."), ["may not be '..'"]);
        assert_eq!(path_segment_name("a/%"), ["may not contain '/'", "may not contain '%'"]);
        assert!(NameRule::PathSegment.check("..", true).is_empty());
    }

    #[test]
    fn prefixes_may_end_in_a_dash() {
        assert!(NameRule::DnsSubdomain.check("a-", true).is_empty());
        assert!(NameRule::DnsLabel.check("abc-", true).is_empty());
        assert!(!NameRule::DnsLabel.check("é-", true).is_empty());
        assert!(!NameRule::DnsLabel.check("-", true).is_empty());
    }

    #[test]
    fn config_keys() {
        assert!(config_map_key("a.B_c-1").is_empty());
        assert_eq!(config_map_key(".."), ["must not be '..'"]);
        assert_eq!(config_map_key("..a"), ["must not start with '..'"]);
        assert_eq!(config_map_key("").len(), 1);
    }
}
