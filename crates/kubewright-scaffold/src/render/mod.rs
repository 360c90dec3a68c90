//! Every file of a project, from its model.
//!
//! [`render()`] is a function of the project alone: equal projects have equal files, on every machine and at any time. What is not in
//! it is what is generated from the code: the definitions in `config/crd/bases` and the role in `config/rbac/role.yaml`.

mod template;
#[cfg(test)]
mod tests;
mod view;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};

use self::{
    template::{expand, text_of},
    view::{Kind, View},
};
use crate::{
    Project,
    project::{Resource, ResourceKey},
    tree::Files,
};

/// Brings the text of a source file into the usual form, or gives nothing if it cannot.
pub type Formatter<'f> = &'f dyn Fn(&str) -> Option<String>;

/// The files of a project, by their paths in it.
///
/// ```
/// use kubewright_scaffold::{Project, render};
///
/// let project = Project::new("example.com", "memcached-operator")?;
/// let files = render(&project, &|_| None);
/// assert!(files.keys().any(|path| path.ends_with("src/main.rs")));
/// # Ok::<(), kubewright_scaffold::ScaffoldError>(())
/// ```
#[must_use]
pub fn render(project: &Project, format: Formatter<'_>) -> Files {
    let mut out = Out { files: Files::new(), notice: notice(project), format };
    let view = View::of(project);
    package(&mut out, project, &view);
    sources(&mut out, project, &view);
    tests(&mut out, &view);
    configuration(&mut out, project, &view);
    out.files
}

struct Out<'f> {
    files: Files,
    /// What each source file begins with.
    notice: String,
    format: Formatter<'f>,
}

impl Out<'_> {
    fn put(&mut self, path: impl Into<PathBuf>, template: &str, context: impl Serialize) {
        let path = path.into();
        let mut text = expand(text_of(template), context);
        if path.extension().is_some_and(|extension| extension == "rs") {
            text = format!("{}{text}", self.notice);
            text = (self.format)(&text).unwrap_or(text);
        }
        self.files.insert(path, text);
    }
}

/// The files that no template makes, by their kinds: the types, and the sample.
pub(crate) fn own_files(project: &Project) -> Vec<(ResourceKey, [PathBuf; 2])> {
    let view = View::of(project);
    let resources = project.resources().iter().map(Resource::key);
    let own = resources.filter(|key| project.has_own_types(key));
    own.filter_map(|key| {
        let is_of =
            |api: &&Kind| api.kind == key.kind && api.version == key.version && api.short_group == key.group;
        let api = view.apis.iter().find(is_of)?;
        let types = format!("src/{}/{}.rs", api.api_modules.join("/"), api.module);
        Some((key, [types.into(), format!("config/samples/{}", api.sample).into()]))
    })
    .collect()
}

/// What each source file begins with.
pub(crate) fn notice(project: &Project) -> String {
    let line = |line: &String| if line.is_empty() { "//\n".to_owned() } else { format!("// {line}\n") };
    let text: String = project.notice().iter().map(line).collect();
    if text.is_empty() { text } else { text + "\n" }
}

fn package(out: &mut Out<'_>, project: &Project, view: &View) {
    let framework = project.framework();
    let modules: Vec<Value> =
        view.modules.iter().map(|(name, version)| json!({"name": name, "version": version})).collect();
    let context = json!({
        "name": view.name,
        "spdx": project.license().spdx(),
        "modules": modules,
        "own_types": view.apis.iter().any(|api| api.own_types.is_some()),
        "framework": {
            "kubewright": framework.dependency("kubewright"),
            "testing": framework.dependency("kubewright-testing"),
        },
    });
    out.put("Cargo.toml", "Cargo.toml.j2", context);
    for (path, template) in [
        (".gitignore", "gitignore.j2"),
        (".dockerignore", "dockerignore.j2"),
        ("Dockerfile", "Dockerfile.j2"),
        ("README.md", "README.md.j2"),
        (".github/workflows/test.yml", "ci/github.yml.j2"),
        (".gitlab-ci.yml", "ci/gitlab.yml.j2"),
    ] {
        out.put(path, template, view);
    }
    if project.makefile() {
        out.put("Makefile", "Makefile.j2", view);
    }
}

