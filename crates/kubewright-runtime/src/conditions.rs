//! Conditions of a status: what an object is like, in the words that `kubectl wait` and dashboards read.
//!
//! ```
//! use jiff::Timestamp;
//! use kubewright_runtime::conditions::{NewCondition, is_condition_true, set_condition};
//!
//! let mut conditions = Vec::new();
//! let available = NewCondition::new_true("Available", "Ready", "3 of 3 instances are ready").observed(Some(2));
//! assert!(set_condition(&mut conditions, available.clone(), Timestamp::UNIX_EPOCH));
//! assert!(!set_condition(&mut conditions, available, Timestamp::UNIX_EPOCH), "nothing changed");
//! assert!(is_condition_true(&conditions, "Available"));
//! ```

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// A condition as it is to be. When it last changed is [`set_condition`]'s business.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct NewCondition {
    type_: String,
    status: &'static str,
    reason: String,
    message: String,
    observed_generation: Option<i64>,
}

// === impl NewCondition ===

impl NewCondition {
    /// The condition holds.
    ///
    /// `type_` is CamelCase, as `Available`; `reason` is one CamelCase word for programs, `message` a
    /// sentence for people.
    pub fn new_true(type_: impl Into<String>, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::with_status("True", type_.into(), reason.into(), message.into())
    }

    /// The condition does not hold.
    pub fn new_false(
        type_: impl Into<String>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::with_status("False", type_.into(), reason.into(), message.into())
    }

    /// Whether the condition holds is not known.
    pub fn new_unknown(
        type_: impl Into<String>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::with_status("Unknown", type_.into(), reason.into(), message.into())
    }

    /// The `metadata.generation` of the object that the condition was found for. Readers take a condition of
    /// an older generation as out of date.
    pub fn observed(mut self, generation: Option<i64>) -> Self {
        self.observed_generation = generation;
        self
    }

    fn with_status(status: &'static str, type_: String, reason: String, message: String) -> Self {
        Self { type_, status, reason, message, observed_generation: None }
    }
}

/// Adds the condition, or updates the one of its type, and returns whether anything changed.
///
/// `lastTransitionTime` becomes `now` only if the status differs from the one before, so that it tells
/// since when the condition has been as it is. A changed reason or message does not move it.
pub fn set_condition(conditions: &mut Vec<Condition>, condition: NewCondition, now: Timestamp) -> bool {
    let NewCondition { type_, status, reason, message, observed_generation } = condition;
    let mut condition = Condition {
        type_,
        status: status.to_owned(),
        reason,
        message,
        observed_generation,
        last_transition_time: Time(whole_seconds(now)),
    };
    match conditions.iter_mut().find(|present| present.type_ == condition.type_) {
        Some(present) => {
            if present.status == condition.status {
                condition.last_transition_time = present.last_transition_time.clone();
            }
            let changed = *present != condition;
            *present = condition;
            changed
        }
        None => {
            conditions.push(condition);
            true
        }
    }
}

/// Removes the condition of this type, and returns whether there was one.
pub fn remove_condition(conditions: &mut Vec<Condition>, type_: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|condition| condition.type_ != type_);
    conditions.len() != before
}

/// The condition of this type.
#[must_use]
pub fn find_condition<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Whether there is a condition of this type and it holds.
#[must_use]
pub fn is_condition_true(conditions: &[Condition], type_: &str) -> bool {
    find_condition(conditions, type_).is_some_and(|condition| condition.status == "True")
}

/// Kubernetes' `Time` has whole seconds; what is compared must be what is stored.
fn whole_seconds(time: Timestamp) -> Timestamp {
    let to_seconds = TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Floor);
    time.round(to_seconds).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("in range")
    }

    #[test]
    fn the_transition_time_moves_with_the_status_alone() {
        let mut conditions = Vec::new();
        assert!(set_condition(
            &mut conditions,
            NewCondition::new_false("Ready", "Starting", "0 of 3"),
            at(10)
        ));
        assert!(set_condition(
            &mut conditions,
            NewCondition::new_false("Ready", "Starting", "2 of 3"),
            at(20)
        ));
        let ready = find_condition(&conditions, "Ready").expect("a condition");
        assert_eq!((ready.message.as_str(), ready.last_transition_time.0), ("2 of 3", at(10)));

        assert!(set_condition(&mut conditions, NewCondition::new_true("Ready", "Started", "3 of 3"), at(30)));
        let ready = find_condition(&conditions, "Ready").expect("a condition");
        assert_eq!(ready.last_transition_time.0, at(30));
        assert_eq!(conditions.len(), 1);
    }

    #[test]
    fn a_new_generation_is_a_change() {
        let mut conditions = Vec::new();
        let ready = NewCondition::new_true("Ready", "Started", "");
        assert!(set_condition(&mut conditions, ready.clone().observed(Some(1)), at(1)));
        assert!(!set_condition(&mut conditions, ready.clone().observed(Some(1)), at(2)));
        assert!(set_condition(&mut conditions, ready.observed(Some(2)), at(3)));
        assert_eq!(conditions[0].last_transition_time.0, at(1));
    }

    #[test]
    fn times_are_kept_in_whole_seconds() {
        let mut conditions = Vec::new();
        let now: Timestamp = "2030-01-01T00:00:00.999Z".parse().expect("a timestamp");
        set_condition(&mut conditions, NewCondition::new_unknown("Ready", "Unknown", ""), now);
        assert_eq!(conditions[0].last_transition_time.0.to_string(), "2030-01-01T00:00:00Z");
        assert!(!is_condition_true(&conditions, "Ready"));
        assert!(remove_condition(&mut conditions, "Ready"));
        assert!(!remove_condition(&mut conditions, "Ready"));
    }
}
