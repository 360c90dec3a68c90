//! What a defaulter changed, said of the object as the API server sent it.

use serde_json::Value;

/// `raw` with what changed from `before` to `after`, and nothing else.
///
/// `before` is `raw` as a Rust type holds it, and `after` what was made of that. What the type does not know, and what it
/// would write though it was not there, is the same in both, so it does not count as a change. Items of lists that were
/// inserted, removed or moved keep what the type does not know of them.
pub(super) fn changed(raw: &Value, before: &Value, after: &Value) -> Value {
    if before == after {
        return raw.clone();
    }
    match (raw, before, after) {
        (Value::Object(raw), Value::Object(before), Value::Object(after)) => {
            let mut object = raw.clone();
            for key in before.keys().filter(|key| !after.contains_key(*key)) {
                object.remove(key);
            }
            for (key, after) in after {
                let value = match (raw.get(key), before.get(key)) {
                    (_, Some(before)) if before == after => continue,
                    (Some(raw), Some(before)) => changed(raw, before, after),
                    _ => after.clone(),
                };
                object.insert(key.clone(), value);
            }
            Value::Object(object)
        }
        (Value::Array(raw), Value::Array(before), Value::Array(after)) if raw.len() == before.len() => {
            let item = |(index, after_item): (usize, &Value)| {
                let unchanged = |(_, item): &(usize, &Value)| *item == after_item;
                let here = before.get(index).filter(|item| *item == after_item).map(|_| index);
                match here.or_else(|| before.iter().enumerate().find(unchanged).map(|(index, _)| index)) {
                    Some(index) => raw[index].clone(),
                    None if before.len() == after.len() => changed(&raw[index], &before[index], after_item),
                    None => after_item.clone(),
                }
            };
            Value::Array(after.iter().enumerate().map(item).collect())
        }
        _ => after.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_type_does_not_know_or_writes_of_itself_is_no_change() {
        let raw = json!({"spec": {"size": 1, "unknown": true}});
        let before = json!({"spec": {"size": 1, "color": null, "tags": []}});
        let after = json!({"spec": {"size": 2, "color": null, "tags": []}});
        assert_eq!(changed(&raw, &before, &after), json!({"spec": {"size": 2, "unknown": true}}));
        assert_eq!(changed(&raw, &before, &before), raw);
    }

    #[test]
    fn what_was_removed_is_removed_and_parents_come_into_being() {
        let raw = json!({"spec": {"size": 1, "color": "red"}});
        let before = json!({"spec": {"size": 1, "color": "red", "limits": {}}});
        let after = json!({"spec": {"size": 1, "limits": {"cpu": 1}}});
        assert_eq!(changed(&raw, &before, &after), json!({"spec": {"size": 1, "limits": {"cpu": 1}}}));
    }

    #[test]
    fn items_of_lists_keep_what_the_type_does_not_know_of_them() {
        let raw = json!([{"name": "a", "extra": 1}, {"name": "b", "extra": 2}]);
        let before = json!([{"name": "a"}, {"name": "b"}]);
        let inserted = json!([{"name": "new"}, {"name": "a"}, {"name": "b"}]);
        assert_eq!(
            changed(&raw, &before, &inserted),
            json!([{"name": "new"}, {"name": "a", "extra": 1}, {"name": "b", "extra": 2}])
        );
        let moved = json!([{"name": "b"}, {"name": "a"}]);
        assert_eq!(
            changed(&raw, &before, &moved),
            json!([{"name": "b", "extra": 2}, {"name": "a", "extra": 1}])
        );
        let edited = json!([{"name": "a", "size": 1}, {"name": "b"}]);
        assert_eq!(
            changed(&raw, &before, &edited),
            json!([{"name": "a", "size": 1, "extra": 1}, {"name": "b", "extra": 2}])
        );
        assert_eq!(changed(&raw, &before, &json!([{"name": "b"}])), json!([{"name": "b", "extra": 2}]));
    }
}
