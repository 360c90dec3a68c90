use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use super::{FOREGROUND, ORPHAN};

/// The unique id of an object: it names this one, not another of the same name later.
pub(super) type Uid = String;

/// Which object a node of the graph stands for.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Identity {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) uid: Uid,
}

/// What a change of the graph asks for.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Work {
    /// See whether the object is to be deleted, or finishes its foreground deletion.
    Collect(Uid),
    /// Remove the object from the owners of its dependents.
    Orphan(Uid),
    /// Tell of an owner in another namespace, which is as good as none.
    TellInvalidNamespace { dependent: Box<Identity>, owner: Box<Identity> },
}

/// An object and what the collector knows of it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) identity: Identity,
    pub(super) owners: Vec<OwnerReference>,
    pub(super) dependents: BTreeSet<Uid>,
    /// Whether a watch has shown the object. One that was not is known from a reference alone.
    pub(super) observed: bool,
    /// Whether it is being deleted.
    pub(super) deleting: bool,
    /// Whether it is being deleted in the foreground, waiting for its dependents.
    pub(super) deleting_dependents: bool,
    orphaning: bool,
}

/// Who owns what.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: BTreeMap<Uid, Node>,
}

impl Graph {
    pub(super) fn get(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// The dependents whose existence blocks the foreground deletion of the object.
    pub(super) fn blocking_dependents(&self, uid: &str) -> Vec<&Node> {
        self.dependents(uid)
            .filter(|dependent| {
                dependent
                    .owners
                    .iter()
                    .any(|owner| owner.uid == uid && owner.block_owner_deletion == Some(true))
            })
            .collect()
    }

    /// The objects that name the object as an owner.
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Node> {
        self.nodes
            .get(uid)
            .into_iter()
            .flat_map(|node| &node.dependents)
            .filter_map(|dependent| self.nodes.get(dependent))
    }

    /// The uids of all objects of a resource that a watch has shown.
    pub(super) fn observed(&self, api_version: &str, kind: &str) -> BTreeSet<Uid> {
        self.nodes
            .values()
            .filter(|node| {
                node.observed && node.identity.api_version == api_version && node.identity.kind == kind
            })
            .map(|node| node.identity.uid.clone())
            .collect()
    }

    /// Takes in an object that a watch has shown, new or changed.
    pub(super) fn observe(&mut self, api_version: &str, kind: &str, meta: &ObjectMeta) -> Vec<Work> {
        let Some(uid) = meta.uid.clone() else { return Vec::new() };
        let identity = Identity {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone().unwrap_or_default(),
            uid: uid.clone(),
        };
        let owners = meta.owner_references.clone().unwrap_or_default();
        let finalizer = |name: &str| meta.finalizers.iter().flatten().any(|finalizer| finalizer == name);
        let deleting = meta.deletion_timestamp.is_some();
        let mut work = Vec::new();

        let before = self.nodes.remove(&uid);
        let was_observed = before.as_ref().is_some_and(|node| node.observed);
        let node = Node {
            identity: identity.clone(),
            owners: owners.clone(),
            dependents: before.as_ref().map(|node| node.dependents.clone()).unwrap_or_default(),
            observed: true,
            deleting,
            deleting_dependents: deleting && finalizer(FOREGROUND),
            orphaning: deleting && finalizer(ORPHAN),
        };
        if !was_observed {
            // Dependents that came before their owner could not be checked against it.
            for dependent in &node.dependents {
                if let Some(dependent) = self.nodes.get(dependent) {
                    work.extend(invalid_namespace(dependent, &node));
                }
            }
        }
        let orphan_now = node.orphaning && !before.as_ref().is_some_and(|node| node.orphaning);
        let wait_now =
            node.deleting_dependents && !before.as_ref().is_some_and(|node| node.deleting_dependents);
        let dependents: Vec<Uid> = node.dependents.iter().cloned().collect();
        self.nodes.insert(uid.clone(), node);

        let previous = before.map(|node| node.owners).unwrap_or_default();
        work.extend(self.unlink(&uid, &previous, &owners));
        work.extend(self.link(&uid, &previous, &owners));
        if orphan_now {
            work.push(Work::Orphan(uid));
        } else if wait_now {
            work.extend(dependents.into_iter().map(Work::Collect));
            work.push(Work::Collect(uid));
        }
        work
    }

    /// Takes out an object that is gone.
    pub(super) fn remove(&mut self, uid: &str) -> Vec<Work> {
        let Some(node) = self.nodes.remove(uid) else { return Vec::new() };
        let mut work = self.unlink(uid, &node.owners, &[]);
        if !node.dependents.is_empty() {
            // The dependents still refer to it, so it stays known until they have been looked at.
            work.extend(node.dependents.iter().cloned().map(Work::Collect));
            self.nodes.insert(
                uid.to_owned(),
                Node {
                    observed: false,
                    owners: Vec::new(),
                    deleting: false,
                    deleting_dependents: false,
                    orphaning: false,
                    ..node
                },
            );
        }
        work
    }

    /// Takes `uid` from the dependents of owners it has no longer. An owner that waited for it is looked at
    /// again, as it is when a reference stops blocking.
    fn unlink(&mut self, uid: &str, before: &[OwnerReference], after: &[OwnerReference]) -> Vec<Work> {
        let mut work = Vec::new();
        for owner in before {
            let now = after.iter().find(|reference| reference.uid == owner.uid);
            let unblocked = owner.block_owner_deletion == Some(true)
                && now.is_none_or(|now| now.block_owner_deletion != Some(true));
            let Some(node) = self.nodes.get_mut(&owner.uid) else { continue };
            if now.is_none() {
                node.dependents.remove(uid);
            }
            if unblocked && node.deleting_dependents {
                work.push(Work::Collect(owner.uid.clone()));
            }
            if !node.observed && node.dependents.is_empty() {
                self.nodes.remove(&owner.uid);
            }
        }
        work
    }

    /// Adds `uid` to the dependents of its owners.
    fn link(&mut self, uid: &str, before: &[OwnerReference], owners: &[OwnerReference]) -> Vec<Work> {
        let Some(dependent) = self.nodes.get(uid).cloned() else { return Vec::new() };
        let mut work = Vec::new();
        for owner in owners {
            let known = self.nodes.get(&owner.uid).is_some_and(|node| node.observed);
            let node = self.nodes.entry(owner.uid.clone()).or_insert_with(|| Node {
                identity: Identity {
                    api_version: owner.api_version.clone(),
                    kind: owner.kind.clone(),
                    namespace: dependent.identity.namespace.clone(),
                    name: owner.name.clone(),
                    uid: owner.uid.clone(),
                },
                owners: Vec::new(),
                dependents: BTreeSet::new(),
                observed: false,
                deleting: false,
                deleting_dependents: false,
                orphaning: false,
            });
            node.dependents.insert(uid.to_owned());
            if before.iter().any(|reference| reference == owner) {
                continue;
            }
            // An owner that no watch has shown may be gone, or its watch is late: the object is looked at,
            // and its owners asked for, either way.
            if !known || node.deleting_dependents {
                work.push(Work::Collect(uid.to_owned()));
            }
            work.extend(invalid_namespace(&dependent, node));
        }
        work.dedup();
        work
    }
}

/// A namespaced owner has to be in the namespace of its dependents.
fn invalid_namespace(dependent: &Node, owner: &Node) -> Option<Work> {
    let namespace = owner.identity.namespace.as_ref().filter(|_| owner.observed)?;
    (dependent.identity.namespace.as_ref() != Some(namespace)).then(|| Work::TellInvalidNamespace {
        dependent: Box::new(dependent.identity.clone()),
        owner: Box::new(owner.identity.clone()),
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    fn meta(uid: &str, owners: &[&str]) -> ObjectMeta {
        ObjectMeta {
            name: Some(uid.into()),
            namespace: Some("ns".into()),
            uid: Some(uid.into()),
            owner_references: Some(owners.iter().map(|owner| reference(owner)).collect()),
            ..ObjectMeta::default()
        }
    }

    fn reference(uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            name: uid.into(),
            uid: uid.into(),
            block_owner_deletion: Some(true),
            ..OwnerReference::default()
        }
    }

    fn deleting(meta: ObjectMeta, finalizer: &str) -> ObjectMeta {
        ObjectMeta {
            deletion_timestamp: Some(Time(Default::default())),
            finalizers: Some(vec![finalizer.into()]),
            ..meta
        }
    }

    fn collect(uid: &str) -> Work {
        Work::Collect(uid.into())
    }

    fn observe(graph: &mut Graph, meta: &ObjectMeta) -> Vec<Work> {
        graph.observe("v1", "ConfigMap", meta)
    }

    #[test]
    fn dependents_are_collected_when_their_owner_goes() {
        let mut graph = Graph::default();
        assert_eq!(observe(&mut graph, &meta("owner", &[])), []);
        assert_eq!(observe(&mut graph, &meta("child", &["owner"])), []);
        assert_eq!(graph.remove("owner"), [collect("child")]);
        assert_eq!(graph.remove("child"), []);
        assert!(graph.get("owner").is_none(), "nothing refers to it any more");
    }

    #[test]
    fn an_object_whose_owner_was_never_seen_is_looked_at() {
        let mut graph = Graph::default();
        assert_eq!(observe(&mut graph, &meta("child", &["owner"])), [collect("child")]);
        assert!(graph.get("owner").is_some_and(|owner| !owner.observed));
        assert_eq!(observe(&mut graph, &meta("owner", &[])), []);
        assert_eq!(graph.dependents("owner").count(), 1);
        assert_eq!(graph.observed("v1", "ConfigMap").len(), 2);
    }

    #[test]
    fn a_foreground_deletion_waits_for_blocking_dependents() {
        let mut graph = Graph::default();
        observe(&mut graph, &meta("owner", &[]));
        observe(&mut graph, &meta("child", &["owner"]));
        let mut free = meta("free", &["owner"]);
        free.owner_references.as_mut().expect("owners")[0].block_owner_deletion = None;
        observe(&mut graph, &free);

        let work = observe(&mut graph, &deleting(meta("owner", &[]), FOREGROUND));
        assert_eq!(work, [collect("child"), collect("free"), collect("owner")]);
        let blocking: Vec<_> = graph.blocking_dependents("owner").iter().map(|n| &*n.identity.uid).collect();
        assert_eq!(blocking, ["child"]);
        assert_eq!(observe(&mut graph, &deleting(meta("owner", &[]), FOREGROUND)), []);
        assert_eq!(graph.remove("child"), [collect("owner")]);
        assert!(graph.blocking_dependents("owner").is_empty());
    }

    #[test]
    fn orphaning_starts_once() {
        let mut graph = Graph::default();
        observe(&mut graph, &meta("owner", &[]));
        observe(&mut graph, &meta("child", &["owner"]));
        let dying = deleting(meta("owner", &[]), ORPHAN);
        assert_eq!(observe(&mut graph, &dying), [Work::Orphan("owner".into())]);
        assert_eq!(observe(&mut graph, &dying), []);
        assert_eq!(observe(&mut graph, &meta("child", &[])), []);
        assert_eq!(graph.dependents("owner").count(), 0);
    }

    #[test]
    fn an_owner_in_another_namespace_is_told() {
        let mut graph = Graph::default();
        observe(&mut graph, &meta("owner", &[]));
        let mut child = meta("child", &["owner"]);
        child.namespace = Some("other".into());
        let work = observe(&mut graph, &child);
        let Some(Work::TellInvalidNamespace { dependent, owner }) = work.last() else {
            panic!("expected the reference to be told: {work:?}")
        };
        assert_eq!((dependent.name.as_str(), owner.namespace.as_deref()), ("child", Some("ns")));

        // In the other order, too.
        let mut graph = Graph::default();
        observe(&mut graph, &child);
        assert!(matches!(observe(&mut graph, &meta("owner", &[]))[..], [Work::TellInvalidNamespace { .. }]));

        let mut cluster_scoped = meta("owner", &[]);
        cluster_scoped.namespace = None;
        let mut graph = Graph::default();
        observe(&mut graph, &cluster_scoped);
        assert_eq!(observe(&mut graph, &child), []);
    }
}
