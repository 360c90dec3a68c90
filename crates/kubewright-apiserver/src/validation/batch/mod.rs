//! The group `batch`: what runs to an end.

mod cron_job;
mod indexes;
mod job;
mod job_status;
mod pod_failure_policy;
mod schedule;
mod success_policy;
mod time_zone;

use super::Field;

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "jobs" => job::create(object),
        "cronjobs" => cron_job::create(object),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    match (plural, subresource) {
        ("jobs", "") => job::update(new, old),
        ("jobs", "status") => job_status::update(new, old),
        ("cronjobs", "") => cron_job::update(new, old),
        _ => {}
    }
}

pub(super) fn warnings(plural: &str, object: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    match plural {
        "jobs" => job::warnings(object, old),
        "cronjobs" => cron_job::warnings(object, old),
        _ => Vec::new(),
    }
}
