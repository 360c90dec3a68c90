//! Version `v1alpha1` of the API group `identity.example.com`.

mod user_identity;

pub use self::user_identity::*;
