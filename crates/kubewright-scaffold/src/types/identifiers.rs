//! From names in JSON to names in Rust.

use std::collections::BTreeSet;

use crate::names;

/// The name of a type or a variant: the words of the name, each with a capital letter.
pub(super) fn pascal(name: &str) -> String {
    let mut pascal = String::new();
    let mut begins = true;
    let characters: Vec<char> = name.chars().collect();
    for (at, &character) in characters.iter().enumerate() {
        if !character.is_ascii_alphanumeric() {
            begins = true;
            continue;
        }
        let after_lower =
            at > 0 && (characters[at - 1].is_ascii_lowercase() || characters[at - 1].is_ascii_digit());
        let before_lower = characters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        // `HTTPRoute` is two words, `HTTP` is one.
        begins |= character.is_ascii_uppercase() && (after_lower || before_lower);
        pascal.push(if begins { character.to_ascii_uppercase() } else { character.to_ascii_lowercase() });
        begins = false;
    }
    if pascal.starts_with(|c: char| c.is_ascii_digit()) { format!("_{pascal}") } else { pascal }
}

/// The name of a field: the words of the name with underscores between them. A word of Rust ends with an underscore.
pub(super) fn field(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut snake = String::new();
    let characters: Vec<char> = name.chars().collect();
    for (at, &character) in characters.iter().enumerate() {
        if !character.is_ascii_alphanumeric() {
            if !snake.is_empty() && !snake.ends_with('_') {
                snake.push('_');
            }
            continue;
        }
        let after_lower =
            at > 0 && (characters[at - 1].is_ascii_lowercase() || characters[at - 1].is_ascii_digit());
        let before_lower = at > 0 && characters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        if character.is_ascii_uppercase()
            && (after_lower || before_lower)
            && !snake.is_empty()
            && !snake.ends_with('_')
        {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    let snake = snake.trim_end_matches('_').to_owned();
    let snake = if snake.is_empty() || snake.starts_with(|c: char| c.is_ascii_digit()) {
        format!("field_{snake}").trim_end_matches('_').to_owned()
    } else if names::is_keyword(&snake) {
        format!("{snake}_")
    } else {
        snake
    };
    unique(snake, taken)
}

/// The name, or the first with a number that is not taken.
pub(super) fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    if taken.insert(name.clone()) {
        return name;
    }
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let free = numbered.into_iter().find(|name| taken.insert(name.clone()));
    // There is always another number.
    free.unwrap_or(name)
}

/// What serde makes of the name of a field with `rename_all = "camelCase"`.
pub(super) fn camel(field: &str) -> String {
    let mut camel = String::new();
    let mut capital = false;
    for character in field.chars() {
        if character == '_' {
            capital = true;
        } else if capital && !camel.is_empty() {
            camel.push(character.to_ascii_uppercase());
            capital = false;
        } else {
            camel.push(character);
            capital = false;
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_names_of_all_forms() {
        for (json, expected) in [
            ("hostnames", "Hostnames"),
            ("backendRefs", "BackendRefs"),
            ("clusterIP", "ClusterIp"),
            ("HTTPRoute", "HttpRoute"),
            ("x-kind", "XKind"),
            ("RequestHeaderModifier", "RequestHeaderModifier"),
            ("3scale", "_3scale"),
            ("TLSv1.2", "TlSv12"),
            ("", ""),
        ] {
            assert_eq!(pascal(json), expected, "{json}");
        }
    }

    #[test]
    fn fields_are_words_of_rust_that_nothing_else_has() {
        let mut taken = BTreeSet::new();
        let fields =
            ["type", "clusterIP", "cluster_ip", "ref", "$ref", "3d", "-", "self", "podCIDRs", "x509Cert"]
                .map(|name| field(name, &mut taken));
        assert_eq!(
            fields,
            [
                "type_",
                "cluster_ip",
                "cluster_ip2",
                "ref_",
                "ref_2",
                "field_3d",
                "field",
                "self_",
                "pod_cid_rs",
                "x509_cert"
            ]
        );
    }

    #[test]
    fn the_camel_case_is_that_of_serde() {
        for (name, expected) in
            [("backend_refs", "backendRefs"), ("a", "a"), ("type_", "type"), ("x509_cert", "x509Cert")]
        {
            assert_eq!(camel(name), expected);
        }
    }
}
