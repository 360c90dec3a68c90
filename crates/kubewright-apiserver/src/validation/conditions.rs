//! Conditions of the form that all kinds share.

use kubewright_schema::names;

use super::Field;

const REASON_LENGTH: usize = 1024;
const MESSAGE_LENGTH: usize = 32 * 1024;
const REASON_TEXT: &str = "a condition reason must start with alphabetic character, optionally followed by a string \
     of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or \
     'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
     '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

pub(super) fn validate(conditions: Field<'_>) {
    for (index, condition) in conditions.items().enumerate() {
        let kind = condition.child("type");
        if conditions.items().take(index).any(|other| other.child("type").text() == kind.text()) {
            condition.duplicate(kind.text());
        }
        if kind.require_or("is required") {
            kind.check(names::label_key);
        }
        let status = condition.child("status");
        if status.require() {
            status.one_of(&["False", "True", "Unknown"]);
        }
        let generation = condition.child("observedGeneration");
        if generation.number() < 0 {
            generation.invalid(generation.number(), "must be greater than or equal to zero");
        }
        condition.child("lastTransitionTime").require();
        let reason = condition.child("reason");
        if reason.require() {
            check_reason(reason);
            if reason.text().len() > REASON_LENGTH {
                reason.too_long(i64::try_from(REASON_LENGTH).unwrap_or(i64::MAX));
            }
        }
        let message = condition.child("message");
        if message.text().len() > MESSAGE_LENGTH {
            message.too_long(i64::try_from(MESSAGE_LENGTH).unwrap_or(i64::MAX));
        }
    }
}

/// Checks the reason of a condition.
pub(super) fn check_reason(reason: Field<'_>) {
    let text = reason.text().as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_valid = text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.last().is_some_and(is_word)
        && text.iter().all(|byte| is_word(byte) || b",:".contains(byte));
    if !is_valid {
        reason.invalid(reason.text(), REASON_TEXT);
    }
}
