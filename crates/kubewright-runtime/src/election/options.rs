use std::{collections::BTreeMap, str::FromStr, time::Duration};

use clap::{ArgAction, Args};

use crate::{Error, Result};

/// How replicas of an operator elect the one that acts. The flags are those of Kubernetes' own components.
///
/// The three durations must fit each other: the lease duration is longer than the renew deadline, which is longer than
/// 1.2 times the retry period.
#[derive(Clone, Debug, Args)]
#[command(about = None, long_about = None)]
#[non_exhaustive]
pub struct LeaderElectionOptions {
    /// Run the controllers in one replica at a time, the elected one. The others stand by with filled caches.
    #[arg(
        id = "leader_elect",
        long = "leader-elect",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = false,
        default_missing_value = "true",
        action = ArgAction::Set
    )]
    pub enabled: bool,

    /// The name of the lease that replicas elect their leader by. By default the name of the operator and "-leader".
    #[arg(id = "leader_elect_resource_name", long = "leader-elect-resource-name", value_name = "NAME")]
    pub lease_name: Option<String>,

    /// The namespace of the lease. By default that of the connection: in a pod, the pod's own.
    #[arg(
        id = "leader_elect_resource_namespace",
        long = "leader-elect-resource-namespace",
        value_name = "NAME"
    )]
    pub lease_namespace: Option<String>,

    /// How long replicas wait, after the last renewal that they saw, before they take the lease. Whole seconds.
    #[arg(
        id = "leader_elect_lease_duration",
        long = "leader-elect-lease-duration",
        value_name = "DURATION",
        default_value = "15s",
        value_parser = duration
    )]
    pub lease_duration: Duration,

    /// How long the leader acts without a renewal. Less than the lease duration.
    #[arg(
        id = "leader_elect_renew_deadline",
        long = "leader-elect-renew-deadline",
        value_name = "DURATION",
        default_value = "10s",
        value_parser = duration
    )]
    pub renew_deadline: Duration,

    /// How long to wait between two attempts to get or to renew the lease.
    #[arg(
        id = "leader_elect_retry_period",
        long = "leader-elect-retry-period",
        value_name = "DURATION",
        default_value = "2s",
        value_parser = duration
    )]
    pub retry_period: Duration,

    /// Labels that every write of the lease sets, besides those that others gave it. None by default; set in code.
    #[arg(skip)]
    pub lease_labels: BTreeMap<String, String>,
}

/// Options that were checked, with their defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) identity: String,
    pub(crate) lease_duration: Duration,
    pub(crate) renew_deadline: Duration,
    pub(crate) retry_period: Duration,
    pub(crate) labels: BTreeMap<String, String>,
}

/// client-go's: candidates wait up to 2.2 times the retry period, and a renewal needs more time than 1.2 of them.
pub(super) const JITTER: f64 = 1.2;

// === impl LeaderElectionOptions ===

impl LeaderElectionOptions {
    /// The settings of one candidate: of the operator `operator`, on a connection to `namespace`, under a name that no
    /// other process has.
    pub(crate) fn settings(&self, operator: &str, namespace: &str, identity: String) -> Result<Settings> {
        let wrong = |what: String| Err(Error::setup(format!("leader election: {what}")));
        let Self { lease_duration, renew_deadline, retry_period, .. } = *self;
        if retry_period.is_zero() {
            return wrong("--leader-elect-retry-period must be longer than 0".to_owned());
        }
        if renew_deadline <= retry_period.mul_f64(JITTER) {
            return wrong(format!(
                "--leader-elect-renew-deadline ({renew_deadline:?}) must be longer than {JITTER} times \
                 --leader-elect-retry-period ({retry_period:?})"
            ));
        }
        if lease_duration <= renew_deadline {
            return wrong(format!(
                "--leader-elect-lease-duration ({lease_duration:?}) must be longer than --leader-elect-renew-deadline \
                 ({renew_deadline:?})"
            ));
        }
        // The lease has whole seconds: others would wait less than this process counts on.
        if lease_duration.subsec_nanos() != 0 || i32::try_from(lease_duration.as_secs()).is_err() {
            return wrong(format!(
                "--leader-elect-lease-duration ({lease_duration:?}) must be a number of whole seconds"
            ));
        }
        let given = |option: &Option<String>| option.clone().filter(|text| !text.is_empty());
        Ok(Settings {
            name: given(&self.lease_name).unwrap_or_else(|| format!("{}-leader", lease_name(operator))),
            namespace: given(&self.lease_namespace).unwrap_or_else(|| namespace.to_owned()),
            identity,
            lease_duration,
            renew_deadline,
            retry_period,
            labels: self.lease_labels.clone(),
        })
    }

    /// Between the moment at which the leader has to stop and the one from which another may begin.
    pub(crate) fn margin(&self) -> Duration {
        self.lease_duration.saturating_sub(self.renew_deadline)
    }
}

/// No election; 15 s, 10 s and 2 s if there is to be one.
impl Default for LeaderElectionOptions {
    fn default() -> Self {
        Self {
            enabled: false,
            lease_name: None,
            lease_namespace: None,
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            lease_labels: BTreeMap::new(),
        }
    }
}

/// The name of an executable as the name of an object: `my_operator` becomes `my-operator`.
pub(crate) fn lease_name(operator: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.');
    let letters = operator.chars().map(|letter| if fits(letter) { letter.to_ascii_lowercase() } else { '-' });
    letters.collect::<String>().trim_matches(['-', '.']).to_owned()
}

/// A duration as Go writes it, and not a negative one.
fn duration(text: &str) -> Result<Duration, String> {
    let duration = kube::core::Duration::from_str(text).map_err(|error| error.to_string())?;
    if duration.is_negative() { Err("it is negative".to_owned()) } else { Ok(duration.into()) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        election: LeaderElectionOptions,
    }

    fn settings(flags: &[&str]) -> Result<Settings> {
        let words = ["operator"].iter().chain(flags);
        let options = Flags::try_parse_from(words).expect("valid flags").election;
        options.settings("Memcached_operator", "system", "here".to_owned())
    }

    #[test]
    fn the_defaults_are_those_of_the_field() {
        let settings = settings(&["--leader-elect"]).expect("valid");
        assert_eq!((&*settings.namespace, &*settings.name), ("system", "memcached-operator-leader"));
        let durations = [settings.lease_duration, settings.renew_deadline, settings.retry_period];
        assert_eq!(durations.map(|duration| duration.as_secs()), [15, 10, 2]);
    }

    #[test]
    fn the_flag_takes_a_value_as_in_go() {
        for (flags, enabled) in [
            (&["operator"][..], false),
            (&["operator", "--leader-elect"], true),
            (&["operator", "--leader-elect=true"], true),
            (&["operator", "--leader-elect=false"], false),
        ] {
            assert_eq!(Flags::try_parse_from(flags).expect("valid").election.enabled, enabled, "{flags:?}");
        }
    }

    #[test]
    fn durations_that_do_not_fit_are_named() {
        for (flags, expected) in [
            (&["--leader-elect-lease-duration=10s"][..], "must be longer than --leader-elect-renew-deadline"),
            (&["--leader-elect-retry-period=9s"], "times --leader-elect-retry-period"),
            (&["--leader-elect-retry-period=0s"], "must be longer than 0"),
            (&["--leader-elect-lease-duration=15500ms"], "whole seconds"),
        ] {
            let error = settings(flags).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
