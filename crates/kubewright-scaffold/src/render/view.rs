//! A project as the templates see it.

use serde::Serialize;

use crate::{
    Project, names,
    project::{DeployImage, NamedController, OwnTypes, Resource},
};

#[derive(Debug, Serialize)]
pub(super) struct View {
    pub(super) name: String,
    pub(super) crate_name: String,
    pub(super) multigroup: bool,
    pub(super) namespaced: bool,
    /// What stands before `Role` and `RoleBinding`.
    scope: &'static str,
    /// The kinds that the project defines.
    pub(super) apis: Vec<Kind>,
    /// Those whose definitions no controller makes known.
    definitions: Vec<Kind>,
    /// Those with a controller.
    pub(super) controllers: Vec<Kind>,
    /// Those with webhooks.
    pub(super) webhooks: Vec<Kind>,
    /// Which forms of webhooks there are.
    hooks: Hooks,
    /// The modules of the crate that its program refers to.
    roots: Option<String>,
    /// The images that controllers run.
    images: Vec<Image>,
    /// Crates with types of others, and their versions.
    #[serde(skip)]
    pub(super) modules: Vec<(String, String)>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Kind {
    pub(super) kind: String,
    pub(super) lower: String,
    pub(super) version: String,
    /// With the domain.
    pub(super) group: String,
    /// Without it.
    pub(super) short_group: String,
    /// The group in a marker, in which the core group is a pair of quotes.
    marker_group: String,
    pub(super) plural: String,
    plural_said: bool,
    pub(super) namespaced: bool,
    core: bool,
    /// Whether the project has the type.
    defined: bool,
    /// The module of its type and of its controller.
    pub(super) module: String,
    /// The same within another name.
    pub(super) module_plain: String,
    /// The name of a variable for one object.
    variable: String,
    /// The name of a variable for a client of its objects.
    objects: String,
    article: &'static str,
    /// What its files are called.
    pub(super) file: String,
    #[serde(skip)]
    pub(super) api_modules: Vec<String>,
    #[serde(skip)]
    pub(super) controller_modules: Vec<String>,
    pub(super) api_path: String,
    pub(super) controller_path: String,
    /// The type, if others define it.
    type_path: String,
    marker_namespace: String,
    /// The name of a port has 15 characters at most.
    port_name: String,
    pub(super) image: Option<Image>,
    pub(super) is_defined: bool,
    /// Whether the type comes from elsewhere than the templates.
    #[serde(skip)]
    pub(super) own_types: Option<OwnTypes>,
    /// The type of its reconciler.
    reconciler: String,
    /// The name of the controller, if that is not the kind's.
    pub(super) controller_name: Option<String>,
    /// Whether the controller is the one that reports how the objects are.
    pub(super) reports: bool,
    /// The file with its sample.
    pub(super) sample: String,
    pub(super) webhook: Option<Webhook>,
    /// Whether other versions are converted through this one.
    pub(super) is_hub: bool,
    /// The version through which this one is converted.
    pub(super) hub: Option<Version>,
}

/// Which forms of webhooks a project has.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Hooks {
    pub(super) any: bool,
    pub(super) mutating: bool,
    pub(super) validating: bool,
    pub(super) conversion: bool,
}

/// The webhooks of a kind.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Webhook {
    /// The modules from the crate's root.
    pub(super) path: String,
    #[serde(skip)]
    pub(super) modules: Vec<String>,
    pub(super) mutating: Option<Endpoint>,
    pub(super) validating: Option<Endpoint>,
    /// The versions that are converted.
    pub(super) spokes: Vec<Version>,
    /// What its tests are called.
    pub(super) file: String,
}

/// Where a webhook answers.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Endpoint {
    path: String,
    /// Whether that is not the usual path.
    said: bool,
}

/// Another version of a kind.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Version {
    pub(super) version: String,
    pub(super) api_path: String,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Image {
    variable: String,
    image: String,
    /// As words of Rust.
    command: Vec<String>,
    port: Option<u16>,
    /// As a text, since 0 is a user too.
    user: Option<String>,
}

// === impl View ===

