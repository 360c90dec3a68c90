//! Sets of fields, and their `fieldsV1` form.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::path::{Path, PathElement, PathElementError};
use super::schema::{ListType, Schema, TypeRef};

/// A set of paths, kept as a tree.
///
/// That a path is in the set says nothing of its parents: `.spec.replicas` may be a member while
/// `.spec` is not. Children are shared between sets, so that a copy and an operation which changes
/// little cost little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// Elements of this level that are in the set, in order, each once.
    members: Vec<PathElement>,
    /// Elements of this level below which something is in the set, in order, each once.
    children: Vec<(PathElement, Arc<Set>)>,
}

/// Why a `fieldsV1` value could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FieldsError {
    /// Something other than an object stands where a set of fields is expected.
    #[error("fields of {path:?} must be an object")]
    NotAnObject {
        /// Text of the element whose fields these are; empty at the root.
        path: String,
    },
    /// The name of an entry is not a path element.
    #[error(transparent)]
    PathElement(#[from] PathElementError),
}

/// One step of walking two ordered slices side by side.
enum Aligned<L, R> {
    Left(L),
    Right(R),
    Both(L, R),
}

// === impl Set ===

impl Set {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a path, not its parents. The empty path stands for the whole object, which nobody owns:
    /// it is not added.
    pub fn insert(&mut self, path: &[PathElement]) {
        let mut set = self;
        let Some((last, parents)) = path.split_last() else { return };
        for parent in parents {
            set = set.descend(parent);
        }
        set.insert_member(last.clone());
    }

    /// Adds an element of the top level.
    pub(crate) fn insert_member(&mut self, element: PathElement) {
        // Elements mostly come in order, so look at the end first.
        if self.members.last().is_none_or(|last| *last < element) {
            self.members.push(element);
        } else if let Err(at) = self.members.binary_search(&element) {
            self.members.insert(at, element);
        }
    }

    /// Sets what is below an element of the top level; an empty set is not kept.
    pub(crate) fn insert_child(&mut self, element: PathElement, child: Set) {
        if child.is_empty() {
            return;
        }
        match self.children.binary_search_by(|(e, _)| e.cmp(&element)) {
            Ok(at) => {
                if let Some((_, existing)) = self.children.get_mut(at) {
                    *existing = Arc::new(existing.union(&child));
                }
            }
            Err(at) => self.children.insert(at, (element, Arc::new(child))),
        }
    }

    fn descend(&mut self, element: &PathElement) -> &mut Set {
        let at = match self.children.binary_search_by(|(e, _)| e.cmp(element)) {
            Ok(at) => at,
            Err(at) => {
                self.children.insert(at, (element.clone(), Arc::default()));
                at
            }
        };
        Arc::make_mut(&mut self.children[at].1)
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.iter().all(|(_, child)| child.is_empty())
    }

