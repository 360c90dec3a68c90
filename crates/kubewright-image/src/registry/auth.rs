//! A registry's challenge, and the answer to it.

use serde::Deserialize;

/// What a registry wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A user and a password with each request.
    Basic,
    /// A token from a server that it names.
    Bearer {
        /// Where tokens are.
        realm: String,
        /// Whom they are for.
        service: Option<String>,
        /// What they must allow, in the registry's own words.
        scope: Option<String>,
    },
}

impl Challenge {
    /// Reads the values of `WWW-Authenticate`; a token is preferred to a password.
    pub(super) fn parse<'a>(headers: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut found = None;
        for header in headers {
            let (scheme, parameters) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
            if scheme.eq_ignore_ascii_case("bearer") {
                let parameters = parameters_of(parameters);
                let get = |name: &str| {
                    parameters
                        .iter()
                        .find(|(key, _)| key.eq_ignore_ascii_case(name))
                        .map(|(_, value)| value.clone())
                };
                if let Some(realm) = get("realm") {
                    return Some(Self::Bearer { realm, service: get("service"), scope: get("scope") });
                }
            } else if scheme.eq_ignore_ascii_case("basic") {
                found = Some(Self::Basic);
            }
        }
        found
    }
}

/// Reads `name="value",name=value`. A comma within quotes is part of the value, as in scopes.
fn parameters_of(mut text: &str) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let name = name.trim_matches([',', ' ']).to_owned();
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let mut value = String::new();
                let mut characters = quoted.char_indices();
                let mut end = quoted.len();
                while let Some((at, character)) = characters.next() {
                    match character {
                        '"' => {
                            end = at + 1;
                            break;
                        }
                        '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
                        _ => value.push(character),
                    }
                }
                (value, &quoted[end..])
            }
            None => {
                let (value, rest) = rest.split_once(',').unwrap_or((rest, ""));
                (value.trim().to_owned(), rest)
            }
        };
        parameters.push((name, value));
        text = rest;
    }
    parameters
}

/// What a token server answers.
#[derive(Deserialize)]
pub(super) struct TokenAnswer {
    #[serde(default)]
    token: String,
    #[serde(default)]
    access_token: String,
}

impl TokenAnswer {
    /// The token, under either of the two names that it has in the field.
    pub(super) fn token(self) -> Option<String> {
        [self.token, self.access_token].into_iter().find(|token| !token.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read() {
        let bearer = |realm: &str, service: Option<&str>, scope: Option<&str>| {
            Some(Challenge::Bearer {
                realm: realm.to_owned(),
                service: service.map(str::to_owned),
                scope: scope.map(str::to_owned),
            })
        };
        for (headers, expected) in [
            (vec![r#"Basic realm="r""#], Some(Challenge::Basic)),
            (vec!["basic"], Some(Challenge::Basic)),
            (
                vec![
                    r#"Bearer realm="https://auth.io/token",service="r.io",scope="repository:a/b:pull,push""#,
                ],
                bearer("https://auth.io/token", Some("r.io"), Some("repository:a/b:pull,push")),
            ),
            (
                vec![r#"BEARER service=r.io , Realm=https://auth.io/token"#],
                bearer("https://auth.io/token", Some("r.io"), None),
            ),
            (vec![r#"Basic realm="r""#, r#"Bearer realm="a\"b""#], bearer("a\"b", None, None)),
            (vec![r#"Bearer realm="open"#], bearer("open", None, None)),
            (vec!["Bearer", "Negotiate"], None),
            (vec![], None),
        ] {
            assert_eq!(Challenge::parse(headers.iter().copied()), expected, "{headers:?}");
        }
    }
}
