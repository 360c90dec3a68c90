//! YAML bodies, which JSON is as well.

use serde_json::Value;
use serde_saphyr::{DuplicateKeyPolicy, Error};

/// Reads a document. Of a key that comes twice the last value counts.
///
/// # Errors
/// With the line and what is wrong there.
pub fn parse(body: &[u8]) -> Result<Value, String> {
    read(body, DuplicateKeyPolicy::LastWins).map_err(|error| match error.location() {
        Some(location) => format!("yaml: line {}: {}", location.line(), summary(&error)),
        None => format!("yaml: {}", summary(&error)),
    })
}

/// The first key that comes twice in one place, in words; `None` if there is none.
pub fn duplicate_key(body: &[u8]) -> Option<String> {
    let error = read(body, DuplicateKeyPolicy::Error).err()?;
    match error.without_snippet() {
        Error::DuplicateMappingKey { key, location } => Some(format!(
            "yaml: unmarshal errors:\n  line {}: key {:?} already set in map",
            location.line(),
            key.as_deref().unwrap_or_default()
        )),
        _ => None,
    }
}

fn read(body: &[u8], duplicate_keys: DuplicateKeyPolicy) -> Result<Value, Error> {
    let text = String::from_utf8_lossy(body);
    let options = serde_saphyr::options! { duplicate_keys: duplicate_keys };
    serde_saphyr::from_str_with_options(&text, options)
}

/// The first line of an error, without the position that it starts with.
fn summary(error: &Error) -> String {
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or_default();
    let after_position =
        line.split_once(": ").filter(|(start, _)| start.contains("line ")).map(|(_, rest)| rest);
    after_position.unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_of_equal_keys_counts_and_is_found() {
        let body = b"a: 1\nb:\n  c: 1\n  c: 2\n";
        assert_eq!(parse(body), Ok(json!({"a": 1, "b": {"c": 2}})));
        assert_eq!(
            duplicate_key(body).as_deref(),
            Some("yaml: unmarshal errors:\n  line 4: key \"c\" already set in map")
        );
        assert_eq!(duplicate_key(b"a: 1"), None);
    }

    #[test]
    fn an_error_names_its_line() {
        let error = parse(b"a: 1\nb: [").expect_err("an open bracket");
        assert!(error.starts_with("yaml: line 2: "), "{error}");
    }
}
