use std::{
    collections::BTreeSet,
    fmt::{self, Display, Formatter},
    slice, vec,
};

use super::{Cause, FieldError};

/// All broken rules that one check found, in the order it found them. Empty means valid.
///
/// `Display` is Kubernetes' aggregate text: one error stands alone, several as `[a, b]`, and a text that
/// occurs twice is written once. [`ErrorList::causes`] keeps them all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorList(Vec<FieldError>);

impl ErrorList {
    /// An empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one error.
    pub fn push(&mut self, error: FieldError) {
        self.0.push(error);
    }

    /// Whether the checked value is valid.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of errors.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The errors in the order they were found.
    pub fn iter(&self) -> slice::Iter<'_, FieldError> {
        self.0.iter()
    }

    /// The errors as causes of a `Status`.
    pub fn causes(&self) -> Vec<Cause> {
        self.0.iter().map(FieldError::cause).collect()
    }

    /// `Ok(value)` if the list is empty, the list otherwise.
    ///
    /// # Errors
    ///
    /// The list itself, if it is not empty.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Keeps the first one of errors that say the same of the same field.
    pub fn deduplicate(&mut self) {
        let mut seen = BTreeSet::new();
        self.0.retain(|error| seen.insert((error.kind, error.to_string())));
    }

    pub(crate) fn sort_by_text(&mut self) {
        self.0.sort_by_cached_key(ToString::to_string);
    }
}

impl Display for ErrorList {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut seen = BTreeSet::new();
        let texts: Vec<String> =
            self.0.iter().map(ToString::to_string).filter(|text| seen.insert(text.clone())).collect();
        match texts.as_slice() {
            [] => Ok(()),
            [one] => f.write_str(one),
            several => write!(f, "[{}]", several.join(", ")),
        }
    }
}

impl std::error::Error for ErrorList {}

impl From<FieldError> for ErrorList {
    fn from(error: FieldError) -> Self {
        Self(vec![error])
    }
}

impl FromIterator<FieldError> for ErrorList {
    fn from_iter<I: IntoIterator<Item = FieldError>>(errors: I) -> Self {
        Self(errors.into_iter().collect())
    }
}

impl Extend<FieldError> for ErrorList {
    fn extend<I: IntoIterator<Item = FieldError>>(&mut self, errors: I) {
        self.0.extend(errors);
    }
}

impl IntoIterator for ErrorList {
    type Item = FieldError;
    type IntoIter = vec::IntoIter<FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a ErrorList {
    type Item = &'a FieldError;
    type IntoIter = slice::Iter<'a, FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldPath;

    #[test]
    fn aggregate_text() {
        let a = FieldError::required(&FieldPath::new("a"), "");
        let b = FieldError::forbidden(&FieldPath::new("b"), "no");
        assert_eq!(ErrorList::new().to_string(), "");
        assert_eq!(ErrorList::from(a.clone()).to_string(), "a: Required value");
        let list: ErrorList = [a.clone(), b, a].into_iter().collect();
        assert_eq!(list.to_string(), "[a: Required value, b: Forbidden: no]");
        assert_eq!(list.causes().len(), 3);
    }
}
