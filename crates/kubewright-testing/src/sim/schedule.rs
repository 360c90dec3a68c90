use std::{fmt, str::FromStr};

use crate::transport::{Fault, Faults};

/// What happens to one run of a [`Simulation`](super::Simulation), as text `seed=17`, `seed=17,only=lost-answers+restarts`,
/// `seed=17,first=12` or `seed=1,crash=5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// What all randomness comes from.
    pub(super) seed: u64,
    /// The kinds of faults that occur; `None` for all of the simulation.
    pub(super) only: Option<Vec<Fault>>,
    /// How many faults there are; `None` for as many as come.
    pub(super) first: Option<usize>,
    /// The write after which the operator's process dies; no other faults occur then.
    pub(super) crash: Option<u64>,
}

impl Schedule {
    /// The faults of a seed.
    pub(super) fn of_seed(seed: u64) -> Self {
        Self { seed, only: None, first: None, crash: None }
    }

    /// A run without faults.
    pub(super) fn calm(seed: u64) -> Self {
        Self { only: Some(Vec::new()), ..Self::of_seed(seed) }
    }

    /// A run without faults, but with a crash after a write.
    pub(super) fn of_crash(seed: u64, write: u64) -> Self {
        Self { crash: Some(write), ..Self::calm(seed) }
    }

    /// Those of `faults` that occur.
    pub(super) fn faults(&self, faults: Faults) -> Faults {
        let Some(only) = &self.only else { return faults };
        Fault::ALL.into_iter().filter(|fault| !only.contains(fault)).fold(faults, Faults::without)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed={}", self.seed)?;
        if let Some(write) = self.crash {
            return write!(f, ",crash={write}");
        }
        if let Some(only) = &self.only {
            let only: Vec<_> = only.iter().map(ToString::to_string).collect();
            write!(f, ",only={}", only.join("+"))?;
        }
        match self.first {
            Some(first) => write!(f, ",first={first}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut schedule = Self::of_seed(1);
        let number = |value: &str| value.parse::<u64>().map_err(|error| format!("{value:?}: {error}"));
        for part in text.split(',') {
            match part.split_once('=') {
                Some(("seed", value)) => schedule.seed = number(value)?,
                Some(("first", value)) => {
                    schedule.first = Some(usize::try_from(number(value)?).unwrap_or(usize::MAX));
                }
                Some(("crash", value)) => {
                    schedule.crash = Some(number(value)?);
                    schedule.only = Some(Vec::new());
                }
                Some(("only", value)) => {
                    let kinds = value.split('+').filter(|kind| !kind.is_empty()).map(str::parse);
                    schedule.only = Some(kinds.collect::<Result<_, _>>()?);
                }
                _ => {
                    return Err(format!(
                        "{part:?} is no part of a schedule: write seed=N, only=FAULT+FAULT, first=N or crash=N, with \
                         commas between"
                    ));
                }
            }
        }
        Ok(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_as_it_is_written() {
        for text in
            ["seed=17", "seed=17,only=lost-answers+restarts,first=12", "seed=3,only=", "seed=1,crash=5"]
        {
            assert_eq!(text.parse::<Schedule>().map(|schedule| schedule.to_string()).as_deref(), Ok(text));
        }
        assert!("seed=x".parse::<Schedule>().is_err());
        assert!("only=rain".parse::<Schedule>().is_err_and(|error| error.contains("lost-requests")));
        assert!("storm".parse::<Schedule>().is_err());
    }

    #[test]
    fn only_leaves_the_others_out() {
        let schedule: Schedule = "seed=1,only=restarts".parse().expect("valid");
        assert_eq!(schedule.faults(Faults::storm()).kinds().collect::<Vec<_>>(), [Fault::Restart]);
        assert_eq!(Schedule::calm(1).faults(Faults::storm()).kinds().count(), 0);
        assert_eq!(Schedule::of_seed(1).faults(Faults::storm()), Faults::storm());
    }
}