fn sources(out: &mut Out<'_>, project: &Project, view: &View) {
    out.put("src/main.rs", "src/main.rs.j2", view);
    out.put("src/lib.rs", "src/lib.rs.j2", view);
    if !view.apis.is_empty() {
        let modules = distinct(view.apis.iter().map(|api| &api.api_modules[1]));
        out.put(
            "src/api/mod.rs",
            "src/api.rs.j2",
            json!({"multigroup": view.multigroup, "modules": modules}),
        );
    }
    if view.multigroup {
        for (module, kinds) in groups(view.apis.iter().map(|api| (&api.api_modules[1], api))) {
            let versions = distinct(kinds.iter().map(|api| &api.api_modules[2]));
            let context = json!({"group": kinds[0].group, "modules": versions});
            out.put(format!("src/api/{module}/mod.rs"), "src/group.rs.j2", context);
        }
    }
    let folder = |api: &Kind| api.api_modules.join("/");
    for (version, kinds) in groups(view.apis.iter().map(|api| (folder(api), api))) {
        let mut kinds = kinds;
        kinds.sort_by(|a, b| a.module.cmp(&b.module));
        let context = json!({"group": kinds[0].group, "version": kinds[0].version, "apis": kinds});
        out.put(format!("src/{version}/mod.rs"), "src/version.rs.j2", context);
    }
    for api in &view.apis {
        if api.own_types.is_none() {
            out.put(format!("src/{}/{}.rs", folder(api), api.module), "src/types.rs.j2", api);
        }
    }
    for api in &view.apis {
        if api.hub.is_some() {
            let path = format!("src/{}/{}_conversion.rs", folder(api), api.module_plain);
            out.put(path, "src/conversion.rs.j2", api);
        }
    }
    controllers(out, project, view);
    webhooks(out, view);
}

/// The modules of the webhooks, which are those of the types below another root.
fn webhooks(out: &mut Out<'_>, view: &View) {
    let hooks: Vec<(&Kind, &[String])> = view
        .webhooks
        .iter()
        .filter_map(|kind| Some((kind, kind.webhook.as_ref()?.modules.as_slice())))
        .collect();
    // Each folder with what is in it, by version or by group and version.
    let depth = if view.multigroup { 3 } else { 2 };
    for depth in 1..=depth {
        let folders = groups(hooks.iter().map(|(kind, modules)| (modules[..depth].join("/"), *kind)));
        for (folder, kinds) in folders {
            let below = |kind: &&Kind| kind.webhook.as_ref().map(|webhook| webhook.modules[depth].clone());
            let modules = distinct(kinds.iter().filter_map(below));
            let context =
                json!({"depth": depth, "of_groups": view.multigroup, "first": kinds[0], "modules": modules});
            out.put(format!("src/{folder}/mod.rs"), "src/webhooks.rs.j2", context);
        }
    }
    for (kind, modules) in hooks {
        out.put(format!("src/{}.rs", modules.join("/")), "src/webhook.rs.j2", kind);
    }
}

fn controllers(out: &mut Out<'_>, project: &Project, view: &View) {
    if view.controllers.is_empty() {
        return;
    }
    let modules = distinct(view.controllers.iter().map(|kind| &kind.controller_modules[1]));
    let context = json!({"multigroup": view.multigroup, "modules": modules});
    out.put("src/controller/mod.rs", "src/controllers.rs.j2", context);
    if view.multigroup {
        for (module, kinds) in groups(view.controllers.iter().map(|kind| (&kind.controller_modules[1], kind)))
        {
            let modules = distinct(kinds.iter().map(|kind| &kind.module));
            let context = json!({"group": kinds[0].group, "modules": modules});
            out.put(format!("src/controller/{module}/mod.rs"), "src/controller_group.rs.j2", context);
        }
    }
    for kind in &view.controllers {
        let path = format!("src/{}", kind.controller_modules.join("/"));
        let template = match (&kind.image, kind.is_defined) {
            (Some(_), _) => "src/image_controller.rs.j2",
            (None, true) if kind.reports && kind.own_types.as_ref().is_none_or(|own| own.conditions) => {
                "src/controller.rs.j2"
            }
            (None, _) => "src/controller_of_others.rs.j2",
        };
        let context = with(kind, &[("name", Value::from(project.name()))]);
        out.put(format!("{path}.rs"), template, &context);
        if kind.image.is_some() {
            out.put(format!("{path}/deployment.rs"), "src/deployment.rs.j2", &context);
        }
    }
}