    /// Whether exactly this path is in the set.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        let Some((last, parents)) = path.split_last() else { return false };
        let mut set = self;
        for parent in parents {
            match set.child(parent) {
                Some(child) => set = child,
                None => return false,
            }
        }
        set.has_member(last)
    }

    /// Whether an element of the top level is in the set.
    pub fn has_member(&self, element: &PathElement) -> bool {
        self.members.binary_search(element).is_ok()
    }

    /// What the set holds below an element of the top level.
    pub fn child(&self, element: &PathElement) -> Option<&Set> {
        let at = self.children.binary_search_by(|(e, _)| e.cmp(element)).ok()?;
        self.children.get(at).map(|(_, child)| &**child)
    }

    /// The elements of the top level that are in the set.
    pub fn members(&self) -> &[PathElement] {
        &self.members
    }

    /// The elements of the top level below which something is in the set.
    pub fn children(&self) -> impl Iterator<Item = (&PathElement, &Set)> {
        self.children.iter().map(|(element, child)| (element, &**child))
    }

    /// All paths in the set: those of a level in order, then those below each of its elements.
    pub fn paths(&self) -> Vec<Path> {
        fn visit(set: &Set, prefix: &mut Vec<PathElement>, paths: &mut Vec<Path>) {
            for member in &set.members {
                prefix.push(member.clone());
                paths.push(Path::from(prefix.clone()));
                prefix.pop();
            }
            for (element, child) in set.children() {
                prefix.push(element.clone());
                visit(child, prefix, paths);
                prefix.pop();
            }
        }
        let mut paths = Vec::new();
        visit(self, &mut Vec::new(), &mut paths);
        paths
    }

    /// The paths in either set.
    pub fn union(&self, other: &Set) -> Set {
        let members = align(&self.members, &other.members, |e| e)
            .map(|step| match step {
                Aligned::Left(e) | Aligned::Right(e) | Aligned::Both(e, _) => e.clone(),
            })
            .collect();
        let children = align(&self.children, &other.children, |(e, _)| e)
            .map(|step| match step {
                Aligned::Left(child) | Aligned::Right(child) => child.clone(),
                Aligned::Both((e, l), (_, r)) => (e.clone(), Arc::new(l.union(r))),
            })
            .collect();
        Set { members, children }
    }

    /// The paths in both sets.
    pub fn intersection(&self, other: &Set) -> Set {
        let members = align(&self.members, &other.members, |e| e)
            .filter_map(|step| match step {
                Aligned::Both(e, _) => Some(e.clone()),
                Aligned::Left(_) | Aligned::Right(_) => None,
            })
            .collect();
        let children = align(&self.children, &other.children, |(e, _)| e)
            .filter_map(|step| match step {
                Aligned::Both((e, l), (_, r)) => keep(e, l.intersection(r)),
                Aligned::Left(_) | Aligned::Right(_) => None,
            })
            .collect();
        Set { members, children }
    }

    /// The paths in this set that are not in the other. A parent in the other set does not remove
    /// what is below it; [`Set::recursive_difference`] does.
    pub fn difference(&self, other: &Set) -> Set {
        let children = align(&self.children, &other.children, |(e, _)| e)
            .filter_map(|step| match step {
                Aligned::Left(child) => Some(child.clone()),
                Aligned::Both((e, l), (_, r)) => keep(e, l.difference(r)),
                Aligned::Right(_) => None,
            })
            .collect();
        Set { members: self.members_without(other), children }
    }

    /// The paths in this set that neither are in the other set nor lie below one that is.
    pub fn recursive_difference(&self, other: &Set) -> Set {
        let children = align(&self.children, &other.children, |(e, _)| e)
            .filter_map(|step| match step {
                Aligned::Left((e, _)) | Aligned::Both((e, _), _) if other.has_member(e) => None,
                Aligned::Left(child) => Some(child.clone()),
                Aligned::Both((e, l), (_, r)) => keep(e, l.recursive_difference(r)),
                Aligned::Right(_) => None,
            })
            .collect();
        Set { members: self.members_without(other), children }
    }

    fn members_without(&self, other: &Set) -> Vec<PathElement> {
        align(&self.members, &other.members, |e| e)
            .filter_map(|step| match step {
                Aligned::Left(e) => Some(e.clone()),
                Aligned::Right(_) | Aligned::Both(..) => None,
            })
            .collect()
    }

    /// The paths in the set that have nothing below them in the set.
    pub fn leaves(&self) -> Set {
        let members = align_members_and_children(&self.members, &self.children)
            .filter_map(|step| match step {
                Aligned::Left(e) => Some(e.clone()),
                Aligned::Right(_) | Aligned::Both(..) => None,
            })
            .collect();
        let children = self.children.iter().map(|(e, child)| (e.clone(), Arc::new(child.leaves()))).collect();
        Set { members, children }
    }

    /// The set with every declared struct field that stands above a member added. Keys of free-form
    /// maps and list items are not added: they exist only while somebody owns them.
    #[must_use]
    pub fn with_named_fields(&self, schema: &Schema, ty: Option<&TypeRef>) -> Set {
        let atom = ty.map(|ty| schema.resolve(ty)).unwrap_or_default();
        let mut members = self.clone();
        let mut children = Vec::with_capacity(self.children.len());
        for (element, child) in &self.children {
            let mut child_type = None;
            match element {
                PathElement::Field(name) => {
                    if let Some(map) = atom.map {
                        let field = map.field(name);
                        child_type = field.map(|field| &field.ty).or(map.element());
                        if field.is_some() {
                            members.insert_member(element.clone());
                        }
                    }
                }
                PathElement::Key(_) => child_type = atom.list.map(ListType::element),
                PathElement::Value(_) | PathElement::Index(_) => {}
            }
            children.push((element.clone(), Arc::new(child.with_named_fields(schema, child_type))));
        }
        Set { members: members.members, children }
    }

    /// The `fieldsV1` form: nested objects whose keys are path elements; `"."` marks an element that
    /// is itself in the set besides what is below it.
    pub fn to_fields_v1(&self) -> Value {
        self.encode(false)
    }

    fn encode(&self, include_self: bool) -> Value {
        let empty = || Value::Object(Map::new());
        let mut object = Map::new();
        if include_self {
            object.insert(".".to_owned(), empty());
        }
        for step in align_members_and_children(&self.members, &self.children) {
            match step {
                Aligned::Left(e) => object.insert(e.encode(), empty()),
                Aligned::Right((e, child)) => object.insert(e.encode(), child.encode(false)),
                Aligned::Both(e, (_, child)) => object.insert(e.encode(), child.encode(true)),
            };
        }
        Value::Object(object)
    }

    /// Reads the `fieldsV1` form. Elements of a kind this version does not know are dropped.
    pub fn from_fields_v1(fields: &Value) -> Result<Set, FieldsError> {
        let (set, _) = decode(fields, "")?;
        Ok(set)
    }
}

