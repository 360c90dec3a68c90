//! Leases.

use super::Field;

pub(super) fn validate(lease: Field<'_>) {
    let spec = lease.child("spec");
    let duration = spec.child("leaseDurationSeconds");
    if let Some(seconds) = duration.int().filter(|seconds| *seconds <= 0) {
        duration.invalid(seconds, "must be greater than 0");
    }
    spec.child("leaseTransitions").not_negative();
}
