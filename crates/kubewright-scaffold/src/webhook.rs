//! Webhooks for a kind.

use serde_json::Map;

use crate::{
    Project, ScaffoldError,
    api::core_group,
    names,
    project::{Resource, ResourceKey, Webhooks},
};

/// The webhooks that a kind is to have, besides those that it has.
#[derive(Clone, Debug)]
#[must_use]
pub struct NewWebhook {
    group: String,
    version: String,
    kind: String,
    plural: Option<String>,
    defaulting: bool,
    validation: bool,
    defaulting_path: Option<String>,
    validation_path: Option<String>,
    spokes: Option<Vec<String>>,
    force: bool,
}

// === impl NewWebhook ===

impl NewWebhook {
    /// None yet, for this kind: one of the project, or one of Kubernetes itself.
    pub fn new(group: impl Into<String>, version: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            plural: None,
            defaulting: false,
            validation: false,
            defaulting_path: None,
            validation_path: None,
            spokes: None,
            force: false,
        }
    }

    /// Its plural, for a kind of Kubernetes; the usual one unless this is said.
    pub fn plural(mut self, plural: impl Into<String>) -> Self {
        self.plural = Some(plural.into());
        self
    }

    /// One that fills in what the user left out.
    pub fn defaulting(mut self, defaulting: bool) -> Self {
        self.defaulting = defaulting;
        self
    }

    /// One that refuses what must not be.
    pub fn validation(mut self, validation: bool) -> Self {
        self.validation = validation;
        self
    }

    /// Where the defaulting webhook answers; the usual path unless this is said.
    pub fn defaulting_path(mut self, path: impl Into<String>) -> Self {
        self.defaulting_path = Some(path.into());
        self
    }

    /// Where the validating webhook answers; the usual path unless this is said.
    pub fn validation_path(mut self, path: impl Into<String>) -> Self {
        self.validation_path = Some(path.into());
        self
    }

    /// One that converts these versions to and from this one, the hub.
    pub fn conversion(mut self, spokes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.spokes = Some(spokes.into_iter().map(Into::into).collect());
        self
    }

    /// Whether those that are there already are written anew. Default: it is an error.
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    fn check(&self) -> Result<(), ScaffoldError> {
        names::check_version(&self.version)?;
        names::check_kind(&self.kind)?;
        let refused = |text: String| Err(ScaffoldError::Refused(text));
        if !self.defaulting && !self.validation && self.spokes.is_none() {
            return refused(
                "no webhook is asked for; name some: --defaulting, --programmatic-validation, --conversion"
                    .to_owned(),
            );
        }
        for (path, is_asked, flag, of) in [
            (&self.defaulting_path, self.defaulting, "--defaulting-path", "--defaulting"),
            (&self.validation_path, self.validation, "--validation-path", "--programmatic-validation"),
        ] {
            let Some(path) = path else { continue };
            if !is_asked {
                return refused(format!("{flag} is the path of a webhook that is not asked for; add {of}"));
            }
            let legal = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
            if !path.starts_with('/') || path.len() < 2 || !path.chars().all(legal) {
                return refused(format!("{flag}: `{path}` is not a path as `/validate-memcached`"));
            }
        }
        Ok(())
    }
}

// === impl Project ===

impl Project {
    /// Adds webhooks to a kind.
    ///
    /// # Errors
    ///
    /// If there is no such kind, it has such webhooks already, or the versions to convert are not there: the text says what to
    /// do.
    pub fn add_webhook(&mut self, new: &NewWebhook) -> Result<ResourceKey, ScaffoldError> {
        new.check()?;
        let mut resource = self.kind_for(new)?;
        let refused = |text: String| Err(ScaffoldError::Refused(text));
        let mut webhooks = resource.webhooks.take().unwrap_or_default();
        webhooks.webhook_version = "v1".to_owned();
        for (asked, present, what) in [
            (new.defaulting, webhooks.defaulting, "a defaulting webhook"),
            (new.validation, webhooks.validation, "a validating webhook"),
            (new.spokes.is_some(), webhooks.conversion, "a conversion webhook"),
        ] {
            if asked && present && !new.force {
                return refused(format!(
                    "{} has {what} already; use --force to write it anew",
                    resource.key()
                ));
            }
        }
        webhooks.defaulting |= new.defaulting;
        webhooks.validation |= new.validation;
        if new.defaulting {
            webhooks.defaulting_path.clone_from(&new.defaulting_path);
        }
        if new.validation {
            webhooks.validation_path.clone_from(&new.validation_path);
        }
        if let Some(spokes) = &new.spokes {
            self.check_spokes(&resource, spokes)?;
            webhooks.conversion = true;
            webhooks.spoke.clone_from(spokes);
        }
        resource.webhooks = Some(webhooks);
        let key = resource.key();
        self.put(resource);
        Ok(key)
    }

