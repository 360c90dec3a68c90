//! Names in other objects follow those that were changed: of a ConfigMap with a hash in the volumes that mount it, of
//! a Service with a prefix in the webhooks that call it.

use std::collections::BTreeSet;

use crate::{
    field_spec::visit,
    id::{Gvk, Id},
    kustomization::{FieldSpec, NameReference},
    node::{Map, Node, Scalar},
    objects::Objects,
    resource::Resource,
};

/// An object that others may refer to.
struct Candidate {
    /// What it is called now.
    name: String,
    namespace: String,
    kind: String,
    id: Id,
    original_scope: String,
    former: Vec<Id>,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

impl Candidate {
    fn new(resource: &Resource) -> Self {
        Self {
            name: resource.name().to_owned(),
            namespace: resource.namespace().to_owned(),
            kind: resource.kind().to_owned(),
            id: resource.id(),
            original_scope: resource.original_id().scope().to_owned(),
            former: resource.former_ids().collect(),
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
        }
    }

    fn was_named(&self, name: &str) -> bool {
        self.former.iter().any(|id| id.name == name)
    }

    fn was(&self, gvk: &Gvk) -> bool {
        self.former.iter().any(|id| id.gvk.is_selected_by(gvk))
    }
}

/// Changes each name that refers to an object that was renamed or moved.
pub(crate) fn follow(objects: &mut Objects, references: &[NameReference]) -> Result<(), String> {
    // Names and namespaces of objects do not change any more, so what they are now is what they will be.
    let candidates: Vec<Candidate> = objects.list.iter().map(Candidate::new).collect();
    for (at, resource) in objects.list.iter_mut().enumerate() {
        let original = resource.original_id().gvk;
        let referrer = &candidates[at];
        let mut reachable = None;
        for reference in references {
            for field in reference.field_specs.iter().filter(|field| original.is_selected_by(&field.gvk)) {
                if reachable.is_none() {
                    reachable = Some(reachable_from(resource, referrer, &candidates)?);
                }
                let reachable = reachable.as_deref().unwrap_or_default();
                let field = FieldSpec { gvk: referrer.id.gvk.clone(), ..field.clone() };
                let role = field.path.ends_with("roleRef/name").then(|| role_of(&resource.body)).flatten();
                let search = Search { target: &reference.gvk, role, referrer, reachable };
                visit(&mut resource.body, &field, None, &mut |node| search.set(node))
                    .map_err(|why| format!("{}: {why}", referrer.id))?;
            }
        }
    }
    Ok(())
}

/// The objects that `resource` can refer to: those of its namespace and of none. A binding can refer to service
/// accounts of other namespaces.
fn reachable_from<'a>(
    resource: &Resource,
    referrer: &Candidate,
    candidates: &'a [Candidate],
) -> Result<Vec<&'a Candidate>, String> {
    if referrer.id.is_cluster_scoped() {
        return Ok(candidates.iter().collect());
    }
    let mut others = BTreeSet::new();
    if resource.kind() == "RoleBinding"
        && let Some(subjects) = resource.body.get("subjects").and_then(Node::as_list)
    {
        for subject in subjects
            .iter()
            .filter(|subject| subject.get("kind").is_some_and(|k| k.text() == "ServiceAccount"))
        {
            match subject.get("namespace") {
                None => {}
                Some(Node::Scalar(namespace)) if namespace.is_string() => {
                    others.insert(namespace.text().to_owned());
                }
                Some(_) => return Err(format!("{}: the namespace of a subject is no string", referrer.id)),
            }
        }
    }
    let is_reachable = |candidate: &&Candidate| {
        candidate.id.is_cluster_scoped()
            || candidate.id.scope() == referrer.id.scope()
            || others.contains(&candidate.namespace)
    };
    Ok(candidates.iter().filter(is_reachable).collect())
}

/// The group and kind that a binding says its role has.
fn role_of(body: &Map) -> Option<Gvk> {
    let role = body.get("roleRef")?;
    let text = |field| role.get(field).map(|value| value.text().to_owned());
    Some(Gvk { group: text("apiGroup")?, kind: text("kind")?, version: String::new() })
}

struct Search<'a> {
    target: &'a Gvk,
    role: Option<Gvk>,
    referrer: &'a Candidate,
    reachable: &'a [&'a Candidate],
}

