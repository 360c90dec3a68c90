//! Bringing objects about.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams},
    runtime::wait::{await_condition, conditions},
};

use crate::{
    ApplySet, DeployError, Deployer, FIELD_MANAGER, Progress,
    apply_set::PART_OF,
    diff::diff,
    kinds::{GroupKind, Kinds},
    name_of,
    order::{comes_first, is_definition},
};

/// A definition is served within moments, or not at all.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);

/// What an apply did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It was not there.
    Created,
    /// It was different.
    Changed,
    /// It was as it is to be.
    Unchanged,
    /// An earlier set had it, and this one has not.
    Pruned,
}

impl Deployer {
    /// Applies these objects, in their order but for namespaces and definitions, which come first. Members of `set` that are not
    /// among them are pruned. Applied twice, the second time changes nothing.
    ///
    /// # Errors
    ///
    /// At the first object that cannot be applied; nothing is pruned then.
    pub async fn apply(
        &self,
        objects: &[DynamicObject],
        set: Option<&ApplySet>,
        progress: &mut dyn Progress,
    ) -> Result<(), DeployError> {
        let (first, then): (Vec<&DynamicObject>, Vec<&DynamicObject>) =
            objects.iter().partition(|object| comes_first(object));
        let mut kinds = Kinds::ask(&self.client).await?;
        let mut pending_namespaces = BTreeSet::new();
        for object in &first {
            let outcome = self.apply_one(&kinds, object, set, &pending_namespaces, progress).await?;
            if self.dry_run && outcome == Outcome::Created {
                pending_namespaces.insert(object.name_any());
            }
        }
        if !self.dry_run && first.iter().any(|object| is_definition(object)) {
            self.established(&first).await?;
            kinds = Kinds::ask(&self.client).await?;
        }
        let before = match set {
            Some(set) if !pending_namespaces.contains(set.namespace()) => {
                self.open(&kinds, set, objects).await?
            }
            _ => BTreeSet::new(),
        };
        for object in then {
            self.apply_one(&kinds, object, set, &pending_namespaces, progress).await?;
        }
        if let Some(set) = set {
            self.prune(&kinds, set, objects, &before, progress).await?;
        }
        Ok(())
    }

