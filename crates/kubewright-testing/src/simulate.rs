/// Runs `simulation` to its end in this thread, on an async runtime of its own whose time is virtual.
///
/// A test that compares two runs needs a runtime for each: on a shared one, what the first run has left behind
/// takes part in the scheduling of the second.
///
/// ```
/// use kubewright_testing::{TestCluster, simulate};
///
/// let revision = || simulate(async { TestCluster::start().await.server().revision() });
/// assert_eq!(revision(), revision());
/// ```
///
/// # Panics
///
/// If it is called from async code, or the operating system refuses a timer.
pub fn simulate<T>(simulation: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => runtime.block_on(simulation),
        Err(error) => panic!("cannot start an async runtime: {error}"),
    }
}
