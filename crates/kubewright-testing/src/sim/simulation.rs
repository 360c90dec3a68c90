use std::fmt;

use kubewright_runtime::{Result, manager::Manager};

use super::{
    Schedule,
    run::{Outcome, run},
    state::{State, difference},
};
use crate::{
    TestCluster,
    transport::{Fault, Faults},
};

/// An operator and a scenario, to be tried under everything that may happen.
///
/// The scenario is what users do: it creates and changes objects, waits for this or that, and asserts what must hold at any
/// time. What it does not wait for may overlap with faults, which is the better test.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::{Api, api::{ObjectMeta, PostParams}};
/// use kubewright_runtime::{Action, Request, controller::Controller, manager::Manager, reconcile_fn};
/// use kubewright_testing::{TestCluster, sim::Simulation};
///
/// // An operator that copies each ConfigMap named `original` to one named `copy`.
/// let register = |manager: &Manager| {
///     let client = manager.client();
///     Controller::for_kind::<ConfigMap>(manager).run(reconcile_fn(move |request: Request| {
///         let client = client.clone();
///         async move {
///             if request.name == "original"
///                 && let Some(original) = client.get::<ConfigMap>(&request).await?
///             {
///                 let metadata = ObjectMeta {
///                     name: Some("copy".to_owned()),
///                     namespace: request.namespace.clone(),
///                     ..Default::default()
///                 };
///                 client.apply(&ConfigMap { metadata, data: original.data.clone(), ..Default::default() }).await?;
///             }
///             Ok(Action::done())
///         }
///     }))
/// };
/// // What a user does.
/// let scenario = async |cluster: &TestCluster| {
///     let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
///     let metadata = ObjectMeta { name: Some("original".to_owned()), ..Default::default() };
///     let data = Some(BTreeMap::from([("color".to_owned(), "blue".to_owned())]));
///     let map = ConfigMap { metadata, data, ..Default::default() };
///     maps.create(&PostParams::default(), &map).await.expect("created");
/// };
///
/// let simulation = Simulation::new(register, scenario);
/// simulation.under_faults(3);
/// simulation.with_a_crash_after_every_write();
/// ```
///
/// A failure is made smaller, and then said with the line that runs it again:
///
/// ```text
/// the operator ends elsewhere than without faults
/// ConfigMap., without faults: {..}
/// the fault that matters is the last of 3:
///   lost-answers: operator PATCH /api/v1/namespaces/default/configmaps/copy?fieldManager=operator
/// run it again with: KUBEWRIGHT_SIM='seed=17,only=lost-answers,first=3' cargo test -p my-operator it_survives
/// ```
///
/// Two variables of the environment change what a test does: `KUBEWRIGHT_SIM` runs one schedule and no other, and
/// `KUBEWRIGHT_SIM_SCHEDULES` says how many there are under faults.
#[must_use = "a simulation does nothing until it is run under something"]
pub struct Simulation<R, S> {
    register: R,
    scenario: S,
    faults: Faults,
    seed: u64,
}

/// What a simulation has tried. All of it ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How often the scenario was run.
    pub runs: u64,
    /// How many faults there were in all, crashes among them.
    pub faults: u64,
    /// How often the operator wrote when nothing went wrong.
    pub writes: u64,
}

/// One of so many schedules is run twice, and must give the same history.
const REPEATED: u64 = 20;