impl<P: AsRef<[PathElement]>> FromIterator<P> for Set {
    fn from_iter<I: IntoIterator<Item = P>>(paths: I) -> Self {
        let mut set = Set::new();
        for path in paths {
            set.insert(path.as_ref());
        }
        set
    }
}

impl AsRef<[PathElement]> for Path {
    fn as_ref(&self) -> &[PathElement] {
        self
    }
}

/// One path a line.
impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, path) in self.paths().iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{path}")?;
        }
        Ok(())
    }
}

/// The set below an element, and whether the element itself is a member.
fn decode(fields: &Value, path: &str) -> Result<(Set, bool), FieldsError> {
    let object = match fields {
        Value::Object(object) => object,
        Value::Null => return Ok((Set::new(), true)),
        _ => return Err(FieldsError::NotAnObject { path: path.to_owned() }),
    };
    let mut set = Set::new();
    let mut is_member = false;
    for (key, below) in object {
        if key == "." {
            is_member = true;
            continue;
        }
        let Some(element) = PathElement::decode(key)? else { continue };
        let (child, child_is_member) = decode(below, key)?;
        if child_is_member {
            set.insert_member(element.clone());
        }
        set.insert_child(element, child);
    }
    let is_member = is_member || (set.members.is_empty() && set.children.is_empty());
    Ok((set, is_member))
}

fn keep(element: &PathElement, set: Set) -> Option<(PathElement, Arc<Set>)> {
    (!set.is_empty()).then(|| (element.clone(), Arc::new(set)))
}

fn align<'a, T>(
    left: &'a [T],
    right: &'a [T],
    element: impl Fn(&T) -> &PathElement + Copy + 'a,
) -> impl Iterator<Item = Aligned<&'a T, &'a T>> {
    align_by(left, right, move |l, r| element(l).cmp(element(r)))
}

fn align_members_and_children<'a>(
    members: &'a [PathElement],
    children: &'a [(PathElement, Arc<Set>)],
) -> impl Iterator<Item = Aligned<&'a PathElement, &'a (PathElement, Arc<Set>)>> {
    align_by(members, children, |member, (element, _)| member.cmp(element))
}

