//! Every form of a project has files that their readers can read.

use std::path::Path;

use super::*;
use crate::{
    api::{External, NewApi},
    framework::Framework,
    license::License,
    project::{DeployImage, Resource},
    webhook::NewWebhook,
};

/// Projects of all forms, by name.
fn projects() -> Vec<(String, Project)> {
    let mut projects = Vec::new();
    for (multigroup, namespaced, license, makefile) in [
        (false, false, License::Apache2, false),
        (true, false, License::None, true),
        (false, true, License::Mit, true),
        (true, true, License::Apache2, false),
    ] {
        let mut base = Project::new("example.com", "zoo-operator").expect("valid names");
        base.set_multigroup(multigroup).expect("no group yet");
        base.set_namespaced(namespaced);
        base.set_license(license);
        base.set_makefile(makefile);
        base.set_framework(Framework::Git("https://example.com/kubewright".to_owned()));
        let form = format!("multigroup {multigroup}, namespaced {namespaced}");
        projects.push((format!("{form}, empty"), base.clone()));
        for (name, apis) in apis(multigroup) {
            let mut project = base.clone();
            for api in &apis {
                project.add_api(api).unwrap_or_else(|error| panic!("{form}, {name}: {error}"));
            }
            projects.push((format!("{form}, {name}"), project.clone()));
            for webhook in webhooks(&project) {
                project.add_webhook(&webhook).unwrap_or_else(|error| panic!("{form}, {name}: {error}"));
            }
            projects.push((format!("{form}, {name}, webhooks"), project));
        }
    }
    projects
}

fn apis(multigroup: bool) -> Vec<(&'static str, Vec<NewApi>)> {
    let image = DeployImage {
        image: "registry.example.com:5000/team/memcached:1.4.36-alpine".to_owned(),
        container_command: Some("memcached,-m=64,say \"hi\"".to_owned()),
        container_port: Some("11211".to_owned()),
        run_as_user: Some("0".to_owned()),
    };
    let bare = DeployImage { image: "busybox".to_owned(), ..DeployImage::default() };
    let memcached = || NewApi::new("cache", "v1alpha1", "Memcached");
    let mut apis = vec![
        ("a kind", vec![memcached()]),
        ("a kind without a controller", vec![memcached().controller(false)]),
        ("a kind of the cluster", vec![memcached().namespaced(false)]),
        ("a plural", vec![memcached().plural("memcachedsets")]),
        (
            "odd names",
            vec![
                NewApi::new("cache", "v1", "Type"),
                NewApi::new("cache", "v1", "DNSRecord"),
                NewApi::new("cache", "v1", "AVeryLongKindOfWhichTheNameFillsMoreThanHalfOfALineOfCode"),
            ],
        ),
        ("an image", vec![memcached().deploy_image(image.clone())]),
        ("an image alone", vec![memcached().deploy_image(bare)]),
        ("versions", vec![memcached(), NewApi::new("cache", "v1", "Memcached").controller(false)]),
        ("kinds", vec![memcached().deploy_image(image), NewApi::new("cache", "v1alpha1", "Redis")]),
        ("a kind of Kubernetes", vec![NewApi::new("apps", "v1", "Deployment").resource(false)]),
        (
            "a kind of another crate",
            vec![NewApi::new("certs", "v1", "Certificate").resource(false).external(External {
                path: "cert_manager::v1".to_owned(),
                module: Some("cert-manager@0.3".to_owned()),
                domain: Some("cert-manager.io".to_owned()),
            })],
        ),
    ];
    if multigroup {
        apis.push((
            "groups",
            vec![memcached(), NewApi::new("my-farm", "v1", "Cow"), NewApi::new("type", "v1", "Cow")],
        ));
    }
    apis
}

/// Webhooks of all forms for the kinds of a project.
fn webhooks(project: &Project) -> Vec<NewWebhook> {
    let mut webhooks = Vec::new();
    for (index, resource) in project.resources().iter().enumerate() {
        let new = || NewWebhook::new(resource.group(), resource.version(), resource.kind());
        webhooks.push(new().defaulting(index % 2 == 0).validation(true));
        let others = project.resources().iter().filter(|other| {
            other.kind() == resource.kind()
                && other.group() == resource.group()
                && other.version() != resource.version()
        });
        let others: Vec<&str> = others.map(Resource::version).collect();
        if index == 0 && !others.is_empty() {
            webhooks.push(new().conversion(others));
        }
    }
    webhooks.push(NewWebhook::new("core", "v1", "Pod").validation(true).validation_path("/pods"));
    if !project.multigroup() && project.resources().iter().any(|resource| !resource.is_core()) {
        webhooks.pop();
    }
    webhooks
}

#[test]
fn every_file_can_be_read() {
    for (form, project) in projects() {
        for (path, text) in render(&project, &|_| None) {
            let what = format!("{form}: {}\n{text}", path.display());
            let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            match &*extension {
                "rs" => drop(syn::parse_file(&text).unwrap_or_else(|error| panic!("{error}: {what}"))),
                "toml" => drop(text.parse::<toml::Table>().unwrap_or_else(|error| panic!("{error}: {what}"))),
                "yaml" | "yml" => drop(
                    serde_saphyr::from_multiple::<Value>(&text)
                        .unwrap_or_else(|error| panic!("{error}: {what}")),
                ),
                _ => {}
            }
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{what:?}");
            assert!(text.lines().all(|line| line == line.trim_end()), "{what:?}");
            assert!(!text.contains("\n\n\n"), "{what:?}");
        }
    }
}

#[test]
fn every_kustomization_names_files_that_are_there_or_are_generated() {
    for (form, project) in projects() {
        let files = render(&project, &|_| None);
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with("kustomization.yaml")) {
            let folder = path.parent().expect("a folder");
            let kustomization: Value = serde_saphyr::from_str(text).expect("YAML");
            for resource in kustomization["resources"].as_array().into_iter().flatten() {
                let name = resource.as_str().expect("a path");
                let named = match name.strip_prefix("../") {
                    Some(sibling) => Path::new("config").join(sibling).join("kustomization.yaml"),
                    None => folder.join(name),
                };
                let generated = name.starts_with("bases/") || ["role.yaml", "manifests.yaml"].contains(&name);
                assert!(generated || files.contains_key(&named), "{form}: {} names {name}", path.display());
            }
        }
    }
}
