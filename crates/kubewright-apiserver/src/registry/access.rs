//! Who may do what: the stored objects that authentication and authorization ask, and the kinds that answer
//! questions about them.

use serde_json::Value;

use super::{Registry, Request, metadata};
use crate::{
    admission::{self, Options},
    authn::{self, BoundObjects},
    authz::{Attributes, RbacObjects, Target},
    status::{Cause, GroupKind, Status},
    store::Store,
    wire::options::WriteOptions,
};

const RBAC: &str = "rbac.authorization.k8s.io";
const RBAC_RESOURCES: [&str; 4] = ["clusterrolebindings", "clusterroles", "rolebindings", "roles"];

/// The stored objects, as authentication and authorization see them.
#[derive(Clone, Debug)]
pub(crate) struct AccessObjects(pub(crate) Store);

impl RbacObjects for AccessObjects {
    fn revision(&self) -> u64 {
        RBAC_RESOURCES
            .iter()
            .map(|resource| self.0.latest(&format!("{RBAC}/{resource}")))
            .max()
            .unwrap_or_default()
    }

    fn visit(&self, resource: &str, visit: &mut dyn FnMut(&Value)) {
        for (_, object) in self.0.list(&format!("{RBAC}/{resource}")).range("", "") {
            visit(object.value());
        }
    }
}

impl BoundObjects for AccessObjects {
    fn uid(&self, resource: &str, namespace: &str, name: &str) -> Option<String> {
        let key = if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") };
        let object = self.0.get(&format!("/{resource}"), &key)?;
        (!metadata::is_deleting(object.value())).then(|| metadata::uid(object.value()).to_owned())
    }

    fn node_of_pod(&self, namespace: &str, name: &str) -> Option<String> {
        let pod = self.0.get("/pods", &format!("{namespace}/{name}"))?;
        pod.value().pointer("/spec/nodeName").and_then(Value::as_str).map(str::to_owned)
    }
}

impl Registry {
    /// Answers a question, which is not stored. It has managed fields, but neither policies nor webhooks are asked about it: without
    /// its answer nobody could do anything.
    ///
    /// # Errors
    /// With what is wrong with the question.
    pub(crate) fn review(
        &self,
        request: &Request,
        options: &WriteOptions,
        mut question: Value,
    ) -> Result<Value, Status> {
        self.match_namespace(request, &mut question)?;
        let manager = request.served.field_manager("");
        let question = manager.update(&Value::Null, question, &options.field_manager, self.clock.now());
        let definition = &request.served.definition;
        let objects = AccessObjects(self.store.clone());
        match (definition.group.as_str(), definition.kind.as_str()) {
            ("authentication.k8s.io", "TokenReview") => self.authenticator.review_token(question, &objects),
            ("authentication.k8s.io", "SelfSubjectReview") => {
                Ok(self.authenticator.review_self(&request.user))
            }
            ("authorization.k8s.io", "SubjectAccessReview") => self.authorizer.review_access(question),
            ("authorization.k8s.io", "LocalSubjectAccessReview") => {
                self.authorizer.review_local_access(question)
            }
            ("authorization.k8s.io", "SelfSubjectAccessReview") => {
                self.authorizer.review_own_access(&request.user, question)
            }
            ("authorization.k8s.io", "SelfSubjectRulesReview") => {
                self.authorizer.review_own_rules(&request.user, &question)
            }
            _ => Err(Status::no_such_resource()),
        }
    }

    /// Issues a token for the service account that the request names.
    ///
    /// # Errors
    /// 404, what is wrong with the `TokenRequest`, or the refusal of admission.
    pub(crate) async fn request_token(
        &self,
        request: &Request,
        options: &WriteOptions,
        mut question: Value,
    ) -> Result<Value, Status> {
        authn::set_token_defaults(&mut question);
        let attributes = admission::Attributes::new(request, Options::Create(options), None);
        let question = self.mutate_object(&attributes, question).await?;
        let account =
            self.store.get(&request.served.bucket, &request.key()).ok_or_else(|| request.not_found())?;
        let name = metadata::name(&question);
        if !name.is_empty() && name != request.name {
            let detail = "must match the service account name if specified";
            let cause = Cause::invalid("metadata.name", &Value::from(name), detail);
            let kind = GroupKind::new("authentication.k8s.io", "TokenRequest");
            return Err(Status::invalid(&kind, &request.name, vec![cause]));
        }
        let question = self.authenticator.complete_token_request(account.value(), question)?;
        self.allow(&attributes, Some(&question)).await?;
        let objects = AccessObjects(self.store.clone());
        self.authenticator.request_token(account.value(), question, &objects)
    }

    /// Refuses to let a user grant what they do not have themselves, by a role or by a binding.
    pub(super) fn check_escalation(
        &self,
        request: &Request,
        new: &Value,
        old: Option<&Value>,
    ) -> Result<(), Status> {
        let definition = &request.served.definition;
        if definition.group != RBAC {
            return Ok(());
        }
        let namespace = request.namespace.as_str();
        let name = metadata::name(new);
        let rules = if definition.kind.ends_with("Binding") {
            let is_same = |field| old.is_some_and(|old| old.get(field) == new.get(field));
            if is_same("subjects") && is_same("roleRef") {
                return Ok(());
            }
            let (resource, role) = referenced_role(new, namespace);
            if self.may(request, "bind", &resource, &role.name, namespace) {
                return Ok(());
            }
            let stored = self.store.get(&format!("{RBAC}/{resource}"), &role.key);
            // A real server says so of the binding's resource, with the name of the role.
            let missing = || Status::not_found(&request.served.group_resource(), &role.name);
            let role = stored.ok_or_else(missing)?;
            role.value().get("rules").cloned()
        } else {
            if old.is_some_and(|old| old.get("rules") == new.get("rules"))
                || self.may(request, "escalate", &definition.plural, name, namespace)
            {
                return Ok(());
            }
            new.get("rules").cloned()
        };
        self.authorizer
            .confirm_no_escalation(&request.user, namespace, rules.as_ref())
            .map_err(|why| Status::forbidden(&request.served.group_resource(), name, &why))
    }

    fn may(&self, request: &Request, verb: &str, resource: &str, name: &str, namespace: &str) -> bool {
        let attributes = Attributes {
            user: request.user.clone(),
            verb: verb.to_owned(),
            target: Target::Resource {
                group: RBAC.to_owned(),
                version: "v1".to_owned(),
                resource: resource.to_owned(),
                subresource: String::new(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
        };
        self.authorizer.authorize(&attributes).allowed
    }
}

/// The role that a binding refers to.
struct RoleRef {
    name: String,
    key: String,
}

fn referenced_role(binding: &Value, namespace: &str) -> (String, RoleRef) {
    let text = |field: &str| {
        binding.pointer(&format!("/roleRef/{field}")).and_then(Value::as_str).unwrap_or_default()
    };
    let name = text("name").to_owned();
    if text("kind") == "Role" {
        let key = format!("{namespace}/{name}");
        ("roles".to_owned(), RoleRef { name, key })
    } else {
        ("clusterroles".to_owned(), RoleRef { key: name.clone(), name })
    }
}
