//! What built-in kinds do beyond being stored.

use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use kubewright_world::Random;
use serde_json::{Value, json};
use tower::ServiceExt;

struct Cluster(ApiServer);

impl Cluster {
    fn new() -> Self {
        Self(ApiServer::builder().random(Random::seeded(1)).build())
    }

    async fn send(&self, method: Method, path: &str, media: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, media)
            .body(Full::from(body.to_string()))
            .expect("a request");
        let response = self.0.service().oneshot(request).await.expect("an answer");
        let code = response.status();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (code, serde_json::from_slice(&body).expect("JSON"))
    }

    async fn create(&self, path: &str, object: Value) -> Value {
        let (code, created) = self.send(Method::POST, path, "application/json", &object).await;
        assert_eq!(code, StatusCode::CREATED, "{created}");
        created
    }

    async fn patch(&self, path: &str, patch: Value) -> (StatusCode, Value) {
        self.send(Method::PATCH, path, "application/merge-patch+json", &patch).await
    }

    /// The message of a refusal.
    async fn refused(&self, method: Method, path: &str, object: Value) -> String {
        let media = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let (code, status) = self.send(method, path, media, &object).await;
        assert!(code.is_client_error(), "{status}");
        status["message"].as_str().expect("a message").to_owned()
    }
}

const SERVICES: &str = "/api/v1/namespaces/default/services";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn service(name: &str, spec: &Value) -> Value {
    let mut service = json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}});
    for (field, value) in spec.as_object().expect("a spec") {
        service["spec"][field] = value.clone();
    }
    service
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

#[tokio::test(start_paused = true)]
async fn services_get_addresses_and_keep_them() {
    let cluster = Cluster::new();
    let one = cluster.create(SERVICES, service("one", &json!({}))).await;
    let two = cluster.create(SERVICES, service("two", &json!({"type": "NodePort"}))).await;
    assert_ne!(one["spec"]["clusterIP"], two["spec"]["clusterIP"]);
    assert_eq!(one["spec"]["clusterIPs"], json!([one["spec"]["clusterIP"]]));
    assert_eq!((&one["spec"]["ipFamilies"], &one["spec"]["type"]), (&json!(["IPv4"]), &json!("ClusterIP")));
    assert_eq!(two["spec"]["ports"][0]["nodePort"], 30000);

    let headless = cluster.create(SERVICES, service("headless", &json!({"clusterIP": "None"}))).await;
    assert_eq!(headless["spec"]["clusterIPs"], json!(["None"]));

    let replaced = service("two", &json!({"type": "NodePort", "selector": {"a": "b"}}));
    let (code, replaced) =
        cluster.send(Method::PUT, &format!("{SERVICES}/two"), "application/json", &replaced).await;
    assert_eq!(code, StatusCode::OK, "{replaced}");
    assert_eq!(replaced["spec"]["clusterIP"], two["spec"]["clusterIP"]);
    assert_eq!(replaced["spec"]["ports"][0]["nodePort"], 30000);

    let ip = json!({"spec": {"clusterIP": "10.96.9.9", "clusterIPs": ["10.96.9.9"]}});
    assert_eq!(
        cluster.refused(Method::PATCH, &format!("{SERVICES}/one"), ip).await,
        "Service \"one\" is invalid: spec.clusterIPs[0]: Invalid value: [\"10.96.9.9\"]: may not change once set"
    );
    let taken = service("three", &json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000}]}));
    assert_eq!(
        cluster.refused(Method::POST, SERVICES, taken).await,
        "Service \"three\" is invalid: spec.ports[0].nodePort: Invalid value: 30000: provided port is already \
         allocated"
    );
}

