use kubewright_schema::{FieldPath, error::go, names};
use serde_json::{Map, Value, json};

use super::{decode, request_info::Query};
use crate::status::{Cause, GroupKind, Status};

/// The options of create, update and patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteOptions {
    /// Everything is done but the commit.
    pub(crate) dry_run: bool,
    /// Who owns the fields that are written; never empty but for an apply that does not say.
    pub(crate) field_manager: String,
    /// The field manager as the client names it, if it does.
    pub(crate) given_field_manager: String,
    pub(crate) field_validation: FieldValidation,
    /// The word for it that the client gives, if it does.
    pub(crate) given_field_validation: String,
    /// Whether an apply takes fields from other managers.
    pub(crate) force: Option<bool>,
}

/// What becomes of fields that the kind does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// The options of list and watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListOptions {
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    pub(crate) resource_version: String,
    pub(crate) resource_version_match: String,
    pub(crate) limit: u64,
    pub(crate) continue_token: String,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) allow_watch_bookmarks: bool,
    pub(crate) send_initial_events: Option<bool>,
}

/// The options of delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) orphan_dependents: Option<bool>,
    pub(crate) propagation_policy: Option<String>,
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

// === impl WriteOptions ===

impl WriteOptions {
    /// The options of a write that the server makes itself.
    pub(crate) fn internal() -> Self {
        Self { field_manager: "kube-apiserver".to_owned(), ..Self::default() }
    }

    /// Reads the query of a write. `kind` is `CreateOptions`, `UpdateOptions` or `PatchOptions`; `apply` tells
    /// whether it is a server-side apply.
    ///
    /// # Errors
    /// 422 if an option has a value it may not have.
    pub(crate) fn parse(query: &Query, kind: &str, apply: bool, user_agent: &str) -> Result<Self, Status> {
        let mut causes = Vec::new();
        let dry_run = dry_run(query.all("dryRun"), &mut causes);
        let given = query.get("fieldManager");
        let force = query.find("force").map(|_| query.is_true("force"));
        if kind == "PatchOptions" {
            if apply && given.is_empty() {
                causes.push(Cause::required("fieldManager", "is required for apply patch"));
            }
            if !apply && force.is_some() {
                causes.push(Cause::forbidden("force", "may not be specified for non-apply patch"));
            }
        }
        let errors = names::validate_field_manager(given, &FieldPath::new("fieldManager"));
        causes.extend(errors.causes().into_iter().map(Cause::from));
        let field_validation = match query.get("fieldValidation") {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                causes.push(Cause::not_supported("fieldValidation", &Value::from(other), &supported));
                FieldValidation::Warn
            }
        };
        refuse(kind, causes)?;
        let field_manager =
            if given.is_empty() { manager_of(user_agent).to_owned() } else { given.to_owned() };
        Ok(Self {
            dry_run,
            field_manager,
            given_field_manager: given.to_owned(),
            field_validation,
            given_field_validation: query.get("fieldValidation").to_owned(),
            force,
        })
    }
}

const FIELD_MANAGER_LIMIT: usize = 128;

fn is_printable(c: char) -> bool {
    !c.is_control() && (c == ' ' || !c.is_whitespace())
}

/// The field manager of a client that names none: what its user agent says before the first slash.
fn manager_of(user_agent: &str) -> &str {
    let name = user_agent.split('/').next().unwrap_or_default();
    let end = name.char_indices().find(|(_, c)| !is_printable(*c)).map_or(name.len(), |(index, _)| index);
    let mut end = end.min(FIELD_MANAGER_LIMIT);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    match name.get(..end) {
        Some(name) if !name.is_empty() => name,
        _ => "unknown",
    }
}

fn dry_run<'a>(values: impl Iterator<Item = &'a str>, causes: &mut Vec<Cause>) -> bool {
    let values: Vec<&str> = values.collect();
    if values.iter().any(|value| *value != "All") {
        causes.push(Cause::not_supported("dryRun", &json!(values), &["All"]));
    }
    !values.is_empty()
}

