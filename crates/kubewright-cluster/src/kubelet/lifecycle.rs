use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{ContainerStatus, HostIP, Pod, PodIP, PodStatus},
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::ResourceExt;

use super::{
    conditions,
    container::{self, Context, Role},
    knobs::Knobs,
};
use crate::{note::Note, pod};

/// The exit code of a process that SIGTERM ended.
const SIGTERM: i32 = 143;

/// What the kubelet does about a pod now.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Write this status, unless it is the pod's already, and look again at a time.
    Report { status: Box<PodStatus>, notes: Vec<Note>, change_at: Option<Timestamp> },
    /// Wait for the end of the pod's termination.
    Terminate { until: Timestamp },
    /// The pod's containers have ended: remove it from the API server.
    Remove { status: Box<PodStatus>, notes: Vec<Note> },
    /// The pod has come to its end.
    Finished,
}

/// The addresses of a pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses<'a> {
    pub(super) host: &'a str,
    pub(super) pod: &'a str,
}

/// Decides about a pod that is bound to the kubelet's node.
pub(super) fn next(pod: &Pod, addresses: Addresses<'_>, now: Timestamp) -> Step {
    let knobs = Knobs::of(pod);
    if pod.metadata.deletion_timestamp.is_some() {
        return terminate(pod, &knobs, now);
    }
    if pod::is_finished(pod) {
        return Step::Finished;
    }
    run(pod, &knobs, addresses, now)
}

fn run(pod: &Pod, knobs: &Knobs, addresses: Addresses<'_>, now: Timestamp) -> Step {
    let Some(spec) = &pod.spec else { return Step::Finished };
    let current = pod.status.clone().unwrap_or_default();
    let accepted = current.start_time.as_ref().map_or(now, |Time(time)| *time);
    let start = accepted.saturating_add(knobs.start_delay).unwrap_or(Timestamp::MAX);
    let context = Context {
        knobs,
        pod: format!("{}_{}({})", pod.name_any(), pod.namespace().unwrap_or_default(), uid(pod)),
        uid: uid(pod),
        restart_policy: spec.restart_policy.as_deref().unwrap_or("Always"),
        start,
        now,
    };

    let mut notes = if current.start_time.is_none() { knobs.mistakes.clone() } else { Vec::new() };
    let mut change_at: Option<Timestamp> = None;
    let mut note = |advance: container::Advance| {
        notes.extend(advance.notes);
        change_at = [change_at, advance.change_at].into_iter().flatten().min();
        advance.status
    };

    // Init containers run one after the other, and the containers only after all of them.
    let mut init = Vec::new();
    let mut initialized = true;
    for container in spec.init_containers.iter().flatten() {
        let status = if initialized {
            let before = find(&current.init_container_statuses, &container.name);
            let role = Role::of_init(container);
            let status = note(container::advance(container, role, before, &context));
            initialized = match role {
                Role::Sidecar => container::is_running(&status),
                _ => container::exit_code(&status) == Some(0),
            };
            status
        } else {
            container::waiting(container, "PodInitializing")
        };
        init.push(status);
    }
    let mut main = Vec::new();
    for container in &spec.containers {
        main.push(if initialized {
            let before = find(&current.container_statuses, &container.name);
            note(container::advance(container, Role::Main, before, &context))
        } else {
            container::waiting(container, "PodInitializing")
        });
    }

    let phase = phase(&init, &main, initialized, context.restart_policy);
    let has_sandbox = start <= now;
    let has_ended = matches!(phase, "Succeeded" | "Failed");
    let conditions = conditions::conditions(pod, has_sandbox && !has_ended, &init, &main, phase, now);
    let pod_ip = has_sandbox.then(|| current.pod_ip.clone().unwrap_or_else(|| addresses.pod.to_owned()));
    let status = PodStatus {
        phase: Some(phase.into()),
        conditions: Some(conditions),
        observed_generation: pod.metadata.generation,
        qos_class: Some(conditions::qos_class(pod).into()),
        start_time: Some(Time(accepted)),
        host_ip: Some(addresses.host.into()),
        host_ips: Some(vec![HostIP { ip: addresses.host.into() }]),
        pod_ips: pod_ip.clone().map(|ip| vec![PodIP { ip }]),
        pod_ip,
        init_container_statuses: (!init.is_empty()).then_some(init),
        container_statuses: Some(main),
        ..current
    };
    Step::Report { status: Box::new(status), notes, change_at }
}