impl<R, S> Simulation<R, S>
where
    R: Fn(&Manager) -> Result<()>,
    S: AsyncFn(&TestCluster),
{
    /// The operator whose controllers `register` adds to a manager, as `main` does, and what users do meanwhile. The CRDs
    /// of its controllers are installed.
    pub fn new(register: R, scenario: S) -> Self {
        let faults = Faults { crashes: 20, ..Faults::storm() };
        Self { register, scenario, faults, seed: 1 }
    }

    /// What goes wrong under faults. Default: a [storm](Faults::storm), and one in fifty writes is the last of its process.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// The first seed. Default: 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs the scenario under the faults of so many seeds. The faults end soon after the scenario; then the cluster must come
    /// to rest in the state in which it does without faults, with the operator ready and its queues empty.
    ///
    /// # Panics
    ///
    /// If it does not, or the scenario panics, or two runs of one seed differ.
    #[track_caller]
    pub fn under_faults(&self, schedules: u64) -> Report {
        let schedules = variable("KUBEWRIGHT_SIM_SCHEDULES").unwrap_or(schedules);
        self.all((self.seed..self.seed + schedules).map(Schedule::of_seed), |_| Vec::new())
    }

    /// Runs the scenario once for each write of the operator: the process dies right after it, before the answer, and
    /// another is started a second later.
    ///
    /// # Panics
    ///
    /// As [`under_faults`](Self::under_faults).
    #[track_caller]
    pub fn with_a_crash_after_every_write(&self) -> Report {
        let crashes = |writes| (1..=writes).map(|write| Schedule::of_crash(self.seed, write)).collect();
        self.all(std::iter::empty(), crashes)
    }

    /// Runs these schedules, and those that follow from the number of writes without faults.
    #[track_caller]
    fn all(&self, schedules: impl Iterator<Item = Schedule>, more: impl Fn(u64) -> Vec<Schedule>) -> Report {
        let calm = self.run(&Schedule::calm(self.seed));
        let expected = match calm.end {
            Ok(state) => state,
            Err(error) => panic!("the scenario does not end well without faults: {error}"),
        };
        let mut report = Report { runs: 1, faults: 0, writes: calm.writes };
        let asked_for = variable::<Schedule>("KUBEWRIGHT_SIM").map(|schedule| vec![schedule]);
        let schedules = asked_for.unwrap_or_else(|| schedules.chain(more(calm.writes)).collect());
        for (index, schedule) in (0_u64..).zip(schedules) {
            let outcome = self.run(&schedule);
            report.runs += 1;
            report.faults += outcome.faults.count as u64 + u64::from(schedule.crash.is_some());
            if let Some(reason) = failure(&expected, &outcome) {
                panic!("{}", self.explain(&expected, Failed { schedule, outcome, reason }));
            }
            if index.is_multiple_of(REPEATED) {
                report.runs += 1;
                let again = self.run(&schedule).history;
                let mut lines = outcome.history.lines().zip(again.lines());
                if let Some((one, two)) = lines.find(|(one, two)| one != two) {
                    panic!(
                        "two runs of {schedule} differ, so something in them is not determined:\n{one}\n{two}"
                    );
                }
                assert_eq!(
                    outcome.history.len(),
                    again.len(),
                    "two runs of {schedule} differ in their length"
                );
            }
        }
        report
    }

    fn run(&self, schedule: &Schedule) -> Outcome {
        run(&self.register, &self.scenario, self.faults, schedule)
    }

    /// Leaves out of a failing schedule what it fails without, and says what is left.
    fn explain(&self, expected: &State, failed: Failed) -> String {
        let mut least = failed;
        let again = |schedule: Schedule| {
            let outcome = self.run(&schedule);
            failure(expected, &outcome).map(|reason| Failed { schedule, outcome, reason })
        };
        if least.schedule.crash.is_none() {
            for fault in Fault::ALL {
                let kinds = least.schedule.faults(self.faults).kinds();
                let only = Some(kinds.filter(|kind| *kind != fault).collect());
                if least.outcome.faults.kinds.contains(&fault)
                    && let Some(less) = again(Schedule { only, ..least.schedule.clone() })
                {
                    least = less;
                }
            }
            let (mut enough, mut too_few) = (least.outcome.faults.count, 0);
            while too_few < enough {
                let middle = too_few + (enough - too_few) / 2;
                match again(Schedule { first: Some(middle), ..least.schedule.clone() }) {
                    Some(less) => (least, enough) = (less, middle),
                    None => too_few = middle + 1,
                }
            }
        }
        least.to_string()
    }
}

impl<R, S> fmt::Debug for Simulation<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("faults", &self.faults)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// A run that did not end as it should.
struct Failed {
    schedule: Schedule,
    outcome: Outcome,
    reason: String,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schedule, outcome, reason } = self;
        writeln!(f, "{reason}")?;
        let death = outcome.history.lines().find(|line| line.contains("the process is dead"));
        match (schedule.crash, death, outcome.faults.count) {
            (Some(write), Some(death), _) => {
                writeln!(f, "after the crash at write {write}:\n  {}", death.trim())?;
            }
            (Some(_), None, _) | (None, _, 0) => writeln!(f, "without any fault")?,
            (None, _, count) => {
                writeln!(f, "the fault that matters is the last of {count}:")?;
                for (fault, what) in &outcome.faults.last {
                    writeln!(f, "  {fault}: {what}")?;
                }
            }
        }
        let test =
            std::thread::current().name().filter(|name| *name != "main").unwrap_or_default().to_owned();
        let package = std::env::var("CARGO_PKG_NAME").map(|name| format!("-p {name} ")).unwrap_or_default();
        write!(f, "run it again with: KUBEWRIGHT_SIM='{schedule}' cargo test {package}{test}")
    }
}

/// Why a run did not end as it should, if it did not.
fn failure(expected: &State, outcome: &Outcome) -> Option<String> {
    match &outcome.end {
        Err(reason) => Some(reason.clone()),
        Ok(found) if found == expected => None,
        Ok(found) => {
            Some(format!("the operator ends elsewhere than without faults\n{}", difference(expected, found)))
        }
    }
}

/// A variable of the environment, if it is set.
fn variable<T: std::str::FromStr<Err: fmt::Display>>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => panic!("{name}={text:?}: {error}"),
    }
}
