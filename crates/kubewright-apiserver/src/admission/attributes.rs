use kubewright_schema::cel::AccessRequest;
use serde_json::{Map, Value, json};

use super::Admitters;
use crate::{
    registry::{Request, metadata},
    status::Status,
    types::{Type, Types},
    user::User,
    wire::options::{DeleteOptions, WriteOptions},
};

const ADMISSION_GROUP: &str = "admissionregistration.k8s.io";

/// What admission decides on, besides the object.
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'a> {
    pub(crate) request: &'a Request,
    /// The name that the request gives, empty if it gives none.
    name: &'a str,
    pub(crate) options: Options<'a>,
    /// The object as it is, of an update or a delete.
    pub(crate) old: Option<&'a Value>,
}

/// What is done, and with which options.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Options<'a> {
    Create(&'a WriteOptions),
    Update(&'a WriteOptions),
    Delete(&'a DeleteOptions),
    /// To what runs. What the client wants of it is the object.
    Connect,
}

/// What is done, as rules name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

/// A resource at a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResourceName<'a> {
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    pub(crate) resource: &'a str,
}

/// A kind at a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindName<'a> {
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    pub(crate) kind: &'a str,
}

// === impl Attributes ===

impl<'a> Attributes<'a> {
    pub(crate) fn new(request: &'a Request, options: Options<'a>, old: Option<&'a Value>) -> Self {
        Self { request, name: &request.name, options, old }
    }

    /// The same for one of the objects that a request means without naming it.
    pub(crate) fn unnamed(self) -> Self {
        Self { name: "", ..self }
    }

    /// Whether no webhook is asked: the server itself writes, or it is a configuration of those who would be asked.
    pub(crate) fn is_exempt(&self) -> bool {
        const WEBHOOKS: [&str; 2] = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
        self.request.admitters != Admitters::All
            || self.is_policy()
            || (self.group() == ADMISSION_GROUP && WEBHOOKS.contains(&self.plural()))
    }

    /// Whether no policy is asked: the server itself writes, or it is a policy, or a question that is not stored and
    /// without whose answer nobody could do anything.
    pub(crate) fn is_exempt_from_policies(&self) -> bool {
        self.request.admitters != Admitters::All
            || self.is_policy()
            || ["authentication.k8s.io", "authorization.k8s.io"].contains(&self.group())
    }

    fn is_policy(&self) -> bool {
        const POLICIES: [&str; 4] = [
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
        ];
        self.group() == ADMISSION_GROUP && POLICIES.contains(&self.plural())
    }

    fn group(&self) -> &'a str {
        &self.request.served.definition.group
    }

    fn plural(&self) -> &'a str {
        &self.request.served.definition.plural
    }

    /// Whether the object is of the resource's kind, and not of that of a subresource.
    pub(crate) fn has_object_of_resource(&self) -> bool {
        let (own, sent) = (self.request.served.kind_name(""), self.kind());
        (own.group, own.kind) == (sent.group, sent.kind)
    }

    /// Whether the request is one of a resource, or of one of its subresources.
    pub(crate) fn is_of(&self, group: &str, plural: &str, subresource: &str) -> bool {
        let definition = &self.request.served.definition;
        definition.plural == plural && definition.group == group && self.request.subresource == subresource
    }

    /// The refusal of a plugin.
    pub(crate) fn forbidden(&self, object: Option<&Value>, why: &str) -> Status {
        let name = match (self.name(object), object.map(|object| metadata::text(object, "generateName"))) {
            ("", None | Some("")) => "Unknown",
            ("", Some(generate_name)) => generate_name,
            (name, _) => name,
        };
        Status::forbidden(&self.request.served.group_resource(), name, why)
    }

    pub(crate) fn operation(&self) -> Operation {
        match self.options {
            Options::Create(_) => Operation::Create,
            Options::Update(_) => Operation::Update,
            Options::Delete(_) => Operation::Delete,
            Options::Connect => Operation::Connect,
        }
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        match self.options {
            Options::Create(options) | Options::Update(options) => options.dry_run,
            Options::Delete(options) => options.dry_run,
            Options::Connect => false,
        }
    }

    pub(crate) fn user(&self) -> &'a User {
        &self.request.user
    }

    pub(crate) fn resource(&self) -> ResourceName<'a> {
        self.request.served.resource_name()
    }

    /// The kind of the object that is sent, which for some subresources is not that of the resource.
    pub(crate) fn kind(&self) -> KindName<'a> {
        self.request.served.kind_name(&self.request.subresource)
    }

    /// What the request does, as `authorizer.requestResource` has it.
    pub(super) fn access_request(&self, object: Option<&Value>) -> AccessRequest {
        let resource = self.resource();
        let mut request = AccessRequest::default();
        request.group = resource.group.to_owned();
        request.resource = resource.resource.to_owned();
        request.subresource.clone_from(&self.request.subresource);
        self.namespace(object).clone_into(&mut request.namespace);
        self.name(object).clone_into(&mut request.name);
        request
    }

    /// The name of the object, as far as it is known.
    pub(crate) fn name<'o>(&'o self, object: Option<&'o Value>) -> &'o str {
        match object {
            Some(object) if self.name.is_empty() => metadata::name(object),
            _ => self.name,
        }
    }

    /// The namespace, which that of a namespace is itself.
    pub(crate) fn namespace<'o>(&'o self, object: Option<&'o Value>) -> &'o str {
        if self.is_namespace() { self.name(object) } else { &self.request.namespace }
    }

    /// Whether the object is a namespace.
    pub(crate) fn is_namespace(&self) -> bool {
        let definition = &self.request.served.definition;
        definition.group.is_empty() && definition.plural == "namespaces"
    }
}

