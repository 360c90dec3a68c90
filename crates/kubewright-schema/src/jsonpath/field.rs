use super::InvalidJsonPath;
use crate::{error::FieldPath, structural::Schema};

/// Whether a path may name fields in brackets, such as `['a.b']`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brackets {
    /// As in the `fieldPath` of a CEL rule.
    Allowed,
    /// As in selectable fields.
    Forbidden,
}

/// The path and the schema of a field that is named by fields and keys only, such as `.spec.labels['a']`.
///
/// # Errors
///
/// Why the path does not lead to a field of `schema`, in the words of Kubernetes.
pub fn resolve<'s>(
    path: &str,
    schema: &'s Schema,
    brackets: Brackets,
) -> Result<(FieldPath, &'s Schema), InvalidJsonPath> {
    walk(path, schema, brackets).map_err(InvalidJsonPath)
}

fn walk<'s>(path: &str, schema: &'s Schema, brackets: Brackets) -> Result<(FieldPath, &'s Schema), String> {
    let mut tokens = tokens(path).into_iter();
    let mut next = || tokens.next().ok_or_else(|| "unexpected end of JSON path".to_owned());
    let mut field = FieldPath::root();
    let mut schema = schema;
    while let Ok(token) = next() {
        let name = match token {
            "[" if brackets == Brackets::Forbidden => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = next()?;
                let name = quoted
                    .strip_prefix('\'')
                    .and_then(|rest| rest.strip_suffix('\''))
                    .ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                let close = next()?;
                if close != "]" {
                    return Err(format!("expected ] but got {close}"));
                }
                name.replace("\\'", "'").replace("\\\\", "\\")
            }
            "." => next()?.to_owned(),
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        let invalid = || "does not refer to a valid field".to_owned();
        if schema.properties.is_empty() {
            schema = schema.additional_schema().ok_or_else(invalid)?;
            field = field.key(&name);
        } else {
            schema = schema.properties.get(&name).ok_or_else(invalid)?;
            field = field.child(&name);
        }
    }
    Ok((field, schema))
}

/// Dots, brackets, quoted strings and what stands between them.
fn tokens(path: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let length = if rest.starts_with(['.', '[', ']']) {
            1
        } else if rest.starts_with('\'') {
            let bytes = rest.as_bytes();
            (1..bytes.len())
                .find(|&index| bytes[index] == b'\'' && bytes[index - 1] != b'\\')
                .map_or(rest.len(), |end| end + 1)
        } else {
            rest.find(['.', '[', ']']).unwrap_or(rest.len())
        };
        let (token, tail) = rest.split_at(length);
        tokens.push(token);
        rest = tail;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Structural;

    #[test]
    fn simple_paths() {
        let schema = Structural::parse(&json!({"type": "object", "properties": {"spec": {
            "type": "object",
            "properties": {
                "a.b": {"type": "string"},
                "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
        }}}))
        .unwrap();
        let cases = [
            (".spec", Brackets::Allowed, Ok("spec")),
            (".spec['a.b']", Brackets::Allowed, Ok("spec.a.b")),
            (".spec.labels['k']", Brackets::Allowed, Ok("spec.labels[k]")),
            (".spec.labels.k", Brackets::Allowed, Ok("spec.labels[k]")),
            (".nope", Brackets::Allowed, Err("does not refer to a valid field")),
            (".spec.labels.k.deeper", Brackets::Allowed, Err("does not refer to a valid field")),
            ("spec", Brackets::Allowed, Err("expected [ or . but got: spec")),
            (".", Brackets::Allowed, Err("unexpected end of JSON path")),
            (".spec[0]", Brackets::Allowed, Err("expected single quoted string but got 0")),
            (".spec['a.b'", Brackets::Allowed, Err("unexpected end of JSON path")),
            (".spec['a.b']", Brackets::Forbidden, Err("array notation is not allowed")),
        ];
        for (path, brackets, expected) in cases {
            let found = resolve(path, &schema, brackets).map(|(path, _)| path.to_string());
            assert_eq!(
                found,
                expected.map(str::to_owned).map_err(|reason| InvalidJsonPath(reason.to_owned())),
                "{path}"
            );
        }
    }
}
