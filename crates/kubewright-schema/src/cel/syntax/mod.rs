//! Expressions as trees that know where in the source they came from.
//!
//! The parser of the `cel` crate forgets the places and does not know all macros. This one keeps the places and expands the
//! macros of Kubernetes, so that the type checker and the cost estimator see the tree that a real API server sees. It does
//! not say what is wrong with a text that is not CEL, which the other one does in the words of the same grammar. Start at
//! [`parse`], then `tree.rs`.

mod lexer;
mod literal;
mod macros;
mod parser;
mod tree;

pub(super) use {
    parser::{Unparsed, parse},
    tree::{ACCUMULATOR, Comprehension, Entry, FieldValue, Kind, Literal, NodeId, Place, Tree},
};

/// A problem at a place of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) place: Place,
    pub(super) text: String,
}

#[cfg(test)]
mod tests;