// === impl Options ===

impl Options<'_> {
    /// The options as an object, null if there are none.
    pub(super) fn to_value(self) -> Value {
        let mut fields = Map::new();
        let kind = match self {
            Self::Create(options) => {
                write_fields(options, &mut fields);
                "CreateOptions"
            }
            Self::Update(options) => {
                write_fields(options, &mut fields);
                "UpdateOptions"
            }
            Self::Delete(options) => {
                delete_fields(options, &mut fields);
                "DeleteOptions"
            }
            Self::Connect => return Value::Null,
        };
        fields.insert("kind".to_owned(), Value::from(kind));
        fields.insert("apiVersion".to_owned(), Value::from("meta.k8s.io/v1"));
        Value::Object(fields)
    }
}

fn write_fields(options: &WriteOptions, fields: &mut Map<String, Value>) {
    if options.dry_run {
        fields.insert("dryRun".to_owned(), json!(["All"]));
    }
    for (name, given) in
        [("fieldManager", &options.given_field_manager), ("fieldValidation", &options.given_field_validation)]
    {
        if !given.is_empty() {
            fields.insert(name.to_owned(), Value::from(given.as_str()));
        }
    }
}

fn delete_fields(options: &DeleteOptions, fields: &mut Map<String, Value>) {
    if options.dry_run {
        fields.insert("dryRun".to_owned(), json!(["All"]));
    }
    let mut preconditions = Map::new();
    let texts = [("uid", &options.uid), ("resourceVersion", &options.resource_version)];
    for (name, given) in texts.into_iter().filter_map(|(name, given)| Some((name, given.as_ref()?))) {
        preconditions.insert(name.to_owned(), Value::from(given.as_str()));
    }
    let given = [
        ("gracePeriodSeconds", options.grace_period_seconds.map(Value::from)),
        ("orphanDependents", options.orphan_dependents.map(Value::from)),
        ("propagationPolicy", options.propagation_policy.clone().map(Value::from)),
        ("preconditions", (!preconditions.is_empty()).then_some(Value::Object(preconditions))),
    ];
    fields.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
}

// === impl Operation ===

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

// === impl ResourceName ===

impl ResourceName<'_> {
    pub(super) fn to_value(self) -> Value {
        json!({ "group": self.group, "version": self.version, "resource": self.resource })
    }
}

// === impl KindName ===

impl KindName<'_> {
    /// The Go type of a built-in kind.
    pub(crate) fn go_type(self) -> Option<&'static Type> {
        Types::get().kind(self.group, self.version, self.kind)
    }

    pub(super) fn to_value(self) -> Value {
        json!({ "group": self.group, "version": self.version, "kind": self.kind })
    }
}
