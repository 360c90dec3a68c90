//! Rules that are made here.

use kubewright_schema::cel_names::escape;

/// How a rule spells the name of a property. One that CEL cannot name stays as it is: every API server refuses the rule.
pub(super) fn field(name: &str) -> String {
    escape(name).unwrap_or_else(|| name.to_owned())
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
