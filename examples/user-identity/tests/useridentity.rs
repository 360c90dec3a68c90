//! The operator on a cluster of its own for each test, under paused time, with the rights of its generated role.

use std::{sync::Arc, time::Duration};

use kubewright::{
    event::Event,
    k8s_openapi::api::{core::v1::ServiceAccount, rbac::v1::RoleBinding},
    kube::{
        Api,
        api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    },
    prelude::{
        NewCondition, Predicate, Request, ResourceExt, find_condition, is_condition_true, set_condition,
    },
};
use kubewright_testing::{Operator, TestCluster};
use serde_json::json;
use user_identity::{
    api::v1alpha1::{Role, UserIdentity, UserIdentitySpec, UserIdentityStatus},
    controller::user_identity::{IDENTITY, register, worth_a_look},
    directory::{Directory, DirectoryFile},
};

const ROLE: &str = include_str!("../config/rbac/role.yaml");

/// A cluster, the operator in it, and what the tests look at.
struct Scene {
    cluster: TestCluster,
    operator: Operator,
    directory: Directory,
    identities: Api<UserIdentity>,
    bindings: Api<RoleBinding>,
}

impl Scene {
    async fn start(directory: Directory) -> Self {
        let cluster = TestCluster::start().await;
        cluster.install::<UserIdentity>().await;
        let outside = directory.clone();
        let operator =
            cluster.operator("user-identity").roles(ROLE).run(move |manager| register(manager, outside));
        let client = cluster.client();
        Self {
            cluster,
            operator,
            directory,
            identities: Api::default_namespaced(client.clone()),
            bindings: Api::default_namespaced(client),
        }
    }

    async fn create(&self, name: &str, user: &str) {
        let spec = UserIdentitySpec { user: user.to_owned(), role: Role::View };
        let identity = UserIdentity::new(name, spec);
        self.identities.create(&PostParams::default(), &identity).await.expect("a valid identity");
    }

    /// Waits until the condition `Ready` is as it should be for the current generation.
    async fn ready(&self, name: &str, ready: bool) -> UserIdentity {
        self.cluster
            .eventually("the identity is settled", async || {
                let identity = self.identities.get(name).await.ok()?;
                let conditions = identity.status.as_ref()?.conditions.clone();
                let current =
                    find_condition(&conditions, "Ready")?.observed_generation == identity.metadata.generation;
                (current && is_condition_true(&conditions, "Ready") == ready).then_some(identity)
            })
            .await
    }

    async fn bound(&self) -> Vec<(String, String)> {
        let bindings = self.bindings.list(&ListParams::default()).await.expect("listed");
        let own = bindings.into_iter().filter(|binding| binding.labels().contains_key(IDENTITY));
        own.map(|binding| (binding.name_any(), binding.role_ref.name)).collect()
    }
}

fn users<'a>(names: impl IntoIterator<Item = &'a str>) -> Directory {
    let directory = Directory::new();
    directory.replace(names);
    directory
}

fn pair(name: &str, role: &str) -> (String, String) {
    (name.to_owned(), role.to_owned())
}

#[tokio::test(start_paused = true)]
async fn an_active_user_gets_an_account_and_a_role() {
    let scene = Scene::start(users(["alice"])).await;
    scene.create("one", "alice").await;
    scene.create("two", "bob").await;
    let ready = scene.ready("one", true).await;
    let conditions = ready.status.expect("a status").conditions;
    assert_eq!(
        find_condition(&conditions, "Active").expect("a condition").message,
        "alice is in the directory"
    );
    let waiting = scene.ready("two", false).await;
    let conditions = waiting.status.expect("a status").conditions;
    assert_eq!(find_condition(&conditions, "Ready").expect("a condition").reason, "NotActive");

    let accounts: Api<ServiceAccount> = Api::default_namespaced(scene.cluster.client());
    let account = accounts.get("one").await.expect("an account");
    assert_eq!(account.owner_references()[0].kind, "UserIdentity");
    assert!(accounts.get("two").await.is_ok(), "the account is there, the role is not");
    assert_eq!(scene.bound().await, [pair("one-view", "view")]);
    scene.operator.stop().await.expect("it stops cleanly");
}

