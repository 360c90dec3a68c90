//! Rules that are made here.

/// Words that are no field names in CEL.
const RESERVED: [&str; 18] = [
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
            ("a__b", "a__underscores__b"),
        ] {
            assert_eq!(field(name), spelling);
        }
    }
}