fn refuse(kind: &str, causes: Vec<Cause>) -> Result<(), Status> {
    if causes.is_empty() {
        Ok(())
    } else {
        Err(Status::invalid(&GroupKind::new("meta.k8s.io", kind), "", causes))
    }
}

// === impl ListOptions ===

impl ListOptions {
    /// Reads the query of a list or a watch.
    ///
    /// # Errors
    /// 400 for a number that is none, 422 for options that do not go together.
    pub(crate) fn parse(query: &Query, watch: bool) -> Result<Self, Status> {
        let limit = integer(query, "limit")?;
        let options = Self {
            label_selector: query.get("labelSelector").to_owned(),
            field_selector: query.get("fieldSelector").to_owned(),
            resource_version: query.get("resourceVersion").to_owned(),
            resource_version_match: query.get("resourceVersionMatch").to_owned(),
            // A negative limit is none.
            limit: limit.and_then(|limit| u64::try_from(limit).ok()).unwrap_or_default(),
            continue_token: query.get("continue").to_owned(),
            timeout_seconds: integer(query, "timeoutSeconds")?
                .and_then(|seconds| u64::try_from(seconds).ok()),
            allow_watch_bookmarks: query.is_true("allowWatchBookmarks"),
            send_initial_events: query.find("sendInitialEvents").map(|_| query.is_true("sendInitialEvents")),
        };
        options.validate(watch)?;
        Ok(options)
    }

    /// Refuses a watch that is to begin with what is there, on a server without that feature.
    ///
    /// # Errors
    /// 422.
    pub(crate) fn refuse_initial_events(&self) -> Result<(), Status> {
        let field = "sendInitialEvents";
        let detail = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
        let cause = self.send_initial_events.map(|_| Cause::forbidden(field, detail));
        refuse("ListOptions", cause.into_iter().collect())
    }

    fn validate(&self, watch: bool) -> Result<(), Status> {
        let mut causes = Vec::new();
        let matching = self.resource_version_match.as_str();
        let field = "resourceVersionMatch";
        if watch {
            match self.send_initial_events {
                Some(_) if matching != "NotOlderThan" => {
                    let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
                    causes.push(Cause::forbidden(field, detail));
                    if !matching.is_empty() {
                        let value = Value::from(matching);
                        causes.push(Cause::not_supported(field, &value, &["NotOlderThan"]));
                    }
                }
                None if !matching.is_empty() => {
                    let detail =
                        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                    causes.push(Cause::forbidden(field, detail));
                    if matching != "NotOlderThan" {
                        let value = Value::from(matching);
                        causes.push(Cause::not_supported(field, &value, &["NotOlderThan"]));
                    }
                }
                // A watch from no version begins with what is there, as if the matching had been asked for.
                None if !self.continue_token.is_empty()
                    && matches!(self.resource_version.as_str(), "" | "0") =>
                {
                    let detail = "resourceVersionMatch is forbidden when continue is provided";
                    causes.push(Cause::forbidden(field, detail));
                }
                _ => {}
            }
        } else {
            if self.send_initial_events.is_some() {
                causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
            }
            if !matching.is_empty() {
                if self.resource_version.is_empty() {
                    let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                    causes.push(Cause::forbidden(field, detail));
                }
                if !self.continue_token.is_empty() {
                    let detail = "resourceVersionMatch is forbidden when continue is provided";
                    causes.push(Cause::forbidden(field, detail));
                }
                if !matches!(matching, "Exact" | "NotOlderThan") {
                    let supported = ["Exact", "NotOlderThan", ""];
                    causes.push(Cause::not_supported(field, &Value::from(matching), &supported));
                }
                if matching == "Exact" && self.resource_version == "0" {
                    let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                    causes.push(Cause::forbidden(field, detail));
                }
            }
        }
        refuse("ListOptions", causes)
    }
}

fn integer(query: &Query, name: &str) -> Result<Option<i64>, Status> {
    match query.find(name) {
        None => Ok(None),
        Some(text) => text
            .parse()
            .map(Some)
            .map_err(|_| Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))),
    }
}

