//! The templates, and how they are filled.

use minijinja::{Environment, UndefinedBehavior, syntax::SyntaxConfig, value::Serde};
use serde::Serialize;

/// Each template's name and text.
macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../templates/", $name)))),*]
    };
}

const TEMPLATES: &[(&str, &str)] = templates![
    "Cargo.toml.j2",
    "Dockerfile.j2",
    "Makefile.j2",
    "README.md.j2",
    "ci/github.yml.j2",
    "ci/gitlab.yml.j2",
    "config/certmanager/certificate-webhook.yaml.j2",
    "config/certmanager/issuer.yaml.j2",
    "config/certmanager/kustomization.yaml.j2",
    "config/certmanager/kustomizeconfig.yaml.j2",
    "config/crd/kustomization.yaml.j2",
    "config/crd/kustomizeconfig.yaml.j2",
    "config/crd/patches/webhook_in_kind.yaml.j2",
    "config/default/kustomization.yaml.j2",
    "config/default/manager_metrics_patch.yaml.j2",
    "config/default/manager_webhook_patch.yaml.j2",
    "config/default/metrics_service.yaml.j2",
    "config/manager/kustomization.yaml.j2",
    "config/manager/manager.yaml.j2",
    "config/network-policy/allow-metrics-traffic.yaml.j2",
    "config/network-policy/allow-webhook-traffic.yaml.j2",
    "config/network-policy/kustomization.yaml.j2",
    "config/prometheus/kustomization.yaml.j2",
    "config/prometheus/monitor.yaml.j2",
    "config/rbac/kustomization.yaml.j2",
    "config/rbac/leader_election_role.yaml.j2",
    "config/rbac/leader_election_role_binding.yaml.j2",
    "config/rbac/metrics_auth_role.yaml.j2",
    "config/rbac/metrics_auth_role_binding.yaml.j2",
    "config/rbac/metrics_reader_role.yaml.j2",
    "config/rbac/role_binding.yaml.j2",
    "config/rbac/service_account.yaml.j2",
    "config/rbac/user_role.yaml.j2",
    "config/samples/kustomization.yaml.j2",
    "config/samples/sample.yaml.j2",
    "config/webhook/kustomization.yaml.j2",
    "config/webhook/service.yaml.j2",
    "dockerignore.j2",
    "gitignore.j2",
    "src/api.rs.j2",
    "src/controller.rs.j2",
    "src/controller_group.rs.j2",
    "src/controller_of_others.rs.j2",
    "src/controllers.rs.j2",
    "src/conversion.rs.j2",
    "src/deployment.rs.j2",
    "src/group.rs.j2",
    "src/image_controller.rs.j2",
    "src/lib.rs.j2",
    "src/main.rs.j2",
    "src/types.rs.j2",
    "src/version.rs.j2",
    "src/webhook.rs.j2",
    "src/webhooks.rs.j2",
    "tests/controller.rs.j2",
    "tests/image_controller.rs.j2",
    "tests/own_types.rs.j2",
    "tests/webhook.rs.j2",
];

/// The text of a template of ours.
pub(super) fn text_of(name: &str) -> &'static str {
    let found = TEMPLATES.iter().find(|(known, _)| *known == name);
    found.map_or_else(|| panic!("there is no template {name}"), |(_, text)| text)
}

/// Fills a template.
pub(super) fn expand(template: &str, context: impl Serialize) -> String {
    let mut environment = Environment::empty();
    environment.set_syntax(syntax());
    // A name that is not there is a fault of the template, which tests find.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    match environment.render_str(template, Serde(context)) {
        Ok(text) => text,
        Err(error) => panic!("a template is wrong: {error:#}"),
    }
}

/// Tags on lines of their own leave no trace.
fn syntax() -> SyntaxConfig {
    let mut builder = SyntaxConfig::builder();
    builder.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    // Only delimiters can be wrong, and these are the usual ones.
    builder.build().unwrap_or_default()
}
