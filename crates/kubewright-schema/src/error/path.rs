use std::fmt::{self, Display, Formatter};

/// The path of a field, as Kubernetes writes it: `spec.containers[0].env[KEY]`.
///
/// The empty path stands for the object itself and prints as `<nil>`, which is what a real API server
/// prints when an error belongs to no field in particular.
///
/// ```
/// use kubewright_schema::FieldPath;
///
/// let path = FieldPath::new("spec").child("ports").index(0).child("name");
/// assert_eq!(path.to_string(), "spec.ports[0].name");
/// assert_eq!(FieldPath::root().to_string(), "<nil>");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(String);

impl FieldPath {
    /// The path of the object itself.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// A path of one field. Dots in `name` are kept, so `FieldPath::new("spec.names")` is two fields.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The field `name` below this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let mut path = self.clone();
        path.push_child(name);
        path
    }

    /// The item `index` of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The entry `key` of this map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }

    /// Whether this is the path of the object itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path as text; empty for the object itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    // A walk over a large object keeps one path and grows and shrinks it in place, because a string per
    // visited node would cost more than the visit.

    pub(crate) fn push_child(&mut self, name: &str) -> usize {
        let length = self.0.len();
        if length > 0 {
            self.0.push('.');
        }
        self.0.push_str(name);
        length
    }

    pub(crate) fn push_index(&mut self, index: usize) -> usize {
        use fmt::Write;
        let length = self.0.len();
        // Writing to a string cannot fail.
        let _ = write!(self.0, "[{index}]");
        length
    }

    pub(crate) fn push_key(&mut self, key: &str) -> usize {
        let length = self.0.len();
        self.0.push('[');
        self.0.push_str(key);
        self.0.push(']');
        length
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }
}

impl Display for FieldPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "<nil>" } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::FieldPath;

    #[test]
    fn paths_print_as_in_kubernetes() {
        let spec = FieldPath::new("spec");
        assert_eq!(spec.child("a").index(0).child("b").key("k").to_string(), "spec.a[0].b[k]");
        assert_eq!(FieldPath::root().child("kind").to_string(), "kind");
        assert_eq!(FieldPath::root().to_string(), "<nil>");
    }

    #[test]
    fn pushes_are_undone_by_truncate() {
        let mut path = FieldPath::new("spec");
        let length = path.push_child("list");
        let inner = path.push_index(3);
        assert_eq!(path.as_str(), "spec.list[3]");
        path.truncate(inner);
        path.push_key("k");
        assert_eq!(path.as_str(), "spec.list[k]");
        path.truncate(length);
        assert_eq!(path.as_str(), "spec");
    }
}
