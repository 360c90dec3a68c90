//! Schemas of custom resources, whole definitions, and expressions.

use std::sync::LazyLock;

use kubewright_schema::{
    FieldPath, Structural,
    cel::{Expression, Scope, ValueType, Values, check_expression, check_rules},
    crd,
};
use serde_json::{Value, json};

use super::halves;

/// What an expression may cost at most. A server allows ten times as much.
const BUDGET: u64 = 100_000;

/// An expression is refused with errors that lie within it, or evaluated twice to the same at the same price.
pub fn cel(bytes: &[u8]) {
    static SCOPE: LazyLock<Scope> = LazyLock::new(|| {
        Scope::of_admission()
            .with("object", &ValueType::Any)
            .with("oldObject", &ValueType::Any)
            .with_authorizer()
    });
    static VALUES: LazyLock<Values> = LazyLock::new(|| {
        let object = json!({
            "metadata": {"name": "web", "labels": {"app": "web"}, "creationTimestamp": "2030-01-01T00:00:00Z"},
            "spec": {"replicas": 3, "ratio": 0.5, "items": ["a", "b", null, 1], "size": "1.5Gi", "paused": false},
        });
        let request =
            json!({"name": "web", "operation": "UPDATE", "userInfo": {"username": "u", "groups": ["g"]}});
        Values::new()
            .with("object", &object)
            .with("oldObject", &Value::Null)
            .with("request", &request)
            .with("namespaceObject", &json!({"metadata": {"name": "default"}}))
            .without_authorizer()
    });
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    for error in check_expression(source, &["object", "oldObject", "request", "authorizer"]) {
        assert!(source.get(error.span.clone()).is_some(), "{error:?} is not within {source:?}");
    }
    let Ok(expression) = Expression::compile(source, &SCOPE, &[]) else { return };
    assert_eq!(expression.source(), source);
    let evaluate = || {
        let mut budget = BUDGET;
        (expression.evaluate(&VALUES, &mut budget), budget)
    };
    assert_eq!(evaluate(), evaluate());
}

/// A schema, in one line of JSON, and behind it an object: pruning and defaulting twice is doing it once, and what was pruned
/// has nothing that the schema does not know.
pub fn schema(bytes: &[u8]) {
    let (schema, object) = halves(bytes).unwrap_or((bytes, b"{}"));
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else { return };
    let root = FieldPath::root();
    let Ok(schema) = Structural::parse(&schema) else { return };
    let checked = check_rules(&schema, &root);
    assert!(checked.rules.iter().all(|rule| rule.rule.cost <= rule.rule.total_cost));
    let Ok(mut object) = serde_json::from_slice::<Value>(object) else { return };
    schema.prune(&mut object);
    let pruned = object.clone();
    assert_eq!(schema.prune(&mut object), Vec::<String>::new());
    assert_eq!(object, pruned);
    schema.drop_nulls(&mut object);
    schema.apply_defaults(&mut object);
    let defaulted = object.clone();
    schema.drop_nulls(&mut object);
    schema.apply_defaults(&mut object);
    assert_eq!(object, defaulted);
    let errors = schema.validate(&object, None, &root);
    schema.validate_rules_after(errors, &object, None, &root, true);
    let errors = schema.validate(&object, Some(&object), &root);
    schema.validate_rules_after(errors, &object, Some(&object), &root, true);
}

/// A whole definition, as JSON, is refused with reasons, or may be updated to itself.
pub fn definition(bytes: &[u8]) {
    let Ok(mut definition) = serde_json::from_slice::<Value>(bytes) else { return };
    if !definition.is_object() {
        return;
    }
    crd::default_crd(&mut definition);
    let once = definition.clone();
    crd::default_crd(&mut definition);
    assert_eq!(definition, once);
    let _ = crd::crd_warnings(&definition, None);
    if crd::validate_crd(&definition).is_empty() {
        let mut stored = definition.clone();
        stored["metadata"]["resourceVersion"] = json!("1");
        let errors = crd::validate_crd_update(&stored, &definition);
        assert!(errors.is_empty(), "{:?}", errors.causes());
    }
}
