//! Gives each UserIdentity its account and its role, and reports on them.

use std::{collections::BTreeSet, sync::Arc};

use kubewright::{
    finalizers::Finalizers,
    k8s_openapi::api::{
        core::v1::ServiceAccount,
        rbac::v1::{RoleBinding, RoleRef, Subject},
    },
    prelude::*,
    source::channel,
};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    api::v1alpha1::{UserIdentity, UserIdentityStatus},
    directory::Directory,
};

/// Keeps a UserIdentity until the directory was told that it is no more.
pub const FINALIZER: &str = "identity.example.com/directory";

/// The label that names the UserIdentity to which an object belongs.
pub const IDENTITY: &str = "identity.example.com/name";

/// Registers the controller with `manager`, and what tells it about changes of `directory`.
pub fn register(manager: &Manager, directory: Directory) -> Result<()> {
    let (sender, receiver) = channel::<UserIdentity>();
    Controller::new::<UserIdentity>(manager)
        .owns::<ServiceAccount>()
        .owns::<RoleBinding>()
        .with_predicate::<UserIdentity>(worth_a_look())
        // After the predicate, which is about what happens in the cluster.
        .watches_channel(receiver, enqueue_object())
        .run(UserIdentityReconciler::new(manager, directory.clone()))?;
    let client = manager.client();
    manager.add("announcer", |stop| announce(client, directory, sender, stop))
}

/// Lets an update pass that changes the spec, begins a deletion, or ends that the identity is ready. What this
/// controller writes when all is well passes none of them.
pub fn worth_a_look() -> impl Predicate<UserIdentity> {
    let is_ready = |identity: &UserIdentity| {
        identity.status.as_ref().is_some_and(|status| is_condition_true(&status.conditions, "Ready"))
    };
    let is_deleted = |identity: &UserIdentity| identity.meta().deletion_timestamp.is_some();
    let deletion_begins =
        Funcs::<UserIdentity>::new().update(move |old, new| !is_deleted(old) && is_deleted(new));
    let is_no_longer_ready =
        Funcs::<UserIdentity>::new().update(move |old, new| is_ready(old) && !is_ready(new));
    or(generation_changed(), or(deletion_begins, is_no_longer_ready))
}

/// Sends to the controller the identities of those who come into the directory or leave it.
async fn announce(
    client: Client,
    directory: Directory,
    identities: mpsc::Sender<Arc<UserIdentity>>,
    stop: CancellationToken,
) -> Result<()> {
    let mut users = directory.follow();
    let mut known: Option<BTreeSet<String>> = None;
    loop {
        let present = users.borrow_and_update().clone();
        let has =
            |users: &Option<BTreeSet<String>>, user: &str| users.as_ref().map(|users| users.contains(user));
        for identity in client.list::<UserIdentity>(ListOptions::all()).await? {
            let user = &identity.spec.user;
            if has(&known, user) != has(&present, user) && identities.send(identity.clone()).await.is_err() {
                return Ok(());
            }
        }
        known = present;
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            changed = users.changed() => if changed.is_err() { return Ok(()) },
        }
    }
}

/// Reconciles one UserIdentity.
#[derive(Debug)]
pub struct UserIdentityReconciler {
    client: Client,
    clock: Clock,
    directory: Directory,
    finalizers: Finalizers<UserIdentity>,
}

impl UserIdentityReconciler {
    /// A reconciler that writes with the manager's client.
    pub fn new(manager: &Manager, directory: Directory) -> Self {
        let outside = directory.clone();
        let finalizers =
            Finalizers::new(manager.client()).with(FINALIZER, move |identity: Arc<UserIdentity>| {
                outside.revoke(&Request::of(&*identity));
                std::future::ready(Ok(()))
            });
        Self { client: manager.client(), clock: manager.clock().clone(), directory, finalizers }
    }
}

// +kubebuilder:rbac:groups=identity.example.com,resources=useridentities,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=identity.example.com,resources=useridentities/status,verbs=patch
// +kubebuilder:rbac:groups=identity.example.com,resources=useridentities/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=view;edit,verbs=bind
impl Reconciler for UserIdentityReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(identity) = self.client.get::<UserIdentity>(&request).await? else {
            // Deleted. What it owned is garbage collected.
            return Ok(Action::done());
        };
        let Some(identity) = self.finalizers.finalize(&identity).await? else {
            return Ok(Action::done());
        };
        self.directory.issue(request.clone());

        let mut account =
            ServiceAccount { metadata: metadata(&identity, request.name.clone()), ..Default::default() };
        set_controller_reference(&*identity, &mut account)?;
        self.client.apply(&account).await?;

        let Some(active) = self.directory.is_active(&identity.spec.user) else {
            // The announcer tells when it is known.
            return Ok(Action::done());
        };
        let mut binding = role_binding(&identity);
        if active {
            set_controller_reference(&*identity, &mut binding)?;
            self.client.apply(&binding).await?;
        }
        self.unbind(&request, active.then(|| binding.name_any())).await?;
        self.report(&identity, active).await?;
        Ok(Action::done())
    }
}

impl UserIdentityReconciler {
    /// Deletes the bindings of the identity, but one.
    async fn unbind(&self, identity: &Request, kept: Option<String>) -> Result<()> {
        let of_identity = ListOptions::in_namespace(identity.namespace()).label(IDENTITY, &identity.name);
        for binding in self.client.list::<RoleBinding>(of_identity).await? {
            if Some(binding.name_any()) != kept {
                self.client.delete::<RoleBinding>(&*binding, DeleteOptions::default()).await?;
            }
        }
        Ok(())
    }

    /// Writes the status, if it differs from what is there.
    async fn report(&self, identity: &UserIdentity, active: bool) -> Result<()> {
        let mut status = identity.status.clone().unwrap_or_default();
        for condition in conditions(identity, active) {
            let condition = condition.observed(identity.meta().generation);
            set_condition(&mut status.conditions, condition, self.clock.now());
        }
        if identity.status.as_ref() != Some(&status) {
            self.write_status(identity, &status).await?;
        }
        Ok(())
    }

    async fn write_status(&self, identity: &UserIdentity, status: &UserIdentityStatus) -> Result<()> {
        let patch = Patch::merge(json!({ "status": status }));
        self.client.status().patch::<UserIdentity>(identity, patch).await?;
        Ok(())
    }
}

fn conditions(identity: &UserIdentity, active: bool) -> [NewCondition; 2] {
    let (user, role) = (&identity.spec.user, identity.spec.role.name());
    if active {
        [
            NewCondition::new_true("Active", "InDirectory", format!("{user} is in the directory")),
            NewCondition::new_true("Ready", "Bound", format!("the account has the role {role}")),
        ]
    } else {
        [
            NewCondition::new_false("Active", "NotInDirectory", format!("{user} is not in the directory")),
            NewCondition::new_false("Ready", "NotActive", "the account has no role"),
        ]
    }
}

/// The binding that the identity asks for. The role of a binding cannot be changed, so each role has its own.
fn role_binding(identity: &UserIdentity) -> RoleBinding {
    let role = identity.spec.role.name();
    RoleBinding {
        metadata: metadata(identity, format!("{}-{role}", identity.name_any())),
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "ClusterRole".to_owned(),
            name: role.to_owned(),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: identity.name_any(),
            namespace: identity.namespace(),
            ..Default::default()
        }]),
    }
}

fn metadata(identity: &UserIdentity, name: String) -> ObjectMeta {
    ObjectMeta {
        name: Some(name),
        namespace: identity.namespace(),
        labels: Some([(IDENTITY.to_owned(), identity.name_any())].into()),
        ..Default::default()
    }
}
