//! One more kind, or one less.

use serde_json::Map;

use crate::{
    Project, ScaffoldError, names,
    project::{Api, DeployImage, NamedController, Resource, ResourceKey},
};

/// A kind that a project is to have, or a kind of others that it is to have a controller for.
#[derive(Clone, Debug)]
#[must_use]
pub struct NewApi {
    group: String,
    version: String,
    kind: String,
    plural: Option<String>,
    namespaced: bool,
    resource: bool,
    controller: bool,
    controller_name: Option<String>,
    external: Option<External>,
    deploy_image: Option<DeployImage>,
    force: bool,
}

/// A type that another crate defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// The module with the type, as `cert_manager::v1`.
    pub path: String,
    /// The crate and its version, as `cert-manager@0.3`, for `Cargo.toml`; none if it is there already.
    pub module: Option<String>,
    /// The domain of its group, if that is not the project's.
    pub domain: Option<String>,
}

/// The groups of Kubernetes itself that have kinds, with their modules in `k8s-openapi`, where these are not the first word.
const CORE_GROUPS: &[(&str, &str)] = &[
    ("", "core"),
    ("core", "core"),
    ("admissionregistration", "admissionregistration"),
    ("apps", "apps"),
    ("authentication", "authentication"),
    ("authorization", "authorization"),
    ("autoscaling", "autoscaling"),
    ("batch", "batch"),
    ("certificates", "certificates"),
    ("coordination", "coordination"),
    ("discovery", "discovery"),
    ("events", "events"),
    ("networking", "networking"),
    ("node", "node"),
    ("policy", "policy"),
    ("rbac", "rbac"),
    ("scheduling", "scheduling"),
    ("storage", "storage"),
];

/// Those whose names end with `k8s.io`.
const K8S_IO: &[&str] = &[
    "admissionregistration",
    "authentication",
    "authorization",
    "certificates",
    "coordination",
    "discovery",
    "events",
    "networking",
    "node",
    "scheduling",
    "storage",
];

// === impl NewApi ===

impl NewApi {
    /// A kind in namespaces that the project defines and has a controller for.
    pub fn new(group: impl Into<String>, version: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            plural: None,
            namespaced: true,
            resource: true,
            controller: true,
            controller_name: None,
            external: None,
            deploy_image: None,
            force: false,
        }
    }

    /// Its plural; the usual one unless this is said.
    pub fn plural(mut self, plural: impl Into<String>) -> Self {
        self.plural = Some(plural.into());
        self
    }

    /// Whether its objects are in namespaces. Default: they are.
    pub fn namespaced(mut self, namespaced: bool) -> Self {
        self.namespaced = namespaced;
        self
    }

    /// Whether the project defines it. Default: it does. A kind that it does not define is one of Kubernetes itself, or
    /// [`external`](Self::external).
    pub fn resource(mut self, resource: bool) -> Self {
        self.resource = resource;
        self
    }

    /// Whether it gets a controller. Default: it does.
    pub fn controller(mut self, controller: bool) -> Self {
        self.controller = controller;
        self
    }

    /// Gives the controller a name: a kind may have several, each with a name of its own. Default: the kind's.
    pub fn controller_name(mut self, name: impl Into<String>) -> Self {
        self.controller_name = Some(name.into());
        self
    }

    /// Its type is another crate's.
    pub fn external(mut self, external: External) -> Self {
        self.external = Some(external);
        self
    }

    /// Its objects run this image: the controller is complete, not a beginning.
    pub fn deploy_image(mut self, image: DeployImage) -> Self {
        self.deploy_image = Some(image);
        self
    }

    /// Whether one that is there already is written anew. Default: it is an error.
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    fn check(&self) -> Result<(), ScaffoldError> {
        names::check_version(&self.version)?;
        names::check_kind(&self.kind)?;
        if let Some(plural) = &self.plural {
            names::check_plural(plural)?;
        }
        let refused = |text: &str| Err(ScaffoldError::Refused(text.to_owned()));
        if let Some(name) = &self.controller_name {
            names::check_controller(name)?;
            if !self.controller || self.deploy_image.is_some() {
                return refused("a name of a controller needs a controller that is not one for an image");
            }
        }
        if !self.resource && !self.controller {
            return refused(
                "neither a resource nor a controller is asked for; leave out --resource=false or --controller=false",
            );
        }
        if self.external.is_some() && self.resource {
            return refused("a type of another crate is not defined here; add --resource=false");
        }
        if let Some(image) = &self.deploy_image {
            if !self.resource || !self.controller || !self.namespaced {
                return refused(
                    "--image makes a kind in namespaces with a controller; leave out what contradicts it",
                );
            }
            image.check()?;
            if matches!(self.kind.as_str(), "Deployment" | "Pod" | "Container" | "Memory") {
                return Err(ScaffoldError::Refused(format!(
                    "a kind that runs an image cannot be called `{}`, which is what its controller makes; did you mean `{}Set`?",
                    self.kind, self.kind
                )));
            }
        }
        Ok(())
    }
}

