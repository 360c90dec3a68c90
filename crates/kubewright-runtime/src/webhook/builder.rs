use std::{any::type_name, fmt, marker::PhantomData};

use kubewright_manifests::crd::CrdBuilder;

use super::{
    Defaulter, Spoke, Validator, Webhooks,
    configuration::{Declared, usual_path},
    conversion::Converter,
    defaulter::Defaulting,
    registry::Endpoint,
    validator::Validating,
};
use crate::{Error, Result, client::Kind, crds::CustomKind};

/// What has webhooks: the manager, or [`Webhooks`] that are served by something else.
pub trait WebhookHost {
    /// The webhooks.
    fn webhooks(&self) -> &Webhooks;

    /// Makes the definition of a custom resource one of those that the operator prints. A host that prints none
    /// ignores it, which is the default.
    fn register_crd(&self, definition: CrdBuilder) {
        let _ = definition;
    }

    /// Notes that the operator converts the objects of a kind, for its definition. A host that prints none ignores it.
    fn register_conversion(&self, group: &str, kind: &str) {
        let _ = (group, kind);
    }
}

/// Builds the webhooks of one kind: its defaulter, its validator, and the conversion of its versions.
///
/// ```
/// use kubewright_runtime::{
///     Result,
///     webhook::{Defaulter, Validator, Webhook, WebhookHost},
/// };
/// use k8s_openapi::api::core::v1::ConfigMap;
///
/// fn add<W>(manager: &impl WebhookHost, defaults: W, rules: W) -> Result<()>
/// where
///     W: Defaulter<ConfigMap> + Validator<ConfigMap>,
/// {
///     Webhook::new::<ConfigMap>(manager).defaulter(defaults).validator(rules).serve()
/// }
/// ```
///
/// They are served at Kubebuilder's paths: `/mutate-GROUP-VERSION-KIND`, `/validate-GROUP-VERSION-KIND` and `/convert`,
/// with the dots of the group as dashes. The `path` of the webhook's marker has to be the same.
#[must_use = "a webhook is not served until `serve` is called"]
pub struct Webhook<'a, K = ()> {
    host: &'a dyn WebhookHost,
    endpoints: Vec<(Declared, Endpoint)>,
    converter: Option<Converter>,
    definitions: Vec<CrdBuilder>,
    /// What was wrong with an earlier call; `serve` returns it, so that the chain of calls stays a chain.
    mistake: Option<Error>,
    kind: PhantomData<fn() -> K>,
}

// === impl Webhook ===

impl<'a> Webhook<'a> {
    /// Webhooks of the kind `K`, which may be a custom resource of the operator or any other.
    pub fn new<K: Kind>(host: &'a impl WebhookHost) -> Webhook<'a, K> {
        Webhook {
            host,
            endpoints: Vec::new(),
            converter: None,
            definitions: Vec::new(),
            mistake: None,
            kind: PhantomData,
        }
    }
}

impl<K: Kind> Webhook<'_, K> {
    /// Fills in what users leave out.
    pub fn defaulter(self, defaulter: impl Defaulter<K>) -> Self {
        let path = usual_path::<K>("mutate");
        self.defaulter_at(path, defaulter)
    }

    /// The same at another path.
    pub fn defaulter_at(mut self, path: impl Into<String>, defaulter: impl Defaulter<K>) -> Self {
        let endpoint = Endpoint::Admission(Box::new(Defaulting::new(defaulter)));
        self.endpoints.push((Declared::new::<K>(path.into(), true), endpoint));
        self
    }

    /// Says which objects may be created, changed and deleted.
    pub fn validator(self, validator: impl Validator<K>) -> Self {
        let path = usual_path::<K>("validate");
        self.validator_at(path, validator)
    }

    /// The same at another path.
    pub fn validator_at(mut self, path: impl Into<String>, validator: impl Validator<K>) -> Self {
        let endpoint = Endpoint::Admission(Box::new(Validating::new(validator)));
        self.endpoints.push((Declared::new::<K>(path.into(), false), endpoint));
        self
    }

    /// Converts another version of the kind, with `K` as the hub. Both are registered as versions of the definition that the
    /// operator prints.
    pub fn spoke<S>(self) -> Self
    where
        S: Spoke<Hub = K> + CustomKind,
        K: CustomKind,
    {
        self.spoke_with(S::into_hub, S::from_hub)
    }

    /// The same with two functions, for types whose crate does not know of conversions.
    pub fn spoke_with<S>(
        mut self,
        into_hub: impl Fn(S) -> Result<K> + Send + Sync + 'static,
        from_hub: impl Fn(K) -> Result<S> + Send + Sync + 'static,
    ) -> Self
    where
        S: CustomKind,
        K: CustomKind,
    {
        let converter = self.converter.get_or_insert_with(Converter::new::<K>);
        match converter.add(into_hub, from_hub) {
            Ok(()) => self.definitions.extend([CrdBuilder::of::<K>(), CrdBuilder::of::<S>()]),
            Err(error) => {
                self.mistake.get_or_insert(error);
            }
        }
        self
    }

    /// Serves them as long as the manager runs.
    ///
    /// # Errors
    ///
    /// If there is nothing to serve, a path is taken, or a converter does not fit its kind. Whether a kind has versions
    /// without a converter is looked at when the manager starts.
    pub fn serve(self) -> Result<()> {
        let Self { host, endpoints, converter, definitions, mistake, .. } = self;
        if let Some(mistake) = mistake {
            return Err(mistake);
        }
        if endpoints.is_empty() && converter.is_none() {
            return Err(Error::setup(format!(
                "the webhook of {} has nothing to do: give it a `.defaulter(..)`, a `.validator(..)` or a `.spoke::<..>()`",
                type_name::<K>()
            )));
        }
        let webhooks = host.webhooks();
        for (declared, endpoint) in endpoints {
            webhooks.add(declared.path.clone(), endpoint)?;
            webhooks.declare(declared);
        }
        if let Some(converter) = converter {
            webhooks.convert(converter)?;
            host.register_conversion(&K::group(&()), &K::kind(&()));
        }
        for definition in definitions {
            host.register_crd(definition);
        }
        Ok(())
    }
}

impl<K> fmt::Debug for Webhook<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<_> = self.endpoints.iter().map(|(declared, _)| &declared.path).collect();
        f.debug_struct("Webhook").field("paths", &paths).finish_non_exhaustive()
    }
}
