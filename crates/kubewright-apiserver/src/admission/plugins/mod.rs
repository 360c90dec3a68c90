//! The built-in plugins, one file or folder each, named as kube-apiserver names them.
//!
//! `names.rs` has the names, the order, and which are on by default. [`Registry::admit`] is the first phase, in which plugins
//! and then webhooks may change the object; [`Registry::allow`] is the second, in which they look at it as it would be stored.
//! What a plugin has to know it reads in the store, where a commit counts at once. (A real server's plugins look at caches.)

mod default_toleration_seconds;
mod names;
mod namespace_lifecycle;
mod priority;
mod taint_nodes_by_condition;

use serde_json::Value;

pub(crate) use self::names::Plugin;
pub use self::names::{AdmissionPlugins, AdmissionPluginsError};
use super::Attributes;
use crate::{registry::Registry, status::Status};

/// Who has a say about a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admitters {
    /// Plugins, policies and webhooks.
    All,
    /// Plugins alone: the server itself writes.
    Plugins,
    /// Nobody, as they had their say.
    None,
}

impl Registry {
    /// Lets plugins and then webhooks change the object of a request, or refuse it. A delete has no object.
    ///
    /// # Errors
    /// With the first refusal.
    pub(crate) async fn admit(
        &self,
        attributes: &Attributes<'_>,
        mut object: Option<Value>,
    ) -> Result<Option<Value>, Status> {
        if attributes.request.admitters == Admitters::None {
            return Ok(object);
        }
        self.ask_plugins(attributes, object.as_mut())?;
        if !self.admission.has_mutating_webhooks() {
            return Ok(object);
        }
        let before = object.clone();
        let mut object = self.mutate(attributes, object).await?;
        if object != before {
            // What a webhook has made is as good as what a client sends.
            self.ask_plugins(attributes, object.as_mut())?;
        }
        Ok(object)
    }

    /// Lets plugins, policies and webhooks look at the object of a request as it would be stored.
    ///
    /// # Errors
    /// With the first refusal.
    pub(crate) async fn allow(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<(), Status> {
        if attributes.request.admitters == Admitters::None {
            return Ok(());
        }
        for plugin in self.admission.plugins.iter() {
            if plugin == Plugin::Priority {
                priority::validate(self, attributes, object)?;
            }
        }
        self.validate(attributes, object).await?;
        if self.admission.plugins.has(Plugin::AlwaysDeny) {
            return Err(attributes.forbidden(object, "admission control is denying all modifications"));
        }
        Ok(())
    }

    fn ask_plugins(&self, attributes: &Attributes<'_>, mut object: Option<&mut Value>) -> Result<(), Status> {
        for plugin in self.admission.plugins.iter() {
            let object = object.as_deref_mut();
            match plugin {
                Plugin::NamespaceLifecycle => {
                    namespace_lifecycle::admit(self, attributes, object.as_deref())?
                }
                Plugin::TaintNodesByCondition => taint_nodes_by_condition::admit(attributes, object),
                Plugin::Priority => priority::admit(self, attributes, object)?,
                Plugin::DefaultTolerationSeconds => default_toleration_seconds::admit(attributes, object),
                _ => {}
            }
        }
        Ok(())
    }
}
