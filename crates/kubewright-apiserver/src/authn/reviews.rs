//! The virtual kinds of `authentication.k8s.io`: they are answered, not stored.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Authenticator, BoundObjects, ObjectRef, tokens::Bindings};
use crate::{
    status::{Cause, GroupKind, GroupResource, Status},
    user::User,
};

impl User {
    /// The user as `authentication.k8s.io/v1 UserInfo`, empty fields left out.
    #[must_use]
    pub fn to_user_info(&self) -> Value {
        let mut info = json!({"username": self.name});
        if !self.uid.is_empty() {
            info["uid"] = json!(self.uid);
        }
        if !self.groups.is_empty() {
            info["groups"] = json!(self.groups);
        }
        if !self.extra.is_empty() {
            info["extra"] = json!(self.extra);
        }
        info
    }
}

impl Authenticator {
    /// Answers a `TokenReview`: the object with its `status`.
    ///
    /// # Errors
    /// 400 when it holds no token.
    pub fn review_token(&self, mut review: Value, objects: &dyn BoundObjects) -> Result<Value, Status> {
        let token = review.pointer("/spec/token").and_then(Value::as_str).unwrap_or_default();
        if token.is_empty() {
            return Err(Status::bad_request("token is required for TokenReview in authentication"));
        }
        let audiences = strings(review.pointer("/spec/audiences"));
        review["status"] = match self.token_user(token, &audiences, objects) {
            Ok((user, audiences)) => {
                json!({"authenticated": true, "user": user.to_user_info(), "audiences": audiences})
            }
            Err(error) => json!({"user": {}, "error": error.to_string()}),
        };
        if !review["metadata"].is_object() {
            review["metadata"] = json!({});
        }
        Ok(review)
    }

