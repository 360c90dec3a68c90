//! The verbs of the API over the store.

mod resource;

pub use resource::{ResourceDefinition, Resources, Subresource};
