//! The embedded cluster through an unmodified kubectl, over TLS.

mod process;

use process::{Cluster, kubectl};

#[test]
fn a_deployment_becomes_available_scales_and_goes_with_all_that_it_owns() {
    let Some(binary) = kubectl() else { return };
    let cluster = Cluster::start();
    let kubectl = cluster.kubectl(&binary);

    kubectl.ok(&["create", "deployment", "web", "--image=nginx:1.27", "--replicas=2"]);
    let rolled_out = kubectl.ok(&["rollout", "status", "deployment/web", "--timeout=60s"]);
    assert!(rolled_out.contains("successfully rolled out"), "{rolled_out}");
    let table = kubectl.ok(&["get", "deployment", "web"]);
    assert!(
        table
            .lines()
            .next()
            .is_some_and(|head| head.starts_with("NAME   READY   UP-TO-DATE   AVAILABLE   AGE"))
    );
    assert!(table.contains("web    2/2     2            2"), "{table}");

    kubectl.ok(&["scale", "deployment/web", "--replicas=3"]);
    kubectl.ok(&["wait", "deployment/web", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=60s"]);
    kubectl.ok(&["set", "image", "deployment/web", "nginx=nginx:1.28"]);
    kubectl.ok(&["rollout", "status", "deployment/web", "--timeout=60s"]);
    let history = kubectl.ok(&["rollout", "history", "deployment/web"]);
    assert!(history.contains("1 ") && history.contains("2 "), "{history}");
    let images = kubectl.ok(&["get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}"]);
    assert_eq!(images, "nginx:1.28 nginx:1.28 nginx:1.28");

    kubectl.ok(&["delete", "deployment", "web", "--cascade=foreground"]);
    assert_eq!(kubectl.ok(&["get", "replicasets,pods", "-o", "name"]), "");
}

#[test]
fn a_deployment_goes_back_to_an_earlier_revision() {
    let Some(binary) = kubectl() else { return };
    let cluster = Cluster::start();
    let kubectl = cluster.kubectl(&binary);
    let done = || kubectl.ok(&["rollout", "status", "deployment/web", "--timeout=60s"]);
    let image = || {
        kubectl.ok(&["get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}"])
    };

    kubectl.ok(&["create", "deployment", "web", "--image=nginx:1.27"]);
    done();
    kubectl.ok(&["set", "image", "deployment/web", "nginx=nginx:1.28"]);
    done();
    assert_eq!(kubectl.ok(&["rollout", "undo", "deployment/web"]), "deployment.apps/web rolled back\n");
    done();
    assert_eq!(image(), "nginx:1.27");
    kubectl.ok(&["rollout", "undo", "deployment/web", "--to-revision=2"]);
    done();
    assert_eq!(image(), "nginx:1.28");

    kubectl.ok(&["rollout", "pause", "deployment/web"]);
    kubectl.ok(&["set", "image", "deployment/web", "nginx=nginx:1.29"]);
    kubectl.ok(&["wait", "deployment/web", "--for=condition=Progressing=Unknown", "--timeout=60s"]);
    kubectl.ok(&["rollout", "resume", "deployment/web"]);
    done();
    kubectl.ok(&["rollout", "restart", "deployment/web"]);
    done();
    let images = kubectl.ok(&["get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}"]);
    assert_eq!(images, "nginx:1.29");
}

#[test]
fn deletion_goes_as_far_as_it_is_told() {
    let Some(binary) = kubectl() else { return };
    let cluster = Cluster::start();
    let kubectl = cluster.kubectl(&binary);
    let create = || {
        kubectl.ok(&["create", "deployment", "web", "--image=nginx:1.27"]);
        kubectl.ok(&["rollout", "status", "deployment/web", "--timeout=60s"]);
    };
    let gone = |what: &str| kubectl.ok(&["wait", what, "-l", "app=web", "--for=delete", "--timeout=60s"]);

    create();
    kubectl.ok(&["delete", "deployment", "web", "--cascade=orphan"]);
    let owners =
        ["get", "replicasets", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.ownerReferences}"];
    assert_eq!(kubectl.ok(&owners), "", "the ReplicaSet is there, and nobody's");
    assert_eq!(kubectl.ok(&["get", "pods", "-l", "app=web", "-o", "name"]).lines().count(), 1);
    kubectl.ok(&["delete", "replicasets", "-l", "app=web", "--cascade=background"]);
    gone("pods");

    create();
    kubectl.ok(&["delete", "deployment", "web", "--cascade=foreground", "--timeout=60s"]);
    assert_eq!(
        kubectl.ok(&["get", "replicasets,pods", "-l", "app=web", "-o", "name"]),
        "",
        "its dependents went before it"
    );

    create();
    kubectl.ok(&["delete", "deployment", "web"]);
    gone("replicasets");
    gone("pods");
}

#[test]
fn objects_are_created_changed_described_and_explained() {
    let Some(binary) = kubectl() else { return };
    let cluster = Cluster::start();
    let kubectl = cluster.kubectl(&binary);

    let manifest = cluster.folder().join("settings.yaml");
    let write = |value: &str| {
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  key: {value}\n");
        std::fs::write(&manifest, text).expect("the folder is writable");
    };
    let file = manifest.to_str().expect("a text path");

    write("one");
    assert_eq!(kubectl.ok(&["apply", "-f", file]), "configmap/settings created\n");
    assert_eq!(kubectl.ok(&["apply", "-f", file]), "configmap/settings unchanged\n");
    write("two");
    assert!(kubectl.output(&["diff", "-f", file]).status.code() == Some(1), "a difference is exit code 1");
    assert_eq!(kubectl.ok(&["apply", "-f", file]), "configmap/settings configured\n");
    assert_eq!(kubectl.ok(&["get", "configmap", "settings", "-o", "jsonpath={.data.key}"]), "two");
    assert_eq!(
        kubectl.ok(&["apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", file]),
        "configmap/settings serverside-applied\n"
    );
    kubectl.ok(&["label", "configmap", "settings", "tier=web"]);
    assert_eq!(kubectl.ok(&["get", "configmaps", "-l", "tier=web", "-o", "name"]), "configmap/settings\n");
    kubectl.ok(&[
        "patch",
        "configmap",
        "settings",
        "--type=json",
        "-p",
        r#"[{"op":"remove","path":"/data/key"}]"#,
    ]);

    kubectl.ok(&["create", "namespace", "team"]);
    kubectl.ok(&["create", "secret", "generic", "token", "--from-literal=a=b", "-n", "team"]);
    let described = kubectl.ok(&["describe", "secret", "token", "-n", "team"]);
    assert!(described.contains("Opaque"), "{described}");
    kubectl.ok(&["delete", "namespace", "team", "--timeout=60s"]);
    let gone = kubectl.fails(&["get", "secret", "token", "-n", "team"]);
    assert!(gone.contains(r#"Error from server (NotFound): namespaces "team" not found"#), "{gone}");

    assert!(kubectl.ok(&["explain", "deployment.spec.replicas"]).contains("integer"));
    assert!(kubectl.ok(&["api-resources"]).contains("deployments"));
    assert_eq!(kubectl.ok(&["auth", "can-i", "create", "pods"]), "yes\n");
    assert_eq!(kubectl.fails(&["auth", "can-i", "create", "pods", "--as=somebody"]), "");

    let mistyped = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mistyped\ndataa:\n  key: value\n";
    std::fs::write(&manifest, mistyped).expect("the folder is writable");
    let refused = kubectl.fails(&["apply", "-f", file]);
    assert!(refused.contains(r#"strict decoding error: unknown field "dataa""#), "{refused}");
    let gone = kubectl.fails(&["get", "configmap", "mistyped"]);
    assert!(gone.contains(r#"configmaps "mistyped" not found"#), "nothing was written: {gone}");
}
