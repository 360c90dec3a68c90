//! Which version of a kind is stored.

use super::version::Version;
use crate::diagnostic::{Diagnostic, Place, Severity};

/// Finds the stored version among `versions` that are not skipped.
///
/// A marker decides. Without one it is the version whose native attribute says so, as kube's derive does of every
/// version that has no `storage = false`. A single version is stored whatever it says, as the API server demands.
pub(super) fn stored(versions: &[Version], kind: &str, diagnostics: &mut Vec<Diagnostic>) -> usize {
    let mut fail = |message: String, place: Place| {
        diagnostics.push(Diagnostic {
            severity: Severity::Error,
            code: "storage-version".to_owned(),
            message,
            place,
            help: vec![
                "exactly one version of a kind is stored: mark it with `+kubebuilder:storageversion`"
                    .to_owned(),
            ],
        });
    };
    let [first, .., last] = versions else { return 0 };
    let marked: Vec<usize> = (0..versions.len()).filter(|index| versions[*index].storage.is_some()).collect();
    match marked.as_slice() {
        [one] => return *one,
        [one, others @ ..] => {
            for other in others {
                let (one, other) = (&versions[*one], &versions[*other]);
                let message = format!("{kind} stores {} here, but {} as well", other.name, one.name);
                fail(message, other.storage.clone().unwrap_or_else(|| other.place()));
            }
            return *one;
        }
        [] => {}
    }
    let native: Vec<usize> =
        (0..versions.len()).filter(|index| versions[*index].native_storage == Some(true)).collect();
    match native.as_slice() {
        [one] => *one,
        [] => {
            fail(format!("no version of {kind} is stored"), first.place());
            0
        }
        [one, ..] => {
            let names: Vec<_> = native.iter().map(|index| versions[*index].name.as_str()).collect();
            fail(
                format!(
                    "{kind} has {} versions and does not say which is stored: {}",
                    versions.len(),
                    names.join(", ")
                ),
                last.place(),
            );
            *one
        }
    }
}
