//! Requests that are large, deep, long or never complete.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::served::{CONFIG_MAPS, Served, head};

const MEBIBYTE: usize = 1024 * 1024;

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let served = Served::start().await;
    // As a real server answers, which does not read the rest either.
    let refused = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Request entity too large: limit is 3145728",
        "reason": "RequestEntityTooLarge",
        "code": 413,
    });
    for length in [3 * MEBIBYTE + 1, 20 * MEBIBYTE] {
        assert_eq!(served.post(CONFIG_MAPS, &vec![b'x'; length]).await, (413, refused.clone()));
    }
    assert_eq!(served.post(CONFIG_MAPS, &vec![b'x'; 3 * MEBIBYTE]).await.0, 400);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_is_waited_for_a_minute() {
    let served = Served::start().await;
    let started = tokio::time::Instant::now();
    let mut stream = served.connect().await;
    let head = head(&format!("POST {CONFIG_MAPS}"), "", 1000);
    stream.write_all(head.as_bytes()).await.expect("sends");
    stream.write_all(b"{").await.expect("sends");
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(answer, b"HTTP/1.1 504");
    assert_eq!(started.elapsed().as_secs(), 60);
}

#[tokio::test]
async fn unfinished_bodies_leave_room_for_others() {
    let served = Served::start().await;
    let mut unfinished = Vec::new();
    // More than are read at once.
    for _ in 0..300 {
        let mut stream = served.connect().await;
        let head = head(&format!("POST {CONFIG_MAPS}"), "", 2 * MEBIBYTE);
        stream.write_all(head.as_bytes()).await.expect("sends");
        stream.write_all(&[b' '; 1000]).await.expect("sends");
        unfinished.push(stream);
    }
    served.serves_others().await;
}

#[tokio::test]
async fn what_is_nested_deeply_is_refused() {
    let served = Served::start().await;
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [200, 10_000, 1_000_000] {
        let body = format!(r#"{{"metadata": {{"name": "a"}}, "data": {{"a": {}}}}}"#, nested(depth));
        for media in ["application/json", "application/yaml"] {
            let (code, answer) = served.ask(&format!("POST {CONFIG_MAPS}"), media, body.as_bytes()).await;
            assert_eq!(code, 400, "{media}: {answer:.200}");
        }
        for media in
            ["application/apply-patch+yaml", "application/merge-patch+json", "application/json-patch+json"]
        {
            let request = format!("PATCH {CONFIG_MAPS}/a?fieldManager=me");
            let (code, answer) = served.ask(&request, media, body.as_bytes()).await;
            assert!((400..500).contains(&code), "{media}: {answer:.200}");
        }
    }
    served.serves_others().await;
}

#[tokio::test]
async fn aliases_of_yaml_do_not_multiply() {
    let served = Served::start().await;
    let mut body = "metadata: {name: a}\na: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, last) in ('b'..='i').zip('a'..) {
        let aliases = vec![format!("*{last}"); 9].join(", ");
        body += &format!("{name}: &{name} [{aliases}]\n");
    }
    let (code, answer) =
        served.ask(&format!("POST {CONFIG_MAPS}"), "application/yaml", body.as_bytes()).await;
    assert_eq!(code, 400, "{answer:.200}");
}

#[tokio::test]
async fn very_many_fields_and_faults_are_answered() {
    let served = Served::start().await;
    let fields =
        |prefix: &str| -> Value { (0..20_000).map(|i| (format!("{prefix}{i}"), json!(""))).collect() };
    let map = |data: Value| json!({"metadata": {"name": "a"}, "data": data}).to_string();
    let (code, refused) = served.post(CONFIG_MAPS, map(fields("no key ")).as_bytes()).await;
    assert_eq!(code, 422);
    assert_eq!(refused["details"]["causes"].as_array().map(Vec::len), Some(20_000));
    assert_eq!(served.post(CONFIG_MAPS, map(fields("key-")).as_bytes()).await.0, 201);
    let apply = |value: &str| {
        let data: Value = (0..20_000).map(|i| (format!("key-{i}"), json!(value))).collect();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data}).to_string()
    };
    for (manager, value, code) in [("me", "1", 409), ("me&force=true", "1", 200), ("you", "2", 409)] {
        let request = format!("PATCH {CONFIG_MAPS}/a?fieldManager={manager}");
        let body = apply(value);
        let answer = served.ask(&request, "application/apply-patch+yaml", body.as_bytes()).await;
        assert_eq!(answer.0, code, "{manager}: {:.200}", answer.1);
    }
}

#[tokio::test]
async fn long_selectors_are_read_and_longer_ones_refused() {
    let served = Served::start().await;
    let get = async |query: String| {
        served.ask(&format!("GET {CONFIG_MAPS}?{query}"), "application/json", b"").await.0
    };
    assert_eq!(get(format!("labelSelector={}a", "a,".repeat(5_000))).await, 200);
    assert_eq!(get(format!("labelSelector=a+in+({}b)", "b,".repeat(30_000))).await, 200);
    assert_eq!(get(format!("labelSelector={}", "(".repeat(10_000))).await, 400);
    assert_eq!(get(format!("fieldSelector={}metadata.name=b", "metadata.name=a,".repeat(3_000))).await, 200);
    assert_eq!(get(format!("labelSelector={}a", "a,".repeat(50_000))).await, 414);
    served.serves_others().await;
}
