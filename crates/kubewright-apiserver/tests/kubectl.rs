//! Real kubectl against the server, over the network.
//!
//! The binary is `$KUBECTL`, else `kubectl` of the path. Without one the tests are skipped.

use std::{
    env,
    path::PathBuf,
    process::{Output, Stdio},
};

use kubewright_apiserver::{
    ApiServer,
    listener::{ListenOptions, Listening},
};
use tempfile::TempDir;
use tokio::{io::AsyncWriteExt, process::Command};

/// A server, and a kubectl whose home and caches are its own.
struct Cluster {
    kubectl: PathBuf,
    home: TempDir,
    _listening: Listening,
}

/// What kubectl said.
struct Said {
    success: bool,
    out: String,
    err: String,
}

impl Cluster {
    async fn start() -> Option<Self> {
        let kubectl = PathBuf::from(env::var_os("KUBECTL").unwrap_or_else(|| "kubectl".into()));
        let version = Command::new(&kubectl).args(["version", "--client"]).output().await;
        if version.is_err() {
            #[allow(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("skipped: no kubectl in the path or in KUBECTL");
            }
            return None;
        }
        let home = tempfile::tempdir().expect("a folder");
        let listening = ApiServer::builder().build().listen(ListenOptions::default()).await.expect("listens");
        listening.write_kubeconfig(home.path().join("kubeconfig")).expect("a kubeconfig");
        Some(Self { kubectl, home, _listening: listening })
    }

    async fn kubectl(&self, arguments: &[&str], input: &str) -> Said {
        let mut child = Command::new(&self.kubectl)
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("KUBECONFIG", self.home.path().join("kubeconfig"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("kubectl runs");
        let mut stdin = child.stdin.take().expect("an input");
        // A command that does not read its input may have ended before it is written.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let Output { status, stdout, stderr } = child.wait_with_output().await.expect("kubectl ends");
        Said {
            success: status.success(),
            out: String::from_utf8_lossy(&stdout).into_owned(),
            err: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    /// Runs kubectl, which must succeed without a warning, and returns what it printed.
    async fn quietly(&self, arguments: &[&str], input: &str) -> String {
        let said = self.kubectl(arguments, input).await;
        assert!(said.success, "kubectl {arguments:?}: {}{}", said.out, said.err);
        assert_eq!(said.err, "", "kubectl {arguments:?}");
        said.out
    }
}

const CRD: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        description: Widget is a test.
        properties:
          spec:
            type: object
            description: The wish.
            properties:
              color: {type: string, description: Color is what it looks like.}
              size: {type: integer}
"#;

fn widget(color: &str) -> String {
    format!(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w1}}\nspec: {{color: {color}, size: 2}}\n"
    )
}

fn deployment(image: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - {{name: web, image: {image}, ports: [{{containerPort: 80}}]}}
"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_reads_the_schemas() {
    let Some(cluster) = Cluster::start().await else { return };
    let text = cluster.quietly(&["explain", "deployment.spec.template.spec.containers"], "").await;
    for part in ["KIND:       Deployment", "imagePullPolicy\t<string>", "enum: Always, IfNotPresent, Never"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = cluster.quietly(&["explain", "pod.spec.nodeName"], "").await;
    assert!(text.contains("FIELD: nodeName <string>"), "{text}");
    cluster.quietly(&["apply", "-f", "-"], CRD).await;
    let text = cluster.quietly(&["explain", "widget.spec"], "").await;
    for part in ["The wish.", "color\t<string>", "Color is what it looks like."] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_and_diff_work_without_warnings() {
    let Some(cluster) = Cluster::start().await else { return };
    let apply = ["apply", "-f", "-"];
    assert_eq!(
        cluster.quietly(&apply, CRD).await,
        "customresourcedefinition.apiextensions.k8s.io/widgets.example.com created\n"
    );
    for (manifest, name) in [
        (deployment as fn(&str) -> String, "deployment.apps/web"),
        (widget as fn(&str) -> String, "widget.example.com/w1"),
    ] {
        assert_eq!(cluster.quietly(&apply, &manifest("one")).await, format!("{name} created\n"));
        assert_eq!(cluster.quietly(&apply, &manifest("one")).await, format!("{name} unchanged\n"));
        let diff = cluster.kubectl(&["diff", "-f", "-"], &manifest("two")).await;
        assert!(
            !diff.success && diff.err.trim().is_empty() || diff.err.contains("exit status 1"),
            "{}",
            diff.err
        );
        assert!(diff.out.contains("two"), "{}", diff.out);
        assert_eq!(cluster.quietly(&apply, &manifest("two")).await, format!("{name} configured\n"));
        let server_side = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        let applied = cluster.quietly(&server_side, &manifest("three")).await;
        assert_eq!(applied, format!("{name} serverside-applied\n"));
    }
    let unknown = widget("one").replace("size: 2", "size: 2, other: 3");
    let refused = cluster.kubectl(&apply, &unknown).await;
    assert!(refused.err.contains("strict decoding error: unknown field \"spec.other\""), "{}", refused.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn access_is_told_and_tokens_are_issued() {
    let Some(cluster) = Cluster::start().await else { return };
    let who = cluster.quietly(&["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"], "").await;
    assert_eq!(who, "system:admin");
    assert_eq!(cluster.quietly(&["auth", "can-i", "delete", "pods"], "").await.trim(), "yes");
    cluster.quietly(&["create", "serviceaccount", "operator"], "").await;
    cluster.quietly(&["create", "role", "reader", "--verb=get,list", "--resource=configmaps"], "").await;
    cluster
        .quietly(
            &["create", "rolebinding", "reader", "--role=reader", "--serviceaccount=default:operator"],
            "",
        )
        .await;
    let token = cluster.quietly(&["create", "token", "operator"], "").await;
    let as_operator = |arguments: &[&str]| {
        // The client certificate would come before the token.
        let mut all = vec!["--as=system:serviceaccount:default:operator".to_owned()];
        all.extend(arguments.iter().map(|&argument| argument.to_owned()));
        all
    };
    assert_eq!(token.trim().split('.').count(), 3);
    let allowed = as_operator(&["get", "configmaps"]);
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    assert!(cluster.kubectl(&allowed, "").await.success);
    let refused = as_operator(&["get", "secrets"]);
    let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
    assert_eq!(
        cluster.kubectl(&refused, "").await.err,
        "Error from server (Forbidden): secrets is forbidden: User \"system:serviceaccount:default:operator\" cannot \
         list resource \"secrets\" in API group \"\" in the namespace \"default\"\n"
    );
    let listed = as_operator(&["auth", "can-i", "--list"]);
    let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
    assert!(cluster.quietly(&listed, "").await.contains("configmaps"));
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_discovered() {
    let Some(cluster) = Cluster::start().await else { return };
    let text = cluster.quietly(&["api-resources", "--no-headers", "-o", "name"], "").await;
    for name in ["pods", "deployments.apps", "customresourcedefinitions.apiextensions.k8s.io"] {
        assert!(text.lines().any(|line| line == name), "{name}: {text}");
    }
    let versions = cluster.quietly(&["api-versions"], "").await;
    assert!(versions.lines().any(|line| line == "apps/v1"), "{versions}");
}
