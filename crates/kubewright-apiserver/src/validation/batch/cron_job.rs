use super::{job, schedule, time_zone};
use crate::validation::{Field, core::pod};

const NAME_LENGTH: usize = 52;

pub(super) fn create(cron_job: Field<'_>) {
    validate(cron_job, None);
    let name = cron_job.child("metadata").child("name");
    if name.text().len() > NAME_LENGTH {
        // Jobs are named after it and the time.
        name.invalid(name.text(), format!("must be no more than {NAME_LENGTH} characters"));
    }
    // The real server finds out last that there is no schedule.
    cron_job.child("spec").child("schedule").require();
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new, Some(old));
    new.child("spec").child("schedule").require();
}

fn validate(cron_job: Field<'_>, old: Option<Field<'_>>) {
    let spec = cron_job.child("spec");
    let old_spec = old.map(|old| old.child("spec"));
    let times = spec.child("schedule");
    if !times.is_empty() {
        validate_schedule(times, old_spec, spec.child("timeZone"));
    }
    spec.child("startingDeadlineSeconds").not_negative();
    let zone = spec.child("timeZone");
    if zone.is_set() && old_spec.is_none_or(|old| old.child("timeZone").value() != zone.value()) {
        time_zone::validate(zone);
    }
    let policy = spec.child("concurrencyPolicy");
    if policy.require() {
        policy.one_of(&["Allow", "Forbid", "Replace"]);
    }
    let template = spec.child("jobTemplate").child("spec");
    job::validate(template, old_spec.map(|old| old.child("jobTemplate").child("spec")));
    let selector = template.child("selector");
    if selector.is_set() {
        selector.invalid_as("*meta.LabelSelector", "`selector` will be auto-generated");
    }
    if template.child("manualSelector").is_true() {
        template.child("manualSelector").not_supported(true, &["nil", "false"]);
    }
    spec.child("successfulJobsHistoryLimit").not_negative();
    spec.child("failedJobsHistoryLimit").not_negative();
}

fn validate_schedule(times: Field<'_>, old: Option<Field<'_>>, zone: Field<'_>) {
    let text = times.text();
    if let Err(why) = schedule::parse(text) {
        times.invalid(text, why);
    }
    // A zone within the schedule may stay where it was.
    let may_have_zone = old.is_some_and(|old| old.child("schedule").text().contains("TZ"));
    if text.contains("TZ") {
        if !may_have_zone {
            times.invalid(text, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        } else if zone.is_set() {
            times.invalid(text, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
        }
    }
}

pub(super) fn warnings(cron_job: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    let spec = cron_job.child("spec");
    let of_job = || job::warnings_of_spec(spec.child("jobTemplate").child("spec"));
    let Some(old) = old else {
        let mut warnings = Vec::from_iter(pod::name_warning(cron_job));
        warnings.extend(of_job());
        return warnings;
    };
    let generation = |cron_job: Field<'_>| cron_job.child("metadata").child("generation").number();
    let mut warnings = if generation(cron_job) == generation(old) { Vec::new() } else { of_job() };
    if spec.child("schedule").text().contains("TZ") {
        let text = "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                    https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
        warnings.push(text.to_owned());
    }
    warnings
}