fn phase(
    init: &[ContainerStatus],
    main: &[ContainerStatus],
    initialized: bool,
    restart_policy: &str,
) -> &'static str {
    if !initialized {
        // An init container that ended with an error and is not restarted ends the pod.
        let failed = init.iter().any(|status| container::exit_code(status).is_some_and(|code| code != 0));
        return if failed && restart_policy == "Never" { "Failed" } else { "Pending" };
    }
    let codes: Vec<_> = main.iter().map(container::exit_code).collect();
    if !codes.is_empty() && codes.iter().all(Option::is_some) {
        return if codes.iter().all(|code| *code == Some(0)) { "Succeeded" } else { "Failed" };
    }
    // A container that waits to be restarted has run; one that waits for its first start keeps the pod
    // pending.
    let has_run = |status: &ContainerStatus| {
        container::is_running(status) || container::exit_code(status).is_some() || status.last_state.is_some()
    };
    if main.iter().all(has_run) { "Running" } else { "Pending" }
}

fn terminate(pod: &Pod, knobs: &Knobs, now: Timestamp) -> Step {
    let deadline = pod.metadata.deletion_timestamp.as_ref().map_or(now, |Time(time)| *time);
    let grace = Duration::from_secs(
        pod.metadata
            .deletion_grace_period_seconds
            .and_then(|seconds| u64::try_from(seconds).ok())
            .unwrap_or(0),
    );
    let end = if pod::is_finished(pod) {
        now
    } else {
        let since = deadline.saturating_sub(grace).unwrap_or(Timestamp::MIN);
        since.saturating_add(knobs.termination_delay).unwrap_or(Timestamp::MAX).min(deadline)
    };
    if end > now {
        return Step::Terminate { until: end };
    }
    let mut status = pod.status.clone().unwrap_or_default();
    let mut notes = Vec::new();
    // A server ends well when it is told to; a task that is cut short does not.
    let restarts = pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()).unwrap_or("Always");
    let exit_code = if restarts == "Always" { 0 } else { SIGTERM };
    for container in status.container_statuses.iter_mut().flatten() {
        if let Some(note) = stop(container, Role::Main, exit_code, now) {
            notes.push(note);
        }
    }
    for container in status.init_container_statuses.iter_mut().flatten() {
        if let Some(note) = stop(container, Role::Sidecar, 0, now) {
            notes.push(note);
        }
    }
    if !pod::is_finished(pod) {
        let main = status.container_statuses.clone().unwrap_or_default();
        let failed = main.iter().any(|status| container::exit_code(status).is_some_and(|code| code != 0));
        let phase = if failed { "Failed" } else { "Succeeded" };
        let init = status.init_container_statuses.clone().unwrap_or_default();
        status.conditions = Some(conditions::conditions(pod, false, &init, &main, phase, now));
        status.phase = Some(phase.into());
    }
    Step::Remove { status: Box::new(status), notes }
}

/// Ends a running container as its main process would on SIGTERM.
fn stop(status: &mut ContainerStatus, role: Role, exit_code: i32, now: Timestamp) -> Option<Note> {
    let state = status.state.as_mut()?;
    let running = state.running.take()?;
    state.terminated = Some(k8s_openapi::api::core::v1::ContainerStateTerminated {
        exit_code,
        reason: Some(if exit_code == 0 { "Completed" } else { "Error" }.into()),
        container_id: status.container_id.clone(),
        started_at: running.started_at,
        finished_at: Some(Time(now)),
        ..Default::default()
    });
    status.ready = false;
    status.started = Some(false);
    let name = &status.name;
    let note = Note::normal("Killing", "Killing", format!("Stopping container {name}"));
    Some(note.about(role.field_path(name)))
}

fn find<'a>(statuses: &'a Option<Vec<ContainerStatus>>, name: &str) -> Option<&'a ContainerStatus> {
    statuses.iter().flatten().find(|status| status.name == name)
}

