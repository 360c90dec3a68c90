//! CEL rules.

use kubewright_schema::{Rule, Schema};
use serde_json::Value;

use super::Walk;
use crate::compatibility::rule::{
    VALIDATION_ADDED, VALIDATION_CHANGED, VALIDATION_MESSAGE_CHANGED, VALIDATION_REMOVED,
};

const VALIDATIONS: Option<&str> = Some("x-kubernetes-validations");

impl Walk<'_> {
    /// Rules are matched by their text, those that remain in their order.
    pub(super) fn rules(&mut self, old: &Schema, new: &Schema) {
        let mut before: Vec<&Rule> = old.validations.iter().collect();
        let mut added: Vec<&Rule> = Vec::new();
        for rule in &new.validations {
            match before.iter().position(|candidate| candidate.rule == rule.rule) {
                Some(at) => self.same_rule(before.remove(at), rule),
                None => added.push(rule),
            }
        }
        let mut before = before.into_iter();
        let mut added = added.into_iter();
        loop {
            let (finding, old, new) = match (before.next(), added.next()) {
                (Some(old), Some(new)) => (VALIDATION_CHANGED, Some(old), Some(new)),
                (Some(old), None) => (VALIDATION_REMOVED, Some(old), None),
                (None, Some(new)) => (VALIDATION_ADDED, None, Some(new)),
                (None, None) => return,
            };
            self.add(finding, VALIDATIONS, old.map(text), new.map(text));
        }
    }

    fn same_rule(&mut self, old: &Rule, new: &Rule) {
        if old.optional_old_self != new.optional_old_self {
            self.add(VALIDATION_CHANGED, VALIDATIONS, Some(text(old)), Some(text(new)));
        }
        let said = |rule: &Rule| {
            (
                rule.message.clone(),
                rule.message_expression.clone(),
                rule.reason.clone(),
                rule.field_path.clone(),
            )
        };
        if said(old) != said(new) {
            self.add(VALIDATION_MESSAGE_CHANGED, VALIDATIONS, None, Some(text(new)));
        }
    }
}

fn text(rule: &Rule) -> Value {
    rule.rule.as_str().into()
}
