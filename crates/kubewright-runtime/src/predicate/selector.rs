use kube::core::{Selector, SelectorExt};

use super::Predicate;
use crate::event::{Event, Object};

/// Lets an event pass whose object has matching labels; for an update, the new object.
///
/// An object that stops to match is dropped with the very update that makes it so. To clean up after it,
/// watch without this predicate.
///
/// ```
/// use kube::core::Expression;
/// use kubewright_runtime::predicate::label_selector;
///
/// let carts = label_selector(Expression::Equal("app".into(), "cart".into()));
/// # let _ = carts;
/// ```
#[must_use]
pub fn label_selector(selector: impl Into<Selector>) -> LabelSelectorPredicate {
    LabelSelectorPredicate { selector: selector.into() }
}

/// What [`label_selector`] returns.
#[derive(Clone, Debug)]
pub struct LabelSelectorPredicate {
    selector: Selector,
}

impl<K: Object + ?Sized> Predicate<K> for LabelSelectorPredicate {
    fn allows(&self, event: &Event<K>) -> bool {
        match &event.object().metadata().labels {
            Some(labels) => self.selector.matches(labels),
            None => self.selector.matches(&Default::default()),
        }
    }
}
