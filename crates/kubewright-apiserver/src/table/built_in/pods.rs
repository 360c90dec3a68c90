use serde_json::{Value, json};

use super::{Cells, Object, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "Pod" => pod,
        "PodTemplate" => |object| {
            let (names, images) = object.containers("/template/spec/containers");
            row![object.name(), names, images, object.labels("/template/metadata/labels")]
        },
        _ => return None,
    })
}

/// What a row says about a pod that has ended, so that clients may leave it out.
pub(in crate::table) fn pod_conditions(pod: &Value) -> Option<Value> {
    let (reason, message) = match pod.pointer("/status/phase").and_then(Value::as_str) {
        Some("Succeeded") => ("Succeeded", "The pod has completed successfully."),
        Some("Failed") => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]))
}

fn pod(object: Object<'_>) -> Vec<Value> {
    let state = State::of(object);
    let restarts = match &state.last_restart {
        Some(time) if state.restarts != 0 => format!("{} ({} ago)", state.restarts, time.since("")),
        _ => state.restarts.to_string(),
    };
    let ip = object.list("/status/podIPs").next().map_or("", |ip| ip.text("/ip"));
    let gates = object.list("/spec/readinessGates");
    let gates = match gates.len() {
        0 => "<none>".into(),
        total => {
            let ready = gates.filter(|gate| object.condition_is_true(gate.text("/conditionType"))).count();
            format!("{ready}/{total}")
        }
    };
    row![
        object.name(),
        format!("{}/{}", state.ready, state.total),
        state.reason,
        restarts,
        object.age(),
        if ip.is_empty() { "<none>" } else { ip },
        object.text_or("/spec/nodeName", "<none>"),
        object.text_or("/status/nominatedNodeName", "<none>"),
        gates,
    ]
}

/// The state of a pod in one word, and how many of its containers are ready and were restarted.
struct State<'a> {
    reason: String,
    ready: usize,
    total: usize,
    restarts: i64,
    last_restart: Option<Object<'a>>,
}

impl<'a> State<'a> {
    fn of(pod: Object<'a>) -> Self {
        let phase = pod.text("/status/phase");
        let mut reason = pod.text_or("/status/reason", phase).to_owned();
        if pod.condition("PodScheduled").is_some_and(|it| it.text("/reason") == "SchedulingGated") {
            reason = "SchedulingGated".into();
        }
        let sidecars = pod.list("/spec/initContainers").filter(|it| is_sidecar(*it)).count();
        let mut state = Self {
            reason,
            ready: 0,
            total: pod.list("/spec/containers").len() + sidecars,
            restarts: 0,
            last_restart: None,
        };
        let initializing = state.initialize(pod);
        if !initializing || pod.condition_is_true("Initialized") {
            state.run(pod);
        }
        if pod.deleting() {
            if pod.text("/status/reason") == "NodeLost" {
                state.reason = "Unknown".into();
            } else if !matches!(phase, "Succeeded" | "Failed") {
                state.reason = "Terminating".into();
            }
        }
        state
    }

    /// Reads the init containers in order, up to the first that has not done its work.
    fn initialize(&mut self, pod: Object<'a>) -> bool {
        let (mut sidecar_restarts, mut sidecar_last) = (0, None);
        let mut initializing = false;
        for (index, status) in pod.list("/status/initContainerStatuses").enumerate() {
            let name = status.text("/name");
            let sidecar =
                pod.list("/spec/initContainers").any(|it| it.text("/name") == name && is_sidecar(it));
            let last = status.get("/lastState/terminated/finishedAt");
            self.restarts += status.int("/restartCount");
            self.last_restart = later(self.last_restart, last);
            if sidecar {
                sidecar_restarts += status.int("/restartCount");
                sidecar_last = later(sidecar_last, last);
            }
            let terminated = status.get("/state/terminated");
            if terminated.is_some_and(|terminated| terminated.int("/exitCode") == 0) {
                continue;
            }
            if sidecar && status.bool("/started") {
                self.ready += usize::from(status.bool("/ready"));
                continue;
            }
            let waiting = status.text("/state/waiting/reason");
            self.reason = match terminated {
                Some(terminated) => format!("Init:{}", end_of(terminated)),
                None if !waiting.is_empty() && waiting != "PodInitializing" => format!("Init:{waiting}"),
                None => format!("Init:{index}/{}", pod.len("/spec/initContainers")),
            };
            initializing = true;
            break;
        }
        if !initializing || pod.condition_is_true("Initialized") {
            // From here on only containers that still run count.
            (self.restarts, self.last_restart) = (sidecar_restarts, sidecar_last);
        }
        initializing
    }

    /// Reads the containers, the last first, so that the first one has the last word.
    fn run(&mut self, pod: Object<'a>) {
        let mut running = false;
        let mut error = String::new();
        for status in pod.list("/status/containerStatuses").rev() {
            self.restarts += status.int("/restartCount");
            self.last_restart = later(self.last_restart, status.get("/lastState/terminated/finishedAt"));
            let waiting = status.text("/state/waiting/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if let Some(terminated) = status.get("/state/terminated") {
                self.reason = end_of(terminated);
                if terminated.int("/exitCode") != 0 {
                    error.clone_from(&self.reason);
                }
            } else if status.bool("/ready") && status.has("/state/running") {
                running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" {
            if running && pod.condition_is_true("Ready") {
                self.reason = "Running".into();
            } else if !error.is_empty() {
                self.reason = error;
            } else if running {
                self.reason = "NotReady".into();
            }
        }
    }
}

fn is_sidecar(container: Object<'_>) -> bool {
    container.text("/restartPolicy") == "Always"
}

/// Why a container ended.
fn end_of(terminated: Object<'_>) -> String {
    match (terminated.text("/reason"), terminated.int("/signal")) {
        ("", 0) => format!("ExitCode:{}", terminated.int("/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// The later of two times, written in RFC 3339 and UTC, where text order is time order.
fn later<'a>(left: Option<Object<'a>>, right: Option<Object<'a>>) -> Option<Object<'a>> {
    match (left, right) {
        (Some(left), Some(right)) if left.text("") >= right.text("") => Some(left),
        (left, None) => left,
        (_, right) => right,
    }
}
