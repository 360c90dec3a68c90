//! The values that expressions ask whether a user may do something: `authorizer.group('').resource('pods').check('get')`.

use std::{fmt, sync::Arc};

use kube_cel::cel::{Context, ExecutionError, Value, extractors::This, objects::Opaque};

use super::checker::LibraryType;

/// Decides whether a user may do something.
pub trait Authorize: Send + Sync {
    /// Decides.
    fn authorize(&self, request: &AccessRequest) -> AccessDecision;
}

/// What an expression asks about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessRequest {
    /// The service account, as namespace and name, if it is not the user of the request who is asked about.
    pub service_account: Option<(String, String)>,
    /// The path, if it is no resource.
    pub path: String,
    /// The API group.
    pub group: String,
    /// The plural of the resource.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// What is to be done.
    pub verb: String,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessDecision {
    /// Whether it is allowed.
    pub allowed: bool,
    /// Why.
    pub reason: String,
}

/// A question that is not finished.
#[derive(Clone)]
struct Check {
    of: LibraryType,
    authorizer: Arc<dyn Authorize>,
    request: AccessRequest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Decided(AccessDecision);

/// The value of `authorizer`.
pub(super) fn authorizer(authorizer: Arc<dyn Authorize>) -> Value {
    value(Check { of: LibraryType::Authorizer, authorizer, request: AccessRequest::default() })
}

/// The value of `authorizer.requestResource`.
pub(super) fn request_resource(authorizer: Arc<dyn Authorize>, request: AccessRequest) -> Value {
    value(Check { of: LibraryType::AuthorizerResource, authorizer, request })
}

/// Registers the functions.
pub(super) fn register(context: &mut Context<'_>) {
    step(context, "path", LibraryType::Authorizer, LibraryType::AuthorizerPath, |request| &mut request.path);
    step(context, "group", LibraryType::Authorizer, LibraryType::AuthorizerGroup, |request| {
        &mut request.group
    });
    let resource = LibraryType::AuthorizerResource;
    step(context, "resource", LibraryType::AuthorizerGroup, resource, |request| &mut request.resource);
    step(context, "subresource", resource, resource, |request| &mut request.subresource);
    step(context, "namespace", resource, resource, |request| &mut request.namespace);
    step(context, "name", resource, resource, |request| &mut request.name);
    context.add_function(
        "serviceAccount",
        |This(this): This<Value>, namespace: Arc<String>, name: Arc<String>| {
            let mut check = check(&this, &[LibraryType::Authorizer])?;
            check.request.service_account = Some((namespace.to_string(), name.to_string()));
            Ok(value(check))
        },
    );
    // What is selected makes no difference to who decides by roles.
    for name in ["fieldSelector", "labelSelector"] {
        context.add_function(name, move |This(this): This<Value>, _: Arc<String>| {
            Ok(value(check(&this, &[LibraryType::AuthorizerResource])?))
        });
    }
    context.add_function("check", |This(this): This<Value>, verb: Arc<String>| {
        let mut check = check(&this, &[LibraryType::AuthorizerResource, LibraryType::AuthorizerPath])?;
        check.request.verb = verb.to_string();
        let decision = check.authorizer.authorize(&check.request);
        Ok(Value::Opaque(Arc::new(Decided(decision))))
    });
    context.add_function("allowed", |This(this): This<Value>| Ok(Value::Bool(decided(&this)?.allowed)));
    context.add_function("reason", |This(this): This<Value>| {
        Ok(Value::String(Arc::new(decided(&this)?.reason)))
    });
    context.add_function("errored", |This(this): This<Value>| decided(&this).map(|_| Value::Bool(false)));
    context.add_function("error", |This(this): This<Value>| {
        decided(&this).map(|_| Value::String(Arc::default()))
    });
}

/// Registers a function that says one thing more about what is asked.
fn step(
    context: &mut Context<'_>,
    name: &str,
    from: LibraryType,
    to: LibraryType,
    part: fn(&mut AccessRequest) -> &mut String,
) {
    context.add_function(name, move |This(this): This<Value>, text: Arc<String>| {
        let mut check = check(&this, &[from])?;
        *part(&mut check.request) = text.to_string();
        check.of = to;
        Ok::<_, ExecutionError>(value(check))
    });
}

fn value(check: Check) -> Value {
    Value::Opaque(Arc::new(check))
}

fn check(value: &Value, of: &[LibraryType]) -> Result<Check, ExecutionError> {
    let Value::Opaque(opaque) = value else { return Err(ExecutionError::NoSuchOverload) };
    let check = opaque.downcast_ref::<Check>().filter(|check| of.contains(&check.of));
    check.cloned().ok_or(ExecutionError::NoSuchOverload)
}

fn decided(value: &Value) -> Result<AccessDecision, ExecutionError> {
    let Value::Opaque(opaque) = value else { return Err(ExecutionError::NoSuchOverload) };
    let decided = opaque.downcast_ref::<Decided>().ok_or(ExecutionError::NoSuchOverload)?;
    Ok(decided.0.clone())
}

impl Opaque for Check {
    fn runtime_type_name(&self) -> &str {
        self.of.name()
    }
}

impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        (self.of, &self.request) == (other.of, &other.request)
    }
}

impl Eq for Check {}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("of", &self.of).field("request", &self.request).finish_non_exhaustive()
    }
}

impl Opaque for Decided {
    fn runtime_type_name(&self) -> &str {
        LibraryType::AuthorizerDecision.name()
    }
}