fn tests(out: &mut Out<'_>, view: &View) {
    let has_sample = |kind: &&Kind| kind.own_types.as_ref().is_none_or(|own| own.sample);
    for kind in view.controllers.iter().filter(|kind| kind.is_defined).filter(has_sample) {
        let template = match (&kind.image, &kind.own_types) {
            (Some(_), _) => "tests/image_controller.rs.j2",
            (None, None) if kind.reports => "tests/controller.rs.j2",
            (None, _) => "tests/own_types.rs.j2",
        };
        // Where the objects of the test are: with the operator, if it watches its own namespace alone.
        let home = match (view.namespaced, kind.namespaced) {
            (true, _) => Some(format!("{}-system", view.name)),
            (false, true) => Some("default".to_owned()),
            (false, false) => None,
        };
        let more = [
            ("name", Value::from(&*view.name)),
            ("crate_name", Value::from(crate_path(view, kind))),
            ("home", Value::from(home)),
            ("watched", Value::from(view.namespaced)),
            (
                "conditions",
                Value::from(kind.reports && kind.own_types.as_ref().is_some_and(|own| own.conditions)),
            ),
        ];
        out.put(format!("tests/{}.rs", kind.file), template, with(kind, &more));
    }
    for kind in view.webhooks.iter().filter(|kind| kind.is_defined && kind.own_types.is_none()) {
        let Some(webhook) = &kind.webhook else { continue };
        let more = [("name", Value::from(&*view.name)), ("crate_name", Value::from(crate_path(view, kind)))];
        out.put(format!("tests/{}.rs", webhook.file), "tests/webhook.rs.j2", with(kind, &more));
    }
}

/// The project's crate as a test names it. A test imports the module of its kind, and where that has the crate's name, the name
/// alone would be ambiguous.
fn crate_path(view: &View, kind: &Kind) -> String {
    let name = &view.crate_name;
    if kind.module == *name { format!("::{name}") } else { name.clone() }
}

fn configuration(out: &mut Out<'_>, project: &Project, view: &View) {
    for path in [
        "config/default/kustomization.yaml",
        "config/default/manager_metrics_patch.yaml",
        "config/default/metrics_service.yaml",
        "config/manager/kustomization.yaml",
        "config/manager/manager.yaml",
        "config/network-policy/allow-metrics-traffic.yaml",
        "config/network-policy/kustomization.yaml",
        "config/prometheus/kustomization.yaml",
        "config/prometheus/monitor.yaml",
        "config/rbac/leader_election_role.yaml",
        "config/rbac/leader_election_role_binding.yaml",
        "config/rbac/metrics_auth_role.yaml",
        "config/rbac/metrics_auth_role_binding.yaml",
        "config/rbac/metrics_reader_role.yaml",
        "config/rbac/service_account.yaml",
    ] {
        out.put(path, &format!("{path}.j2"), view);
    }
    webhook_configuration(out, view);
    let has_role = !view.controllers.is_empty();
    if has_role {
        out.put("config/rbac/role_binding.yaml", "config/rbac/role_binding.yaml.j2", view);
    }
    let context = json!({"roles": distinct(view.apis.iter().map(|api| &api.file)), "has_role": has_role});
    out.put("config/rbac/kustomization.yaml", "config/rbac/kustomization.yaml.j2", context);
    if view.apis.is_empty() {
        return;
    }
    let definitions = distinct(view.apis.iter().map(|api| format!("{}_{}.yaml", api.group, api.plural)));
    let hubs: Vec<&Kind> = view.apis.iter().filter(|api| api.is_hub).collect();
    let patch = |hub: &&Kind| match view.multigroup {
        true => format!(
            "webhook_in_{}_{}.yaml",
            hub.file.trim_end_matches(&format!("_{}", hub.lower)),
            hub.plural
        ),
        false => format!("webhook_in_{}.yaml", hub.plural),
    };
    out.put(
        "config/crd/kustomization.yaml",
        "config/crd/kustomization.yaml.j2",
        json!({"files": definitions, "patches": hubs.iter().map(patch).collect::<Vec<_>>()}),
    );
    for hub in &hubs {
        out.put(
            format!("config/crd/patches/{}", patch(hub)),
            "config/crd/patches/webhook_in_kind.yaml.j2",
            hub,
        );
    }
    if !hubs.is_empty() {
        out.put("config/crd/kustomizeconfig.yaml", "config/crd/kustomizeconfig.yaml.j2", view);
    }
    let mut samples = Vec::new();
    for api in &view.apis {
        user_roles(out, project, api);
        if api.own_types.is_none() {
            let context = with(api, &[("name", Value::from(project.name()))]);
            out.put(format!("config/samples/{}", api.sample), "config/samples/sample.yaml.j2", context);
        }
        samples.push(&api.sample);
    }
    out.put(
        "config/samples/kustomization.yaml",
        "config/samples/kustomization.yaml.j2",
        json!({"files": samples}),
    );
}

