//! What the builder is told besides the files.

use kubewright_kustomize::{Builder, Built, Memory, Problem};
use serde_json::Value;

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec: {template: {spec: {containers: [{name: manager, image: 'controller:latest'}]}}}
";

fn project() -> Memory {
    Memory::from_iter([
        (
            "config/default/kustomization.yaml",
            "namespace: demo-system\nnamePrefix: demo-\nresources: [../manager]\n",
        ),
        ("config/manager/kustomization.yaml", "resources: [manager.yaml]\n"),
        ("config/manager/manager.yaml", DEPLOYMENT),
    ])
}

fn image(built: &Built) -> &Value {
    &built.objects[0]["spec"]["template"]["spec"]["containers"][0]["image"]
}

#[test]
fn an_image_is_set_where_no_kustomization_sets_it() {
    let built = Builder::new(project())
        .image("controller", "example.com:5000/demo:v1")
        .build("config/default")
        .unwrap();
    assert_eq!(image(&built), "example.com:5000/demo:v1");
}

#[test]
fn an_image_takes_the_place_of_the_one_that_a_kustomization_sets() {
    let mut files = project();
    let manager =
        "resources: [manager.yaml]\nimages: [{name: controller, newName: example.com/old, newTag: v0}]\n";
    files.insert("config/manager/kustomization.yaml", manager);
    assert_eq!(image(&Builder::new(&files).build("config/default").unwrap()), "example.com/old:v0");
    let built = Builder::new(&files)
        .image("controller", "example.com/new@sha256:00")
        .build("config/default")
        .unwrap();
    assert_eq!(image(&built), "example.com/new@sha256:00");
}

#[test]
fn namespace_prefix_and_suffix_are_those_of_the_folder_that_is_built() {
    let built = Builder::new(project())
        .namespace("other")
        .name_prefix("my-")
        .name_suffix("-1")
        .build("config/default")
        .unwrap();
    assert_eq!(built.objects[0]["metadata"]["name"], "my-manager-1");
    assert_eq!(built.objects[0]["metadata"]["namespace"], "other");
}

#[test]
fn errors_name_the_file_and_can_be_told_apart() {
    let mut files = project();
    files.insert("config/manager/kustomization.yaml", "resources: [manger.yaml]\n");
    let error = Builder::new(files).build("config/default").unwrap_err();
    assert_eq!(error.place().to_str(), Some("config/manager/kustomization.yaml"));
    assert!(
        matches!(error.problem(), Problem::Unreadable { path, .. } if path.to_str() == Some("manger.yaml"))
    );
    let error = Builder::new(project()).build("config").unwrap_err();
    assert!(matches!(error.problem(), Problem::NoKustomization), "{error}");
    assert!(Builder::new(project()).build("nothing").is_err());
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_of_a_folder() {
    use std::{fs, os::unix::fs::symlink};

    use kubewright_kustomize::Disk;

    let folder = tempfile::tempdir().unwrap();
    let overlay = folder.path().join("overlay");
    fs::create_dir(&overlay).unwrap();
    fs::write(folder.path().join("secret.yaml"), DEPLOYMENT).unwrap();
    fs::write(overlay.join("own.yaml"), DEPLOYMENT).unwrap();
    fs::write(overlay.join("kustomization.yaml"), "resources: [linked.yaml]\n").unwrap();
    symlink("own.yaml", overlay.join("linked.yaml")).unwrap();
    assert!(Builder::new(Disk).build(&overlay).is_ok());
    fs::remove_file(overlay.join("linked.yaml")).unwrap();
    symlink("../secret.yaml", overlay.join("linked.yaml")).unwrap();
    let error = Builder::new(Disk).build(&overlay).unwrap_err();
    assert!(matches!(error.problem(), Problem::Outside(_)), "{error}");
}