impl View {
    pub(super) fn of(project: &Project) -> Self {
        let kinds: Vec<Kind> =
            project.resources().iter().map(|resource| Kind::of(project, resource)).collect();
        let apis: Vec<Kind> = kinds.iter().filter(|kind| kind.is_defined).cloned().collect();
        let has_controller = |kind: &Kind| {
            project.resources().iter().any(|resource| {
                resource.has_controller()
                    && resource.kind() == kind.kind
                    && resource.full_group() == kind.group
                    && resource.version() == kind.version
            })
        };
        let webhooks: Vec<Kind> = kinds.iter().filter(|kind| kind.webhook.is_some()).cloned().collect();
        let hooks =
            |has: fn(&Webhook) -> bool| webhooks.iter().filter_map(|kind| kind.webhook.as_ref()).any(has);
        let hooks = Hooks {
            any: !webhooks.is_empty(),
            mutating: hooks(|webhook| webhook.mutating.is_some()),
            validating: hooks(|webhook| webhook.validating.is_some()),
            conversion: hooks(|webhook| !webhook.spokes.is_empty()),
        };
        let controllers: Vec<Kind> = project
            .resources()
            .iter()
            .zip(&kinds)
            .flat_map(|(resource, kind)| kind.controllers(resource))
            .collect();
        let definitions: Vec<Kind> = apis.iter().filter(|api| !has_controller(api)).cloned().collect();
        let roots = [
            ("api", definitions.is_empty()),
            ("controller", controllers.is_empty()),
            ("webhook", webhooks.is_empty()),
        ];
        let roots: Vec<&str> = roots.iter().filter(|(_, unused)| !unused).map(|(root, _)| *root).collect();
        let roots = match roots.as_slice() {
            [] => None,
            [one] => Some((*one).to_owned()),
            several => Some(format!("{{{}}}", several.join(", "))),
        };
        let images = controllers.iter().filter_map(|kind| kind.image.clone()).collect();
        let modules = project.resources().iter().filter_map(|resource| resource.module.as_deref());
        let mut modules: Vec<(String, String)> = modules
            .map(|module| module.split_once('@').unwrap_or((module, "*")))
            .map(|(name, version)| (name.to_owned(), version.to_owned()))
            .collect();
        modules.sort();
        modules.dedup();
        Self {
            name: project.name().to_owned(),
            crate_name: project.crate_name(),
            multigroup: project.multigroup(),
            namespaced: project.namespaced(),
            scope: if project.namespaced() { "" } else { "Cluster" },
            apis,
            definitions,
            controllers,
            webhooks,
            hooks,
            roots,
            images,
            modules,
        }
    }
}

// === impl Kind ===

