//! Whose conventions the output follows.

/// Whose conventions the output follows where ours and controller-gen's differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Style {
    /// Ours: right where controller-gen is known to be wrong.
    #[default]
    Kubewright,
    /// The bytes of controller-gen v0.23, its known faults included as far as they are deterministic.
    ControllerGen,
}
