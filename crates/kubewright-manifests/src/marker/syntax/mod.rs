//! The syntax of markers, which is controller-gen's: `+name`, `+name=value`, `+name:argument=value,argument=value`.
//!
//! The grammar is that of Go's `text/scanner` with a few rules on top, so the `scanner.rs` knows Go's tokens and the
//! `value.rs` parser puts them together. Wherever controller-gen accepts a text, the same value comes out here. Some texts
//! on which it fails or loses a part are accepted or refused for a reason:
//!
//! | text | controller-gen | here |
//! |---|---|---|
//! | `name=,type=string`, `a;;b` | the delimiter becomes part of the string | an error |
//! | `{1, 2.5}` as a value of any type | an error | a list of numbers |
//! | `{a: 1;2}` as a value of any type | an error | `2` belongs to the list of `a` |
//! | an argument that is given twice | the last wins | an error |
//! | a backtick that nothing closes | an error (v0.23) | an ordinary character |

mod number;
mod print;
mod scanner;
mod text;
mod value;

pub(crate) use number::whole;
pub use print::print;
pub(super) use value::{Parser, list_of};

/// How deep lists and objects may be nested.
pub(super) const MAX_DEPTH: usize = 64;

#[cfg(test)]
mod conformance;
