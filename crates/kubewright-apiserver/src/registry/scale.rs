use serde_json::{Map, Value, json};

use super::{
    Edit, Registry, Request, metadata,
    update::{View, check_name},
};
use crate::{
    crd::{Scale, dotted},
    status::{Cause, GroupKind, Status},
    wire::options::WriteOptions,
};

impl Registry {
    /// The number of replicas of an object, as an `autoscaling/v1` `Scale`.
    ///
    /// # Errors
    /// 404, or 500 if the object does not have the fields that its CRD says.
    pub(crate) async fn scale(&self, request: &Request) -> Result<Value, Status> {
        let object =
            self.store.get(&request.served.bucket, &request.key()).ok_or_else(|| request.not_found())?;
        let object = self.present(&request.served, &object).await?;
        let paths = paths(request)?;
        if request.served.custom.is_some() && read(object.value(), &paths.spec_replicas).is_none() {
            let path = dotted(&paths.spec_replicas);
            return Err(Status::internal(format!("the spec replicas field {path:?} does not exist")));
        }
        Ok(view(&paths, object.value()))
    }

    /// Sets the number of replicas to that of the `Scale` that `make` makes of the current one. A `Scale` that replaces
    /// the current one may say which object it means.
    ///
    /// # Errors
    /// With what `make` refuses, 400 for the `Scale` of another object, 422 for a number that is none, and what an update
    /// of the object refuses.
    pub(crate) async fn update_scale(
        &self,
        request: &Request,
        options: &WriteOptions,
        make: &(dyn Fn(&Value) -> Result<Value, Status> + Sync),
        is_replacement: bool,
    ) -> Result<Value, Status> {
        let scaling = Scaling { request, paths: paths(request)? };
        let make = |shown: Option<&Value>| {
            let mut scale = make(shown.unwrap_or(&Value::Null))?;
            check_name(request, &scale)?;
            self.match_namespace(request, &mut scale)?;
            Ok(scale)
        };
        // As with a real server, the field of a custom resource that is scaled has no owner, and that of a built-in
        // kind only if it had one before.
        let current = self.store.get(&request.served.bucket, &request.key());
        let is_owned = current.is_some_and(|object| has_owner(object.value(), &scaling.paths.spec_replicas));
        let tracked = request.served.custom.is_some() || !is_owned;
        let edit = Edit { make: &make, create_missing: false, tracked, is_replacement, view: Some(&scaling) };
        let updated = self.update(request, options, &edit).await?;
        Ok(view(&scaling.paths, updated.object.value()))
    }
}

/// An object as a `Scale`.
struct Scaling<'a> {
    request: &'a Request,
    paths: Scale,
}

impl View for Scaling<'_> {
    fn show(&self, object: &Value) -> Value {
        view(&self.paths, object)
    }

    fn apply(&self, object: &Value, scale: &Value) -> Result<Value, Status> {
        let Self { request, paths } = self;
        let replicas = scale.get("spec").and_then(|spec| spec.get("replicas")).cloned();
        let replicas = replicas.filter(|replicas| !replicas.is_null()).unwrap_or_else(|| json!(0));
        let Some(number) = replicas.as_i64() else {
            let cause = Cause::invalid("spec.replicas", &replicas, "must be an integer");
            return Err(invalid(request, cause));
        };
        if number < 0 {
            return Err(negative(request, paths, &replicas));
        }
        let mut new = object.clone();
        write(metadata::as_map(&mut new), &paths.spec_replicas, replicas);
        // A version in the `Scale` is one of the object.
        let version = metadata::resource_version(scale);
        if !version.is_empty() {
            metadata::set(&mut new, "resourceVersion", Some(Value::from(version)));
        }
        let uid = metadata::uid(scale);
        if !uid.is_empty() {
            metadata::set(&mut new, "uid", Some(Value::from(uid)));
        }
        Ok(new)
    }
}

