//! Authorization: whether a user may do what a request asks for.
//!
//! The server makes [`Attributes`] of every request and asks the [`Authorizer`], which asks its modes in their order. For
//! RBAC it evaluates the objects of the store: it reads them through [`RbacObjects`] and compiles them again only when
//! one of them has changed. Members of `system:masters` may do everything, whatever the modes are.
//!
//! `policy.rs` is the compiled form, `rule.rs` the matching of one rule, `reviews.rs` the virtual kinds of
//! `authorization.k8s.io`, `escalation.rs` the check that nobody grants more than they have, `bootstrap.rs`
//! the objects that every cluster starts with.

mod bootstrap;
mod escalation;
mod policy;
mod reviews;
mod rule;

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

pub use self::bootstrap::bootstrap_objects;
use self::policy::Policy;
use crate::{
    selector::Quoted,
    status::{GroupResource, Status},
    user::User,
};

/// The group whose members may do everything.
pub const MASTERS: &str = "system:masters";

/// Where the authorizer finds the objects of `rbac.authorization.k8s.io`.
pub trait RbacObjects: Send + Sync {
    /// A number that is another one whenever one of these objects was changed. It may change more often, but
    /// each time the objects are compiled anew.
    fn revision(&self) -> u64;

    /// Calls `visit` with each object of a resource (`roles`, `clusterroles`, `rolebindings`,
    /// `clusterrolebindings`) in all namespaces.
    fn visit(&self, resource: &str, visit: &mut dyn FnMut(&Value));
}

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Who asks.
    pub user: User,
    /// The verb of the API (`list`, `deletecollection`), or the lowercase method for a path.
    pub verb: String,
    /// What it is about.
    pub target: Target,
}

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A resource; what is empty was not named.
    Resource {
        /// The API group, empty for the core group.
        group: String,
        /// The version.
        version: String,
        /// The plural.
        resource: String,
        /// The subresource.
        subresource: String,
        /// The namespace.
        namespace: String,
        /// The name.
        name: String,
    },
    /// Another path, such as `/healthz`.
    Path(String),
}

/// Whether a request is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Whether it is.
    pub allowed: bool,
    /// Which binding allows it, or what went wrong while looking for one; often empty.
    pub reason: String,
}

/// Who decides. Of several, the first that allows a request does; what none allows is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthorizationMode {
    /// The RBAC objects of the store.
    Rbac,
    /// Everything is allowed.
    AlwaysAllow,
    /// Nothing is allowed, except to members of `system:masters`.
    AlwaysDeny,
}

/// Text that names no [`AuthorizationMode`] of this server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{mode:?} is {}; supported are RBAC, AlwaysAllow and AlwaysDeny",
    if *is_real { "an authorization mode of kube-apiserver that this server does not have" } else { "not an authorization mode" }
)]
pub struct UnknownMode {
    mode: String,
    /// Whether kube-apiserver has it.
    is_real: bool,
}

/// Decides what users may do.
pub struct Authorizer {
    modes: Vec<AuthorizationMode>,
    objects: Arc<dyn RbacObjects>,
    policy: Mutex<Option<(u64, Arc<Policy>)>>,
}

// === impl AuthorizationMode ===

impl FromStr for AuthorizationMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        match text {
            "RBAC" => Ok(Self::Rbac),
            "AlwaysAllow" => Ok(Self::AlwaysAllow),
            "AlwaysDeny" => Ok(Self::AlwaysDeny),
            _ => {
                let is_real = matches!(text, "ABAC" | "Node" | "Webhook");
                Err(UnknownMode { mode: text.to_owned(), is_real })
            }
        }
    }
}

// === impl Authorizer ===

impl Authorizer {
    /// An authorizer over these objects, by RBAC alone.
    #[must_use]
    pub fn new(objects: Arc<dyn RbacObjects>) -> Self {
        Self { modes: vec![AuthorizationMode::Rbac], objects, policy: Mutex::new(None) }
    }

    /// The same with these modes, in their order.
    #[must_use]
    pub fn with_modes(self, modes: Vec<AuthorizationMode>) -> Self {
        Self { modes, ..self }
    }

