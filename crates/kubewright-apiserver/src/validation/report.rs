use std::cell::RefCell;

use kubewright_schema::{ErrorList, FieldError, FieldPath};

/// What a check of one object has found so far.
///
/// It also keeps the places of all fields that the check has come by, so that a [`Field`](super::Field) is a small copy
/// and a path becomes text only where something is wrong.
#[derive(Debug, Default)]
pub(crate) struct Report {
    errors: RefCell<ErrorList>,
    places: RefCell<Vec<(Place, Segment)>>,
}

/// A place in the object: how many of the report's segments lead there. The object itself is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place(u32);

/// One step from a field to one below it.
#[derive(Debug)]
pub(super) enum Segment {
    Child(&'static str),
    Owned(Box<str>),
    Index(usize),
    Key(Box<str>),
}

// === impl Report ===

impl Report {
    /// What was found, in the order in which it was found.
    pub(crate) fn into_errors(self) -> ErrorList {
        self.errors.into_inner()
    }

    /// How much was found so far: tells whether a part of a check has found anything.
    pub(crate) fn len(&self) -> usize {
        self.errors.borrow().len()
    }

    pub(super) fn push(&self, error: FieldError) {
        self.errors.borrow_mut().push(error);
    }

    pub(super) fn extend(&self, errors: ErrorList) {
        if !errors.is_empty() {
            self.errors.borrow_mut().extend(errors);
        }
    }

    /// The place that `segment` leads to.
    pub(super) fn below(&self, place: Place, segment: Segment) -> Place {
        let mut places = self.places.borrow_mut();
        places.push((place, segment));
        Place(u32::try_from(places.len()).unwrap_or(u32::MAX))
    }

    pub(super) fn path(&self, place: Place) -> FieldPath {
        let places = self.places.borrow();
        let mut segments = Vec::new();
        let mut place = place;
        while let Some((above, segment)) =
            (place.0 as usize).checked_sub(1).and_then(|index| places.get(index))
        {
            segments.push(segment);
            place = *above;
        }
        segments.into_iter().rev().fold(FieldPath::root(), |path, segment| match segment {
            Segment::Child(name) => path.child(name),
            Segment::Owned(name) => path.child(name),
            Segment::Index(index) => path.index(*index),
            Segment::Key(key) => path.key(key),
        })
    }
}
