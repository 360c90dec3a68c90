use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use super::{FOREGROUND, ORPHAN, graph::Uid};

/// What the API server says of one owner of an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Owner {
    /// It exists.
    Solid,
    /// There is none of this uid.
    Absent,
    /// It is being deleted in the foreground.
    Waiting,
}

/// How an object is deleted; the names are those of the API.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// What to do about an object.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    Keep,
    /// Remove these owners from it: they are gone or wait for it to let go.
    DropOwners(Vec<Uid>),
    Delete {
        propagation: Propagation,
        /// Whether its owners must stop waiting for it first, as it and they wait for each other.
        unblock: bool,
    },
}

/// What is known of an object's dependents.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dependents {
    pub(super) any: bool,
    /// Whether one of them is being deleted in the foreground itself.
    pub(super) any_waiting: bool,
}

/// Decides about an object that is not being deleted, given the API server's word on each of its owners.
pub(super) fn decide(
    object: &ObjectMeta,
    owners: &[(&OwnerReference, Owner)],
    dependents: Dependents,
) -> Decision {
    if owners.is_empty() {
        return Decision::Keep;
    }
    let is = |wanted: Owner| owners.iter().any(|(_, owner)| *owner == wanted);
    if is(Owner::Solid) {
        let loose: Vec<Uid> = owners
            .iter()
            .filter(|(_, owner)| *owner != Owner::Solid)
            .map(|(reference, _)| reference.uid.clone())
            .collect();
        return if loose.is_empty() { Decision::Keep } else { Decision::DropOwners(loose) };
    }
    if is(Owner::Waiting) && dependents.any {
        return Decision::Delete { propagation: Propagation::Foreground, unblock: dependents.any_waiting };
    }
    let has = |name: &str| object.finalizers.iter().flatten().any(|finalizer| finalizer == name);
    let propagation = if has(ORPHAN) {
        Propagation::Orphan
    } else if has(FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    Decision::Delete { propagation, unblock: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(uid: &str) -> OwnerReference {
        OwnerReference { uid: uid.into(), ..OwnerReference::default() }
    }

    fn decide_for(finalizers: &[&str], owners: &[Owner], dependents: Dependents) -> Decision {
        let object = ObjectMeta {
            finalizers: Some(finalizers.iter().map(|name| (*name).into()).collect()),
            ..ObjectMeta::default()
        };
        let references: Vec<_> = (0..owners.len()).map(|index| reference(&index.to_string())).collect();
        let owners: Vec<_> = references.iter().zip(owners.iter().copied()).collect();
        decide(&object, &owners, dependents)
    }

    #[test]
    fn one_solid_owner_keeps_an_object() {
        let none = Dependents::default();
        assert_eq!(decide_for(&[], &[], none), Decision::Keep);
        assert_eq!(decide_for(&[], &[Owner::Solid], none), Decision::Keep);
        assert_eq!(
            decide_for(&[], &[Owner::Absent, Owner::Solid, Owner::Waiting], none),
            Decision::DropOwners(vec!["0".into(), "2".into()])
        );
    }

    #[test]
    fn without_a_solid_owner_it_goes() {
        let delete = |propagation| Decision::Delete { propagation, unblock: false };
        let none = Dependents::default();
        assert_eq!(decide_for(&[], &[Owner::Absent], none), delete(Propagation::Background));
        assert_eq!(decide_for(&[], &[Owner::Waiting], none), delete(Propagation::Background));
        assert_eq!(decide_for(&[ORPHAN], &[Owner::Absent], none), delete(Propagation::Orphan));
        assert_eq!(decide_for(&[FOREGROUND], &[Owner::Absent], none), delete(Propagation::Foreground));
        let some = Dependents { any: true, any_waiting: false };
        assert_eq!(decide_for(&[], &[Owner::Absent], some), delete(Propagation::Background));
        assert_eq!(decide_for(&[], &[Owner::Waiting], some), delete(Propagation::Foreground));
        let cycle = Dependents { any: true, any_waiting: true };
        assert_eq!(
            decide_for(&[], &[Owner::Waiting], cycle),
            Decision::Delete { propagation: Propagation::Foreground, unblock: true }
        );
    }
}
