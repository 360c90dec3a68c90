//! Rules that are made here.

/// Words that are no field names in CEL. The list stands in `kubewright-schema` too, which an operator does not link: a rule
/// that names a field by one of them is refused by every API server.
const RESERVED: [&str; 21] = [
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

/// How a rule spells the name of a property.
pub(super) fn field(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_spelled_as_the_api_server_does() {
        for (name, spelling) in [
            ("size", "size"),
            ("max-size", "max__dash__size"),
            ("a.b/c", "a__dot__b__slash__c"),
            ("namespace", "__namespace__"),
            ("while", "__while__"),
            ("a__b", "a__underscores__b"),
        ] {
            assert_eq!(field(name), spelling);
        }
    }
}
