//! Label and field selectors: what a list, a watch or a `deletecollection` is narrowed to.
//!
//! The registry parses the two query parameters here, binds the field selector to the fields that the kind
//! supports, and asks [`Selection::matches`] for each object. The authorizer reads the parsed selectors as
//! well. Admission and controllers turn a `LabelSelector` object into a [`LabelSelector`].
//!
//! Start with [`LabelSelector`] (`labels.rs`, its parser in `lexer.rs`), then [`FieldSelector`]
//! (`fields.rs`) and [`SelectableFields`] (`selectable.rs`). Nothing here knows the rest of the server.

mod fields;
mod labels;
mod lexer;
mod names;
mod selectable;

use std::fmt;

use serde_json::Value;

pub use self::{
    fields::{FieldMatcher, FieldRequirement, FieldSelector},
    labels::{LabelSelector, Operator, Requirement},
    selectable::SelectableFields,
};

/// A selector that cannot be parsed, or that names a field the kind does not support.
///
/// The message is the one of kube-apiserver; the server answers it as a `BadRequest` (400).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    message: String,
}

impl SelectorError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// The objects a request is about: a label selector and a field selector, both of which must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    labels: LabelSelector,
    fields: FieldMatcher,
}

impl Selection {
    /// Selects every object.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// Selects what both selectors select.
    #[must_use]
    pub fn new(labels: LabelSelector, fields: FieldMatcher) -> Self {
        Self { labels, fields }
    }

    /// Parses the query parameters `labelSelector` and `fieldSelector` (empty: no restriction) for a kind
    /// with these selectable fields.
    ///
    /// # Errors
    /// With the message of kube-apiserver when one does not parse or names a field that is not selectable.
    pub fn parse(
        label_selector: &str,
        field_selector: &str,
        selectable: &SelectableFields,
    ) -> Result<Self, SelectorError> {
        let labels = LabelSelector::parse(label_selector)?;
        let fields = FieldSelector::parse(field_selector)?.bind(selectable)?;
        Ok(Self { labels, fields })
    }

    /// The label selector.
    #[must_use]
    pub fn labels(&self) -> &LabelSelector {
        &self.labels
    }

    /// The field selector, bound to the kind.
    #[must_use]
    pub fn fields(&self) -> &FieldMatcher {
        &self.fields
    }

    /// Whether no restriction was asked for.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// The one name that a `metadata.name=x` restricts the selection to.
    #[must_use]
    pub fn required_name(&self) -> Option<&str> {
        self.fields.required_value("metadata.name")
    }

    /// Whether the object is selected.
    #[must_use]
    pub fn matches(&self, object: &Value) -> bool {
        self.labels.matches(object) && self.fields.matches(object)
    }
}

pub(crate) use self::names::{label_key_errors, label_value_errors};

/// Go's `%q`: the quoting of strings in Kubernetes' messages.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\u{7}' => f.write_str("\\a")?,
                '\u{8}' => f.write_str("\\b")?,
                '\u{b}' => f.write_str("\\v")?,
                '\u{c}' => f.write_str("\\f")?,
                c if c.is_ascii_control() => write!(f, "\\x{:02x}", u32::from(c))?,
                c if c.is_control() || c == '\u{a0}' || c == '\u{feff}' => {
                    write!(f, "\\u{:04x}", u32::from(c))?;
                }
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_selectors_must_match() {
        let pods = SelectableFields::built_in("", "v1", "Pod");
        let selection = Selection::parse("app=web", "spec.nodeName=n1", &pods).expect("valid selectors");
        let pod =
            |app: &str, node: &str| json!({"metadata": {"labels": {"app": app}}, "spec": {"nodeName": node}});
        assert!(selection.matches(&pod("web", "n1")));
        assert!(!selection.matches(&pod("web", "n2")));
        assert!(!selection.matches(&pod("db", "n1")));
        assert!(!selection.is_everything());
        assert!(Selection::everything().matches(&json!({})));
    }

    #[test]
    fn strings_are_quoted_as_go_does() {
        assert_eq!(Quoted("a\"b\\\n\u{1}é").to_string(), r#""a\"b\\\n\x01é""#);
    }
}