// === impl DeleteOptions ===

impl DeleteOptions {
    /// Reads the options of a delete from its body, or from the query where there is none.
    ///
    /// # Errors
    /// 400 for a body that is no `DeleteOptions`, 422 for options that do not go together.
    pub(crate) fn parse(query: &Query, body: Option<&Value>) -> Result<Self, Status> {
        let mut causes = Vec::new();
        let options = match body {
            Some(body) => Self::from_body(body, &mut causes)?,
            None => Self {
                dry_run: dry_run(query.all("dryRun"), &mut causes),
                grace_period_seconds: integer(query, "gracePeriodSeconds")?,
                orphan_dependents: query.find("orphanDependents").map(|_| query.is_true("orphanDependents")),
                propagation_policy: query.find("propagationPolicy").map(str::to_owned),
                ..Self::default()
            },
        };
        if options.propagation_policy.is_some() && options.orphan_dependents.is_some() {
            let value = json!(options.propagation_policy);
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            causes.push(Cause::invalid("propagationPolicy", &value, detail));
        }
        if let Some(policy) = &options.propagation_policy {
            let supported = ["Background", "Foreground", "Orphan"];
            if !supported.contains(&policy.as_str()) {
                causes.push(Cause::not_supported(
                    "propagationPolicy",
                    &Value::from(policy.as_str()),
                    &["Foreground", "Background", "Orphan", "nil"],
                ));
            }
        }
        refuse("DeleteOptions", causes)?;
        Ok(options)
    }

    fn from_body(body: &Value, causes: &mut Vec<Cause>) -> Result<Self, Status> {
        let empty = Map::new();
        let body = match body {
            Value::Object(body) => body,
            Value::Null => &empty,
            other => {
                let kind = go::kind(other);
                return Err(Status::bad_request(format!(
                    "couldn't get version/kind; json parse error: json: cannot unmarshal {kind} into Go value of type \
                     struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                     \"json:\\\"kind,omitempty\\\"\" }}"
                )));
            }
        };
        let text = |field| body.get(field).and_then(Value::as_str).unwrap_or_default();
        if !matches!(text("kind"), "" | "DeleteOptions") {
            return Err(Status::bad_request(decode::no_such_kind(text("kind"), text("apiVersion"))));
        }
        let dry: Vec<&str> = body
            .get("dryRun")
            .and_then(Value::as_array)
            .map(|values| values.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let preconditions = body.get("preconditions").filter(|value| !value.is_null());
        let precondition =
            |name| preconditions.and_then(|p| p.get(name)).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            dry_run: dry_run(dry.into_iter(), causes),
            grace_period_seconds: body.get("gracePeriodSeconds").and_then(Value::as_i64),
            orphan_dependents: body.get("orphanDependents").and_then(Value::as_bool),
            propagation_policy: body.get("propagationPolicy").and_then(Value::as_str).map(str::to_owned),
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_manager_comes_from_the_user_agent() {
        let manager = |agent| {
            WriteOptions::parse(&Query::default(), "CreateOptions", false, agent)
                .map(|options| options.field_manager)
        };
        assert_eq!(manager("kubectl/v1.37 (linux)"), Ok("kubectl".to_owned()));
        assert_eq!(manager(""), Ok("unknown".to_owned()));
    }

    #[test]
    fn an_apply_needs_a_manager_and_only_an_apply_may_force() {
        let apply = WriteOptions::parse(&Query::default(), "PatchOptions", true, "x");
        assert_eq!(
            apply.map_err(|status| status.message),
            Err("PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"
                .to_owned())
        );
        let force = WriteOptions::parse(&Query::parse("force=true"), "PatchOptions", false, "x");
        assert_eq!(
            force.map_err(|status| status.message),
            Err("PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"
                .to_owned())
        );
    }

    #[test]
    fn initial_events_need_a_match() {
        let watch = ListOptions::parse(&Query::parse("sendInitialEvents=true"), true);
        assert_eq!(
            watch.map_err(|status| status.message),
            Err("ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                 sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
                .to_owned())
        );
    }
}
