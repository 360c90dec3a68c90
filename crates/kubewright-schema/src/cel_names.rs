//! How fields are called in CEL, which does not take every name.
//!
//! It is all of this crate that an operator links, whose CRDs have rules that name fields.

/// Words of the language, which rules write between pairs of underscores.
pub const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The name of a field in CEL. `None` if rules cannot name it.
///
/// ```
/// use kubewright_schema::cel_names::escape;
///
/// assert_eq!(escape("max-size").as_deref(), Some("max__dash__size"));
/// assert_eq!(escape("namespace").as_deref(), Some("__namespace__"));
/// assert_eq!(escape("größe"), None);
/// ```
#[must_use]
pub fn escape(name: &str) -> Option<String> {
    if name.starts_with(|c: char| c.is_ascii_digit())
        || name.is_empty()
        || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-/".contains(&byte))
    {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    Some(
        name.replace("__", "__underscores__")
            .replace('.', "__dot__")
            .replace('-', "__dash__")
            .replace('/', "__slash__"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_escape_as_in_kubernetes() {
        let cases = [
            ("a", Some("a")),
            ("a_b", Some("a_b")),
            ("a__b", Some("a__underscores__b")),
            ("a.b-c/d", Some("a__dot__b__dash__c__slash__d")),
            ("namespace", Some("__namespace__")),
            ("in", Some("__in__")),
            ("void", Some("__void__")),
            ("while", Some("__while__")),
            ("-a", Some("__dash__a")),
            ("9a", None),
            ("a b", None),
            ("", None),
        ];
        for (name, escaped) in cases {
            assert_eq!(escape(name).as_deref(), escaped, "{name}");
        }
    }
}
