use super::indexes;
use crate::validation::Field;

const RULES: usize = 20;
const INDEXES_LENGTH: usize = 64 * 1024;

/// Checks when an indexed job has succeeded before all of its pods have.
pub(super) fn validate(spec: Field<'_>, policy: Field<'_>) {
    let rules = policy.child("rules");
    if rules.is_empty() {
        rules.required("at least one rules must be specified when the successPolicy is specified");
    }
    if rules.len() > RULES {
        rules.too_many(RULES);
    }
    let completions = spec.child("completions").number();
    for rule in rules.items() {
        let (count, listed) = (rule.child("succeededCount"), rule.child("succeededIndexes"));
        if !count.is_set() && !listed.is_set() {
            rule.required("at least one of succeededCount or succeededIndexes must be specified");
        }
        let mut total = 0;
        if listed.is_set() {
            if listed.text().len() > INDEXES_LENGTH {
                listed.too_long(64 * 1024);
            }
            match indexes::count(listed.text(), completions) {
                Ok(number) => total = number,
                Err(why) => {
                    listed.invalid(listed.text(), format!("error parsing succeededIndexes: {why}"));
                }
            }
        }
        let Some(number) = count.int() else { continue };
        count.not_negative();
        let most = |most: i64, what: &str| {
            if number > most {
                count.invalid(number, format!("must be less than or equal to {most} (the number of {what})"));
            }
        };
        most(completions, "specified completions");
        if listed.is_set() {
            most(total, "indexes in the specified succeededIndexes field");
        }
    }
}
