use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};

use super::{revision, strategy};

/// The replicas a ReplicaSet asks for.
pub(super) fn size(replica_set: &ReplicaSet) -> i32 {
    replica_set.spec.replicas.unwrap_or(1)
}

/// The part of `to_add` pods (fewer for a negative number) that `replica_set` gets when its Deployment is
/// scaled during a rollout, after `added` of them went to others.
pub(super) fn proportion(replica_set: &ReplicaSet, deployment: &Deployment, to_add: i32, added: i32) -> i32 {
    if size(replica_set) == 0 || to_add == 0 || to_add == added {
        return 0;
    }
    let fraction = fraction(replica_set, deployment);
    let allowed = to_add - added;
    if to_add > 0 { fraction.min(allowed) } else { fraction.max(allowed) }
}

/// How much the ReplicaSet would grow or shrink if it grew as the whole Deployment does.
fn fraction(replica_set: &ReplicaSet, deployment: &Deployment) -> i32 {
    let size = size(replica_set);
    let replicas = strategy::replicas(deployment);
    if replicas == 0 {
        return -size;
    }
    // A ReplicaSet that was never scaled by this controller has no note of the size before: then the
    // Deployment's current replicas are the best guess.
    let before = revision::max_replicas(replica_set).filter(|max| *max > 0).or_else(|| {
        deployment.status.as_ref().and_then(|status| status.replicas).filter(|replicas| *replicas > 0)
    });
    let Some(before) = before else { return 0 };
    let max = i64::from(replicas) + i64::from(strategy::max_surge(deployment));
    let scaled = divide_rounding(i64::from(size) * max, i64::from(before));
    i32::try_from(scaled).unwrap_or(i32::MAX) - size
}

/// `numerator / denominator`, halves away from zero; both are positive or zero.
fn divide_rounding(numerator: i64, denominator: i64) -> i64 {
    (2 * numerator + denominator) / (2 * denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_shared_by_size() {
        let mut deployment = Deployment::default();
        deployment.spec.replicas = Some(10);
        let mut replica_set = ReplicaSet::default();
        replica_set.spec.replicas = Some(8);
        revision::record_size(&mut replica_set.metadata, &deployment);
        deployment.spec.replicas = Some(20);
        // 8 of 13 (10 and a quarter of surge, rounded up) before, so of 25 after: 15.4.
        assert_eq!(proportion(&replica_set, &deployment, 12, 0), 7);
        assert_eq!(proportion(&replica_set, &deployment, 12, 10), 2);
        deployment.spec.replicas = Some(0);
        assert_eq!(proportion(&replica_set, &deployment, -8, 0), -8);
    }

    #[test]
    fn rounding_is_half_away_from_zero() {
        assert_eq!(divide_rounding(5, 2), 3);
        assert_eq!(divide_rounding(7, 3), 2);
        assert_eq!(divide_rounding(8, 3), 3);
    }
}
