//! `allOf`, `anyOf`, `oneOf`, `not`.

use kubewright_schema::{Schema, Structural};

use super::Walk;
use crate::compatibility::rule::{COMBINATION_LOOSENED, COMBINATION_TIGHTENED};

impl Walk<'_> {
    /// Compares the combinations as wholes: a member that changed is one that was removed and one that was added.
    pub(super) fn combinations(&mut self, old: &Schema, new: &Schema) {
        let (lost, gained) = difference(&old.all_of, &new.all_of);
        self.combination("allOf", gained, lost);

        let (lost, gained) = difference(&old.any_of, &new.any_of);
        match (old.any_of.is_empty(), new.any_of.is_empty()) {
            (true, false) => self.combination("anyOf", true, false),
            (false, true) => self.combination("anyOf", false, true),
            _ => self.combination("anyOf", lost, gained),
        }

        // One alternative more may be the second one that holds.
        let (lost, gained) = difference(&old.one_of, &new.one_of);
        let reordered = old.one_of.len() != new.one_of.len();
        let changed = lost || gained || reordered;
        self.combination("oneOf", changed && !new.one_of.is_empty(), changed && new.one_of.is_empty());

        let changed = old.not != new.not;
        self.combination("not", changed && new.not.is_some(), changed && new.not.is_none());
    }

    fn combination(&mut self, keyword: &'static str, tightened: bool, loosened: bool) {
        if tightened {
            self.add(COMBINATION_TIGHTENED, Some(keyword), None, None);
        }
        if loosened {
            self.add(COMBINATION_LOOSENED, Some(keyword), None, None);
        }
    }
}

/// Whether `new` lacks members of `old`, and whether it has others.
fn difference(old: &[Structural], new: &[Structural]) -> (bool, bool) {
    (old.iter().any(|member| !new.contains(member)), new.iter().any(|member| !old.contains(member)))
}