/// What the API server needs to find the webhooks and to trust them.
fn webhook_configuration(out: &mut Out<'_>, view: &View) {
    if view.webhooks.is_empty() {
        return;
    }
    for path in [
        "config/certmanager/certificate-webhook.yaml",
        "config/certmanager/issuer.yaml",
        "config/certmanager/kustomization.yaml",
        "config/certmanager/kustomizeconfig.yaml",
        "config/default/manager_webhook_patch.yaml",
        "config/network-policy/allow-webhook-traffic.yaml",
        "config/webhook/kustomization.yaml",
        "config/webhook/service.yaml",
    ] {
        out.put(path, &format!("{path}.j2"), view);
    }
}

fn user_roles(out: &mut Out<'_>, project: &Project, api: &Kind) {
    let purposes = [
        ("admin", "Lets people do everything to the objects, and give others leave to.", &["'*'"][..]),
        (
            "editor",
            "Lets people make, change and delete the objects.",
            &["create", "delete", "get", "list", "patch", "update", "watch"],
        ),
        ("viewer", "Lets people see the objects.", &["get", "list", "watch"]),
    ];
    for (role, purpose, verbs) in purposes {
        let more = [
            ("name", Value::from(project.name())),
            ("purpose", Value::from(purpose)),
            ("verbs", json!(verbs)),
            ("role_name", Value::from(format!("{}-{role}-role", api.file.replace('_', "-")))),
        ];
        let path = format!("config/rbac/{}_{role}_role.yaml", api.file);
        out.put(path, "config/rbac/user_role.yaml.j2", with(api, &more));
    }
}

/// The members of a kind and others.
fn with(kind: &Kind, more: &[(&str, Value)]) -> Value {
    // A struct of texts and flags is an object.
    let mut context = serde_json::to_value(kind).unwrap_or_default();
    for (name, value) in more {
        context[*name] = value.clone();
    }
    context
}

/// Sorted, each once.
fn distinct(items: impl Iterator<Item = impl AsRef<str>>) -> Vec<String> {
    let mut items: Vec<String> = items.map(|item| item.as_ref().to_owned()).collect();
    items.sort();
    items.dedup();
    items
}

/// Sorted by key.
fn groups<'k>(
    items: impl Iterator<Item = (impl AsRef<str>, &'k Kind)>,
) -> std::collections::BTreeMap<String, Vec<&'k Kind>> {
    let mut groups: std::collections::BTreeMap<String, Vec<&Kind>> = std::collections::BTreeMap::new();
    for (key, kind) in items {
        groups.entry(key.as_ref().to_owned()).or_default().push(kind);
    }
    groups
}
