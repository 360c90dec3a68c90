use super::Predicate;
use crate::event::Event;

/// Lets an event pass that both let pass.
#[must_use]
pub fn and<A, B>(first: A, second: B) -> And<A, B> {
    And { first, second }
}

/// Lets an event pass that either lets pass.
#[must_use]
pub fn or<A, B>(first: A, second: B) -> Or<A, B> {
    Or { first, second }
}

/// Lets an event pass that `predicate` does not. Mind that most predicates let creations and deletions pass,
/// so that their opposite drops them.
#[must_use]
pub fn not<A>(predicate: A) -> Not<A> {
    Not { predicate }
}

/// What [`and`] returns.
#[derive(Clone, Copy, Debug)]
pub struct And<A, B> {
    first: A,
    second: B,
}

/// What [`or`] returns.
#[derive(Clone, Copy, Debug)]
pub struct Or<A, B> {
    first: A,
    second: B,
}

/// What [`not`] returns.
#[derive(Clone, Copy, Debug)]
pub struct Not<A> {
    predicate: A,
}

impl<K: ?Sized, A: Predicate<K>, B: Predicate<K>> Predicate<K> for And<A, B> {
    fn allows(&self, event: &Event<K>) -> bool {
        self.first.allows(event) && self.second.allows(event)
    }
}

impl<K: ?Sized, A: Predicate<K>, B: Predicate<K>> Predicate<K> for Or<A, B> {
    fn allows(&self, event: &Event<K>) -> bool {
        self.first.allows(event) || self.second.allows(event)
    }
}

impl<K: ?Sized, A: Predicate<K>> Predicate<K> for Not<A> {
    fn allows(&self, event: &Event<K>) -> bool {
        !self.predicate.allows(event)
    }
}