fn align_by<'a, L, R>(
    mut left: &'a [L],
    mut right: &'a [R],
    compare: impl Fn(&L, &R) -> Ordering + 'a,
) -> impl Iterator<Item = Aligned<&'a L, &'a R>> {
    std::iter::from_fn(move || {
        let order = match (left.first(), right.first()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(l), Some(r)) => compare(l, r),
        };
        let l = if order.is_le() { left.split_off_first() } else { None };
        let r = if order.is_ge() { right.split_off_first() } else { None };
        match (l, r) {
            (Some(l), Some(r)) => Some(Aligned::Both(l, r)),
            (Some(l), None) => Some(Aligned::Left(l)),
            (None, Some(r)) => Some(Aligned::Right(r)),
            (None, None) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn element() -> impl Strategy<Value = PathElement> {
        prop_oneof![
            "[a-c]".prop_map(PathElement::field),
            (0..3i64).prop_map(|port| PathElement::key([("port", json!(port))])),
            "[a-b]".prop_map(|text| PathElement::value(json!(text))),
            (0..2i64).prop_map(PathElement::Index),
        ]
    }

    /// The model of a set: its paths.
    fn model() -> impl Strategy<Value = BTreeSet<Path>> {
        let path = prop::collection::vec(element(), 1..4).prop_map(Path::from);
        prop::collection::btree_set(path, 0..12)
    }

    fn set(paths: &BTreeSet<Path>) -> Set {
        paths.iter().collect()
    }

    fn paths(set: &Set) -> BTreeSet<Path> {
        set.paths().into_iter().collect()
    }

    proptest! {
        #[test]
        fn operations_are_those_of_path_sets(a in model(), b in model()) {
            let (sa, sb) = (set(&a), set(&b));
            prop_assert_eq!(paths(&sa), a.clone());
            prop_assert_eq!(paths(&sa.union(&sb)), &a | &b);
            prop_assert_eq!(paths(&sa.intersection(&sb)), &a & &b);
            prop_assert_eq!(paths(&sa.difference(&sb)), &a - &b);
            let recursive: BTreeSet<Path> =
                a.iter().filter(|p| !b.iter().any(|q| p.starts_with(q))).cloned().collect();
            prop_assert_eq!(paths(&sa.recursive_difference(&sb)), recursive);
            let leaves: BTreeSet<Path> = a
                .iter()
                .filter(|p| !a.iter().any(|q| q.len() > p.len() && q.starts_with(p)))
                .cloned()
                .collect();
            prop_assert_eq!(paths(&sa.leaves()), leaves);
        }

        #[test]
        fn equal_sets_have_equal_trees(a in model(), b in model()) {
            let (sa, sb) = (set(&a), set(&b));
            prop_assert_eq!(sa.union(&sb).difference(&sb), sa.difference(&sb));
            prop_assert_eq!(sa.intersection(&sb), sa.difference(&sa.difference(&sb)));
            prop_assert_eq!(sa.difference(&sa).is_empty(), true);
        }

        #[test]
        fn fields_v1_round_trips(a in model()) {
            let sa = set(&a);
            prop_assert_eq!(Set::from_fields_v1(&sa.to_fields_v1()).unwrap(), sa);
        }
    }

    #[test]
    fn a_dot_marks_a_member_with_children() {
        let set: Set = [Path::fields(["spec"]), Path::fields(["spec", "replicas"])].iter().collect();
        let fields = json!({"f:spec": {".": {}, "f:replicas": {}}});
        assert_eq!(set.to_fields_v1(), fields);
        assert_eq!(Set::from_fields_v1(&fields).unwrap(), set);
    }

    #[test]
    fn broken_fields_are_refused() {
        assert!(Set::from_fields_v1(&json!({"f:spec": 1})).is_err());
        assert!(Set::from_fields_v1(&json!({"spec": {}})).is_err());
        assert!(Set::from_fields_v1(&json!([])).is_err());
    }
}
