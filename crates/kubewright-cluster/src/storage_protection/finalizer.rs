use kube::Resource;
use kubewright_runtime::{Result, client::Kind};

use crate::context::Context;

/// What a protected object needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It was made without the finalizer.
    Add,
    /// It is being deleted, and goes if nobody uses it.
    RemoveIfUnused,
    Nothing,
}

pub(super) fn step<K: Resource>(object: &K, finalizer: &str) -> Step {
    let meta = object.meta();
    let has = meta.finalizers.iter().flatten().any(|own| own == finalizer);
    match (meta.deletion_timestamp.is_some(), has) {
        (true, true) => Step::RemoveIfUnused,
        (false, false) => Step::Add,
        _ => Step::Nothing,
    }
}

/// Gives the object the finalizer, or takes it away.
pub(super) async fn write<K: Kind>(
    context: &Context,
    object: &K,
    finalizer: &str,
    is_added: bool,
) -> Result<()> {
    let mut object = object.clone();
    let finalizers = object.meta_mut().finalizers.get_or_insert_default();
    finalizers.retain(|own| own != finalizer);
    if is_added {
        finalizers.push(finalizer.to_owned());
    }
    match context.client.update(&object).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use k8s_openapi::{api::core::v1::PersistentVolumeClaim, apimachinery::pkg::apis::meta::v1::Time};

    use super::*;

    #[test]
    fn the_finalizer_stays_until_the_object_is_deleted() {
        let mut claim = PersistentVolumeClaim::default();
        assert_eq!(step(&claim, "f"), Step::Add);
        claim.metadata.finalizers = Some(vec!["f".into()]);
        assert_eq!(step(&claim, "f"), Step::Nothing);
        claim.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        assert_eq!(step(&claim, "f"), Step::RemoveIfUnused);
        claim.metadata.finalizers = Some(vec!["g".into()]);
        assert_eq!(step(&claim, "f"), Step::Nothing);
    }
}
