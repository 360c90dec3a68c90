//! Taking objects away.

use std::time::Duration;

use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams},
    runtime::wait::{await_condition, conditions},
};

use tokio::time::Instant;

use crate::{
    ApplySet, DeployError, Deployer, Progress,
    apply_set::PART_OF,
    kinds::{GroupKind, Kinds},
    name_of,
    order::is_definition,
};

impl Deployer {
    /// Deletes these objects and the members of `set`, and waits until they are gone, for `timeout` in all. What is not there is
    /// passed over.
    ///
    /// Definitions go first, and the others only when those are gone: with a definition go all objects of its kind, and what holds
    /// these has to be let go by the operator, while it runs and may do so. The others go in the opposite order, the last first.
    /// A definition that has objects is deleted only if `definitions` allows it, which is asked with
    /// its name and a text of what would go with it.
    ///
    /// # Errors
    ///
    /// At the first object that cannot be deleted, and if one is not gone in time.
    pub async fn delete(
        &self,
        objects: &[DynamicObject],
        set: Option<&ApplySet>,
        timeout: Duration,
        definitions: &mut dyn FnMut(&str, &str) -> bool,
        progress: &mut dyn Progress,
    ) -> Result<(), DeployError> {
        let kinds = Kinds::ask(&self.client).await?;
        let mut doomed = Vec::new();
        for object in objects.iter().rev() {
            if is_definition(object) {
                if let Some(others) = self.objects_of(&kinds, object).await?
                    && !definitions(&object.name_any(), &others)
                {
                    progress.left(&name_of(object), &format!("it has {others}"));
                    continue;
                }
                doomed.push(object.clone());
            } else {
                doomed.push(object.clone());
            }
        }
        if let Some(set) = set {
            self.members(&kinds, set, &mut doomed).await?;
        }
        let deadline = Instant::now() + timeout;
        let (definitions, others): (Vec<_>, Vec<_>) = doomed.into_iter().partition(is_definition);
        for part in [definitions, others] {
            self.delete_now(&kinds, &part, timeout, deadline, progress).await?;
        }
        Ok(())
    }

    /// Deletes these objects, and waits until they are gone.
    async fn delete_now(
        &self,
        kinds: &Kinds,
        objects: &[DynamicObject],
        timeout: Duration,
        deadline: Instant,
        progress: &mut dyn Progress,
    ) -> Result<(), DeployError> {
        let mut going = Vec::new();
        for object in objects {
            // What the cluster does not know is not there.
            let Ok(api) = kinds.of(object) else { continue };
            let parameters = DeleteParams { dry_run: self.dry_run, ..DeleteParams::background() };
            match api.delete(&object.name_any(), &parameters).await {
                Ok(answer) => {
                    progress.deleted(&name_of(object));
                    if let Some(uid) = answer.left().and_then(|object| object.metadata.uid) {
                        going.push((api, object, uid));
                    }
                }
                Err(kube::Error::Api(status)) if status.is_not_found() => {}
                Err(error) => return Err(DeployError::refused("delete", object, &error)),
            }
        }
        if self.dry_run { Ok(()) } else { gone(going, timeout, deadline).await }
    }

    /// What would go with a definition: a text for people, nothing if there is no object of its kind.
    async fn objects_of(
        &self,
        kinds: &Kinds,
        definition: &DynamicObject,
    ) -> Result<Option<String>, DeployError> {
        let text = |pointer: &str| {
            definition.data.pointer(pointer).and_then(|value| value.as_str()).unwrap_or_default()
        };
        let kind =
            GroupKind { group: text("/spec/group").to_owned(), kind: text("/spec/names/kind").to_owned() };
        let Some((api, _)) = kinds.all_of(&kind) else { return Ok(None) };
        let listed = api.list(&ListParams::default().limit(500)).await;
        let listed =
            listed.map_err(|error| DeployError::refused("list the objects of", definition, &error))?;
        let more = if listed.metadata.continue_.as_deref().unwrap_or_default().is_empty() {
            ""
        } else {
            " and more"
        };
        let first: Vec<String> = listed
            .iter()
            .take(3)
            .map(|object| match object.namespace() {
                Some(namespace) => format!("{namespace}/{}", object.name_any()),
                None => object.name_any(),
            })
            .collect();
        Ok(match listed.items.len() {
            0 => None,
            1 => Some(format!("1 object of the kind {}, {}", kind.kind, first.join(", "))),
            count => {
                Some(format!("{count}{more} objects of the kind {}, {}, ...", kind.kind, first.join(", ")))
            }
        })
    }

    /// Adds the members of a set that are not among these, and the object that stands for it.
    async fn members(
        &self,
        kinds: &Kinds,
        set: &ApplySet,
        doomed: &mut Vec<DynamicObject>,
    ) -> Result<(), DeployError> {
        let nameless = set.parent(&Default::default(), &Default::default());
        let api = kinds.of(&nameless)?;
        let parent = api.get_opt(&nameless.name_any()).await;
        let Some(parent) = parent.map_err(|error| DeployError::refused("read", &nameless, &error))? else {
            return Ok(());
        };
        for kind in ApplySet::kinds(&parent) {
            let Some((api, resource)) = kinds.all_of(&kind) else { continue };
            let of_set = ListParams::default().labels(&format!("{PART_OF}={}", set.id()));
            let listed =
                api.list(&of_set).await.map_err(|error| DeployError::refused("read", &nameless, &error))?;
            for mut member in listed {
                member.types = Some(kube::core::TypeMeta {
                    api_version: resource.api_version.clone(),
                    kind: resource.kind.clone(),
                });
                let known = doomed.iter().any(|object| {
                    ApplySet::kind_of(object) == Some(kind.clone())
                        && object.metadata.name == member.metadata.name
                        && object.metadata.namespace == member.metadata.namespace
                });
                if !known {
                    doomed.insert(0, member);
                }
            }
        }
        doomed.insert(0, nameless);
        Ok(())
    }
}

async fn gone(
    going: Vec<(Api<DynamicObject>, &DynamicObject, String)>,
    timeout: Duration,
    deadline: Instant,
) -> Result<(), DeployError> {
    let mut states = Vec::new();
    for (api, object, uid) in going {
        let name = object.name_any();
        let deleted = await_condition(api, &name, conditions::is_deleted(&uid));
        match tokio::time::timeout_at(deadline, deleted).await {
            // A kind that has gone with its definition cannot be watched.
            Ok(_) => {}
            Err(_) => states
                .push(format!("{} is still there: something holds it, perhaps a finalizer", name_of(object))),
        }
    }
    if states.is_empty() { Ok(()) } else { Err(DeployError::NotReady { seconds: timeout.as_secs(), states }) }
}
