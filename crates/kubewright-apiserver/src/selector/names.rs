//! The format of label keys and values, with Kubernetes' messages.

const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/// What is wrong with a label key; nothing if it is valid.
pub(crate) fn label_key_errors(key: &str) -> Vec<String> {
    let name_message = || {
        format!(
            "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME}')"
        )
    };
    let mut errors = Vec::new();
    let parts: Vec<&str> = key.split('/').collect();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                errors
                    .extend(subdomain_errors(prefix).into_iter().map(|error| format!("prefix part {error}")));
            }
            name
        }
        _ => {
            let message = name_message();
            return vec![format!(
                "a valid label key {message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_label_name(name) {
        errors.push(format!("name part {}", name_message()));
    }
    errors
}

/// What is wrong with a label value; nothing if it is valid.
pub(crate) fn label_value_errors(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 63 {
        errors.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_label_name(value) {
        errors.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '({NAME})?')"
        ));
    }
    errors
}

fn subdomain_errors(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 253 {
        errors.push("must be no more than 253 bytes".to_owned());
    }
    let is_label = |label: &str| {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        !label.is_empty()
            && label.bytes().all(|b| inner(b) || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if !value.split('.').all(is_label) {
        errors.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '{SUBDOMAIN}')"
        ));
    }
    errors
}

fn is_label_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends_well = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    ends_well(bytes.first())
        && ends_well(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_checked_as_kubernetes_does() {
        for key in ["a", "app.kubernetes.io/name", "x_y", "A.b-c"] {
            assert!(label_key_errors(key).is_empty(), "{key}");
        }
        for key in ["", "-a", "a-", "a b", "/a", "A.io/a", "a..b/c", "a/b/c", "a/"] {
            assert!(!label_key_errors(key).is_empty(), "{key}");
        }
        assert!(label_value_errors("").is_empty());
        assert_eq!(label_value_errors(&"v".repeat(64)), ["must be no more than 63 bytes"]);
        assert_eq!(label_key_errors("/a"), ["prefix part must be non-empty"]);
    }
}
