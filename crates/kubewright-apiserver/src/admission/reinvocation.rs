use std::{collections::BTreeSet, mem};

use serde_json::Value;

/// Which webhooks, or which policies, are to be asked once more because others changed the object after them.
#[derive(Debug, Default)]
pub(super) struct Reinvocation {
    asked: BTreeSet<String>,
    again: BTreeSet<String>,
    /// The object as they left it.
    output: Option<Value>,
}

impl Reinvocation {
    /// Begins another round with an object, which others may have changed meanwhile.
    pub(super) fn begin_again(&mut self, object: Option<&Value>) {
        if self.output.as_ref() != object {
            self.require();
        }
    }

    /// Ends a round.
    pub(super) fn end(&mut self, object: Option<&Value>) {
        self.output = object.cloned();
    }

    /// That one was asked who may be asked again.
    pub(super) fn asked(&mut self, id: &str) {
        self.asked.insert(id.to_owned());
    }

    /// Whether one is to be asked in the second round. Who was not asked at first is not asked later.
    pub(super) fn is_asked_again(&self, id: &str) -> bool {
        self.again.contains(id)
    }

    /// The object was changed: who was asked before is asked again.
    pub(super) fn require(&mut self) {
        self.again.extend(mem::take(&mut self.asked));
    }
}
