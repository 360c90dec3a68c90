use std::sync::Arc;

use serde_json::Value;

use super::{Binding, Definition};
use crate::{
    admission::Attributes,
    registry::{Registry, Served},
};

impl Registry {
    /// The resource of a policy's parameters, if it has any.
    ///
    /// # Errors
    /// If there is no such resource.
    pub(super) fn parameter_kind(&self, policy: &Definition) -> Result<Option<Arc<Served>>, String> {
        let Some((api_version, kind)) = &policy.parameters else { return Ok(None) };
        let catalog = self.catalog();
        let Some(served) = catalog.by_kind(api_version, kind) else {
            let group = if api_version.contains('/') { "" } else { "/" };
            return Err(format!(
                "failed to find resource referenced by paramKind: '{group}{api_version}, Kind={kind}'"
            ));
        };
        Ok(Some(served.clone()))
    }

    /// The objects with which a policy is evaluated, one after the other; null if it has no parameters.
    ///
    /// # Errors
    /// Why there are none although there should be.
    pub(super) async fn parameters(
        &self,
        kind: Option<&Served>,
        binding: &Binding,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<Vec<Value>, String> {
        let (Some(served), Some(reference)) = (kind, &binding.parameters) else {
            return Ok(vec![Value::Null]);
        };
        let own = attributes.namespace(object);
        let namespace = match (served.definition.namespaced, reference.namespace.is_empty()) {
            (true, false) => reference.namespace.as_str(),
            (true, true) if own.is_empty() => {
                return Err(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                        .to_owned(),
                );
            }
            (true, true) => own,
            (false, false) => {
                return Err(
                    "paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned()
                );
            }
            (false, true) => "",
        };
        let listing = self.store.list(&served.bucket);
        let prefix = served.prefix(namespace);
        let key = served.key(namespace, &reference.name);
        let mut found = Vec::new();
        for (own, stored) in listing.range(&prefix, "") {
            let is_meant = if reference.name.is_empty() {
                reference.selector.matches(stored.value())
            } else {
                **own == *key
            };
            if is_meant {
                let presented = self.present(served, stored).await.map_err(|status| status.message)?;
                found.push(presented.into_value());
            }
        }
        if found.is_empty() && reference.must_exist {
            return Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned());
        }
        Ok(found)
    }
}