/// Whether a field manager owns the field.
fn has_owner(object: &Value, path: &[String]) -> bool {
    let entries = metadata::get(object, "managedFields").and_then(Value::as_array);
    entries.into_iter().flatten().any(|entry| {
        let fields = entry.get("fieldsV1");
        fields.is_some_and(|fields| {
            path.iter().try_fold(fields, |fields, name| fields.get(format!("f:{name}"))).is_some()
        })
    })
}

fn invalid(request: &Request, cause: Cause) -> Status {
    Status::invalid(&GroupKind::new("autoscaling", "Scale"), &request.name, vec![cause])
}

fn negative(request: &Request, paths: &Scale, replicas: &Value) -> Status {
    if request.served.custom.is_some() {
        let path = dotted(&paths.spec_replicas);
        let cause = Cause::invalid(path, replicas, "should be a non-negative integer");
        Status::invalid(&request.served.definition.group_kind(), &request.name, vec![cause])
    } else {
        invalid(request, Cause::invalid("spec.replicas", replicas, "must be greater than or equal to 0"))
    }
}

/// Where the resource has what a `Scale` shows.
fn paths(request: &Request) -> Result<Scale, Status> {
    match &request.served.custom {
        Some(custom) => custom.scale.clone().ok_or_else(Status::no_such_resource),
        None => Ok(Scale::built_in()),
    }
}

fn view(paths: &Scale, object: &Value) -> Value {
    let mut metadata = Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = metadata::get(object, field) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    let mut status = Map::new();
    let replicas = read(object, &paths.status_replicas).and_then(Value::as_i64);
    status.insert("replicas".to_owned(), Value::from(replicas.unwrap_or_default()));
    if let Some(selector) = read(object, &paths.selector).map(selector_text).filter(|text| !text.is_empty()) {
        status.insert("selector".to_owned(), Value::from(selector));
    }
    let mut spec = Map::new();
    // Go leaves a zero out here.
    if let Some(replicas) = read(object, &paths.spec_replicas).and_then(Value::as_i64).filter(|n| *n != 0) {
        spec.insert("replicas".to_owned(), Value::from(replicas));
    }
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    })
}

/// A selector as text: custom resources keep it as text, built-in kinds as an object.
fn selector_text(selector: &Value) -> String {
    let Value::Object(object) = selector else { return selector.as_str().unwrap_or_default().to_owned() };
    let is_label_selector = object.contains_key("matchLabels") || object.contains_key("matchExpressions");
    let empty = Map::new();
    let labels =
        if is_label_selector { object.get("matchLabels").and_then(Value::as_object) } else { Some(object) };
    let mut terms: Vec<String> = labels
        .unwrap_or(&empty)
        .iter()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    let expressions = object.get("matchExpressions").and_then(Value::as_array).into_iter().flatten();
    for expression in expressions {
        let text = |field: &str| expression.get(field).and_then(Value::as_str).unwrap_or_default();
        let values = expression.get("values").and_then(Value::as_array).into_iter().flatten();
        let mut values: Vec<&str> = values.filter_map(Value::as_str).collect();
        values.sort_unstable();
        let (key, values) = (text("key"), values.join(","));
        terms.push(match text("operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    terms.join(",")
}

fn read<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    if path.is_empty() {
        return None;
    }
    path.iter().try_fold(object, |value, field| value.get(field))
}

fn write(mut object: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    for parent in parents {
        object = metadata::child(object, parent);
    }
    object.insert(last.clone(), value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_shown_as_text() {
        let selector = json!({
            "matchLabels": {"a": "b"},
            "matchExpressions": [{"key": "c", "operator": "In", "values": ["e", "d"]}, {"key": "f", "operator": "Exists"}],
        });
        assert_eq!(selector_text(&selector), "a=b,c in (d,e),f");
        assert_eq!(selector_text(&json!({"a": "b"})), "a=b");
        assert_eq!(selector_text(&json!("x=y")), "x=y");
    }
}
