//! The namespace controller: empties a namespace that is being deleted and lets it go.
//!
//! [`conditions`] tells, in the namespace's status, what keeps it; [`reconciler`] deletes the contents, of
//! every resource that discovery shows, and finalizes the namespace when none are left.

mod conditions;
mod reconciler;

pub(crate) use reconciler::run;
