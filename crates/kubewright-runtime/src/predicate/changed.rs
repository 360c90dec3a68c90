use super::Predicate;
use crate::event::{Event, Object};

/// Drops updates that leave `metadata.generation` as it was, which are those of status and metadata.
///
/// The generation grows with the spec. Kinds without one, as ConfigMaps and Secrets, have generation 0 always:
/// use [`resource_version_changed`] for them. Labels and annotations do not change the generation either; take
/// `or(generation_changed(), labels_changed())` if the reconciler reads them.
#[must_use]
pub fn generation_changed() -> GenerationChanged {
    GenerationChanged
}

/// Drops updates that changed nothing.
#[must_use]
pub fn resource_version_changed() -> ResourceVersionChanged {
    ResourceVersionChanged
}

/// Drops updates that leave the labels as they were.
#[must_use]
pub fn labels_changed() -> LabelsChanged {
    LabelsChanged
}

/// Drops updates that leave the annotations as they were.
#[must_use]
pub fn annotations_changed() -> AnnotationsChanged {
    AnnotationsChanged
}

/// What [`generation_changed`] returns.
#[derive(Clone, Copy, Debug, Default)]
pub struct GenerationChanged;

/// What [`resource_version_changed`] returns.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceVersionChanged;

/// What [`labels_changed`] returns.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelsChanged;

/// What [`annotations_changed`] returns.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnnotationsChanged;

macro_rules! metadata_field_changed {
    ($($predicate:ty => $field:ident),* $(,)?) => {$(
        impl<K: Object + ?Sized> Predicate<K> for $predicate {
            fn allows(&self, event: &Event<K>) -> bool {
                match event {
                    Event::Update { old, new } => old.metadata().$field != new.metadata().$field,
                    _ => true,
                }
            }
        }
    )*};
}

metadata_field_changed! {
    GenerationChanged => generation,
    ResourceVersionChanged => resource_version,
    LabelsChanged => labels,
    AnnotationsChanged => annotations,
}