    async fn apply_one(
        &self,
        kinds: &Kinds,
        object: &DynamicObject,
        set: Option<&ApplySet>,
        pending_namespaces: &BTreeSet<String>,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, DeployError> {
        let mut object = object.clone();
        if let Some(set) = set {
            set.adopt(&mut object);
        }
        let name = name_of(&object);
        // No server checks what is in a namespace that is not there yet.
        if object.metadata.namespace.as_ref().is_some_and(|namespace| pending_namespaces.contains(namespace))
        {
            progress.applied(&name, Outcome::Created, &diff(&name, None, &object));
            return Ok(Outcome::Created);
        }
        let api = kinds.of(&object)?;
        let before = api
            .get_opt(&object.name_any())
            .await
            .map_err(|error| DeployError::refused("read", &object, &error))?;
        let after = self.patch(&api, &object).await?;
        let outcome = match &before {
            None => Outcome::Created,
            // A dry run keeps the version of what it would change.
            Some(before)
                if before.metadata.resource_version == after.metadata.resource_version && !self.dry_run =>
            {
                Outcome::Unchanged
            }
            Some(before) if diff("", Some(before), &after).is_empty() => Outcome::Unchanged,
            Some(_) => Outcome::Changed,
        };
        progress.applied(&name, outcome, &diff(&name, before.as_ref(), &after));
        Ok(outcome)
    }

    async fn patch(
        &self,
        api: &Api<DynamicObject>,
        object: &DynamicObject,
    ) -> Result<DynamicObject, DeployError> {
        let mut parameters = PatchParams::apply(FIELD_MANAGER);
        parameters.force = self.force_conflicts;
        parameters.dry_run = self.dry_run;
        api.patch(&object.name_any(), &parameters, &Patch::Apply(object))
            .await
            .map_err(|error| DeployError::refused("apply", object, &error))
    }

    async fn established(&self, objects: &[&DynamicObject]) -> Result<(), DeployError> {
        let api: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        for object in objects.iter().filter(|object| is_definition(object)) {
            let name = object.name_any();
            let established = await_condition(api.clone(), &name, conditions::is_crd_established());
            let waited = tokio::time::timeout(ESTABLISHED_WITHIN, established).await;
            if !matches!(waited, Ok(Ok(_))) {
                let states = vec![format!("{} is not established", name_of(object))];
                return Err(DeployError::NotReady { seconds: ESTABLISHED_WITHIN.as_secs(), states });
            }
        }
        Ok(())
    }

    /// Notes in the set's object the kinds that it has and will have, so that nothing is forgotten if this is cut off. Gives
    /// those that it had.
    async fn open(
        &self,
        kinds: &Kinds,
        set: &ApplySet,
        objects: &[DynamicObject],
    ) -> Result<BTreeSet<GroupKind>, DeployError> {
        let parent = set.parent(&BTreeSet::new(), &BTreeSet::new());
        let api = kinds.of(&parent)?;
        let present = api
            .get_opt(&parent.name_any())
            .await
            .map_err(|error| DeployError::refused("read", &parent, &error))?;
        let before = present.as_ref().map(ApplySet::kinds).unwrap_or_default();
        let (mut members, namespaces) = members(objects);
        members.extend(before.iter().cloned());
        self.patch(&api, &set.parent(&members, &namespaces)).await?;
        Ok(before)
    }

    /// Deletes the members that are no more, and notes the kinds that are left.
    async fn prune(
        &self,
        kinds: &Kinds,
        set: &ApplySet,
        objects: &[DynamicObject],
        before: &BTreeSet<GroupKind>,
        progress: &mut dyn Progress,
    ) -> Result<(), DeployError> {
        for kind in before {
            // A kind that is no longer served has no objects.
            let Some((api, resource)) = kinds.all_of(kind) else { continue };
            let of_set = ListParams::default().labels(&format!("{PART_OF}={}", set.id()));
            let listed = match api.list(&of_set).await {
                Ok(listed) => listed,
                Err(error) => {
                    let nameless = DynamicObject::new("", &resource);
                    return Err(DeployError::refused("list what may be pruned:", &nameless, &error));
                }
            };
            for mut present in listed {
                present.types = Some(kube::core::TypeMeta {
                    api_version: resource.api_version.clone(),
                    kind: resource.kind.clone(),
                });
                if objects.iter().any(|object| is_same(object, &present)) {
                    continue;
                }
                let parameters = DeleteParams { dry_run: self.dry_run, ..DeleteParams::background() };
                match kinds.of(&present)?.delete(&present.name_any(), &parameters).await {
                    Ok(_) => progress.applied(&name_of(&present), Outcome::Pruned, ""),
                    Err(kube::Error::Api(status)) if status.is_not_found() => {}
                    Err(error) => return Err(DeployError::refused("prune", &present, &error)),
                }
            }
        }
        if self.dry_run {
            return Ok(());
        }
        let (kinds_now, namespaces) = members(objects);
        let parent = set.parent(&kinds_now, &namespaces);
        self.patch(&kinds.of(&parent)?, &parent).await?;
        Ok(())
    }
}

fn members(objects: &[DynamicObject]) -> (BTreeSet<GroupKind>, BTreeSet<String>) {
    let kinds = objects.iter().filter_map(ApplySet::kind_of).collect();
    let namespaces = objects.iter().filter_map(ResourceExt::namespace).collect();
    (kinds, namespaces)
}

fn is_same(object: &DynamicObject, present: &DynamicObject) -> bool {
    ApplySet::kind_of(object) == ApplySet::kind_of(present)
        && object.metadata.name == present.metadata.name
        && object.metadata.namespace == present.metadata.namespace
}
