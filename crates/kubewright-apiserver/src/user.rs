use std::collections::BTreeMap;

/// Who makes a request, as authentication has found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The user's name, e.g. `system:serviceaccount:default:operator`.
    pub name: String,
    /// A stable identity behind the name; may be empty.
    pub uid: String,
    /// The groups the user is in.
    pub groups: Vec<String>,
    /// What else the authenticator knows.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// The identity of [`crate::ApiServer::service`]: `system:admin` in `system:masters`, who may do everything.
    #[must_use]
    pub fn admin() -> Self {
        Self {
            name: "system:admin".to_owned(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
            ..Self::default()
        }
    }
}