#[tokio::test(start_paused = true)]
async fn who_leaves_the_directory_loses_the_role_and_who_comes_back_gets_it() {
    let scene = Scene::start(users(["alice", "bob"])).await;
    scene.create("one", "alice").await;
    scene.create("two", "bob").await;
    scene.ready("one", true).await;
    scene.ready("two", true).await;

    scene.directory.replace(["bob"]);
    let left = scene.ready("one", false).await;
    let since = find_condition(&left.status.expect("a status").conditions, "Ready").cloned();
    assert_eq!(since.expect("a condition").reason, "NotActive");
    assert_eq!(scene.bound().await, [pair("two-view", "view")]);
    scene.directory.replace(["alice", "bob"]);
    scene.ready("one", true).await;
    assert_eq!(scene.bound().await, [pair("one-view", "view"), pair("two-view", "view")]);

    let written = scene.cluster.history().count(" PATCH ");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(scene.cluster.history().count(" PATCH "), written, "when all is well, nothing is written");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_away_while_the_directory_is_not_known() {
    let scene = Scene::start(users(["alice"])).await;
    scene.create("one", "alice").await;
    scene.ready("one", true).await;
    let Scene { cluster, operator, bindings, .. } = scene;
    operator.stop().await.expect("it stops cleanly");

    let directory = Directory::new();
    let outside = directory.clone();
    let _next = cluster.run("next", move |manager| register(manager, outside));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(bindings.get("one-view").await.is_ok());
    directory.replace([]);
    cluster
        .eventually("the binding is gone", async || {
            bindings.get_opt("one-view").await.ok()?.is_none().then_some(())
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn another_role_has_another_binding() {
    let scene = Scene::start(users(["alice"])).await;
    scene.create("one", "alice").await;
    scene.ready("one", true).await;
    let patch = Patch::Merge(json!({"spec": {"role": "edit"}}));
    scene.identities.patch("one", &PatchParams::default(), &patch).await.expect("patched");
    scene.ready("one", true).await;
    assert_eq!(scene.bound().await, [pair("one-edit", "edit")]);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_identity_is_taken_out_of_the_directory() {
    let scene = Scene::start(users(["alice"])).await;
    scene.create("one", "alice").await;
    scene.ready("one", true).await;
    assert_eq!(scene.directory.issued(), [Request::namespaced("default", "one")].into());
    scene.identities.delete("one", &DeleteParams::default()).await.expect("deleted");
    scene
        .cluster
        .eventually("nothing is left", async || {
            let gone =
                scene.identities.get_opt("one").await.ok()?.is_none() && scene.bound().await.is_empty();
            gone.then_some(())
        })
        .await;
    assert!(scene.directory.issued().is_empty());
}

#[test]
fn a_predicate_of_three_lets_pass_what_matters() {
    let identity = |change: &dyn Fn(&mut UserIdentity)| {
        let spec = UserIdentitySpec { user: "alice".to_owned(), role: Role::View };
        let mut identity = UserIdentity::new("one", spec);
        identity.metadata.generation = Some(1);
        change(&mut identity);
        Arc::new(identity)
    };
    let ready = |identity: &mut UserIdentity| {
        let condition = NewCondition::new_true("Ready", "Bound", "");
        let status = identity.status.insert(UserIdentityStatus::default());
        set_condition(&mut status.conditions, condition, "2030-01-01T00:00:00Z".parse().expect("a time"));
    };
    let passes = |old: &Arc<UserIdentity>, new: &Arc<UserIdentity>| {
        worth_a_look().allows(&Event::Update { old: old.clone(), new: new.clone() })
    };
    let plain = identity(&|_| {});
    let well = identity(&ready);
    let changed = identity(&|identity| identity.metadata.generation = Some(2));
    let dying = identity(&|identity| {
        identity.metadata.deletion_timestamp = serde_json::from_value(json!("2030-01-01T00:00:00Z")).ok();
    });
    assert!(passes(&plain, &changed), "another spec");
    assert!(passes(&plain, &dying) && !passes(&dying, &dying), "the begin of a deletion");
    assert!(passes(&well, &plain) && !passes(&plain, &well), "the end of the condition");
    assert!(worth_a_look().allows(&Event::Delete { object: plain, state_unknown: false }));
}

#[tokio::test]
async fn a_file_is_followed() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("users");
    tokio::fs::write(&path, "# the staff\nalice\n\n bob \n").await.expect("written");
    let directory = Directory::new();
    assert_eq!(directory.is_active("alice"), None);
    let mut users = directory.follow();
    let stop = tokio_util::sync::CancellationToken::new();
    let following =
        kubewright::manager::Runnable::run(DirectoryFile::new(&path, directory.clone()), stop.clone());
    let following = tokio::spawn(following);
    users.changed().await.expect("it is read");
    assert_eq!((directory.is_active("bob"), directory.is_active("the staff")), (Some(true), Some(false)));
    stop.cancel();
    following.await.expect("no panic").expect("a clean end");
}