impl Kind {
    fn of(project: &Project, resource: &Resource) -> Self {
        let kind = resource.kind().to_owned();
        let lower = kind.to_lowercase();
        let module = names::module(&kind);
        let plain = module.trim_end_matches('_').to_owned();
        let group_module = names::group_module(resource.group());
        let api_modules = project.api_module(resource.group(), resource.version());
        let mut controller_modules = vec!["controller".to_owned()];
        if project.multigroup() {
            controller_modules.push(group_module.clone());
        }
        controller_modules.push(module.clone());
        let plural = resource.plural();
        // What the type is called for its own controller, and a client of all objects beside it.
        let variable = if names::is_keyword(&plain) { format!("{plain}_object") } else { plain.clone() };
        let group = resource.full_group();
        let own_types = project.own_types(&resource.key());
        let webhook = resource.webhooks().map(|webhooks| {
            let path = |verb: &str, said: &Option<String>| Endpoint {
                path: said.clone().unwrap_or_else(|| {
                    format!("/{verb}-{}-{}-{lower}", group.replace('.', "-"), resource.version())
                }),
                said: said.is_some(),
            };
            let mut modules = api_modules.clone();
            modules[0] = "webhook".to_owned();
            modules.push(module.clone());
            let prefix = if project.multigroup() { format!("{group_module}_") } else { String::new() };
            Webhook {
                path: modules.join("::"),
                modules,
                mutating: webhooks.defaulting.then(|| path("mutate", &webhooks.defaulting_path)),
                validating: webhooks.validation.then(|| path("validate", &webhooks.validation_path)),
                spokes: webhooks
                    .spoke
                    .iter()
                    .map(|version| Version::of(project, resource, version))
                    .collect(),
                file: format!("{prefix}{lower}_{}_webhook", resource.version()),
            }
        });
        let hub = project.resources().iter().find(|other| {
            let spokes = other.webhooks().map(|webhooks| webhooks.spoke.as_slice()).unwrap_or_default();
            other.kind() == resource.kind()
                && other.group() == resource.group()
                && spokes.iter().any(|version| version == resource.version())
        });
        Self {
            is_hub: webhook.as_ref().is_some_and(|webhook| !webhook.spokes.is_empty()),
            hub: hub.map(|hub| Version::of(project, hub, hub.version())),
            webhook,
            file: if project.multigroup() { format!("{group_module}_{lower}") } else { lower.clone() },
            objects: format!("{plain}_objects"),
            article: if lower.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" },
            api_path: api_modules.join("::"),
            controller_path: controller_modules.join("::"),
            type_path: match resource.api() {
                Some(_) => format!("crate::{}::{kind}", api_modules.join("::")),
                None => format!("{}::{kind}", type_module(resource)),
            },
            marker_group: if group.is_empty() { "\"\"".to_owned() } else { group.clone() },
            marker_namespace: if project.namespaced() {
                format!(",namespace={}-system", project.name())
            } else {
                String::new()
            },
            port_name: lower.chars().take(15).collect(),
            image: project.deploy_image(&resource.key()).map(|image| Image::of(&plain, &image)),
            is_defined: resource.api().is_some(),
            own_types,
            reconciler: format!("{kind}Reconciler"),
            controller_name: None,
            reports: true,
            sample: format!("{}_{}_{lower}.yaml", resource.group(), resource.version()),
            plural_said: plural != lower.clone() + "s",
            namespaced: resource.api().is_none_or(|api| api.namespaced),
            core: resource.is_core(),
            defined: resource.api().is_some(),
            version: resource.version().to_owned(),
            short_group: resource.group().to_owned(),
            module_plain: plain,
            api_modules,
            controller_modules,
            group,
            kind,
            lower,
            module,
            plural,
            variable,
        }
    }
}

impl Kind {
    /// Its controllers: the one with its own name, and those with others. One of them reports how the objects are.
    fn controllers(&self, resource: &Resource) -> Vec<Self> {
        let mut controllers: Vec<Self> = resource.controller.then(|| self.clone()).into_iter().collect();
        for NamedController { name } in &resource.controllers {
            let module = names::controller_module(name);
            let mut kind = self.clone();
            kind.controller_modules.pop();
            kind.controller_modules.push(module.clone());
            kind.controller_path = kind.controller_modules.join("::");
            kind.file = format!("{}_{}", self.file, module.trim_end_matches('_'));
            kind.reconciler = format!("{}Reconciler", names::pascal(name));
            kind.module = module;
            kind.controller_name = Some(name.clone());
            // What runs the image is the kind's own.
            kind.image = None;
            kind.reports = controllers.is_empty();
            controllers.push(kind);
        }
        controllers
    }
}

/// The module of the type, as seen from an operator: k8s-openapi is reached through the framework.
fn type_module(resource: &Resource) -> String {
    let path = resource.path.clone().unwrap_or_default();
    if resource.is_core() { format!("kubewright::{path}") } else { path }
}

// === impl Version ===

impl Version {
    fn of(project: &Project, resource: &Resource, version: &str) -> Self {
        let api_path = project.api_module(resource.group(), version).join("::");
        Self { version: version.to_owned(), api_path }
    }
}

// === impl Image ===

impl Image {
    fn of(module: &str, image: &DeployImage) -> Self {
        Self {
            variable: format!("{}_IMAGE", module.to_uppercase()),
            image: image.image.clone(),
            command: image.command().iter().map(|word| format!("{word:?}")).collect(),
            port: image.port(),
            user: image.user().map(|user| user.to_string()),
        }
    }
}
