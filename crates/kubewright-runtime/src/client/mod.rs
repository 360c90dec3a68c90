//! Reads and writes of objects.

mod error;

pub use error::{ClientError, MissingPermission, Operation};
