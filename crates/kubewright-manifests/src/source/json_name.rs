//! The names that serde gives to fields and variants.

/// How serde changes names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RenameRule {
    #[default]
    None,
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

// === impl RenameRule ===

impl RenameRule {
    /// The rule that an attribute names. Serde refuses to compile any other.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => Self::None,
        }
    }

    /// The name of a field, which is in snake case in Rust.
    pub(super) fn field(self, name: &str) -> String {
        match self {
            Self::None | Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
            Self::Pascal => {
                name.split('_').map(|word| first_letter(word, char::to_ascii_uppercase)).collect()
            }
            Self::Camel => first_letter(&Self::Pascal.field(name), char::to_ascii_lowercase),
        }
    }

    /// The name of a variant, which is in Pascal case in Rust.
    pub(super) fn variant(self, name: &str) -> String {
        match self {
            Self::None | Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => first_letter(name, char::to_ascii_lowercase),
            Self::Snake => {
                let mut snake = String::with_capacity(name.len() + 4);
                for c in name.chars() {
                    if c.is_uppercase() && !snake.is_empty() {
                        snake.push('_');
                    }
                    snake.push(c.to_ascii_lowercase());
                }
                snake
            }
            Self::ScreamingSnake => Self::Snake.variant(name).to_ascii_uppercase(),
            Self::Kebab => Self::Snake.variant(name).replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.variant(name).replace('_', "-"),
        }
    }
}

fn first_letter(word: &str, change: fn(&char) -> char) -> String {
    let mut characters = word.chars();
    characters.next().map(|first| change(&first)).into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [&str; 8] = [
        "lowercase",
        "UPPERCASE",
        "PascalCase",
        "camelCase",
        "snake_case",
        "SCREAMING_SNAKE_CASE",
        "kebab-case",
        "SCREAMING-KEBAB-CASE",
    ];

    #[test]
    fn fields_are_renamed_as_serde_does() {
        let all = |name: &str| RULES.map(|rule| RenameRule::named(rule).field(name));
        assert_eq!(
            all("ready_replicas"),
            [
                "ready_replicas",
                "READY_REPLICAS",
                "ReadyReplicas",
                "readyReplicas",
                "ready_replicas",
                "READY_REPLICAS",
                "ready-replicas",
                "READY-REPLICAS"
            ]
        );
        assert_eq!(RenameRule::Camel.field("pod_ips2__x"), "podIps2X");
        assert_eq!(RenameRule::Camel.field("_a"), "a");
        assert_eq!(RenameRule::Camel.field(""), "");
    }

    #[test]
    fn variants_are_renamed_as_serde_does() {
        let all = |name: &str| RULES.map(|rule| RenameRule::named(rule).variant(name));
        assert_eq!(
            all("RollingUpdate"),
            [
                "rollingupdate",
                "ROLLINGUPDATE",
                "RollingUpdate",
                "rollingUpdate",
                "rolling_update",
                "ROLLING_UPDATE",
                "rolling-update",
                "ROLLING-UPDATE"
            ]
        );
        assert_eq!(RenameRule::Snake.variant("HTTP"), "h_t_t_p");
    }
}