/// What a real server answers that was started with these ranges.
#[tokio::test(start_paused = true)]
async fn services_get_addresses_of_the_ranges_of_the_cluster() {
    let dual = "10.43.0.0/16,fd00:43::/112";
    let cluster = |ranges: &str| {
        let ranges = ranges.parse().expect("ranges");
        Cluster(ApiServer::builder().random(Random::seeded(1)).service_ranges(ranges).build())
    };
    for (ranges, first, family) in
        [(dual, "10.43.0.1", "IPv4"), ("fd00:43::/112,10.43.0.0/16", "fd00:43::1", "IPv6")]
    {
        let cluster = cluster(ranges);
        let (_, kubernetes) =
            cluster.send(Method::GET, &format!("{SERVICES}/kubernetes"), "", &json!({})).await;
        assert_eq!(kubernetes["spec"]["clusterIPs"], json!([first]));
        assert_eq!(kubernetes["spec"]["ipFamilies"], json!([family]));
        let path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
        let (_, cidr) = cluster.send(Method::GET, path, "", &json!({})).await;
        assert_eq!(cidr["spec"]["cidrs"], json!(ranges.split(',').collect::<Vec<_>>()));
    }

    let cluster = cluster(dual);
    let both = json!(["10.43.0.78", "fd00:43::78"]);
    for (name, spec, families, policy) in [
        ("plain", json!({}), json!(["IPv4"]), "SingleStack"),
        ("single6", json!({"ipFamilies": ["IPv6"]}), json!(["IPv6"]), "SingleStack"),
        ("prefer", json!({"ipFamilyPolicy": "PreferDualStack"}), json!(["IPv4", "IPv6"]), "PreferDualStack"),
        (
            "require6",
            json!({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv6"]}),
            json!(["IPv6", "IPv4"]),
            "RequireDualStack",
        ),
        ("ip6", json!({"clusterIP": "fd00:43::77"}), json!(["IPv6"]), "SingleStack"),
        (
            "both",
            json!({"ipFamilyPolicy": "PreferDualStack", "clusterIP": "10.43.0.78", "clusterIPs": both}),
            json!(["IPv4", "IPv6"]),
            "PreferDualStack",
        ),
    ] {
        let created = cluster.create(SERVICES, service(name, &spec)).await;
        assert_eq!(created["spec"]["ipFamilies"], families, "{name}");
        assert_eq!(created["spec"]["ipFamilyPolicy"], policy, "{name}");
        let ips = created["spec"]["clusterIPs"].as_array().expect("addresses");
        assert_eq!(created["spec"]["clusterIP"], ips[0], "{name}");
        let of_ips: Vec<_> = ips
            .iter()
            .map(|ip| match ip.as_str() {
                Some(ip) if ip.starts_with("10.43.") => "IPv4",
                Some(ip) if ip.starts_with("fd00:43::") => "IPv6",
                _ => panic!("{name}: {ip} is in no range"),
            })
            .collect();
        assert_eq!(json!(of_ips), families, "{name}");
    }
    for (spec, why) in [
        (
            json!({"ipFamilyPolicy": "RequireDualStack", "clusterIP": "10.43.0.78"}),
            "[\"10.43.0.78\",\"\"]: failed to allocate IP 10.43.0.78: provided IP is already allocated",
        ),
        (
            json!({"ipFamilyPolicy": "PreferDualStack", "clusterIP": "10.43.0.79", "clusterIPs": ["10.43.0.79", "fd00:44::78"]}),
            "[\"10.43.0.79\",\"fd00:44::78\"]: failed to allocate IP fd00:44::78: the provided network does not match the \
             current range",
        ),
        (
            json!({"clusterIP": "10.99.0.1"}),
            "[\"10.99.0.1\"]: failed to allocate IP 10.99.0.1: the provided network does not match the current range",
        ),
    ] {
        assert_eq!(
            cluster.refused(Method::POST, SERVICES, service("x", &spec)).await,
            format!("Service \"x\" is invalid: spec.clusterIPs: Invalid value: {why}")
        );
    }

    let path = format!("{SERVICES}/plain");
    let (code, dual) = cluster.patch(&path, json!({"spec": {"ipFamilyPolicy": "RequireDualStack"}})).await;
    assert_eq!(code, StatusCode::OK, "{dual}");
    assert_eq!(dual["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
    assert!(dual["spec"]["clusterIPs"][1].as_str().is_some_and(|ip| ip.starts_with("fd00:43::")), "{dual}");
    let (code, single) = cluster.patch(&path, json!({"spec": {"ipFamilyPolicy": "SingleStack"}})).await;
    assert_eq!(code, StatusCode::OK, "{single}");
    assert_eq!(single["spec"]["clusterIPs"], json!([dual["spec"]["clusterIPs"][0]]));
    assert_eq!(single["spec"]["ipFamilies"], json!(["IPv4"]));
}

#[tokio::test(start_paused = true)]
async fn ports_that_differ_in_their_protocol_share_a_port_of_nodes() {
    let cluster = Cluster::new();
    let ports = json!([
        {"name": "a", "port": 53, "protocol": "TCP"},
        {"name": "b", "port": 53, "protocol": "UDP"},
        {"name": "c", "port": 80},
    ]);
    let dns = cluster.create(SERVICES, service("dns", &json!({"type": "NodePort", "ports": ports}))).await;
    let node_ports: Vec<_> = (0..3).map(|index| dns["spec"]["ports"][index]["nodePort"].clone()).collect();
    assert_eq!(node_ports, [30000, 30000, 30001]);

    let ports = json!([{"name": "a", "port": 1}, {"name": "b", "port": 2, "nodePort": 30002}]);
    let web = cluster.create(SERVICES, service("web", &json!({"type": "NodePort", "ports": ports}))).await;
    assert_eq!(web["spec"]["ports"][0]["nodePort"], 30003, "what another port wants is left to it");
    let ports = json!([{"name": "c", "port": 3}, {"name": "a", "port": 1, "nodePort": 30003}]);
    let (_, web) = cluster.patch(&format!("{SERVICES}/web"), json!({"spec": {"ports": ports}})).await;
    assert_eq!(web["spec"]["ports"][0]["nodePort"], 30004, "what the service had is no other port's");
}

#[test]
fn services_created_at_once_do_not_share_what_they_get() {
    let server = ApiServer::builder().build();
    let create = |name: String| {
        let mut service = service(&name, &json!({"type": "NodePort"}));
        service["apiVersion"] = json!("v1");
        service["kind"] = json!("Service");
        service["metadata"]["namespace"] = json!("default");
        server.create(service).expect("a service")
    };
    let create = &create;
    let services: Vec<Value> = std::thread::scope(|scope| {
        let one = |thread| move || (0..25).map(|index| create(format!("s-{thread}-{index}"))).collect();
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn::<_, Vec<Value>>(one(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("services")).collect()
    });
    let distinct = |pointer| {
        let values = services.iter().filter_map(|service| service.pointer(pointer));
        values.map(Value::to_string).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!((distinct("/spec/clusterIP"), distinct("/spec/ports/0/nodePort")), (100, 100));
}

#[tokio::test(start_paused = true)]
async fn workloads_must_select_their_pods() {
    let cluster = Cluster::new();
    let deployment = |selector: Value| json!({"metadata": {"name": "d"}, "spec": {"selector": selector, "template": template()}});
    assert_eq!(
        cluster.refused(Method::POST, DEPLOYMENTS, deployment(json!({"matchLabels": {"app": "b"}}))).await,
        "Deployment.apps \"d\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` \
         does not match template `labels`"
    );
    let created = cluster.create(DEPLOYMENTS, deployment(json!({"matchLabels": {"app": "a"}}))).await;
    assert_eq!(created["spec"]["strategy"]["type"], "RollingUpdate", "defaults are set");
    assert_eq!(created["status"], json!({}));
    let change = json!({"spec": {"selector": {"matchLabels": {"x": "y"}}}});
    let refused = cluster.refused(Method::PATCH, &format!("{DEPLOYMENTS}/d"), change).await;
    assert!(refused.contains("spec.selector: Invalid value"), "{refused}");
    assert!(refused.contains("field is immutable"), "{refused}");

    let annotate = json!({"metadata": {"annotations": {"a": "b"}}});
    let (_, annotated) = cluster.patch(&format!("{DEPLOYMENTS}/d"), annotate).await;
    assert_eq!(annotated["metadata"]["generation"], 2, "annotations are part of what a Deployment wants");
}

#[tokio::test(start_paused = true)]
async fn jobs_select_their_pods_by_uid() {
    let cluster = Cluster::new();
    let job = |policy: &str| {
        let mut template = template();
        template["spec"]["restartPolicy"] = json!(policy);
        json!({"metadata": {"name": "j"}, "spec": {"template": template}})
    };
    assert_eq!(
        cluster.refused(Method::POST, JOBS, job("Always")).await,
        "Job.batch \"j\" is invalid: spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \
         \"Never\""
    );
    let created = cluster.create(JOBS, job("Never")).await;
    let uid = &created["metadata"]["uid"];
    let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
    assert_eq!(created["spec"]["selector"], selector);
    let labels = &created["spec"]["template"]["metadata"]["labels"];
    assert_eq!((&labels["job-name"], &labels["controller-uid"]), (&json!("j"), uid));
    assert_eq!(
        cluster.refused(Method::PATCH, &format!("{JOBS}/j"), json!({"spec": {"completions": 5}})).await,
        "Job.batch \"j\" is invalid: spec.completions: Invalid value: 5: field is immutable"
    );
}

#[tokio::test(start_paused = true)]
async fn pods_change_little_after_they_are_created() {
    let cluster = Cluster::new();
    let pod = json!({"metadata": {"name": "p"}, "spec": template()["spec"]});
    let created = cluster.create(PODS, pod).await;
    assert_eq!(created["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
    let image = json!({"spec": {"containers": [{"name": "c", "image": "j"}]}});
    let (code, changed) = cluster.patch(&format!("{PODS}/p"), image).await;
    assert_eq!((code, &changed["metadata"]["generation"]), (StatusCode::OK, &json!(2)), "{changed}");
    let command = json!({"spec": {"containers": [{"name": "c", "image": "j", "command": ["x"]}]}});
    let refused = cluster.refused(Method::PATCH, &format!("{PODS}/p"), command).await;
    assert!(
        refused.starts_with("Pod \"p\" is invalid: spec: Forbidden: pod updates may not change"),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn secrets_take_text_and_what_is_immutable_stays() {
    let cluster = Cluster::new();
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"a": "b"}, "immutable": true});
    let created = cluster.create(secrets, secret).await;
    assert_eq!((&created["data"], &created["type"]), (&json!({"a": "Yg=="}), &json!("Opaque")));
    assert_eq!(created.get("stringData"), None);
    assert_eq!(
        cluster.refused(Method::PATCH, &format!("{secrets}/s"), json!({"data": {"a": "Yw=="}})).await,
        "Secret \"s\" is invalid: data: Forbidden: field is immutable when `immutable` is set"
    );
}

/// What a real server answers that was started with these gates.
#[tokio::test(start_paused = true)]
async fn feature_gates_switch_what_they_name() {
    let many = "x".repeat(200_000);
    let map = json!({"metadata": {"name": "large"}, "data": {"a": many}});
    let path = "/api/v1/namespaces/default/configmaps";
    let watch = format!(
        "{path}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
    );
    for (gates, is_compressed, code) in [
        ("", true, StatusCode::OK),
        ("APIResponseCompression=false,WatchList=false", false, StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let gates = gates.parse().expect("gates");
        let cluster = Cluster(ApiServer::builder().feature_gates(gates).build());
        cluster.create(path, map.clone()).await;
        let get = |path: &str| {
            let request = Request::get(path).header(header::ACCEPT_ENCODING, "gzip");
            cluster.0.service().oneshot(request.body(Full::from("")).expect("a request"))
        };
        let answer = get(&format!("{path}/large")).await.expect("an answer");
        assert_eq!(answer.headers().contains_key(header::CONTENT_ENCODING), is_compressed);
        let answer = get(&watch).await.expect("an answer");
        assert_eq!(answer.status(), code);
        if code != StatusCode::OK {
            let body = answer.into_body().collect().await.expect("a body").to_bytes();
            let status: Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(
                status["message"],
                "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for \
                 watch unless the WatchList feature gate is enabled"
            );
        }
    }
}
