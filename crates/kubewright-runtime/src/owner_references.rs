//! Owner references: which object an object belongs to.
//!
//! The garbage collector deletes an object whose owners are all gone. A *controller* reference says besides
//! which one reconciles it, and there can be one only; `.owns::<K>()` of a controller follows it.
//!
//! ```
//! use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
//! use kubewright_runtime::owner_references::{controller_of, set_controller_reference};
//!
//! # let mut deployment = Deployment::default();
//! # deployment.metadata.namespace = Some("shop".into());
//! # deployment.metadata.name = Some("cart".into());
//! # deployment.metadata.uid = Some("c0ffee".into());
//! let mut config = ConfigMap::default();
//! config.metadata.namespace = deployment.metadata.namespace.clone();
//! config.metadata.name = Some("cart-settings".into());
//! set_controller_reference(&deployment, &mut config)?;
//! assert_eq!(controller_of(&config).map(|owner| owner.kind.as_str()), Some("Deployment"));
//! # Ok::<(), kubewright_runtime::owner_references::OwnerReferenceError>(())
//! ```

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;

use crate::{Error, Request};

/// Why an owner reference cannot be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnerReferenceError {
    /// Another object controls it.
    #[error(
        "{object} is controlled by {} {:?} already; an object can have one controller: choose another name for it, \
         or set a plain owner reference",
        owner.kind, owner.name
    )]
    AlreadyOwned {
        /// The object's key.
        object: Request,
        /// Its controller.
        owner: Box<OwnerReference>,
    },

    /// The owner is in another namespace, where the garbage collector does not look for it.
    #[error(
        "cross-namespace owner references are disallowed: the owner is in {owner_namespace:?}, the object in \
         {object_namespace:?}"
    )]
    CrossNamespace {
        /// The owner's namespace.
        owner_namespace: String,
        /// The object's namespace.
        object_namespace: String,
    },

    /// A cluster-scoped object cannot belong to one in a namespace.
    #[error(
        "{object:?} has no namespace and cannot have an owner in namespace {owner_namespace:?}: set the object's \
         namespace first; a cluster-scoped object cannot have a namespaced owner at all"
    )]
    NamespacedOwner {
        /// The name of the object.
        object: String,
        /// The owner's namespace.
        owner_namespace: String,
    },

    /// The owner has no name or no uid, because it was not read from the API server.
    #[error(
        "the owner ({kind} {name:?}) has no uid: only an object that was read from the server can own others"
    )]
    OwnerNotStored {
        /// The owner's kind.
        kind: String,
        /// The owner's name.
        name: String,
    },
}

impl From<OwnerReferenceError> for Error {
    fn from(error: OwnerReferenceError) -> Self {
        Self::other(error)
    }
}

/// Makes `owner` the controller of `object`, with `blockOwnerDeletion` set: a foreground deletion of the owner
/// waits for the object.
///
/// A reference to the same owner (same group, kind and name) is replaced.
///
/// # Errors
///
/// If another object controls it, or the two cannot belong together.
pub fn set_controller_reference<O, K>(owner: &O, object: &mut K) -> Result<(), OwnerReferenceError>
where
    O: Resource<DynamicType = ()>,
    K: Resource,
{
    let mut reference = reference_to(owner, object)?;
    reference.controller = Some(true);
    reference.block_owner_deletion = Some(true);
    if let Some(controller) = controller_of(object)
        && !same_owner(controller, &reference)
    {
        return Err(OwnerReferenceError::AlreadyOwned {
            object: Request::of(object),
            owner: Box::new(controller.clone()),
        });
    }
    upsert(object, reference);
    Ok(())
}

/// Makes `owner` an owner of `object`, besides any others. A reference to the same owner is replaced.
///
/// # Errors
///
/// If the two cannot belong together.
pub fn set_owner_reference<O, K>(owner: &O, object: &mut K) -> Result<(), OwnerReferenceError>
where
    O: Resource<DynamicType = ()>,
    K: Resource,
{
    let reference = reference_to(owner, object)?;
    upsert(object, reference);
    Ok(())
}

/// Whether `owner` is an owner of `object`.
#[must_use]
pub fn has_owner_reference<O, K>(owner: &O, object: &K) -> bool
where
    O: Resource<DynamicType = ()>,
    K: Resource,
{
    let wanted = bare_reference(owner);
    object.meta().owner_references.iter().flatten().any(|present| same_owner(present, &wanted))
}

/// Removes `owner` from the owners of `object`, and returns whether it was one.
pub fn remove_owner_reference<O, K>(owner: &O, object: &mut K) -> bool
where
    O: Resource<DynamicType = ()>,
    K: Resource,
{
    let unwanted = bare_reference(owner);
    let Some(references) = &mut object.meta_mut().owner_references else { return false };
    let before = references.len();
    references.retain(|present| !same_owner(present, &unwanted));
    let removed = references.len() != before;
    if references.is_empty() {
        object.meta_mut().owner_references = None;
    }
    removed
}

/// The controller of `object`, if it has one.
pub fn controller_of<K: Resource>(object: &K) -> Option<&OwnerReference> {
    object.meta().owner_references.iter().flatten().find(|reference| reference.controller == Some(true))
}