impl Search<'_> {
    fn set(&self, node: &mut Node) -> Result<(), String> {
        match node {
            Node::Scalar(scalar) => self.set_name(scalar),
            Node::Map(map) => self.set_reference(map),
            Node::List(items) => items.iter_mut().try_for_each(|item| match item {
                Node::Scalar(scalar) => self.set_name(scalar),
                Node::Map(map) => self.set_reference(map),
                Node::List(_) => Err("a name is looked for in a list within a list".to_owned()),
            }),
        }
    }

    fn set_name(&self, scalar: &mut Scalar) -> Result<(), String> {
        if !scalar.is_null()
            && let Some(found) = self.find(scalar.text(), self.reachable.to_vec(), false)?
            && found.name != scalar.text()
        {
            *scalar = Scalar::plain(found.name.clone()).written_as(scalar);
        }
        Ok(())
    }

    /// A map with a name and perhaps a namespace.
    fn set_reference(&self, map: &mut Map) -> Result<(), String> {
        let Some(name) = map.get("name").map(|name| name.text().to_owned()) else {
            return Err("a reference has no `name`".to_owned());
        };
        let candidates = match map.get("namespace").map(Node::text) {
            None => self.reachable.to_vec(),
            Some(namespace) => self.in_namespace(namespace),
        };
        let Some(found) = self.find(&name, candidates, true)? else { return Ok(()) };
        if found.name == name && found.namespace.is_empty() {
            return Ok(());
        }
        set_field(map, "name", &found.name)?;
        if !found.namespace.is_empty() {
            set_field(map, "namespace", &found.namespace)?;
        }
        Ok(())
    }

    /// Those that were in a namespace at first, or else those that are in it now.
    fn in_namespace(&self, namespace: &str) -> Vec<&Candidate> {
        if Id::has_no_namespace(namespace) {
            return Vec::new();
        }
        let of = |scope: &dyn Fn(&Candidate) -> String| -> Vec<&Candidate> {
            self.reachable.iter().copied().filter(|candidate| scope(candidate) == namespace).collect()
        };
        let at_first = of(&|candidate| candidate.original_scope.clone());
        if at_first.is_empty() { of(&|candidate| candidate.id.scope().to_owned()) } else { at_first }
    }

    /// The one object that was called `name`.
    fn find<'a>(
        &self,
        name: &str,
        mut candidates: Vec<&'a Candidate>,
        with_namespace: bool,
    ) -> Result<Option<&'a Candidate>, String> {
        let referrer = self.referrer;
        candidates.retain(|candidate| {
            candidate.was_named(name)
                && candidate.was(self.target)
                && self.role.as_ref().is_none_or(|role| candidate.was(role))
                && (referrer.id.is_cluster_scoped()
                    || candidate.id.is_cluster_scoped()
                    || candidate.kind == "ServiceAccount"
                    || candidate.id.scope() == referrer.id.scope())
        });
        if candidates.len() > 1 {
            // It is the one that was changed along with the referrer.
            candidates.retain(|candidate| is_together(candidate, referrer, true));
        }
        if candidates.len() > 1 {
            candidates.retain(|candidate| is_together(candidate, referrer, false));
        }
        let Some((first, others)) = candidates.split_first() else { return Ok(None) };
        let is_same = |other: &&&Candidate| {
            other.name == first.name && (!with_namespace || other.namespace == first.namespace)
        };
        match others.iter().find(|other| !is_same(other)) {
            None => Ok(Some(*first)),
            Some(other) => {
                Err(format!("`{name}` may be {} or {}: give one of them another name", first.id, other.id))
            }
        }
    }
}

fn set_field(map: &mut Map, field: &str, text: &str) -> Result<(), String> {
    match map.get_mut(field) {
        Some(node) => node.set_scalar(Scalar::plain(text)).map_err(|error| error.to_string())?,
        None => map.insert(field, Node::string(text)),
    }
    Ok(())
}

/// Whether prefixes and suffixes were added to both in the same kustomizations. With `or_none`, one to which none were
/// added goes with all.
fn is_together(a: &Candidate, b: &Candidate, or_none: bool) -> bool {
    let fit = |a: &[String], b: &[String]| {
        if a.is_empty() || b.is_empty() {
            return or_none || a.is_empty() == b.is_empty();
        }
        a.ends_with(b) || b.ends_with(a)
    };
    fit(&a.prefixes, &b.prefixes) && fit(&a.suffixes, &b.suffixes)
}