impl DeployImage {
    /// The words of the command.
    pub(crate) fn command(&self) -> Vec<String> {
        let words = self.container_command.iter().flat_map(|command| command.split(','));
        words.map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    /// The port.
    pub(crate) fn port(&self) -> Option<u16> {
        self.container_port.as_deref().and_then(|port| port.parse().ok()).filter(|port| *port > 0)
    }

    /// The user.
    pub(crate) fn user(&self) -> Option<i64> {
        self.run_as_user.as_deref().and_then(|user| user.parse().ok()).filter(|user| *user >= 0)
    }

    fn check(&self) -> Result<(), ScaffoldError> {
        let refused = |text: String| Err(ScaffoldError::Refused(text));
        if self.image.is_empty() || self.image.contains(|c: char| c.is_whitespace() || c == '"' || c == '\\')
        {
            return refused(format!(
                "`{}` is not an image; name one as `memcached:1.4.36-alpine`",
                self.image
            ));
        }
        if let Some(port) = self.container_port.as_ref().filter(|_| self.port().is_none()) {
            return refused(format!("--image-container-port: `{port}` is not a port from 1 to 65535"));
        }
        if let Some(user) = self.run_as_user.as_ref().filter(|_| self.user().is_none()) {
            return refused(format!("--run-as-user: `{user}` is not the number of a user, 0 or more"));
        }
        Ok(())
    }
}

// === impl Project ===

impl Project {
    /// Adds a kind, or a controller for one. The same kind in several versions has one controller.
    ///
    /// # Errors
    ///
    /// If a name cannot be used, if it is there already, or if the project cannot have it: the text says what to do.
    pub fn add_api(&mut self, new: &NewApi) -> Result<ResourceKey, ScaffoldError> {
        new.check()?;
        let is_it = |known: &&Resource| {
            (&*known.group, &*known.version, &*known.kind) == (&*new.group, &*new.version, &*new.kind)
        };
        // A controller for a kind that the project has already.
        let known =
            self.resources().iter().find(is_it).filter(|_| !new.resource && new.external.is_none()).cloned();
        let core = match (&known, &new.external) {
            (None, None) if !new.resource => core_group(&new.group),
            _ => None,
        };
        let domain = match (&new.external, core) {
            (None, _) if known.is_some() => {
                known.as_ref().map(|known| known.domain.clone()).unwrap_or_default()
            }
            (_, Some((_, domain))) => domain.to_owned(),
            (Some(external), None) => external.domain.clone().unwrap_or_else(|| self.domain().to_owned()),
            (None, None) => self.domain().to_owned(),
        };
        if !new.resource && new.external.is_none() && core.is_none() && known.is_none() {
            return Err(ScaffoldError::Refused(format!(
                "`{}` is not a group of Kubernetes itself; for a type of another crate say where it is with --external-api-path, \
                 for one of this project leave out --resource=false",
                new.group
            )));
        }
        let mut resource = Resource {
            api: new.resource.then(|| Api {
                crd_version: "v1".to_owned(),
                namespaced: new.namespaced,
                others: Map::new(),
            }),
            controller: new.controller && new.controller_name.is_none(),
            controllers: new
                .controller_name
                .iter()
                .map(|name| NamedController { name: name.clone() })
                .collect(),
            core: core.is_some() || known.as_ref().is_some_and(|known| known.core),
            domain,
            external: new.external.is_some() || known.as_ref().is_some_and(|known| known.external),
            group: new.group.clone(),
            kind: new.kind.clone(),
            module: new.external.as_ref().and_then(|external| external.module.clone()),
            path: None,
            plural: new.plural.clone().filter(|plural| *plural != names::plural(&new.kind)),
            version: new.version.clone(),
            webhooks: None,
            others: Map::new(),
        };
        names::check_group(&resource.full_group())
            .or_else(|error| if resource.core { Ok(()) } else { Err(error) })?;
        resource.path = Some(match (&new.external, core) {
            _ if known.is_some() => known.and_then(|known| known.path).unwrap_or_default(),
            (Some(external), _) => external.path.clone(),
            (None, Some((module, _))) => format!("k8s_openapi::api::{module}::{}", new.version),
            (None, None) => {
                format!("{}::{}", self.crate_name(), self.api_module(&new.group, &new.version).join("::"))
            }
        });
        let key = resource.key();
        self.check_fits(&resource, new.force)?;
        if let Some(present) = self.resource(&key) {
            // One may bring the type, the other the controller.
            resource.controller |= present.controller;
            let mut controllers = present.controllers.clone();
            controllers
                .extend(resource.controllers.into_iter().filter(|new| !present.controllers.contains(new)));
            resource.controllers = controllers;
            resource.module = resource.module.or_else(|| present.module.clone());
            resource.api = resource.api.or_else(|| present.api.clone());
            resource.webhooks.clone_from(&present.webhooks);
            resource.others.clone_from(&present.others);
            if resource.plural.is_none() {
                resource.plural.clone_from(&present.plural);
            }
        }
        self.put(resource);
        self.set_deploy_image(&key, new.deploy_image.as_ref());
        Ok(key)
    }

