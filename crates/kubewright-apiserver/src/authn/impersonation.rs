//! Acting as another user: the `Impersonate-*` headers and what must be allowed for them.
//!
//! Since 1.36 there are two ways to be allowed. In the constrained one the requestor needs two things: the
//! verb `impersonate:<mode>` on the user that is impersonated, and `impersonate-on:<mode>:<verb>` on what is
//! requested. The old one is the verb `impersonate` alone. The first refusal is the one that is told.

use std::collections::BTreeMap;

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, tokens::service_account_groups};
use crate::{
    authz::{Attributes, Authorizer, Target},
    selector::Quoted,
    status::Status,
    user::User,
};

/// The user that the headers ask to act as, if they do.
///
/// # Errors
/// 400 when they give a group, a uid or something extra without a name.
pub fn requested(headers: &HeaderMap) -> Result<Option<User>, Status> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let first = |name: &str| headers.get(name).map(text).unwrap_or_default();
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        if let Some(key) = name.as_str().strip_prefix("impersonate-extra-") {
            let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
            extra.entry(key).or_default().push(text(value));
        }
    }
    let user = User {
        name: first("impersonate-user"),
        uid: first("impersonate-uid"),
        groups: headers.get_all("impersonate-group").iter().map(text).collect(),
        extra,
    };
    if !user.name.is_empty() {
        return Ok(Some(user));
    }
    if user.uid.is_empty() && user.groups.is_empty() && user.extra.is_empty() {
        return Ok(None);
    }
    Err(Status::bad_request(format!("requested {} without impersonating a user name", go_syntax(&user))))
}

/// Who the requestor of `attributes` becomes when it asks to act as `wanted`.
///
/// # Errors
/// 403 when that is not allowed.
pub fn authorize(authorizer: &Authorizer, attributes: &Attributes, wanted: &User) -> Result<User, Status> {
    let mut refusal = None;
    for mode in Mode::ALL {
        if !mode.applies(&attributes.user, wanted) {
            continue;
        }
        match mode.check(authorizer, attributes, wanted) {
            Ok(user) => return Ok(user),
            Err(status) => {
                refusal.get_or_insert(status);
            }
        }
    }
    Err(refusal.unwrap_or_else(|| Status::internal("all impersonation modes failed")))
}

/// A way to be allowed, in the order they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A service account as the node its token is bound to.
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    /// Any user who is neither a node nor a service account.
    UserInfo,
    /// The verb `impersonate`.
    Legacy,
}

impl Mode {
    const ALL: [Self; 5] =
        [Self::AssociatedNode, Self::ArbitraryNode, Self::ServiceAccount, Self::UserInfo, Self::Legacy];

