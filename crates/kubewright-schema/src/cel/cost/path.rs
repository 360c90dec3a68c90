use std::{cell::RefCell, rc::Rc};

use crate::cel::declaration::{Declarations, Parts};

/// The way from a variable to a value.
///
/// Paths share storage as the slices of Go do in which cel-go keeps them: a path with room behind its end is extended in
/// place, so that the second extension of the same path changes what the first one says. Which limits of the schema are
/// found depends on it, and with them which rules a real server takes.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    storage: Rc<RefCell<Vec<Step>>>,
    length: usize,
    capacity: usize,
}

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A variable or a field.
    Name(Rc<str>),
    Items,
    Values,
    Keys,
    Indices,
}

// === impl Path ===

impl Path {
    pub(super) fn of_variable(name: &str) -> Self {
        Self { storage: Rc::new(RefCell::new(vec![Step::Name(name.into())])), length: 1, capacity: 1 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether the path starts at a variable of this name.
    pub(super) fn starts_at(&self, name: &str) -> bool {
        self.length > 0
            && matches!(self.storage.borrow().first(), Some(Step::Name(first)) if **first == *name)
    }

    /// The path with a step more.
    pub(super) fn join(&self, step: Step) -> Self {
        let length = self.length + 1;
        if self.length < self.capacity {
            let mut storage = self.storage.borrow_mut();
            match storage.get_mut(self.length) {
                Some(slot) => *slot = step,
                None => storage.push(step),
            }
            return Self { storage: Rc::clone(&self.storage), length, capacity: self.capacity };
        }
        let mut steps = self.storage.borrow().get(..self.length).unwrap_or_default().to_vec();
        steps.push(step);
        Self { storage: Rc::new(RefCell::new(steps)), length, capacity: (self.capacity * 2).max(1) }
    }

    /// A path with storage of its own.
    pub(super) fn copied(&self) -> Self {
        let steps = self.storage.borrow().get(..self.length).unwrap_or_default().to_vec();
        Self { storage: Rc::new(RefCell::new(steps)), length: self.length, capacity: self.length }
    }

    /// The most elements of the value, by the schema. The variable does not matter. Nothing if the way leads nowhere.
    pub(super) fn most_elements(&self, declarations: &Declarations) -> Option<u64> {
        let storage = self.storage.borrow();
        let (last, steps) = storage.get(..self.length)?.split_last()?;
        let mut value = declarations.root();
        for step in steps.iter().skip(1).chain((self.length > 1).then_some(last)) {
            let id = match (step, &value.parts) {
                (Step::Items | Step::Values, Parts::Items(inner) | Parts::Values(inner)) => inner,
                // Keys have no limit of their own, for which cel-go takes that they are empty.
                (Step::Keys, Parts::Values(_)) if step == last => return Some(0),
                (Step::Name(name), Parts::Fields(fields)) => fields.get(&**name)?,
                _ => return None,
            };
            value = declarations.get(*id);
        }
        Some(value.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Step {
        Step::Name(name.into())
    }

    fn steps(path: &Path) -> Vec<Step> {
        path.storage.borrow()[..path.length].to_vec()
    }

    #[test]
    fn a_path_with_room_is_extended_in_place() {
        let two = Path::of_variable("self").join(name("items"));
        let item = two.join(Step::Items);
        let first = item.join(name("list"));
        assert_eq!(steps(&first), [name("self"), name("items"), Step::Items, name("list")]);
        let second = item.join(name("other"));
        assert_eq!(steps(&second), steps(&first));
        assert_eq!(steps(&item), [name("self"), name("items"), Step::Items]);
        // There was no room behind two.
        two.join(name("a"));
        assert_eq!(steps(&item), [name("self"), name("items"), Step::Items]);
    }
}