    /// Takes a kind away, with its controller.
    ///
    /// # Errors
    ///
    /// If there is none with this key: the text names those that are there.
    pub fn remove_api(&mut self, group: &str, version: &str, kind: &str) -> Result<Resource, ScaffoldError> {
        let found = self.resources().iter().map(Resource::key);
        let key =
            found.clone().find(|key| (&*key.group, &*key.version, &*key.kind) == (group, version, kind));
        let taken = key.and_then(|key| self.take(&key));
        if let Some(gone) = &taken {
            self.remove_spoke(gone);
        }
        taken.ok_or_else(|| {
            let others: Vec<String> =
                self.resources().iter().map(|resource| resource.key().to_string()).collect();
            ScaffoldError::Refused(if others.is_empty() {
                format!("there is no {kind} ({group}/{version}); the project has no API")
            } else {
                format!("there is no {kind} ({group}/{version}); the project has {}", others.join(", "))
            })
        })
    }

    /// The modules of a version's types, from the crate's root.
    #[must_use]
    pub fn api_module(&self, group: &str, version: &str) -> Vec<String> {
        let mut path = vec!["api".to_owned()];
        if self.multigroup() {
            path.push(names::group_module(group));
        }
        path.push(version.to_owned());
        path
    }

    pub(crate) fn check_fits(&self, new: &Resource, force: bool) -> Result<(), ScaffoldError> {
        let key = new.key();
        let refused = |text: String| Err(ScaffoldError::Refused(text));
        if let Some(other) = self.resources().iter().find(|other| other.group != new.group)
            && !self.multigroup()
        {
            return refused(format!(
                "the project has the group `{}`, and `{}` would be a second one; allow several with `kubewright edit --multigroup`",
                other.group, new.group
            ));
        }
        if let Some(present) = self.resource(&key)
            && !force
        {
            if present.api.is_some() && new.api.is_some() {
                return refused(format!("the project has {key} already; use --force to write it anew"));
            }
            if present.controller && new.controller {
                return refused(format!(
                    "the project has a controller for {key} already; use --force to write it anew"
                ));
            }
        }
        for NamedController { name } in &new.controllers {
            let module = names::controller_module(name);
            for other in self.resources().iter().filter(|other| other.group == new.group) {
                let same = |known: &NamedController| names::controller_module(&known.name) == module;
                let is_known = other.controllers.iter().any(same)
                    || (other.controller && names::module(&other.kind) == module);
                if is_known && !(force && other.key() == key) {
                    return refused(format!(
                        "{} has a controller `{name}` already; give this one another name",
                        other.kind
                    ));
                }
            }
        }
        for other in self.resources().iter().filter(|other| other.key() != key && other.group == new.group) {
            if other.kind == new.kind {
                if other.controller && new.controller {
                    return refused(format!(
                        "{} has a controller already, for its version {}; one controller serves all versions of a kind: add \
                         --controller=false",
                        new.kind, other.version
                    ));
                }
                if other.plural() != new.plural() {
                    return refused(format!(
                        "the plural of {} is `{}` in its version {}",
                        new.kind,
                        other.plural(),
                        other.version
                    ));
                }
            } else {
                if other.plural() == new.plural() && other.full_group() == new.full_group() {
                    return refused(format!(
                        "`{}` is the plural of {} already; give another one with --plural",
                        new.plural(),
                        other.kind
                    ));
                }
                if names::module(&other.kind) == names::module(&new.kind) {
                    return refused(format!(
                        "{} and {} would have the same module, `{}`; call one of them something else",
                        other.kind,
                        new.kind,
                        names::module(&new.kind)
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The module and the domain of a group of Kubernetes itself.
pub(crate) fn core_group(group: &str) -> Option<(&'static str, &'static str)> {
    let (_, module) = CORE_GROUPS.iter().find(|(name, _)| *name == group)?;
    let domain = match *module {
        "rbac" => "authorization.k8s.io",
        module if K8S_IO.contains(&module) => "k8s.io",
        _ => "",
    };
    Some((module, domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> Project {
        Project::new("example.com", "zoo-operator").expect("valid names")
    }

    fn refused(project: &mut Project, new: &NewApi) -> String {
        project.add_api(new).expect_err("refused").to_string()
    }

    #[test]
    fn a_kind_is_added_once_and_taken_away() {
        let mut project = project();
        let mouse = NewApi::new("zoo", "v1", "Mouse");
        project.add_api(&mouse).expect("a new kind");
        assert_eq!(project.resources()[0].plural(), "mice");
        assert_eq!(
            refused(&mut project, &mouse),
            "the project has Mouse (zoo/v1) already; use --force to write it anew"
        );
        let before = project.clone();
        project.add_api(&mouse.force(true)).expect("forced");
        assert_eq!(project, before);
        assert!(
            project
                .remove_api("zoo", "v1", "Cat")
                .expect_err("no cat")
                .to_string()
                .contains("the project has Mouse")
        );
        project.remove_api("zoo", "v1", "Mouse").expect("it is there");
        assert!(project.resources().is_empty());
    }

    #[test]
    fn a_second_group_needs_leave() {
        let mut project = project();
        project.add_api(&NewApi::new("zoo", "v1", "Mouse")).expect("a new kind");
        let text = refused(&mut project, &NewApi::new("farm", "v1", "Cow"));
        assert!(text.contains("kubewright edit --multigroup"), "{text}");
        project.set_multigroup(true).expect("allowed");
        project.add_api(&NewApi::new("farm", "v1", "Cow")).expect("a second group");
        let path = project.resources()[1].path.as_deref();
        assert_eq!(path, Some("zoo_operator::api::farm::v1"));
        assert!(project.set_multigroup(false).is_err());
    }

    #[test]
    fn versions_of_a_kind_share_a_controller_and_a_plural() {
        let mut project = project();
        project.add_api(&NewApi::new("zoo", "v1", "Mouse")).expect("a new kind");
        let text = refused(&mut project, &NewApi::new("zoo", "v2", "Mouse"));
        assert!(text.contains("--controller=false"), "{text}");
        let second = NewApi::new("zoo", "v2", "Mouse").controller(false);
        let text = refused(&mut project, &second.clone().plural("mouses"));
        assert_eq!(text, "the plural of Mouse is `mice` in its version v1");
        project.add_api(&second).expect("a second version");
    }

    #[test]
    fn names_that_would_clash_are_refused() {
        let mut project = project();
        project.add_api(&NewApi::new("zoo", "v1", "Mouse")).expect("a new kind");
        assert!(
            refused(&mut project, &NewApi::new("zoo", "v1", "Mice"))
                .contains("is the plural of Mouse already")
        );
        project.add_api(&NewApi::new("zoo", "v1", "RedPanda")).expect("a new kind");
        let text = refused(&mut project, &NewApi::new("zoo", "v1", "Red_Panda"));
        assert!(text.contains("did you mean `RedPanda`?"), "{text}");
    }

    #[test]
    fn a_kind_may_have_several_controllers_by_their_names() {
        let mut project = project();
        project.add_api(&NewApi::new("zoo", "v1", "Mouse")).expect("a new kind");
        let named = |name: &str| NewApi::new("zoo", "v1", "Mouse").resource(false).controller_name(name);
        project.add_api(&named("nightly-backup")).expect("another controller");
        assert_eq!(project.resources().len(), 1);
        assert!(project.resources()[0].api().is_some() && project.resources()[0].has_controller());
        assert!(
            project.to_text().contains("controllers:\n  - name: nightly-backup\n"),
            "{}",
            project.to_text()
        );
        for name in ["nightly-backup", "mouse"] {
            let text = refused(&mut project, &named(name));
            assert!(text.contains("give this one another name"), "{text}");
        }
        assert!(refused(&mut project, &named("Nightly")).contains("did you mean `nightly`?"));
    }

    #[test]
    fn a_kind_gets_its_controller_later() {
        let mut project = project();
        project.add_api(&NewApi::new("zoo", "v1", "Mouse").controller(false)).expect("a new kind");
        project.add_api(&NewApi::new("zoo", "v1", "Mouse").resource(false)).expect("a controller");
        let mut at_once = Project::new("example.com", "zoo-operator").expect("valid names");
        at_once.add_api(&NewApi::new("zoo", "v1", "Mouse")).expect("a new kind");
        assert_eq!(project, at_once);
    }

    #[test]
    fn kinds_of_kubernetes_get_a_controller() {
        let mut project = project();
        project.add_api(&NewApi::new("apps", "v1", "Deployment").resource(false)).expect("a known group");
        let deployment = &project.resources()[0];
        assert_eq!(deployment.path.as_deref(), Some("k8s_openapi::api::apps::v1"));
        assert_eq!(deployment.full_group(), "apps");
        let ingress = core_group("networking").expect("known");
        assert_eq!(ingress, ("networking", "k8s.io"));
        assert!(
            refused(&mut project, &NewApi::new("zoo", "v1", "Mouse").resource(false))
                .contains("--external-api-path")
        );
    }

    #[test]
    fn images_have_a_port_and_a_user_in_range() {
        let with = |change: fn(&mut DeployImage)| {
            let mut image = DeployImage { image: "memcached:1".to_owned(), ..DeployImage::default() };
            change(&mut image);
            project().add_api(&NewApi::new("cache", "v1", "Memcached").deploy_image(image)).map(|_| ())
        };
        with(|image| image.container_port = Some("11211".to_owned())).expect("a port");
        for port in ["0", "65536", "http", ""] {
            let image = DeployImage {
                container_port: Some(port.to_owned()),
                image: "a".to_owned(),
                ..DeployImage::default()
            };
            assert!(image.check().is_err(), "{port}");
        }
        with(|image| image.run_as_user = Some("-1".to_owned())).expect_err("no user");
        with(|image| image.image.clear()).expect_err("no image");
    }
}