    /// The kind as it is, or one of Kubernetes that the project has nothing to do with yet.
    fn kind_for(&self, new: &NewWebhook) -> Result<Resource, ScaffoldError> {
        let is_it = |resource: &&Resource| {
            (resource.group(), resource.version(), resource.kind())
                == (&*new.group, &*new.version, &*new.kind)
        };
        if let Some(present) = self.resources().iter().find(is_it) {
            return Ok(present.clone());
        }
        let Some((module, domain)) = core_group(&new.group) else {
            let (kind, group, version) = (&new.kind, &new.group, &new.version);
            return Err(ScaffoldError::Refused(format!(
                "there is no {kind} ({group}/{version}); add it first: `kubewright create api --group {group} --version \
                 {version} --kind {kind}`"
            )));
        };
        Ok(Resource {
            api: None,
            controller: false,
            controllers: Vec::new(),
            core: true,
            domain: domain.to_owned(),
            external: false,
            group: new.group.clone(),
            kind: new.kind.clone(),
            module: None,
            path: Some(format!("k8s_openapi::api::{module}::{}", new.version)),
            plural: new.plural.clone().filter(|plural| *plural != names::plural(&new.kind)),
            version: new.version.clone(),
            webhooks: None,
            others: Map::new(),
        })
    }

    fn check_spokes(&self, hub: &Resource, spokes: &[String]) -> Result<(), ScaffoldError> {
        let refused = |text: String| Err(ScaffoldError::Refused(text));
        let key = hub.key();
        if hub.api().is_none() {
            return refused(format!(
                "{key} is not defined by this project, so its versions are not converted here"
            ));
        }
        let versions: Vec<&Resource> = self
            .resources()
            .iter()
            .filter(|other| {
                other.api().is_some() && other.kind() == hub.kind() && other.group() == hub.group()
            })
            .collect();
        let others = versions.iter().map(|other| other.version()).filter(|version| *version != hub.version());
        let others: Vec<&str> = others.collect();
        if spokes.is_empty() {
            return refused(match others.as_slice() {
                [] => format!(
                    "{} has one version; add another one first: `kubewright create api --group {} --version v2 --kind {} \
                     --controller=false`",
                    hub.kind(),
                    hub.group(),
                    hub.kind()
                ),
                others => format!("name the versions to convert: --spoke {}", others.join(",")),
            });
        }
        for spoke in spokes {
            if spoke == hub.version() {
                return refused(format!("{spoke} is the hub; --spoke names the other versions"));
            }
            if !others.contains(&spoke.as_str()) {
                return refused(format!(
                    "{} has no version {spoke}; add it first: `kubewright create api --group {} --version {spoke} --kind {} \
                     --controller=false`",
                    hub.kind(),
                    hub.group(),
                    hub.kind()
                ));
            }
        }
        let hubs = versions.iter().filter(|other| other.version() != hub.version());
        let mut hubs = hubs.filter(|other| other.webhooks().is_some_and(|webhooks| webhooks.conversion));
        match hubs.next() {
            Some(other) => {
                refused(format!("{} has a hub already, its version {}", hub.kind(), other.version()))
            }
            None => Ok(()),
        }
    }

