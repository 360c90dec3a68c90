//! How what the users ask for is brought about: a module for each kind.

pub mod user_identity;
