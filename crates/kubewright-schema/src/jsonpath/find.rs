use std::cmp::Ordering;

use serde_json::Value;

use super::{End, Filter, Operand, Operator, Slice, Step};

/// `None` if a step cannot be taken at all.
pub(super) fn all<'v>(steps: &[Step], value: &'v Value) -> Option<Vec<&'v Value>> {
    walk(steps, vec![value])
}

fn walk<'v>(steps: &[Step], values: Vec<&'v Value>) -> Option<Vec<&'v Value>> {
    steps.iter().try_fold(values, |values, step| {
        let mut found = Vec::new();
        match step {
            Step::Union(alternatives) => {
                for alternative in alternatives {
                    found.extend(walk(alternative, values.clone())?);
                }
            }
            step => {
                for value in values {
                    take(step, value, &mut found)?;
                }
            }
        }
        Some(found)
    })
}

fn take<'v>(step: &Step, value: &'v Value, found: &mut Vec<&'v Value>) -> Option<()> {
    match step {
        Step::Field(name) => found.extend(value.as_object().and_then(|fields| fields.get(name))),
        Step::Wildcard => found.extend(children(value)),
        Step::Recursive => descend(value, found),
        // A null stands for an absent list.
        Step::Slice(_) if value.is_null() => {}
        Step::Slice(slice) => found.extend(cut(*slice, value.as_array()?)?),
        Step::Union(_) => {}
        Step::Filter(filter) => {
            for item in value.as_array()? {
                if passes(filter, item)? {
                    found.push(item);
                }
            }
        }
    }
    Some(())
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    }
}

fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    let children = children(value);
    if !children.is_empty() {
        found.push(value);
    }
    for child in children {
        descend(child, found);
    }
}

fn cut(slice: Slice, items: &[Value]) -> Option<Vec<&Value>> {
    let length = i64::try_from(items.len()).ok()?;
    let from_end = |index: i64| if index < 0 { index.checked_add(length) } else { Some(index) };
    let start = from_end(slice.start.unwrap_or(0))?;
    let end = match slice.end {
        End::Open => length,
        End::At(end) => from_end(end)?,
        End::AfterStart => start.checked_add(1)?,
    };
    if start == end {
        return Some(Vec::new());
    }
    let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
    let step = usize::try_from(slice.step.unwrap_or(1)).ok().filter(|step| *step > 0)?;
    if range.start >= items.len() {
        return None;
    }
    Some(items.get(range)?.iter().step_by(step).collect())
}

fn passes(filter: &Filter, item: &Value) -> Option<bool> {
    let Some((operator, right)) = &filter.comparison else {
        // A path that leads nowhere is no error here, it is the question.
        return Some(match &filter.left {
            Operand::Constant(_) => true,
            Operand::Path(steps) => all(steps, item).is_some_and(|found| !found.is_empty()),
        });
    };
    let (Some(left), Some(right)) = (single(&filter.left, item)?, single(right, item)?) else {
        return Some(false);
    };
    let ordering = compare(left, right)?;
    Some(match operator {
        Operator::Equal => ordering == Ordering::Equal,
        Operator::NotEqual => ordering != Ordering::Equal,
        Operator::Less => ordering == Ordering::Less,
        Operator::LessOrEqual => ordering != Ordering::Greater,
        Operator::Greater => ordering == Ordering::Greater,
        Operator::GreaterOrEqual => ordering != Ordering::Less,
    })
}

/// The one value of a side. Several do not compare, none compares to nothing.
fn single<'v>(operand: &'v Operand, item: &'v Value) -> Option<Option<&'v Value>> {
    match operand {
        Operand::Constant(constant) => Some(Some(constant)),
        Operand::Path(steps) => match all(steps, item)?.as_slice() {
            [] => Some(None),
            [value] => Some(Some(value)),
            _ => None,
        },
    }
}

/// Values of different kinds do not compare, integers and floats included.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::JsonPath;

    #[test]
    fn paths_find_what_kubectl_finds() {
        let object = json!({
            "metadata": {"name": "n", "annotations": {"example.com/a": "x"}},
            "spec": {"replicas": 3, "list": [10, 20, 30, 40], "empty": null},
            "status": {"conditions": [
                {"type": "Ready", "status": "True", "n": 1},
                {"type": "Synced", "status": "False", "n": 2, "extra": ")"},
            ]},
        });
        let cases: [(&str, Value); 24] = [
            (".metadata.name", json!(["n"])),
            (r".metadata.annotations.example\.com/a", json!(["x"])),
            (r".metadata.annotations['example\.com/a']", json!(["x"])),
            (".spec['replicas']", json!([3])),
            ("$.spec.replicas", json!([3])),
            (".spec.list[0]", json!([10])),
            (".spec.list[-1]", json!([40])),
            (".spec.list[1:3]", json!([20, 30])),
            (".spec.list[::2]", json!([10, 30])),
            (".spec.list[*]", json!([10, 20, 30, 40])),
            (".spec.list[0,3]", json!([10, 40])),
            (".spec.list[9]", json!([])),
            (".spec.replicas[0]", json!([])),
            (".spec.empty[0]", json!([])),
            (".spec.nope.deeper", json!([])),
            (r#".status.conditions[?(@.type=="Ready")].status"#, json!(["True"])),
            (".status.conditions[?(@.type=='Synced')].status", json!(["False"])),
            (".status.conditions[?(@.type!=\"Ready\")].n", json!([2])),
            (".status.conditions[?(@.n>1)].type", json!(["Synced"])),
            (".status.conditions[?(@.n<=1)].type", json!(["Ready"])),
            (".status.conditions[?(@.extra)].n", json!([2])),
            (".status.conditions[?(@.extra==')')].n", json!([2])),
            (".status.conditions[*].type", json!(["Ready", "Synced"])),
            ("..type", json!(["Ready", "Synced"])),
        ];
        for (path, expected) in cases {
            let found = JsonPath::parse(path).unwrap();
            assert_eq!(json!(found.find(&object)), expected, "{path}");
        }
    }

    #[test]
    fn values_of_different_kinds_do_not_compare() {
        let object = json!({"list": [{"a": "1"}]});
        assert!(JsonPath::parse(".list[?(@.a==1)]").unwrap().find(&object).is_empty());
        assert!(JsonPath::parse(".list[?(@.a!=1)]").unwrap().find(&object).is_empty());
    }

    #[test]
    fn extreme_indexes_find_nothing() {
        let object = json!({"list": [1]});
        for path in [
            ".list[9223372036854775807]",
            ".list[-9223372036854775808]",
            ".list[0:1:-1]",
            ".list[1:0]",
            ".list[-5:1]",
        ] {
            assert!(JsonPath::parse(path).unwrap().find(&object).is_empty(), "{path}");
        }
    }
}
