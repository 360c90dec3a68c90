//! The kind UserIdentity.

use kubewright::prelude::*;

/// UserIdentitySpec defines the desired state of UserIdentity.
///
/// +kubebuilder:resource:shortName=uident
/// +kubebuilder:printcolumn:name="User",type=string,JSONPath=`.spec.user`
/// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "identity.example.com",
    version = "v1alpha1",
    kind = "UserIdentity",
    plural = "useridentities",
    doc = "UserIdentity gives a user of the directory an account in its namespace.",
    namespaced,
    status = "UserIdentityStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct UserIdentitySpec {
    /// User is the name of the user in the directory.
    ///
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=63
    pub user: String,

    /// Role is what the user may do in the namespace while the directory has the user as active.
    #[serde(default)]
    pub role: Role,
}

/// Role is the ClusterRole that a user gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The user may read.
    #[default]
    View,
    /// The user may read and write.
    Edit,
}

/// UserIdentityStatus defines the observed state of UserIdentity.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserIdentityStatus {
    /// Conditions tell whether the user is active, and whether the role is bound.
    ///
    /// +listType=map
    /// +listMapKey=type
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Role {
    /// The name of the ClusterRole.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Edit => "edit",
        }
    }
}
