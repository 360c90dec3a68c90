use std::collections::BTreeSet;

use jiff::Timestamp;
use kubewright_schema::FieldError;
use serde_json::Value;

use super::{indexes, job::is_indexed};
use crate::validation::Field;

/// Checks a change of what is known of a job: whoever looks after jobs has to keep to the rules of those who read them.
/// What was wrong before and has not changed may stay.
pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    Change { new: new.child("status"), old: old.child("status"), spec: new.child("spec") }.validate();
}

/// Whether a job has a condition.
pub(super) fn is_true(status: Field<'_>, kind: &str) -> bool {
    has(status, kind, "True")
}

fn has(status: Field<'_>, kind: &str, value: &str) -> bool {
    let conditions = status.child("conditions").list();
    conditions.iter().any(|condition| condition["type"] == kind && condition["status"] == value)
}

fn is_finished(status: Field<'_>) -> bool {
    is_true(status, "Complete") || is_true(status, "Failed")
}

struct Change<'a> {
    new: Field<'a>,
    old: Field<'a>,
    spec: Field<'a>,
}

impl Change<'_> {
    fn is_changed(&self, field: &'static str) -> bool {
        self.new.child(field).value() != self.old.child(field).value()
    }

    fn is_flipped(&self, kind: &str) -> bool {
        is_true(self.new, kind) != is_true(self.old, kind)
    }

    /// A fault of the conditions as a whole.
    fn refuse(&self, detail: impl Into<String>) {
        let conditions = self.new.child("conditions");
        conditions.push(FieldError::invalid_without_value(&conditions.path(), detail));
    }

    fn validate(&self) {
        for count in ["active", "succeeded", "failed", "ready", "terminating"] {
            self.new.child(count).not_negative();
        }
        self.validate_uncounted();
        self.validate_conditions();
        self.validate_end();
        self.validate_indexes();
        self.validate_pods();
        self.validate_success();
        self.validate_history();
    }

    fn validate_uncounted(&self) {
        let uncounted = self.new.child("uncountedTerminatedPods");
        let mut seen = BTreeSet::new();
        for list in ["succeeded", "failed"] {
            for uid in uncounted.child(list).items() {
                if uid.text().is_empty() {
                    uid.invalid("", "must not be empty");
                } else if !seen.insert(uid.text()) {
                    uid.duplicate(uid.text());
                }
            }
        }
    }

    fn validate_conditions(&self) {
        let is_complete = is_true(self.new, "Complete");
        let flipped = self.is_flipped("Complete");
        if (flipped || self.is_flipped("Failed")) && is_complete && is_true(self.new, "Failed") {
            self.refuse("cannot set Complete=True and Failed=true conditions");
        }
        if (flipped || self.is_flipped("FailureTarget")) && is_complete && is_true(self.new, "FailureTarget")
        {
            self.refuse("cannot set Complete=True and FailureTarget=true conditions");
        }
    }

    fn validate_end(&self) {
        let is_complete = is_true(self.new, "Complete");
        let (start, end) = (self.new.child("startTime"), self.new.child("completionTime"));
        let time = |field: Field<'_>| field.text().parse::<Timestamp>().ok();
        if self.is_flipped("Complete") || self.is_changed("completionTime") {
            if end.is_set() && !is_complete {
                let detail = "cannot set completionTime when there is no Complete=True condition";
                end.invalid(end.text(), detail);
            }
            if !end.is_set() && is_complete {
                end.required("completionTime is required for Complete jobs");
            }
        }
        if (self.is_changed("startTime") || self.is_changed("completionTime"))
            && let (Some(started), Some(ended)) = (time(start), time(end))
            && ended < started
        {
            end.invalid(end.text(), "must be equal to or after `startTime`");
        }
        if (self.is_flipped("Failed") || self.is_changed("failedIndexes"))
            && is_true(self.new, "Failed")
            && !is_true(self.new, "FailureTarget")
        {
            self.refuse("cannot set Failed=True condition without the FailureTarget=true condition");
        }
        if (self.is_flipped("Complete") || self.is_flipped("SuccessCriteriaMet"))
            && is_complete
            && !is_true(self.new, "SuccessCriteriaMet")
        {
            self.refuse("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
        }
        if !is_finished(self.new) {
            return;
        }
        let has_ended = !is_finished(self.old);
        let active = self.new.child("active");
        if (has_ended || self.is_changed("active")) && active.number() > 0 {
            active.invalid(active.number(), "active>0 is invalid for finished job");
        }
        let needs_no_start =
            self.spec.child("suspend").is_true() && self.spec.child("completions").int() == Some(0);
        if (has_ended || self.is_changed("startTime")) && !needs_no_start && !start.is_set() {
            start.required("startTime is required for finished job");
        }
        let uncounted = self.new.child("uncountedTerminatedPods");
        if (has_ended || self.is_changed("uncountedTerminatedPods"))
            && uncounted.child("succeeded").len() + uncounted.child("failed").len() > 0
        {
            uncounted.invalid_as("batch.UncountedTerminatedPods", "must be empty for finished job");
        }
    }

    fn validate_indexes(&self) {
        let (completed, failed) = (self.new.child("completedIndexes"), self.new.child("failedIndexes"));
        let (is_completed_new, is_failed_new) =
            (self.is_changed("completedIndexes"), self.is_changed("failedIndexes"));
        let limits_each = self.spec.child("backoffLimitPerIndex").is_set();
        let completions = self.spec.child("completions").int();
        if let Some(completions) = completions {
            let check = |list: Field<'_>, name: &str| {
                if let Err(why) = indexes::count(list.text(), completions) {
                    list.invalid(list.text(), format!("error parsing {name}: {why}"));
                }
            };
            if is_completed_new {
                check(completed, "completedIndexes");
            }
            if is_failed_new && limits_each && failed.is_set() {
                check(failed, "failedIndexes");
            }
        }
        if is_completed_new && !completed.is_empty() && !is_indexed(self.spec) {
            let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
            completed.invalid(completed.text(), detail);
        }
        if is_failed_new && !limits_each && failed.is_set() {
            let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
            failed.invalid(failed.text(), detail);
        }
        if (is_failed_new || is_completed_new)
            && let Some(completions) = completions
            && !completed.is_empty()
            && !failed.is_empty()
            && let Some(index) = indexes::overlap(completed.text(), failed.text(), completions)
        {
            let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
            failed.invalid(failed.text(), detail);
        }
    }

    fn validate_pods(&self) {
        let (terminating, ready) = (self.new.child("terminating"), self.new.child("ready"));
        let has_ended = is_finished(self.new) != is_finished(self.old);
        if (has_ended || self.is_changed("terminating")) && terminating.number() > 0 && is_finished(self.new)
        {
            terminating.invalid(terminating.number(), "terminating>0 is invalid for finished job");
        }
        if (self.is_changed("ready") || self.is_changed("active"))
            && ready.is_set()
            && ready.number() > self.new.child("active").number()
        {
            ready.invalid(ready.number(), "cannot set more ready pods than active");
        }
    }

    fn validate_success(&self) {
        let is_met = is_true(self.new, "SuccessCriteriaMet");
        if is_met && is_true(self.new, "Failed") {
            self.refuse("cannot set SuccessCriteriaMet=True and Failed=true conditions");
        }
        if is_met && is_true(self.new, "FailureTarget") {
            self.refuse("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
        }
        if self.spec.child("successPolicy").is_set() && !is_met && is_true(self.new, "Complete") {
            self.refuse("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
        }
    }

    fn validate_history(&self) {
        for kind in ["Failed", "Complete", "FailureTarget"] {
            if is_true(self.old, kind) && !is_true(self.new, kind) {
                self.refuse(format!("cannot disable the terminal {kind}=True condition"));
            }
        }
        let not_less = |field: &'static str| {
            let count = self.new.child(field);
            if count.number() < self.old.child(field).number() {
                count.invalid(count.number(), format!("cannot decrease the {field} counter"));
            }
        };
        not_less("failed");
        // An indexed job that shrinks forgets some of its pods.
        let number = |field: &'static str| self.spec.child(field).value();
        if !is_indexed(self.spec) || number("completions") != number("parallelism") {
            not_less("succeeded");
        }
        let (start, end) = (self.new.child("startTime"), self.new.child("completionTime"));
        if end.is_set() && self.old.child("completionTime").is_set() && self.is_changed("completionTime") {
            end.invalid(end.text(), "field is immutable");
        }
        let is_resuming = is_true(self.old, "Suspended") && has(self.new, "Suspended", "False");
        if self.is_changed("startTime")
            && !is_resuming
            && self.old.child("startTime").is_set()
            && !self.spec.child("suspend").is_true()
        {
            let shown = if start.is_set() { Value::from(start.text()) } else { Value::Null };
            start.invalid(shown, "field is immutable for unsuspended job once set");
        }
        let was_met = is_true(self.old, "SuccessCriteriaMet");
        let is_met = is_true(self.new, "SuccessCriteriaMet");
        if was_met && !is_met {
            self.refuse("cannot disable the SuccessCriteriaMet=True condition");
        }
        if is_true(self.old, "Complete") && !was_met && is_met {
            self.refuse("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
        }
    }
}
