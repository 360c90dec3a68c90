//! What objects count for in resource quotas: quantities, usage, and which quotas an object falls under.
//!
//! The API server charges a quota when an object comes, and the quota controller counts again when one has gone. Both have to
//! come to the same figures, which is why the figures are made here. Objects are JSON, as they are served: what is missing or
//! of the wrong type counts as not there.
//!
//! [`Quantity`] is an amount, [`ResourceList`] amounts by name, [`Evaluator`] what is counted of a resource, and [`Scopes`] what
//! limits a quota to some of its objects. Nothing here knows of a server or a client; the crate imports no other of this
//! workspace. Start reading at [`Evaluator`].

mod evaluator;
pub mod quantity;
mod resource_list;
mod scope;

pub use evaluator::Evaluator;
pub use quantity::Quantity;
pub use resource_list::ResourceList;
pub use scope::Scopes;

pub use evaluator::{pod_limits, pod_requests};
