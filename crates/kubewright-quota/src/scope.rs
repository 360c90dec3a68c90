use serde_json::Value;

/// What limits a quota to some of its objects: its scopes and the expressions of its scope selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(Vec<Requirement>);

/// One scope that an object has to be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) scope: String,
    operator: Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    DoesNotExist,
    In(Vec<String>),
    NotIn(Vec<String>),
}

impl Scopes {
    /// The scopes of the `spec` of a quota.
    #[must_use]
    pub fn of(spec: &Value) -> Self {
        let plain = spec["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let plain = plain.map(|scope| Requirement { scope: scope.to_owned(), operator: Operator::Exists });
        let expressions = spec["scopeSelector"]["matchExpressions"].as_array().into_iter().flatten();
        Self(plain.chain(expressions.map(Requirement::of)).collect())
    }

    /// Whether there are none, so that all objects count.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn all(&self, matches: impl FnMut(&Requirement) -> bool) -> bool {
        self.0.iter().all(matches)
    }
}

impl Requirement {
    fn of(expression: &Value) -> Self {
        let values = expression["values"].as_array().into_iter().flatten();
        let values: Vec<String> = values.filter_map(Value::as_str).map(str::to_owned).collect();
        let operator = match expression["operator"].as_str().unwrap_or_default() {
            "In" => Operator::In(values),
            "NotIn" => Operator::NotIn(values),
            "DoesNotExist" => Operator::DoesNotExist,
            _ => Operator::Exists,
        };
        Self { scope: expression["scopeName"].as_str().unwrap_or_default().to_owned(), operator }
    }

    /// Whether an object is in the scope that has one of these names there, or none.
    pub(crate) fn selects(&self, names: &[&str]) -> bool {
        let is_listed = |values: &[String], name: &str| values.iter().any(|value| value == name);
        match &self.operator {
            Operator::Exists => !names.is_empty(),
            Operator::DoesNotExist => names.is_empty(),
            Operator::In(values) => names.iter().any(|name| is_listed(values, name)),
            Operator::NotIn(values) => names.is_empty() || names.iter().any(|name| !is_listed(values, name)),
        }
    }
}
