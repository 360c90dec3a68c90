use futures::{StreamExt, stream::FuturesOrdered};
use serde_json::Value;

use super::{Attributes, Plugin};
use crate::{registry::Registry, status::Status};

impl Registry {
    /// Lets policies and then webhooks look at the object of a request as it would be stored. All webhooks are asked at the
    /// same time.
    ///
    /// # Errors
    /// With the refusal of the first that refuses, in the order of the configurations. (A real server takes the one that is
    /// the quickest.)
    pub(crate) async fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<(), Status> {
        let configurations = self.admission.configurations();
        let plugins = &self.admission.plugins;
        let policies = &configurations.validating_policies;
        if plugins.has(Plugin::ValidatingAdmissionPolicy)
            && !policies.is_empty()
            && !attributes.is_exempt_from_policies()
        {
            self.enforce(policies, attributes, object).await?;
        }
        if !plugins.has(Plugin::ValidatingAdmissionWebhook)
            || configurations.validating.is_empty()
            || attributes.is_exempt()
        {
            return Ok(());
        }
        let mut matching = Vec::new();
        for webhook in &configurations.validating {
            if let Some(invocation) = self.match_webhook(webhook, attributes, object).await? {
                matching.push((webhook, invocation));
            }
        }
        let mut answers: FuturesOrdered<_> = matching
            .iter()
            .map(|(webhook, invocation)| async move {
                match self.ask(webhook, invocation, attributes, object, false).await {
                    Ok(_) => Ok(()),
                    Err(failure) => failure.forgive(webhook),
                }
            })
            .collect();
        let mut first = Ok(());
        while let Some(answer) = answers.next().await {
            first = first.and(answer);
        }
        first
    }
}
