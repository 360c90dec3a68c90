//! The annotations of a Pod that tell the simulated kubelet how the pod behaves.
//!
//! Without any of them a pod runs and is ready as soon as it is bound. Put them into the template of a
//! workload, or on one pod while it runs: the kubelet looks again at every change.
//!
//! A list of containers is their names separated by commas, or `*` for all. Durations are written as `90s` or
//! `1m 30s`. A value that cannot be read has no effect but a warning event.
//!
//! The containers of a pod that a Job controls end at once with exit code 0 unless annotated otherwise.

/// Containers start this long after the pod is bound.
pub const START_DELAY: &str = "kubewright.dev/start-delay";

/// Containers become ready this long after they start.
pub const READY_DELAY: &str = "kubewright.dev/ready-delay";

/// These containers run and do not become ready.
pub const NEVER_READY: &str = "kubewright.dev/never-ready";

/// The images of these containers cannot be pulled: they wait with reason `ErrImagePull`, then
/// `ImagePullBackOff`.
pub const IMAGE_PULL_ERROR: &str = "kubewright.dev/image-pull-error";

/// These containers end with exit code 1 over and over, with the waits of `CrashLoopBackOff` in between.
pub const CRASH_LOOP: &str = "kubewright.dev/crash-loop";

/// Containers end by themselves after this long, and are restarted as the pod's `restartPolicy` says.
pub const RUN_DURATION: &str = "kubewright.dev/run-duration";

/// The exit code with which containers end by themselves; 0 unless set. Set without
/// [`RUN_DURATION`], they end at once.
pub const EXIT_CODE: &str = "kubewright.dev/exit-code";

/// A deleted pod takes this long to go, up to its grace period.
pub const TERMINATION_DELAY: &str = "kubewright.dev/termination-delay";
