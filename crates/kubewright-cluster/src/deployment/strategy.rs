use k8s_openapi::{
    api::apps::v1::{Deployment, RollingUpdateDeployment},
    apimachinery::pkg::util::intstr::IntOrString,
};

/// The replicas a Deployment asks for; 1 unless it says.
pub(super) fn replicas(deployment: &Deployment) -> i32 {
    deployment.spec.replicas.unwrap_or(1)
}

/// Whether the Deployment replaces pods step by step (the default) rather than all at once.
pub(super) fn is_rolling(deployment: &Deployment) -> bool {
    let strategy = deployment.spec.strategy.as_ref();
    strategy.and_then(|strategy| strategy.type_.as_deref()) != Some("Recreate")
}

/// How many pods above `replicas` a rollout may run.
pub(super) fn max_surge(deployment: &Deployment) -> i32 {
    if is_rolling(deployment) { bounds(deployment).0 } else { 0 }
}

/// How many pods below `replicas` may be available during a rollout.
pub(super) fn max_unavailable(deployment: &Deployment) -> i32 {
    let replicas = replicas(deployment);
    if !is_rolling(deployment) || replicas == 0 {
        return 0;
    }
    bounds(deployment).1.min(replicas)
}

/// `maxSurge`, rounded up, and `maxUnavailable`, rounded down.
///
/// When both come to 0, which percentages of few replicas can do, one pod may be unavailable: otherwise the
/// rollout could not take a single step.
fn bounds(deployment: &Deployment) -> (i32, i32) {
    const DEFAULT: &str = "25%";
    let default = || IntOrString::String(DEFAULT.into());
    let rolling = deployment.spec.strategy.as_ref().and_then(|strategy| strategy.rolling_update.as_ref());
    let value = |field: fn(&RollingUpdateDeployment) -> Option<&IntOrString>| {
        rolling.and_then(field).cloned().unwrap_or_else(default)
    };
    let replicas = replicas(deployment);
    let surge = scaled(&value(|rolling| rolling.max_surge.as_ref()), replicas, Round::Up);
    let unavailable = scaled(&value(|rolling| rolling.max_unavailable.as_ref()), replicas, Round::Down);
    match (surge, unavailable) {
        (0, 0) => (0, 1),
        bounds => bounds,
    }
}

#[derive(Clone, Copy)]
enum Round {
    Up,
    Down,
}

/// A number as it is, a percentage of `total` rounded; 0 for anything else, which validation rejects.
fn scaled(value: &IntOrString, total: i32, round: Round) -> i32 {
    match value {
        IntOrString::Int(number) => *number,
        IntOrString::String(text) => {
            let Some(percent) = text.strip_suffix('%').and_then(|number| number.parse::<i32>().ok()) else {
                return 0;
            };
            let product = i64::from(percent) * i64::from(total);
            let rounded = match round {
                Round::Up => product.div_euclid(100) + i64::from(product.rem_euclid(100) != 0),
                Round::Down => product.div_euclid(100),
            };
            i32::try_from(rounded).unwrap_or(i32::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::{DeploymentSpec, DeploymentStrategy};

    use super::*;

    fn deployment(replicas: i32, surge: IntOrString, unavailable: IntOrString) -> Deployment {
        Deployment {
            spec: DeploymentSpec {
                replicas: Some(replicas),
                strategy: Some(DeploymentStrategy {
                    type_: Some("RollingUpdate".into()),
                    rolling_update: Some(RollingUpdateDeployment {
                        max_surge: Some(surge),
                        max_unavailable: Some(unavailable),
                    }),
                }),
                ..DeploymentSpec::default()
            },
            ..Deployment::default()
        }
    }

    fn percent(text: &str) -> IntOrString {
        IntOrString::String(text.into())
    }

    #[test]
    fn surge_rounds_up_and_unavailable_down() {
        let of = |deployment: &Deployment| (max_surge(deployment), max_unavailable(deployment));
        assert_eq!(of(&deployment(10, percent("25%"), percent("25%"))), (3, 2));
        assert_eq!(of(&deployment(1, percent("25%"), percent("25%"))), (1, 0));
        assert_eq!(of(&deployment(4, percent("100%"), percent("0%"))), (4, 0));
        assert_eq!(of(&deployment(10, IntOrString::Int(2), IntOrString::Int(3))), (2, 3));
    }

    #[test]
    fn a_rollout_can_always_take_a_step() {
        let stuck = deployment(3, IntOrString::Int(0), percent("10%"));
        assert_eq!((max_surge(&stuck), max_unavailable(&stuck)), (0, 1));
    }

    #[test]
    fn unavailable_is_at_most_all_and_defaults_are_a_quarter() {
        assert_eq!(max_unavailable(&deployment(2, IntOrString::Int(0), IntOrString::Int(5))), 2);
        assert_eq!(max_unavailable(&deployment(0, IntOrString::Int(0), IntOrString::Int(5))), 0);
        let mut bare = Deployment::default();
        bare.spec.replicas = Some(8);
        assert_eq!((max_surge(&bare), max_unavailable(&bare)), (2, 2));
    }

    #[test]
    fn recreate_has_no_surge() {
        let mut recreate = deployment(10, percent("25%"), percent("25%"));
        recreate.spec.strategy =
            Some(DeploymentStrategy { type_: Some("Recreate".into()), rolling_update: None });
        assert_eq!((max_surge(&recreate), max_unavailable(&recreate)), (0, 0));
    }
}
