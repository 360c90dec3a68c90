use std::{collections::BTreeSet, time::Duration};

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Pod;

use crate::{annotations, note::Note, ownership};

/// How a pod is to behave, read from its annotations.
#[derive(Debug, Default)]
pub(super) struct Knobs {
    pub(super) start_delay: Duration,
    pub(super) ready_delay: Duration,
    pub(super) never_ready: Names,
    pub(super) image_pull_error: Names,
    pub(super) crash_loop: Names,
    /// How long containers run; without one they run until they are stopped.
    pub(super) run_duration: Option<Duration>,
    pub(super) exit_code: i32,
    pub(super) termination_delay: Duration,
    /// What is wrong with the annotations; those are treated as absent.
    pub(super) mistakes: Vec<Note>,
}

/// A list of container names.
#[derive(Debug, Default)]
pub(super) enum Names {
    #[default]
    None,
    All,
    Only(BTreeSet<String>),
}

impl Names {
    pub(super) fn contains(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }

    fn parse(text: &str) -> Self {
        match text.trim() {
            "*" | "true" => Self::All,
            "" | "false" => Self::None,
            list => Self::Only(list.split(',').map(|name| name.trim().to_owned()).collect()),
        }
    }
}

impl Knobs {
    pub(super) fn of(pod: &Pod) -> Self {
        let mut knobs = Self::default();
        if ownership::controller_of(&pod.metadata).is_some_and(|controller| controller.kind == "Job") {
            knobs.run_duration = Some(Duration::ZERO);
        }
        for (key, value) in pod.metadata.annotations.iter().flatten() {
            if let Err(problem) = knobs.set(key, value) {
                let message = format!("annotation {key}: {value:?} is ignored: {problem}");
                knobs.mistakes.push(Note::warning("InvalidAnnotation", "Simulating", message));
            }
        }
        knobs
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            annotations::START_DELAY => self.start_delay = duration(value)?,
            annotations::READY_DELAY => self.ready_delay = duration(value)?,
            annotations::TERMINATION_DELAY => self.termination_delay = duration(value)?,
            annotations::RUN_DURATION => self.run_duration = Some(duration(value)?),
            annotations::NEVER_READY => self.never_ready = Names::parse(value),
            annotations::IMAGE_PULL_ERROR => self.image_pull_error = Names::parse(value),
            annotations::CRASH_LOOP => self.crash_loop = Names::parse(value),
            annotations::EXIT_CODE => {
                self.exit_code = value.parse().map_err(|_| "expected a number such as 1".to_owned())?;
                self.run_duration.get_or_insert(Duration::ZERO);
            }
            // Annotations of others.
            _ => {}
        }
        Ok(())
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a duration such as 30s or 1m 30s".to_owned();
    let signed: SignedDuration = text.parse().map_err(|_| expected())?;
    Duration::try_from(signed).map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

    use super::*;

    fn knobs(annotations: &[(&str, &str)]) -> Knobs {
        let mut pod = Pod::default();
        pod.metadata.annotations =
            Some(annotations.iter().map(|(k, v)| (format!("kubewright.dev/{k}"), (*v).into())).collect());
        Knobs::of(&pod)
    }

    #[test]
    fn annotations_set_the_knobs() {
        let knobs = knobs(&[
            ("start-delay", "1m 30s"),
            ("ready-delay", "500ms"),
            ("crash-loop", "a, b"),
            ("never-ready", "*"),
            ("exit-code", "3"),
            ("run-duration", "5s"),
        ]);
        assert_eq!(knobs.start_delay, Duration::from_secs(90));
        assert_eq!(knobs.ready_delay, Duration::from_millis(500));
        assert!(knobs.crash_loop.contains("b") && !knobs.crash_loop.contains("c"));
        assert!(knobs.never_ready.contains("anything"));
        assert_eq!((knobs.exit_code, knobs.run_duration), (3, Some(Duration::from_secs(5))));
        assert!(knobs.mistakes.is_empty());
    }

    #[test]
    fn a_mistake_is_told_and_has_no_effect() {
        let knobs = knobs(&[("start-delay", "soon")]);
        assert_eq!(knobs.start_delay, Duration::ZERO);
        assert!(knobs.mistakes[0].message.contains("\"soon\" is ignored: expected a duration"));
    }

    #[test]
    fn pods_of_jobs_end_by_themselves() {
        let mut pod = Pod::default();
        pod.metadata.owner_references = Some(vec![OwnerReference {
            kind: "Job".into(),
            controller: Some(true),
            ..OwnerReference::default()
        }]);
        assert_eq!(Knobs::of(&pod).run_duration, Some(Duration::ZERO));
        assert_eq!(Knobs::of(&Pod::default()).run_duration, None);
    }
}
