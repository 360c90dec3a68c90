//! The files that generators write, compared with those that are there.
//!
//! A [`Plan`] holds what should be in the folders of a project. [`Plan::compare`] looks what is, which needs no right to
//! write and changes nothing; [`write()`] makes the folders fit. Between the two there is a list of [`Change`]s, from which a
//! check prints its diff.
//!
//! What is written is deterministic, and a file that already has the right bytes is not touched, so that its modification
//! time holds and build systems see no change.
//!
//! # Whose files are removed
//!
//! A file is stale if a generator made it and would not make it again, as after a kind was renamed. Each generated file
//! therefore bears a [`Mark`]: a comment that names the generator and the package. In a folder into which a generator
//! writes, a file with the mark of the same generator and the same package is removed if it is not planned. Everything else is left
//! alone: files without a mark, files of other packages, files in other folders. Whoever takes a file over and edits it
//! removes the mark.
//!
//! controller-gen puts no mark on its files, but an annotation on its CRDs. In its style, a CRD with that annotation, in a
//! file with the name that controller-gen would give it, counts as marked. In our style such a file is only reported,
//! since it may be that of a kind which is still written in Go.

mod change;
mod error;
mod foreign;
mod header;
mod mark;
mod plan;
mod write;

pub use change::{Action, Change};
pub use error::OutputError;
pub use header::Header;
pub use mark::Mark;
pub use plan::{Comparison, Plan};
pub use write::write;