    /// Answers a `SelfSubjectReview` of this user.
    #[must_use]
    pub fn review_self(&self, user: &User) -> Value {
        json!({
            "kind": "SelfSubjectReview",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"creationTimestamp": timestamp(self.issuer.now())},
            "status": {"userInfo": user.to_user_info()},
        })
    }

    /// A `TokenRequest` for a stored service account with everything that it leaves to the server, but no token.
    ///
    /// # Errors
    /// 422 when the lifetime is out of bounds.
    pub(crate) fn complete_token_request(
        &self,
        account: &Value,
        mut request: Value,
    ) -> Result<Value, Status> {
        set_token_defaults(&mut request);
        check_lifetime(request["spec"]["expirationSeconds"].as_i64().unwrap_or_default())?;
        if strings(request.pointer("/spec/audiences")).is_empty() {
            request["spec"]["audiences"] = json!(self.audiences);
        }
        request["kind"] = json!("TokenRequest");
        request["apiVersion"] = json!("authentication.k8s.io/v1");
        if !request["metadata"].is_object() {
            request["metadata"] = json!({});
        }
        for key in ["name", "namespace", "uid"] {
            request["metadata"][key] = json!(account["metadata"][key].as_str().unwrap_or_default());
        }
        request["metadata"]["creationTimestamp"] = json!(timestamp(self.issuer.now()));
        request["status"] = json!({"token": "", "expirationTimestamp": null});
        Ok(request)
    }

    /// Answers a `TokenRequest` for a stored service account: the object with its `status`.
    ///
    /// # Errors
    /// 422 when the lifetime is out of bounds, 400 when a token cannot be bound to the object that is named,
    /// 404 when that does not exist, 409 when it is another one.
    pub fn request_token(
        &self,
        account: &Value,
        request: Value,
        objects: &dyn BoundObjects,
    ) -> Result<Value, Status> {
        let mut request = self.complete_token_request(account, request)?;
        let text = |pointer| account.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let namespace = text("/metadata/namespace");
        let seconds = request["spec"]["expirationSeconds"].as_i64().unwrap_or_default();
        let audiences = strings(request.pointer("/spec/audiences"));
        let mut bindings = Bindings {
            namespace: namespace.to_owned(),
            serviceaccount: ObjectRef {
                name: text("/metadata/name").to_owned(),
                uid: text("/metadata/uid").to_owned(),
            },
            pod: None,
            secret: None,
            node: None,
        };
        let bound = request.pointer("/spec/boundObjectRef").filter(|bound| !bound.is_null());
        if let Some(bound) = bound {
            bind(&mut bindings, bound, objects)?;
        }
        let bound = bound.cloned().unwrap_or_default();
        let (token, claims) = self.issuer.issue(bindings, audiences.clone(), seconds);
        request["metadata"]["creationTimestamp"] = json!(timestamp(claims.iat));
        request["spec"] =
            json!({"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound});
        request["status"] = json!({"token": token, "expirationTimestamp": timestamp(claims.exp)});
        Ok(request)
    }
}

/// Sets how long a token is wanted where a `TokenRequest` does not say so: an hour.
pub(crate) fn set_token_defaults(request: &mut Value) {
    if !request.is_object() {
        *request = json!({});
    }
    let spec = &mut request["spec"];
    if !spec.is_object() {
        *spec = json!({});
    }
    if spec["expirationSeconds"].is_null() {
        spec["expirationSeconds"] = json!(3600);
    }
}

fn check_lifetime(seconds: i64) -> Result<(), Status> {
    let detail = match seconds {
        ..600 => "may not specify a duration less than 10 minutes",
        600..=0x1_0000_0000 => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let cause = Cause::invalid("spec.expirationSeconds", &json!(seconds), detail);
    Err(Status::invalid(&GroupKind::new("authentication.k8s.io", "TokenRequest"), "", vec![cause]))
}

/// Binds the token to the object that `spec.boundObjectRef` names.
fn bind(bindings: &mut Bindings, bound: &Value, objects: &dyn BoundObjects) -> Result<(), Status> {
    let text = |key: &str| bound.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind, name) = (text("apiVersion"), text("kind"), text("name"));
    let resource = match (api_version, kind) {
        ("v1", "Pod") => "pods",
        ("v1", "Secret") => "secrets",
        ("v1", "Node") => "nodes",
        _ => {
            let group_version =
                if api_version.contains('/') { api_version.to_owned() } else { format!("/{api_version}") };
            return Err(Status::bad_request(format!(
                "cannot bind token to object of type {group_version}, Kind={kind}"
            )));
        }
    };
    let namespace = if resource == "nodes" { "" } else { bindings.namespace.as_str() };
    let group_resource = GroupResource::new("", resource);
    let Some(uid) = objects.uid(resource, namespace, name) else {
        return Err(Status::not_found(&group_resource, name));
    };
    let wanted = text("uid");
    if !wanted.is_empty() && wanted != uid {
        let why = format!(
            "the UID in the bound object reference ({wanted}) does not match the UID in record. The object might have been deleted and then recreated"
        );
        return Err(Status::conflict(&group_resource, name, &why));
    }
    let object = ObjectRef { name: name.to_owned(), uid };
    match resource {
        "pods" => {
            bindings.node =
                objects.node_of_pod(namespace, name).filter(|node| !node.is_empty()).map(|node| {
                    let uid = objects.uid("nodes", "", &node).unwrap_or_default();
                    ObjectRef { name: node, uid }
                });
            bindings.pod = Some(object);
        }
        "secrets" => bindings.secret = Some(object),
        _ => bindings.node = Some(object),
    }
    Ok(())
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let values = value.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Kubernetes' `Time`: whole seconds.
fn timestamp(second: i64) -> String {
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kubewright_world::{Clock, Random};

    use super::{
        super::{TokenIssuer, tokens::tests::Objects},
        *,
    };

    fn authenticator() -> Authenticator {
        Authenticator::new(TokenIssuer::new(Clock::system(), &Random::seeded(1)))
    }

    fn objects() -> Objects {
        Objects(BTreeMap::from([
            ("serviceaccounts/default/s1".to_owned(), "sa-uid".to_owned()),
            ("pods/default/p1".to_owned(), "pod-uid".to_owned()),
            ("nodes//node-1".to_owned(), "node-uid".to_owned()),
        ]))
    }

    fn request(spec: &Value) -> Result<Value, Status> {
        let account = json!({"metadata": {"name": "s1", "namespace": "default", "uid": "sa-uid"}});
        authenticator().request_token(&account, json!({"spec": spec}), &objects())
    }

    #[test]
    fn a_requested_token_reviews_as_its_account() {
        let answer = request(&json!({})).expect("a token");
        assert_eq!(answer["metadata"]["name"], "s1");
        assert_eq!(
            answer["spec"],
            json!({
                "audiences": ["https://kubernetes.default.svc"],
                "expirationSeconds": 3600,
                "boundObjectRef": null,
            })
        );
        let review = json!({"spec": {"token": answer["status"]["token"]}});
        let answer = authenticator().review_token(review, &objects()).expect("a review");
        let status = &answer["status"];
        assert_eq!(status["authenticated"], true);
        assert_eq!(status["user"]["username"], "system:serviceaccount:default:s1");
        assert_eq!(status["user"]["uid"], "sa-uid");
        assert_eq!(
            status["user"]["groups"],
            json!(["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"])
        );
        assert_eq!(status["audiences"], json!(["https://kubernetes.default.svc"]));
    }

    #[test]
    fn a_token_is_bound_to_a_pod_and_its_node() {
        let bound = json!({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p1"}});
        let answer = request(&bound).expect("a token");
        let token = answer["status"]["token"].as_str().expect("a text");
        let (user, _) = authenticator().token_user(token, &[], &objects()).expect("valid");
        assert_eq!(user.extra["authentication.kubernetes.io/pod-uid"], ["pod-uid"]);
        assert_eq!(user.extra["authentication.kubernetes.io/node-name"], ["node-1"]);
        assert_eq!(user.extra["authentication.kubernetes.io/node-uid"], ["node-uid"]);
    }

    #[test]
    fn refusals_have_the_texts_of_kube_apiserver() {
        let cases = [
            (
                json!({"expirationSeconds": 5}),
                "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 5: may \
                 not specify a duration less than 10 minutes",
            ),
            (
                json!({"boundObjectRef": {"kind": "Foo", "apiVersion": "v1", "name": "x"}}),
                "cannot bind token to object of type /v1, Kind=Foo",
            ),
            (
                json!({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "x"}}),
                "pods \"x\" not found",
            ),
        ];
        for (spec, message) in cases {
            assert_eq!(request(&spec).expect_err(message).message, message);
        }
        let review = |spec: Value| authenticator().review_token(json!({"spec": spec}), &objects());
        assert_eq!(
            review(json!({})).expect_err("no token").message,
            "token is required for TokenReview in authentication"
        );
        assert_eq!(
            review(json!({"token": "bad"})).expect("a review")["status"],
            json!({"user": {}, "error": "invalid bearer token"})
        );
        let token = request(&json!({"audiences": ["a"]})).expect("a token")["status"]["token"].clone();
        assert_eq!(
            review(json!({"token": token})).expect("a review")["status"]["error"],
            "[invalid bearer token, token audiences [\"a\"] is invalid for the target audiences \
             [\"https://kubernetes.default.svc\"]]"
        );
        assert_eq!(
            review(json!({"token": token, "audiences": ["a", "b"]})).expect("a review")["status"]["audiences"],
            json!(["a"])
        );
    }
}