    /// Decides. The reason is that of kube-apiserver.
    #[must_use]
    pub fn authorize(&self, attributes: &Attributes) -> Decision {
        if attributes.user.groups.iter().any(|group| group == MASTERS) {
            return Decision { allowed: true, reason: String::new() };
        }
        let mut reasons = Vec::new();
        for mode in &self.modes {
            match mode {
                AuthorizationMode::AlwaysAllow => {
                    return Decision { allowed: true, reason: String::new() };
                }
                AuthorizationMode::AlwaysDeny => {
                    reasons.push("alwaysdeny: Everything is forbidden.".to_owned());
                }
                AuthorizationMode::Rbac => match self.by_rbac(attributes) {
                    decision if decision.allowed => return decision,
                    decision if decision.reason.is_empty() => {}
                    decision => reasons.push(decision.reason),
                },
            }
        }
        Decision { allowed: false, reason: reasons.join("\n") }
    }

    fn by_rbac(&self, attributes: &Attributes) -> Decision {
        let mut errors = Vec::new();
        let mut allowed_by = None;
        self.policy().visit_rules(&attributes.user, attributes.namespace(), &mut |rule| match rule {
            Ok((source, rule)) if rule.allows(attributes) => {
                allowed_by = Some(source.to_string());
                false
            }
            Ok(_) => true,
            Err(error) => {
                errors.push(error);
                true
            }
        });
        match allowed_by {
            Some(source) => Decision { allowed: true, reason: format!("RBAC: allowed by {source}") },
            None if errors.is_empty() => Decision::default(),
            None => Decision { allowed: false, reason: format!("rbac: RBAC: {}", aggregate(errors)) },
        }
    }

    /// Refuses what is not allowed.
    ///
    /// # Errors
    /// 403 with the text of kube-apiserver.
    pub fn require(&self, attributes: &Attributes) -> Result<(), Status> {
        let decision = self.authorize(attributes);
        if decision.allowed { Ok(()) } else { Err(attributes.forbidden(&decision.reason)) }
    }

    /// The compiled objects, as of now.
    fn policy(&self) -> Arc<Policy> {
        let revision = self.objects.revision();
        // Held while compiling, so that one of many waiting requests does it.
        let mut cached = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some((compiled, policy)) if *compiled == revision => Arc::clone(policy),
            _ => {
                let policy = Arc::new(Policy::compile(&*self.objects));
                *cached = Some((revision, Arc::clone(&policy)));
                policy
            }
        }
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer").field("modes", &self.modes).finish_non_exhaustive()
    }
}

// === impl Attributes ===

impl Attributes {
    fn namespace(&self) -> &str {
        match &self.target {
            Target::Resource { namespace, .. } => namespace,
            Target::Path(_) => "",
        }
    }

    /// The refusal of this request: 403, with `why` appended unless empty.
    #[must_use]
    pub fn forbidden(&self, why: &str) -> Status {
        let (user, verb) = (Quoted(&self.user.name), &self.verb);
        let (message, group_resource, name) = match &self.target {
            Target::Path(path) => {
                let message = format!("User {user} cannot {verb} path {}", Quoted(path));
                (message, GroupResource::default(), "")
            }
            Target::Resource { group, resource, subresource, namespace, name, .. } => {
                let separator = if subresource.is_empty() { "" } else { "/" };
                let full = format!("{resource}{separator}{subresource}");
                let place = if namespace.is_empty() {
                    "at the cluster scope".to_owned()
                } else {
                    format!("in the namespace {}", Quoted(namespace))
                };
                let message = format!(
                    "User {user} cannot {verb} resource {} in API group {} {place}",
                    Quoted(&full),
                    Quoted(group)
                );
                let group_resource = GroupResource::new(group.as_str(), resource.as_str());
                (message, group_resource, name.as_str())
            }
        };
        // Kubernetes keeps a refusal from looking like HTML.
        let mut message = message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        if !why.is_empty() {
            message = format!("{message}: {why}");
        }
        Status::forbidden(&group_resource, name, &message)
    }
}