    fn name(self) -> &'static str {
        match self {
            Self::AssociatedNode => "associated-node",
            Self::ArbitraryNode => "arbitrary-node",
            Self::ServiceAccount => "serviceaccount",
            Self::UserInfo => "user-info",
            Self::Legacy => "",
        }
    }

    fn applies(self, requestor: &User, wanted: &User) -> bool {
        let name_alone = wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        let (node, account) = (node_name(&wanted.name), service_account(&wanted.name));
        match self {
            Self::AssociatedNode => {
                let bound = requestor.extra.get("authentication.kubernetes.io/node-name");
                name_alone
                    && service_account(&requestor.name).is_some()
                    && node.is_some_and(|node| bound.is_some_and(|bound| bound[..] == [node]))
            }
            Self::ArbitraryNode => name_alone && node.is_some(),
            Self::ServiceAccount => name_alone && account.is_some(),
            Self::UserInfo => node.is_none() && account.is_none(),
            Self::Legacy => true,
        }
    }

    fn check(self, authorizer: &Authorizer, attributes: &Attributes, wanted: &User) -> Result<User, Status> {
        let constrained = self != Self::Legacy;
        if constrained {
            let verb = format!("impersonate-on:{}:{}", self.name(), attributes.verb);
            authorizer.require(&Attributes { verb, ..attributes.clone() })?;
        }
        let verb =
            if constrained { format!("impersonate:{}", self.name()) } else { "impersonate".to_owned() };
        let on = |group: &str, resource: &str, subresource: &str, namespace: &str, name: &str| Attributes {
            user: attributes.user.clone(),
            verb: verb.clone(),
            target: Target::Resource {
                group: group.to_owned(),
                version: "v1".to_owned(),
                resource: resource.to_owned(),
                subresource: subresource.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
        };
        let authentication = "authentication.k8s.io";
        let group = if constrained { authentication } else { "" };
        let mut user = wanted.clone();

        let name = match (node_name(&wanted.name), service_account(&wanted.name)) {
            (Some(node), _) if constrained => {
                user.groups = vec!["system:nodes".to_owned()];
                on(group, "nodes", "", "", if self == Self::AssociatedNode { "*" } else { node })
            }
            (_, Some((namespace, name))) => {
                if user.groups.is_empty() {
                    user.groups = service_account_groups(namespace);
                }
                on(group, "serviceaccounts", "", namespace, name)
            }
            _ => on(group, "users", "", "", &wanted.name),
        };
        authorizer.require(&name)?;
        if !wanted.uid.is_empty() {
            authorizer.require(&on(authentication, "uids", "", "", &wanted.uid))?;
        }
        for name in &wanted.groups {
            let attributes = on(group, "groups", "", "", name);
            if constrained && (name.is_empty() || name == "system:masters") {
                let which = if name.is_empty() { "empty string" } else { name };
                let why = format!("impersonating the {which} group is not allowed");
                return Err(attributes.forbidden(&why));
            }
            authorizer.require(&attributes)?;
        }
        for (key, values) in &wanted.extra {
            for value in values {
                authorizer.require(&on(authentication, "userextras", key, "", value))?;
            }
        }
        let has = |group: &str, user: &User| user.groups.iter().any(|own| own == group);
        if user.name == ANONYMOUS {
            if !has(UNAUTHENTICATED, &user) {
                user.groups.push(UNAUTHENTICATED.to_owned());
            }
        } else if !has(UNAUTHENTICATED, &user) && !has(AUTHENTICATED, &user) {
            user.groups.push(AUTHENTICATED.to_owned());
        }
        Ok(user)
    }
}

fn node_name(user: &str) -> Option<&str> {
    user.strip_prefix("system:node:").filter(|node| !node.is_empty())
}

fn service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix("system:serviceaccount:")?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

