use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{
        Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
        ContainerStatus,
    },
    apimachinery::pkg::apis::meta::v1::Time,
};
use kubewright_runtime::events::EventType;
use sha2::{Digest, Sha256};

use super::knobs::Knobs;
use crate::note::Note;

/// The wait before the second restart of a container; it doubles with each further one.
const FIRST_BACKOFF: Duration = Duration::from_secs(10);
/// The longest wait before a restart.
const MAX_BACKOFF: Duration = Duration::from_secs(300);
/// How long a failed pull is reported as an error before it is reported as backing off.
const PULL_ERROR: Duration = Duration::from_secs(10);

/// The pod a container runs in, as far as the container's life depends on it.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) knobs: &'a Knobs,
    /// `name_namespace(uid)`, as messages name it.
    pub(super) pod: String,
    pub(super) uid: &'a str,
    pub(super) restart_policy: &'a str,
    /// When containers may start.
    pub(super) start: Timestamp,
    pub(super) now: Timestamp,
}

/// What kind of container it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    /// It runs for as long as the pod does.
    Main,
    /// It has to complete before the next one starts.
    Init,
    /// An init container that keeps running: the next one starts once it has.
    Sidecar,
}

/// A container's next status.
#[derive(Debug, PartialEq)]
pub(super) struct Advance {
    pub(super) status: ContainerStatus,
    pub(super) notes: Vec<Note>,
    /// When its status changes by itself.
    pub(super) change_at: Option<Timestamp>,
}

impl Role {
    pub(super) fn of_init(container: &Container) -> Self {
        if container.restart_policy.as_deref() == Some("Always") { Self::Sidecar } else { Self::Init }
    }

    pub(super) fn field_path(self, name: &str) -> String {
        match self {
            Self::Main => format!("spec.containers{{{name}}}"),
            Self::Init | Self::Sidecar => format!("spec.initContainers{{{name}}}"),
        }
    }
}

/// The status of a container that waits for `reason`.
pub(super) fn waiting(container: &Container, reason: &str) -> ContainerStatus {
    ContainerStatus {
        name: container.name.clone(),
        image: container.image.clone().unwrap_or_default(),
        started: Some(false),
        state: Some(waiting_state(reason, None)),
        ..ContainerStatus::default()
    }
}

/// Whether the container has ended for good.
pub(super) fn exit_code(status: &ContainerStatus) -> Option<i32> {
    status.state.as_ref()?.terminated.as_ref().map(|terminated| terminated.exit_code)
}

/// Whether the container runs.
pub(super) fn is_running(status: &ContainerStatus) -> bool {
    status.state.as_ref().is_some_and(|state| state.running.is_some())
}

/// Takes a container from its `current` status as far as it gets until now.
pub(super) fn advance(
    container: &Container,
    role: Role,
    current: Option<&ContainerStatus>,
    context: &Context<'_>,
) -> Advance {
    let mut life = Life {
        container,
        role,
        context,
        status: current.cloned().unwrap_or_else(|| waiting(container, "ContainerCreating")),
        notes: Vec::new(),
        change_at: None,
    };
    life.status.image = container.image.clone().unwrap_or_default();
    // Each turn is one transition; the states that wait for a time end the loop.
    while life.transition() {}
    life.set_readiness();
    Advance { status: life.status, notes: life.notes, change_at: life.change_at }
}

struct Life<'a> {
    container: &'a Container,
    role: Role,
    context: &'a Context<'a>,
    status: ContainerStatus,
    notes: Vec<Note>,
    change_at: Option<Timestamp>,
}