fn reference_to<O, K>(owner: &O, object: &K) -> Result<OwnerReference, OwnerReferenceError>
where
    O: Resource<DynamicType = ()>,
    K: Resource,
{
    let namespace = |namespace: &Option<String>| namespace.clone().filter(|namespace| !namespace.is_empty());
    match (namespace(&owner.meta().namespace), namespace(&object.meta().namespace)) {
        (Some(owner_namespace), None) => {
            let object = object.meta().name.clone().unwrap_or_default();
            return Err(OwnerReferenceError::NamespacedOwner { object, owner_namespace });
        }
        (Some(owner_namespace), Some(object_namespace)) if owner_namespace != object_namespace => {
            return Err(OwnerReferenceError::CrossNamespace { owner_namespace, object_namespace });
        }
        _ => {}
    }
    let reference = bare_reference(owner);
    if reference.uid.is_empty() || reference.name.is_empty() {
        return Err(OwnerReferenceError::OwnerNotStored { kind: reference.kind, name: reference.name });
    }
    Ok(reference)
}

fn bare_reference<O: Resource<DynamicType = ()>>(owner: &O) -> OwnerReference {
    let meta = owner.meta();
    OwnerReference {
        api_version: O::api_version(&()).into_owned(),
        kind: O::kind(&()).into_owned(),
        name: meta.name.clone().unwrap_or_default(),
        uid: meta.uid.clone().unwrap_or_default(),
        ..Default::default()
    }
}

/// Whether two references name the same object: group, kind and name. The version does not matter, because one
/// object is served in several, and neither does the uid, as in controller-runtime: an owner that was
/// deleted and created anew takes its objects over.
fn same_owner(one: &OwnerReference, other: &OwnerReference) -> bool {
    group(&one.api_version) == group(&other.api_version) && one.kind == other.kind && one.name == other.name
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _version)| group)
}

fn upsert<K: Resource>(object: &mut K, reference: OwnerReference) {
    let references = object.meta_mut().owner_references.get_or_insert_default();
    match references.iter_mut().find(|present| same_owner(present, &reference)) {
        Some(present) => *present = reference,
        None => references.push(reference),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Node},
        rbac::v1::ClusterRole,
    };

    use super::*;

    fn owner(name: &str, namespace: &str) -> Deployment {
        let mut owner = Deployment::default();
        owner.metadata.name = Some(name.into());
        owner.metadata.namespace = Some(namespace.into());
        owner.metadata.uid = Some(format!("uid-of-{name}"));
        owner
    }

    fn object(namespace: &str) -> ConfigMap {
        let mut object = ConfigMap::default();
        object.metadata.name = Some("settings".into());
        object.metadata.namespace = Some(namespace.into());
        object
    }

    #[test]
    fn a_controller_blocks_the_deletion_of_its_owner() {
        let mut object = object("shop");
        set_controller_reference(&owner("cart", "shop"), &mut object).expect("set");
        set_controller_reference(&owner("cart", "shop"), &mut object).expect("set again");
        let references = object.metadata.owner_references.clone().expect("references");
        assert_eq!(references.len(), 1);
        assert_eq!(references[0].api_version, "apps/v1");
        assert_eq!(references[0].controller, Some(true));
        assert_eq!(references[0].block_owner_deletion, Some(true));
        assert!(has_owner_reference(&owner("cart", "shop"), &object));
        assert!(remove_owner_reference(&owner("cart", "shop"), &mut object));
        assert!(!remove_owner_reference(&owner("cart", "shop"), &mut object));
        assert_eq!(object.metadata.owner_references, None);
    }

    #[test]
    fn a_second_controller_is_refused_and_a_second_owner_is_not() {
        let mut object = object("shop");
        set_controller_reference(&owner("cart", "shop"), &mut object).expect("set");
        let error = set_controller_reference(&owner("till", "shop"), &mut object).expect_err("owned");
        assert!(error.to_string().starts_with("shop/settings is controlled by Deployment \"cart\" already"));
        set_owner_reference(&owner("till", "shop"), &mut object).expect("set");
        assert_eq!(object.metadata.owner_references.as_ref().map(Vec::len), Some(2));
        assert_eq!(controller_of(&object).map(|owner| owner.name.as_str()), Some("cart"));
    }

    #[test]
    fn another_version_of_the_owner_is_the_same_owner() {
        let mut object = object("shop");
        set_controller_reference(&owner("cart", "shop"), &mut object).expect("set");
        object.metadata.owner_references.as_mut().expect("references")[0].api_version = "apps/v1beta1".into();
        set_controller_reference(&owner("cart", "shop"), &mut object).expect("set");
        assert_eq!(controller_of(&object).map(|owner| owner.api_version.as_str()), Some("apps/v1"));
    }

    #[test]
    fn scopes_must_fit() {
        let owner = owner("cart", "shop");
        assert_eq!(
            set_owner_reference(&owner, &mut object("other")),
            Err(OwnerReferenceError::CrossNamespace {
                owner_namespace: "shop".into(),
                object_namespace: "other".into()
            })
        );
        assert!(matches!(
            set_owner_reference(&owner, &mut ClusterRole::default()),
            Err(OwnerReferenceError::NamespacedOwner { .. })
        ));

        let mut node = Node::default();
        node.metadata.name = Some("worker".into());
        assert!(matches!(
            set_owner_reference(&node, &mut object("shop")),
            Err(OwnerReferenceError::OwnerNotStored { .. })
        ));
        node.metadata.uid = Some("u".into());
        set_owner_reference(&node, &mut object("shop")).expect("a cluster-scoped owner");
    }
}