    /// Forgets a version that is gone, wherever it was converted.
    pub(crate) fn remove_spoke(&mut self, gone: &Resource) {
        let hubs: Vec<Resource> = self
            .resources()
            .iter()
            .filter(|other| other.kind() == gone.kind() && other.group() == gone.group())
            .cloned()
            .collect();
        for mut hub in hubs {
            let Some(mut webhooks) = hub.webhooks.take() else { continue };
            webhooks.spoke.retain(|version| version != gone.version());
            webhooks.conversion &= !webhooks.spoke.is_empty();
            hub.webhooks = Some(webhooks).filter(Webhooks::is_some);
            self.put(hub);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::NewApi;

    fn project() -> Project {
        let mut project = Project::new("example.com", "zoo-operator").expect("valid names");
        project.add_api(&NewApi::new("zoo", "v1", "Mouse")).expect("a new kind");
        project.add_api(&NewApi::new("zoo", "v2", "Mouse").controller(false)).expect("a new version");
        project
    }

    fn refused(project: &mut Project, new: &NewWebhook) -> String {
        project.add_webhook(new).expect_err("refused").to_string()
    }

    #[test]
    fn webhooks_of_a_kind_come_one_after_the_other() {
        let mut project = project();
        let mouse = || NewWebhook::new("zoo", "v1", "Mouse");
        project.add_webhook(&mouse().defaulting(true)).expect("a webhook");
        project.add_webhook(&mouse().validation(true).validation_path("/mice")).expect("another one");
        project.add_webhook(&mouse().conversion(["v2"])).expect("a hub");
        let webhooks = project.resources()[0].webhooks().expect("webhooks").clone();
        assert!(webhooks.defaulting && webhooks.validation && webhooks.conversion);
        assert_eq!(
            (webhooks.validation_path.as_deref(), &*webhooks.spoke),
            (Some("/mice"), &["v2".to_owned()][..])
        );
        assert_eq!(
            refused(&mut project, &mouse().defaulting(true)),
            "Mouse (zoo/v1) has a defaulting webhook already; use --force to write it anew"
        );
        project.add_webhook(&mouse().defaulting(true).force(true)).expect("anew");
        let text = project.to_text();
        assert!(
            text.contains(
                "  webhooks:\n    conversion: true\n    defaulting: true\n    spoke:\n    - v2\n    validation: true\n    \
                 validationPath: /mice\n    webhookVersion: v1\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_is_told_with_the_way_out() {
        let mut project = project();
        let mouse = || NewWebhook::new("zoo", "v1", "Mouse");
        assert!(refused(&mut project, &mouse()).contains("--programmatic-validation"));
        let cat = NewWebhook::new("zoo", "v1", "Cat").defaulting(true);
        assert!(
            refused(&mut project, &cat)
                .contains("`kubewright create api --group zoo --version v1 --kind Cat`")
        );
        assert!(refused(&mut project, &mouse().conversion([""; 0])).contains("--spoke v2"));
        assert!(
            refused(&mut project, &mouse().conversion(["v3"])).contains("has no version v3; add it first")
        );
        assert!(refused(&mut project, &mouse().conversion(["v1"])).contains("v1 is the hub"));
        project.add_webhook(&mouse().conversion(["v2"])).expect("a hub");
        let other = NewWebhook::new("zoo", "v2", "Mouse").conversion(["v1"]);
        assert!(refused(&mut project, &other).contains("a hub already, its version v1"));
        let path = mouse().defaulting(true).defaulting_path("no path");
        assert!(refused(&mut project, &path).contains("is not a path"));
        let none = mouse().defaulting(true).validation_path("/a");
        assert!(refused(&mut project, &none).contains("add --programmatic-validation"));
    }

    #[test]
    fn kinds_of_kubernetes_can_have_webhooks_and_versions_that_go_are_not_converted() {
        let mut project = project();
        project.add_webhook(&NewWebhook::new("core", "v1", "Pod").validation(true)).expect("pods");
        assert!(project.resources()[2].is_core());
        project.add_webhook(&NewWebhook::new("zoo", "v1", "Mouse").conversion(["v2"])).expect("a hub");
        project.remove_api("zoo", "v2", "Mouse").expect("it is there");
        assert_eq!(project.resources()[0].webhooks(), None);
    }
}