fn uid(pod: &Pod) -> &str {
    pod.metadata.uid.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{Container, PodSpec};

    use super::*;

    /// A pod whose kubelet looks at it whenever it asked to.
    struct World {
        pod: Pod,
        now: Timestamp,
        notes: Vec<String>,
    }

    const ADDRESSES: Addresses<'static> = Addresses { host: "10.0.0.1", pod: "10.244.0.2" };

    impl World {
        fn new(annotations: &[(&str, &str)]) -> Self {
            let mut pod = Pod {
                spec: Some(PodSpec {
                    containers: vec![container("web")],
                    restart_policy: Some("Always".into()),
                    ..PodSpec::default()
                }),
                ..Pod::default()
            };
            pod.metadata.name = Some("web-0".into());
            pod.metadata.namespace = Some("ns".into());
            pod.metadata.uid = Some("u".into());
            pod.metadata.generation = Some(1);
            pod.metadata.annotations =
                Some(annotations.iter().map(|(k, v)| (format!("kubewright.dev/{k}"), (*v).into())).collect());
            let now = "2030-01-01T00:00:00Z".parse().expect("a valid timestamp");
            Self { pod, now, notes: Vec::new() }
        }

        fn spec(&mut self) -> &mut PodSpec {
            self.pod.spec.as_mut().expect("a spec")
        }

        /// Looks once and stores the status; gives the time to look again.
        fn look(&mut self) -> Option<Timestamp> {
            match next(&self.pod, ADDRESSES, self.now) {
                Step::Report { status, notes, change_at } => {
                    self.notes.extend(notes.into_iter().map(|note| note.reason.to_owned()));
                    self.pod.status = Some(*status);
                    // A second look at the same time has nothing to add.
                    match next(&self.pod, ADDRESSES, self.now) {
                        Step::Report { status, notes, .. } => {
                            assert_eq!(self.pod.status.as_ref(), Some(&*status));
                            assert_eq!(notes, []);
                        }
                        step => assert_eq!(step, Step::Finished),
                    }
                    change_at
                }
                _ => None,
            }
        }

        /// Looks until `seconds` have passed.
        fn run(&mut self, seconds: u64) {
            let end = self.now.saturating_add(Duration::from_secs(seconds)).expect("in range");
            while let Some(at) = self.look().filter(|at| *at <= end) {
                self.now = at;
            }
            self.now = end;
            self.look();
        }

        fn status(&self) -> &PodStatus {
            self.pod.status.as_ref().expect("a status")
        }

        fn phase(&self) -> &str {
            pod::phase(&self.pod)
        }

        fn waiting(&self) -> Option<&str> {
            let status = self.status().container_statuses.as_ref()?.first()?;
            status.state.as_ref()?.waiting.as_ref()?.reason.as_deref()
        }
    }

    fn container(name: &str) -> Container {
        Container { name: name.into(), image: Some(format!("{name}:1")), ..Container::default() }
    }

    #[test]
    fn a_pod_runs_and_is_ready_at_once() {
        let mut world = World::new(&[]);
        world.spec().init_containers = Some(vec![container("setup")]);
        assert_eq!(world.look(), None);
        assert_eq!(world.phase(), "Running");
        assert!(pod::is_ready(&world.pod));
        let status = world.status();
        assert_eq!(status.pod_ip.as_deref(), Some("10.244.0.2"));
        assert_eq!(status.host_ip.as_deref(), Some("10.0.0.1"));
        assert_eq!(status.qos_class.as_deref(), Some("BestEffort"));
        assert_eq!(status.observed_generation, Some(1));
        let kinds: Vec<_> = status.conditions.iter().flatten().map(|c| (&*c.type_, &*c.status)).collect();
        assert_eq!(
            kinds,
            [
                ("PodReadyToStartContainers", "True"),
                ("Initialized", "True"),
                ("Ready", "True"),
                ("ContainersReady", "True"),
                ("PodScheduled", "True"),
            ]
        );
        let setup = &status.init_container_statuses.as_ref().expect("init containers")[0];
        assert_eq!(container::exit_code(setup), Some(0));
        let web = &status.container_statuses.as_ref().expect("containers")[0];
        assert!(web.container_id.as_ref().is_some_and(|id| id.starts_with("containerd://")));
        assert!(web.image_id.starts_with("web@sha256:"));
        assert_eq!(world.notes, ["Pulled", "Created", "Started", "Pulled", "Created", "Started"]);
    }

    #[test]
    fn delays_pass_through_pending_and_unready() {
        let mut world = World::new(&[("start-delay", "5s"), ("ready-delay", "3s")]);
        world.look();
        assert_eq!((world.phase(), world.waiting()), ("Pending", Some("ContainerCreating")));
        assert_eq!(world.status().pod_ip, None);
        world.run(5);
        assert_eq!(world.phase(), "Running");
        assert!(!pod::is_ready(&world.pod));
        let ready = pod::condition(&world.pod, "Ready").expect("Ready");
        assert_eq!(ready.reason.as_deref(), Some("ContainersNotReady"));
        assert_eq!(ready.message.as_deref(), Some("containers with unready status: [web]"));
        world.run(3);
        assert!(pod::is_ready(&world.pod));
        assert_eq!(pod::ready_since(&world.pod), Some(world.now));
    }

    #[test]
    fn a_crash_loop_backs_off() {
        let mut world = World::new(&[("crash-loop", "*")]);
        world.look();
        assert_eq!((world.phase(), world.waiting()), ("Running", Some("CrashLoopBackOff")));
        let restarts =
            |world: &World| world.status().container_statuses.as_ref().expect("containers")[0].restart_count;
        assert_eq!(restarts(&world), 1);
        world.run(10);
        assert_eq!(restarts(&world), 2);
        world.run(60);
        assert_eq!(restarts(&world), 4);
        assert!(!pod::is_ready(&world.pod));
        let web = &world.status().container_statuses.as_ref().expect("containers")[0];
        let waiting = web.state.as_ref().and_then(|state| state.waiting.as_ref()).expect("waiting");
        assert_eq!(
            waiting.message.as_deref(),
            Some("back-off 1m20s restarting failed container=web pod=web-0_ns(u)")
        );
        assert_eq!(world.notes.iter().filter(|note| *note == "BackOff").count(), 4);
    }

    #[test]
    fn an_image_that_cannot_be_pulled_keeps_the_pod_pending() {
        let mut world = World::new(&[("image-pull-error", "web")]);
        world.look();
        assert_eq!((world.phase(), world.waiting()), ("Pending", Some("ErrImagePull")));
        world.run(60);
        assert_eq!((world.phase(), world.waiting()), ("Pending", Some("ImagePullBackOff")));
        assert_eq!(world.notes, ["Failed", "BackOff"]);
        world.pod.metadata.annotations = None;
        world.look();
        assert_eq!(world.phase(), "Running");
    }

    #[test]
    fn a_pod_that_does_not_restart_succeeds_or_fails() {
        let mut world = World::new(&[("run-duration", "5s")]);
        world.spec().restart_policy = Some("Never".into());
        world.run(4);
        assert_eq!(world.phase(), "Running");
        world.run(1);
        assert_eq!(world.phase(), "Succeeded");
        let ready = pod::condition(&world.pod, "Ready").expect("Ready");
        assert_eq!((ready.status.as_str(), ready.reason.as_deref()), ("False", Some("PodCompleted")));

        let mut world = World::new(&[("exit-code", "2")]);
        world.spec().restart_policy = Some("Never".into());
        world.look();
        assert_eq!(world.phase(), "Failed");
    }

    #[test]
    fn init_containers_hold_back_the_pod() {
        let mut world = World::new(&[("crash-loop", "setup")]);
        world.spec().init_containers = Some(vec![container("setup"), container("later")]);
        world.look();
        assert_eq!((world.phase(), world.waiting()), ("Pending", Some("PodInitializing")));
        let initialized = pod::condition(&world.pod, "Initialized").expect("Initialized");
        assert_eq!(initialized.message.as_deref(), Some("containers with incomplete status: [setup later]"));
        world.spec().restart_policy = Some("Never".into());
        world.pod.status = None;
        world.look();
        assert_eq!(world.phase(), "Failed");
    }

    #[test]
    fn sidecars_keep_running() {
        let mut world = World::new(&[]);
        world.spec().init_containers =
            Some(vec![Container { restart_policy: Some("Always".into()), ..container("proxy") }]);
        world.look();
        assert_eq!(world.phase(), "Running");
        let proxy = &world.status().init_container_statuses.as_ref().expect("init containers")[0];
        assert!(container::is_running(proxy) && proxy.ready);
    }

    #[test]
    fn deletion_takes_its_delay_up_to_the_grace_period() {
        let mut world = World::new(&[("termination-delay", "10s")]);
        world.look();
        let at = |seconds| world.now.saturating_add(Duration::from_secs(seconds)).expect("in range");
        let (deadline, end) = (at(30), at(10));
        world.pod.metadata.deletion_timestamp = Some(Time(deadline));
        world.pod.metadata.deletion_grace_period_seconds = Some(30);
        assert_eq!(next(&world.pod, ADDRESSES, world.now), Step::Terminate { until: end });
        match next(&world.pod, ADDRESSES, end) {
            Step::Remove { status, notes } => {
                assert_eq!(status.phase.as_deref(), Some("Succeeded"));
                assert_eq!(notes[0].message, "Stopping container web");
            }
            step => panic!("expected the pod to be removed: {step:?}"),
        }
        world.pod.metadata.deletion_grace_period_seconds = Some(0);
        world.pod.metadata.deletion_timestamp = Some(Time(world.now));
        assert!(matches!(next(&world.pod, ADDRESSES, world.now), Step::Remove { .. }));
    }
}