/// The user as Go's `%#v` prints it, which is what the refusal shows.
fn go_syntax(user: &User) -> String {
    let list = |values: &[String]| {
        let values: Vec<String> = values.iter().map(|value| Quoted(value).to_string()).collect();
        format!("[]string{{{}}}", values.join(", "))
    };
    let groups = if user.groups.is_empty() { "[]string(nil)".to_owned() } else { list(&user.groups) };
    let extra: Vec<String> =
        user.extra.iter().map(|(key, values)| format!("{}:{}", Quoted(key), list(values))).collect();
    let extra = if extra.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", extra.join(", ")) };
    format!(
        "&user.DefaultInfo{{Name:{}, UID:{}, Groups:{groups}, Extra:map[string][]string{extra}}}",
        Quoted(&user.name),
        Quoted(&user.uid)
    )
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;
    use crate::authz::tests::authorizer;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn headers_are_read() {
        let wanted = requested(&headers(&[
            ("impersonate-user", "jane"),
            ("impersonate-group", "dev"),
            ("impersonate-group", "ops"),
            ("impersonate-extra-acme.com%2fproject", "x"),
        ]));
        let wanted = wanted.expect("valid").expect("asked for");
        assert_eq!((wanted.name.as_str(), wanted.groups.len()), ("jane", 2));
        assert_eq!(wanted.extra["acme.com/project"], ["x"]);
        assert_eq!(requested(&HeaderMap::new()), Ok(None));
        assert_eq!(
            requested(&headers(&[("impersonate-group", "v")])).expect_err("no name").message,
            "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"v\"}, \
             Extra:map[string][]string(nil)} without impersonating a user name"
        );
        let odd = headers(&[("impersonate-uid", "v"), ("impersonate-extra-scopes", "a")]);
        assert_eq!(
            requested(&odd).expect_err("no name").message,
            "requested &user.DefaultInfo{Name:\"\", UID:\"v\", Groups:[]string(nil), \
             Extra:map[string][]string{\"scopes\":[]string{\"a\"}}} without impersonating a user name"
        );
    }

    fn list_pods(user: &str) -> Attributes {
        Attributes {
            user: User { name: user.to_owned(), ..User::default() },
            verb: "list".to_owned(),
            target: Target::Resource {
                group: String::new(),
                version: "v1".to_owned(),
                resource: "pods".to_owned(),
                subresource: String::new(),
                namespace: "default".to_owned(),
                name: String::new(),
            },
        }
    }

    fn named(name: &str) -> User {
        User { name: name.to_owned(), ..User::default() }
    }

    #[test]
    fn refusals_have_the_texts_of_kube_apiserver() {
        let authorizer = authorizer(&[]);
        let refused =
            |wanted: &User| authorize(&authorizer, &list_pods("s1"), wanted).expect_err("no").message;
        for (wanted, mode) in [
            ("v", "user-info"),
            ("system:serviceaccount:default:s2", "serviceaccount"),
            ("system:node:n", "arbitrary-node"),
        ] {
            assert_eq!(
                refused(&named(wanted)),
                format!(
                    "pods is forbidden: User \"s1\" cannot impersonate-on:{mode}:list resource \"pods\" in API \
                     group \"\" in the namespace \"default\""
                )
            );
        }
    }

    #[test]
    fn an_impersonator_becomes_the_user() {
        let objects = [
            json!({
                "kind": "ClusterRole", "metadata": {"name": "old"},
                "rules": [{"apiGroups": [""], "resources": ["users", "serviceaccounts"], "verbs": ["impersonate"]}],
            }),
            json!({
                "kind": "ClusterRoleBinding", "metadata": {"name": "old"},
                "roleRef": {"kind": "ClusterRole", "name": "old"},
                "subjects": [{"kind": "User", "name": "s1"}],
            }),
            json!({
                "kind": "ClusterRole", "metadata": {"name": "new"},
                "rules": [
                    {"apiGroups": [""], "resources": ["pods"], "verbs": ["impersonate-on:user-info:list"]},
                    {
                        "apiGroups": ["authentication.k8s.io"], "resources": ["users"], "resourceNames": ["jane"],
                        "verbs": ["impersonate:user-info"],
                    },
                ],
            }),
            json!({
                "kind": "ClusterRoleBinding", "metadata": {"name": "new"},
                "roleRef": {"kind": "ClusterRole", "name": "new"},
                "subjects": [{"kind": "User", "name": "s2"}],
            }),
        ];
        let authorizer = authorizer(&objects);
        let become_ = |by: &str, wanted: &User| authorize(&authorizer, &list_pods(by), wanted);
        let account = become_("s1", &named("system:serviceaccount:ns:x")).expect("allowed");
        assert_eq!(
            account.groups,
            ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"]
        );
        assert_eq!(become_("s1", &named(ANONYMOUS)).expect("allowed").groups, [UNAUTHENTICATED]);
        assert!(become_("s1", &User { groups: vec!["g".to_owned()], ..named("v") }).is_err());
        assert!(become_("s2", &named("jane")).is_ok());
        assert!(become_("s2", &named("joe")).is_err());
        let admin = Attributes { user: User::admin(), ..list_pods("") };
        assert!(authorize(&authorizer, &admin, &User { uid: "1".to_owned(), ..named("v") }).is_ok());
    }
}
