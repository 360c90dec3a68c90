use serde_json::Value;

use super::syntax;
use crate::error::{ErrorList, FieldError, FieldPath};

/// Checks a `LabelSelector` (`matchLabels`, `matchExpressions`).
pub fn validate_label_selector(selector: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = super::validate_labels(&selector["matchLabels"], &path.child("matchLabels"));
    let expressions = selector["matchExpressions"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, expression) in expressions.iter().enumerate() {
        requirement(expression, &path.child("matchExpressions").index(index), &mut errors);
    }
    errors
}

fn requirement(expression: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let values = expression["values"].as_array().map_or(&[][..], Vec::as_slice);
    match expression["operator"].as_str().unwrap_or_default() {
        "In" | "NotIn" if values.is_empty() => errors.push(FieldError::required(
            &path.child("values"),
            "must be specified when `operator` is 'In' or 'NotIn'",
        )),
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.push(FieldError::forbidden(
            &path.child("values"),
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        )),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => {
            errors.push(FieldError::invalid(&path.child("operator"), other, "not a valid selector operator"));
        }
    }
    let key = expression["key"].as_str().unwrap_or_default();
    errors.extend(
        syntax::label_key(key).into_iter().map(|reason| FieldError::invalid(&path.child("key"), key, reason)),
    );
    for (index, value) in values.iter().enumerate() {
        let value = value.as_str().unwrap_or_default();
        let path = path.child("values").index(index);
        errors.extend(
            syntax::label_value(value).into_iter().map(|reason| FieldError::invalid(&path, value, reason)),
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors() {
        let errors = validate_label_selector(
            &json!({"matchLabels": {"a": "b"}, "matchExpressions": [
                {"key": "a", "operator": "In", "values": ["b"]},
                {"key": "a", "operator": "In"},
                {"key": "a", "operator": "Exists", "values": ["b"]},
                {"key": "a", "operator": "Is"},
            ]}),
            &FieldPath::new("spec.selector"),
        );
        assert_eq!(
            errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "spec.selector.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
                "spec.selector.matchExpressions[2].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                "spec.selector.matchExpressions[3].operator: Invalid value: \"Is\": not a valid selector operator",
            ]
        );
    }
}