impl Life<'_> {
    /// Makes the next transition if its time has come; otherwise notes when it will.
    fn transition(&mut self) -> bool {
        let state = self.status.state.clone().unwrap_or_default();
        if state.terminated.is_some() {
            return false;
        }
        match state.running {
            Some(running) => self.run(running.started_at.map(|Time(time)| time)),
            None => self.wait(),
        }
    }

    fn wait(&mut self) -> bool {
        if !self.reached(self.context.start) {
            return false;
        }
        if self.context.knobs.image_pull_error.contains(&self.container.name) {
            self.fail_pull();
            return false;
        }
        let failed_at = self
            .status
            .last_state
            .as_ref()
            .and_then(|last| last.terminated.as_ref())
            .and_then(|terminated| terminated.finished_at.as_ref())
            .map(|Time(time)| *time);
        let start = failed_at.map(|failed| later(failed, backoff(self.status.restart_count)));
        if let Some(restart) = start {
            if !self.reached(restart) {
                self.back_off();
                return false;
            }
            self.status.restart_count += 1;
        }
        // A restart that is due since long, because nobody looked, happens when it was due: the times of a
        // run do not depend on how often the kubelet looks.
        self.start(start.unwrap_or(self.context.now));
        true
    }

    fn start(&mut self, at: Timestamp) {
        let image = &self.status.image;
        self.notes.push(self.note(
            "Pulled",
            "Pulling",
            format!("Container image {image:?} already present on machine and can be accessed by the pod"),
        ));
        self.notes.push(self.note("Created", "Creating", "Container created".into()));
        self.notes.push(self.note("Started", "Starting", "Container started".into()));
        self.status.image_id = format!("{}@sha256:{}", repository(image), digest(&[image]));
        self.status.container_id = Some(format!(
            "containerd://{}",
            digest(&[self.context.uid, &self.container.name, &self.status.restart_count.to_string()])
        ));
        self.status.state = Some(ContainerState {
            running: Some(ContainerStateRunning { started_at: Some(Time(at)) }),
            ..ContainerState::default()
        });
    }

    /// Ends a running container whose time has come.
    fn run(&mut self, started: Option<Timestamp>) -> bool {
        let started = started.unwrap_or(self.context.now);
        let knobs = self.context.knobs;
        let crashes = knobs.crash_loop.contains(&self.container.name);
        let duration = match self.role {
            _ if crashes => knobs.run_duration.unwrap_or_default(),
            Role::Init => Duration::ZERO,
            Role::Sidecar => return false,
            Role::Main => match knobs.run_duration {
                Some(duration) => duration,
                None => return false,
            },
        };
        let end = later(started, duration);
        if !self.reached(end) {
            return false;
        }
        let exit_code = match (crashes, self.role) {
            (true, _) => 1,
            (false, Role::Init) => 0,
            (false, _) => knobs.exit_code,
        };
        let terminated = ContainerState {
            terminated: Some(ContainerStateTerminated {
                exit_code,
                reason: Some(if exit_code == 0 { "Completed" } else { "Error" }.into()),
                container_id: self.status.container_id.clone(),
                started_at: Some(Time(started)),
                finished_at: Some(Time(end)),
                ..ContainerStateTerminated::default()
            }),
            ..ContainerState::default()
        };
        let restarts = match (self.role, self.context.restart_policy) {
            (Role::Sidecar, _) | (Role::Main, "Always") => true,
            (Role::Init, policy) => exit_code != 0 && policy != "Never",
            (Role::Main, policy) => exit_code != 0 && policy == "OnFailure",
        };
        if restarts {
            self.status.last_state = Some(terminated);
            self.status.state = Some(ContainerState::default());
        } else {
            self.status.state = Some(terminated);
        }
        true
    }

    fn back_off(&mut self) {
        let (name, pod) = (&self.container.name, &self.context.pod);
        let wait = describe(backoff(self.status.restart_count));
        let message = format!("back-off {wait} restarting failed container={name} pod={pod}");
        let state = waiting_state("CrashLoopBackOff", Some(message));
        if self.status.state.as_ref() != Some(&state) {
            let message = format!("Back-off restarting failed container {name} in pod {pod}");
            self.notes.push(Note { kind: EventType::Warning, ..self.note("BackOff", "BackingOff", message) });
            self.status.state = Some(state);
        }
    }

    fn fail_pull(&mut self) {
        let image = self.status.image.clone();
        let cause = format!("failed to pull and unpack image {image:?}: not found");
        let back_off = later(self.context.start, PULL_ERROR);
        let (reason, message) = if self.reached(back_off) {
            ("ImagePullBackOff", format!("Back-off pulling image {image:?}: ErrImagePull: {cause}"))
        } else {
            ("ErrImagePull", cause)
        };
        let state = waiting_state(reason, Some(message.clone()));
        if self.status.state.as_ref() != Some(&state) {
            let (event, message) = match reason {
                "ErrImagePull" => ("Failed", format!("Failed to pull image {image:?}: {message}")),
                _ => ("BackOff", format!("Back-off pulling image {image:?}")),
            };
            self.notes.push(Note { kind: EventType::Warning, ..self.note(event, "Pulling", message) });
            self.status.state = Some(state);
        }
    }

    fn set_readiness(&mut self) {
        let started_at = self.status.state.as_ref().and_then(|state| state.running.as_ref());
        let started_at = started_at.and_then(|running| running.started_at.as_ref()).map(|Time(time)| *time);
        self.status.started = Some(started_at.is_some());
        self.status.ready = match started_at {
            Some(started) => {
                !self.context.knobs.never_ready.contains(&self.container.name)
                    && self.reached(later(started, self.context.knobs.ready_delay))
            }
            None => self.role == Role::Init && exit_code(&self.status) == Some(0),
        };
    }

    /// Whether `time` has come; otherwise it is noted as a time to look again.
    fn reached(&mut self, time: Timestamp) -> bool {
        if time <= self.context.now {
            return true;
        }
        self.change_at = Some(self.change_at.map_or(time, |earlier| earlier.min(time)));
        false
    }

    fn note(&self, reason: &'static str, action: &'static str, message: String) -> Note {
        Note::normal(reason, action, message).about(self.role.field_path(&self.container.name))
    }
}

fn waiting_state(reason: &str, message: Option<String>) -> ContainerState {
    ContainerState {
        waiting: Some(ContainerStateWaiting { reason: Some(reason.into()), message }),
        ..ContainerState::default()
    }
}

/// The wait before a container that was restarted `restarts` times is restarted again; the first time there
/// is none.
fn backoff(restarts: i32) -> Duration {
    match u32::try_from(restarts) {
        Ok(restarts @ 1..) => {
            let factor = 2_u32.saturating_pow(restarts - 1);
            FIRST_BACKOFF.saturating_mul(factor).min(MAX_BACKOFF)
        }
        _ => Duration::ZERO,
    }
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// `1m20s`, as Go writes durations of whole seconds.
fn describe(duration: Duration) -> String {
    match (duration.as_secs() / 60, duration.as_secs() % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

/// The image without its tag.
fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => image,
    }
}

/// An id that looks like a runtime's and is a function of what it identifies.
fn digest(parts: &[&str]) -> String {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part.as_bytes());
        sum.update([0]);
    }
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_five_minutes() {
        let waits: Vec<_> = (0..8).map(|restarts| describe(backoff(restarts))).collect();
        assert_eq!(waits, ["0s", "10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s"]);
    }

    #[test]
    fn repositories_are_images_without_tag() {
        assert_eq!(repository("nginx"), "nginx");
        assert_eq!(repository("nginx:1.27"), "nginx");
        assert_eq!(repository("localhost:5000/nginx"), "localhost:5000/nginx");
        assert_eq!(repository("localhost:5000/nginx:1@sha256:ab"), "localhost:5000/nginx");
    }
}
