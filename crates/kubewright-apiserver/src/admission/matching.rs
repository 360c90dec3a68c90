use std::sync::Arc;

use kubewright_schema::cel::Values;
use serde_json::Value;

use super::{
    Operation, attributes::Attributes, condition::Matched, configuration::Webhook, review, rule::Rule,
};
use crate::{
    registry::{Registry, Served, metadata},
    selector::LabelSelector,
    status::{GroupResource, Status},
};

/// Which requests a webhook or a policy is about.
#[derive(Debug)]
pub(super) struct Matching {
    /// Without rules it is about all resources.
    rules: Option<Vec<Rule>>,
    /// What it is not about, whatever the rules say.
    excluded: Vec<Rule>,
    /// Whether rules are also about other versions of the resource than the one they name.
    matches_equivalents: bool,
    namespaces: LabelSelector,
    objects: LabelSelector,
}

/// That a webhook or a policy is asked about a request.
#[derive(Debug)]
pub(super) struct Invocation {
    /// The resource as it is shown, which may be at another version than the request's.
    pub(super) served: Arc<Served>,
}

impl Matching {
    pub(super) fn of_webhook(webhook: &Value) -> Self {
        Self { rules: Some(Rule::read_all(&webhook["rules"])), ..Self::read(webhook) }
    }

    /// Reads the `matchConstraints` of a policy or the `matchResources` of a binding.
    pub(super) fn of_policy(resources: &Value) -> Self {
        let rules = Rule::read_all(&resources["resourceRules"]);
        Self {
            rules: (!rules.is_empty()).then_some(rules),
            excluded: Rule::read_all(&resources["excludeResourceRules"]),
            ..Self::read(resources)
        }
    }

    fn read(value: &Value) -> Self {
        // What cannot be read was refused; it selects nothing.
        let selector = |field: &str| match &value[field] {
            Value::Null => LabelSelector::everything(),
            selector => {
                LabelSelector::from_object(Some(selector)).unwrap_or_else(|_| LabelSelector::nothing())
            }
        };
        Self {
            rules: None,
            excluded: Vec::new(),
            matches_equivalents: value["matchPolicy"].as_str() != Some("Exact"),
            namespaces: selector("namespaceSelector"),
            objects: selector("objectSelector"),
        }
    }
}

impl Registry {
    /// Whether a webhook is asked about a request, and as what. `object` is as it is by now.
    ///
    /// # Errors
    /// If that cannot be told.
    pub(super) async fn match_webhook(
        &self,
        webhook: &Webhook,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<Option<Invocation>, Status> {
        let Some(invocation) = self.matches(&webhook.matching, attributes, object)? else { return Ok(None) };
        if webhook.conditions.is_empty() {
            return Ok(Some(invocation));
        }
        let values = self.values(&invocation, attributes, object).await?;
        match webhook.conditions.evaluate(&values) {
            Matched::Yes => Ok(Some(invocation)),
            Matched::No => Ok(None),
            Matched::Unknown(_) if webhook.ignores_failures => Ok(None),
            Matched::Unknown(why) => {
                let resource = attributes.request.served.group_resource();
                Err(Status::forbidden(&resource, attributes.name(object), &why))
            }
        }
    }

    /// Whether a request is one of those, and of which version.
    ///
    /// # Errors
    /// 404 if that depends on a namespace that is not there.
    pub(super) fn matches(
        &self,
        matching: &Matching,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<Option<Invocation>, Status> {
        let selected = self.selects_namespace(&matching.namespaces, attributes, object);
        if matches!(selected, Ok(false)) || !selects_object(&matching.objects, attributes, object) {
            return Ok(None);
        }
        let matched = |rules: &[Rule]| self.match_rules(rules, matching, attributes, object);
        if matched(&matching.excluded).is_some() {
            return Ok(None);
        }
        let served = match &matching.rules {
            None => Some(attributes.request.served.clone()),
            Some(rules) => matched(rules),
        };
        let Some(served) = served else { return Ok(None) };
        // A namespace that is not there matters only to those who would be asked.
        selected?;
        Ok(Some(Invocation { served }))
    }

    /// The resource that a rule matches: the request's own, or else an equivalent one.
    fn match_rules(
        &self,
        rules: &[Rule],
        matching: &Matching,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Option<Arc<Served>> {
        let own = &attributes.request.served;
        if rules.iter().any(|rule| rule.matches(attributes, own.resource_name(), object)) {
            return Some(own.clone());
        }
        if !matching.matches_equivalents {
            return None;
        }
        let catalog = self.catalog();
        // Earlier rules come first.
        rules.iter().find_map(|rule| {
            let mut others = catalog.equivalents(own);
            others.find(|other| rule.matches(attributes, other.resource_name(), object)).cloned()
        })
    }

    /// What expressions see of a request.
    pub(super) async fn values(
        &self,
        invocation: &Invocation,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<Values, Status> {
        let (from, to) = (&attributes.request.served, &invocation.served);
        let mut seen = [Value::Null, Value::Null];
        for (seen, own) in seen.iter_mut().zip([object, attributes.old]) {
            if let Some(own) = own {
                *seen = self.convert_for(attributes, from, to, own.clone()).await?;
            }
        }
        let [new, old] = seen;
        let mut request = review::request(invocation, attributes, "", object, None);
        let fields = metadata::as_map(&mut request);
        for field in ["uid", "object", "oldObject"] {
            fields.remove(field);
        }
        Ok(Values::new()
            .with("object", &new)
            .with("oldObject", &old)
            .with("request", &request)
            .with("namespaceObject", &Value::Null)
            .with_authorizer(self.access_of(attributes.user()), attributes.access_request(object)))
    }

    /// An object of the request in another version of its resource. One of a subresource's own kind stays as it is.
    pub(super) async fn convert_for(
        &self,
        attributes: &Attributes<'_>,
        from: &Served,
        to: &Served,
        object: Value,
    ) -> Result<Value, Status> {
        if attributes.has_object_of_resource() { self.convert(from, to, object).await } else { Ok(object) }
    }

    /// Whether a selector of namespaces selects that of the request.
    ///
    /// # Errors
    /// 404 if the namespace is not there.
    fn selects_namespace(
        &self,
        selector: &LabelSelector,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<bool, Status> {
        if selector.is_everything() {
            return Ok(true);
        }
        let is_itself = attributes.is_namespace()
            && attributes.request.subresource.is_empty()
            && attributes.operation() != Operation::Delete;
        if let Some(namespace) = object.filter(|_| is_itself) {
            return Ok(selector.matches(namespace));
        }
        let name = attributes.namespace(object);
        if name.is_empty() {
            // What is in no namespace cannot be left out by one.
            return Ok(true);
        }
        match self.store.get("/namespaces", name) {
            Some(namespace) => Ok(selector.matches(namespace.value())),
            None => Err(Status::not_found(&GroupResource::new("", "namespaces"), name)),
        }
    }
}

/// Whether a selector of objects selects the new or the old object.
fn selects_object(selector: &LabelSelector, attributes: &Attributes<'_>, object: Option<&Value>) -> bool {
    let selects = |object: &Value| {
        let labels = metadata::get(object, "labels").and_then(Value::as_object);
        selector.matches_labels(labels)
    };
    selector.is_everything() || object.is_some_and(selects) || attributes.old.is_some_and(selects)
}