/// Several errors as one text, equal ones once.
fn aggregate(errors: Vec<String>) -> String {
    let mut texts: Vec<String> = Vec::new();
    for error in errors {
        if !texts.contains(&error) {
            texts.push(error);
        }
    }
    match texts.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// Objects of all kinds, told apart by `kind`.
    struct Objects(Vec<Value>);

    impl RbacObjects for Objects {
        fn revision(&self) -> u64 {
            1
        }

        fn visit(&self, resource: &str, visit: &mut dyn FnMut(&Value)) {
            let of = |object: &&Value| {
                object["kind"].as_str().is_some_and(|kind| format!("{}s", kind.to_lowercase()) == resource)
            };
            self.0.iter().filter(of).for_each(visit);
        }
    }

    /// An authorizer of a fresh cluster with these objects.
    pub(crate) fn authorizer(objects: &[Value]) -> Authorizer {
        let all = bootstrap_objects().into_iter().chain(objects.iter().cloned()).collect();
        Authorizer::new(Arc::new(Objects(all)))
    }

    pub(super) fn user(name: &str, groups: &[&str]) -> User {
        let groups = groups.iter().map(|&group| group.to_owned()).collect();
        User { name: name.to_owned(), groups, ..User::default() }
    }

    /// `verb group/resource/subresource namespace name`, with `-` for what is empty.
    pub(super) fn request(user: User, text: &str) -> Attributes {
        let parts: Vec<&str> = text.split(' ').map(|part| if part == "-" { "" } else { part }).collect();
        let [verb, resource, namespace, name] = parts[..] else { panic!("{text}") };
        let mut path = resource.split('/');
        let mut next = || path.next().unwrap_or_default().to_owned();
        let (group, resource, subresource) = (next(), next(), next());
        Attributes {
            user,
            verb: verb.to_owned(),
            target: Target::Resource {
                group,
                version: "v1".to_owned(),
                resource,
                subresource,
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
        }
    }

    fn objects() -> [Value; 5] {
        [
            json!({
                "kind": "Role", "metadata": {"name": "reader", "namespace": "default"},
                "rules": [
                    {"apiGroups": [""], "resources": ["pods", "*/scale"], "verbs": ["get", "list"]},
                    {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"], "verbs": ["get"]},
                ],
            }),
            json!({
                "kind": "RoleBinding", "metadata": {"name": "readers", "namespace": "default"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
                "subjects": [
                    {"kind": "User", "name": "jane"},
                    {"kind": "ServiceAccount", "name": "sa"},
                ],
            }),
            json!({
                "kind": "ClusterRoleBinding", "metadata": {"name": "viewers"},
                "roleRef": {"kind": "ClusterRole", "name": "view"},
                "subjects": [{"kind": "Group", "name": "viewers"}],
            }),
            json!({
                "kind": "ClusterRoleBinding", "metadata": {"name": "b1"},
                "roleRef": {"kind": "ClusterRole", "name": "nope"},
                "subjects": [{"kind": "User", "name": "u"}],
            }),
            json!({
                "kind": "RoleBinding", "metadata": {"name": "b2", "namespace": "default"},
                "roleRef": {"kind": "Role", "name": "nope2"},
                "subjects": [{"kind": "User", "name": "u"}],
            }),
        ]
    }

    #[test]
    fn bindings_allow_what_their_roles_say() {
        let authorizer = authorizer(&objects());
        let allows = |user: User, text: &str| authorizer.authorize(&request(user, text)).allowed;
        for text in [
            "get /pods default p",
            "list /pods default -",
            "get /pods/scale default p",
            "get /secrets default one",
        ] {
            assert!(allows(user("jane", &[]), text), "{text}");
            assert!(allows(user("system:serviceaccount:default:sa", &[]), text), "{text}");
        }
        for text in [
            "delete /pods default p",
            "get /pods other p",
            "get /pods/log default p",
            "get apps/pods default p",
            "get /secrets default two",
            "list /secrets default -",
        ] {
            assert!(!allows(user("jane", &[]), text), "{text}");
        }
        assert!(!allows(user("system:serviceaccount:other:sa", &[]), "get /pods default p"));
        assert!(allows(user("any", &["viewers"]), "get /pods/log other p"), "view is aggregated");
        assert!(!allows(user("any", &["viewers"]), "get /secrets other s"));
        assert!(allows(user("any", &[MASTERS]), "delete anything/x - -"));
    }

    #[test]
    fn reasons_have_the_texts_of_kube_apiserver() {
        let authorizer = authorizer(&objects());
        let reason = |user: User, text: &str| authorizer.authorize(&request(user, text)).reason;
        assert_eq!(
            reason(user("jane", &[]), "get /pods default p"),
            "RBAC: allowed by RoleBinding \"readers/default\" of Role \"reader\" to User \"jane\""
        );
        assert_eq!(
            reason(user("system:serviceaccount:default:sa", &[]), "get /pods default p"),
            "RBAC: allowed by RoleBinding \"readers/default\" of Role \"reader\" to ServiceAccount \"sa/default\""
        );
        assert_eq!(
            reason(user("v", &["viewers"]), "get /pods default p"),
            "RBAC: allowed by ClusterRoleBinding \"viewers\" of ClusterRole \"view\" to Group \"viewers\""
        );
        assert_eq!(reason(user("v", &[]), "get /pods default p"), "");
        assert_eq!(
            reason(user("u", &[]), "list /pods default -"),
            "rbac: RBAC: [clusterrole.rbac.authorization.k8s.io \"nope\" not found, \
             role.rbac.authorization.k8s.io \"nope2\" not found]"
        );
        assert_eq!(
            reason(user("u", &[]), "list /pods - -"),
            "rbac: RBAC: clusterrole.rbac.authorization.k8s.io \"nope\" not found"
        );
    }

    #[test]
    fn modes_are_asked_in_their_order() {
        let modes = |text: &str| {
            let modes = text.split(',').map(|mode| mode.parse().expect("a mode")).collect();
            authorizer(&objects()).with_modes(modes)
        };
        let decide = |text: &str, who: User| {
            let decision = modes(text).authorize(&request(who, "get /pods default p"));
            (decision.allowed, decision.reason)
        };
        let forbidden = "alwaysdeny: Everything is forbidden.".to_owned();
        assert_eq!(decide("AlwaysDeny", user("jane", &[])), (false, forbidden.clone()));
        assert_eq!(decide("AlwaysDeny", user("root", &[MASTERS])), (true, String::new()));
        assert_eq!(decide("AlwaysDeny,AlwaysAllow", user("v", &[])), (true, String::new()));
        assert_eq!(decide("RBAC,AlwaysAllow", user("v", &[])), (true, String::new()));
        assert!(decide("AlwaysDeny,RBAC", user("jane", &[])).1.starts_with("RBAC: allowed by RoleBinding"));
        let reason = format!(
            "{forbidden}\nrbac: RBAC: [clusterrole.rbac.authorization.k8s.io \"nope\" not found, \
             role.rbac.authorization.k8s.io \"nope2\" not found]"
        );
        assert_eq!(decide("AlwaysDeny,RBAC", user("u", &[])), (false, reason));
        assert_eq!(
            "Node".parse::<AuthorizationMode>().expect_err("not here").to_string(),
            "\"Node\" is an authorization mode of kube-apiserver that this server does not have; supported are RBAC, \
             AlwaysAllow and AlwaysDeny"
        );
    }

    #[test]
    fn refusals_have_the_texts_of_kube_apiserver() {
        let authorizer = authorizer(&[]);
        let refused = |attributes: &Attributes| authorizer.require(attributes).expect_err("no");
        let cases = [
            (
                "list /pods default -",
                "pods is forbidden: User \"u\" cannot list resource \"pods\" in API group \"\" in the namespace \
                 \"default\"",
            ),
            (
                "get example.com/widgets/status default w",
                "widgets.example.com \"w\" is forbidden: User \"u\" cannot get resource \"widgets/status\" in API \
                 group \"example.com\" in the namespace \"default\"",
            ),
            (
                "list /nodes - -",
                "nodes is forbidden: User \"u\" cannot list resource \"nodes\" in API group \"\" at the cluster scope",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(refused(&request(user("u", &[]), text)).message, message);
        }
        let path = Attributes {
            user: user("u", &[]),
            verb: "get".to_owned(),
            target: Target::Path("/a<b&c".to_owned()),
        };
        let status = refused(&path);
        assert_eq!(status.message, "forbidden: User \"u\" cannot get path \"/a&lt;b&amp;c\"");
        assert_eq!(status.to_value()["details"], json!({}));
    }

    #[test]
    fn a_fresh_cluster_shows_health_to_all_and_discovery_to_the_authenticated() {
        let authorizer = authorizer(&[]);
        let allows = |group: &str, path: &str| {
            let attributes = Attributes {
                user: user("x", &[group]),
                verb: "get".to_owned(),
                target: Target::Path(path.to_owned()),
            };
            authorizer.authorize(&attributes).allowed
        };
        for path in ["/healthz", "/livez", "/readyz", "/version"] {
            assert!(allows("system:unauthenticated", path), "{path}");
        }
        for path in ["/api", "/apis", "/apis/apps/v1", "/openapi/v3/apis/apps/v1"] {
            assert!(!allows("system:unauthenticated", path), "{path}");
            assert!(allows("system:authenticated", path), "{path}");
        }
        assert!(!allows("system:authenticated", "/metrics"));
        let review = request(
            user("x", &["system:authenticated"]),
            "create authorization.k8s.io/selfsubjectaccessreviews - -",
        );
        assert!(authorizer.authorize(&review).allowed);
    }
}
