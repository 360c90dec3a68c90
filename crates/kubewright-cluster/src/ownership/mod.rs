//! Who controls an object: controller references, and the claims that adopt and release objects.
//!
//! A controller manages the objects that name it as their controller *and* that its selector selects. When
//! only one of the two holds, the object changes hands: one that matches and has no controller is adopted,
//! one that is controlled but no longer matches is released. [`claim`] decides which; the workload
//! controllers carry it out.

mod adopters;
mod change;

pub(crate) use adopters::enqueue_adopters;
pub(crate) use change::claim_all;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};
use kube::core::{Selector, SelectorExt};

/// What a controller does about one candidate object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Claim {
    /// It is controlled and selected.
    Keep,
    /// It is selected and has no controller.
    Adopt,
    /// It is controlled and not selected any more.
    Release,
    /// It is none of the controller's business.
    Ignore,
}

/// Decides what the controller with `owner` metadata does about the object with `child` metadata.
///
/// A controller that is being deleted keeps what it has and takes nothing more; an object that is being
/// deleted is not worth adopting.
pub(crate) fn claim(owner: &ObjectMeta, selector: Option<&Selector>, child: &ObjectMeta) -> Claim {
    if owner.namespace != child.namespace {
        return Claim::Ignore;
    }
    let no_labels = Default::default();
    let selected =
        selector.is_some_and(|selector| selector.matches(child.labels.as_ref().unwrap_or(&no_labels)));
    let deleting = owner.deletion_timestamp.is_some();
    match controller_of(child) {
        Some(controller) if owner.uid.as_deref() != Some(controller.uid.as_str()) => Claim::Ignore,
        Some(_) if selected => Claim::Keep,
        Some(_) if deleting => Claim::Ignore,
        Some(_) => Claim::Release,
        None if deleting || !selected || child.deletion_timestamp.is_some() => Claim::Ignore,
        None => Claim::Adopt,
    }
}

/// The owner reference that names an object's controller, if it has one.
pub(crate) fn controller_of(object: &ObjectMeta) -> Option<&OwnerReference> {
    object.owner_references.iter().flatten().find(|reference| reference.controller == Some(true))
}

/// Whether the object's controller is the one with `uid`.
pub(crate) fn is_controlled_by(object: &ObjectMeta, uid: Option<&str>) -> bool {
    match (controller_of(object), uid) {
        (Some(controller), Some(uid)) => controller.uid == uid,
        _ => false,
    }
}

/// The reference by which an object names `owner` as its controller; deleting the owner in the foreground
/// waits for the object.
pub(crate) fn controller_reference<K>(owner: &K) -> OwnerReference
where
    K: kube::Resource<DynamicType = ()>,
{
    let meta = owner.meta();
    OwnerReference {
        api_version: K::api_version(&()).into_owned(),
        kind: K::kind(&()).into_owned(),
        name: meta.name.clone().unwrap_or_default(),
        uid: meta.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// The selector of a workload, or `None` when it is empty or malformed: such a workload selects nothing, as
/// one that selected everything would take every pod of its namespace.
pub(crate) fn selector(selector: &LabelSelector) -> Option<Selector> {
    Selector::try_from(selector.clone()).ok().filter(|selector| !selector.selects_all())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::{api::apps::v1::ReplicaSet, apimachinery::pkg::apis::meta::v1::Time};

    use super::*;

    fn meta(labels: &[(&str, &str)]) -> ObjectMeta {
        ObjectMeta {
            namespace: Some("ns".into()),
            labels: Some(labels.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect()),
            ..ObjectMeta::default()
        }
    }

    fn owner() -> ReplicaSet {
        let mut owner = ReplicaSet::default();
        owner.metadata.name = Some("web".into());
        owner.metadata.namespace = Some("ns".into());
        owner.metadata.uid = Some("u1".into());
        owner
    }

    #[test]
    fn claims_follow_controller_and_selector() {
        let owner = owner();
        let wanted = Selector::from_iter(BTreeMap::from([("app".to_owned(), "web".to_owned())]));
        let decide = |child: &ObjectMeta| claim(&owner.metadata, Some(&wanted), child);

        let mut matching = meta(&[("app", "web")]);
        assert_eq!(decide(&matching), Claim::Adopt);
        assert_eq!(decide(&meta(&[("app", "db")])), Claim::Ignore);

        matching.owner_references = Some(vec![controller_reference(&owner)]);
        assert_eq!(decide(&matching), Claim::Keep);
        matching.labels = None;
        assert_eq!(decide(&matching), Claim::Release);

        let mut foreign = meta(&[("app", "web")]);
        foreign.owner_references =
            Some(vec![OwnerReference { uid: "other".into(), ..controller_reference(&owner) }]);
        assert_eq!(decide(&foreign), Claim::Ignore);

        let mut elsewhere = meta(&[("app", "web")]);
        elsewhere.namespace = Some("other".into());
        assert_eq!(decide(&elsewhere), Claim::Ignore);
    }

    #[test]
    fn nothing_changes_hands_during_deletion() {
        let wanted = Selector::from_iter(BTreeMap::from([("app".to_owned(), "web".to_owned())]));
        let mut deleting = owner();
        deleting.metadata.deletion_timestamp = Some(Time(Default::default()));
        assert_eq!(claim(&deleting.metadata, Some(&wanted), &meta(&[("app", "web")])), Claim::Ignore);

        let mut child = meta(&[]);
        child.owner_references = Some(vec![controller_reference(&deleting)]);
        assert_eq!(claim(&deleting.metadata, Some(&wanted), &child), Claim::Ignore);

        let mut dying = meta(&[("app", "web")]);
        dying.deletion_timestamp = Some(Time(Default::default()));
        assert_eq!(claim(&owner().metadata, Some(&wanted), &dying), Claim::Ignore);
    }

    #[test]
    fn an_empty_selector_selects_nothing() {
        assert!(selector(&LabelSelector::default()).is_none());
    }
}
