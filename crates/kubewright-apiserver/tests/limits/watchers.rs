//! Watchers that do not read.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_apiserver::{ApiServer, listener::ListenOptions};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    net::{TcpSocket, TcpStream},
};

use crate::served::{CONFIG_MAPS, Served, head};

const WRITES: usize = 500;
const SIZE: usize = 20_000;

/// Opens a watch, with a small buffer for what is not read.
async fn watch(served: &Served) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a buffer");
    let mut stream = socket.connect(served.listening.address()).await.expect("connects");
    let path = format!("GET {CONFIG_MAPS}?watch=true&resourceVersion={}", served.server.revision());
    stream.write_all(head(&path, "", 0).as_bytes()).await.expect("sends");
    // The head of the answer shows that the watch is open.
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") {
        seen.push(stream.read_u8().await.expect("the head"));
    }
    stream
}

/// The events of a watch.
struct Events {
    lines: Lines<BufReader<TcpStream>>,
    /// Whether the last chunk of the answer has come.
    is_over: bool,
}

impl Events {
    fn of(stream: TcpStream) -> Self {
        Self { lines: BufReader::new(stream).lines(), is_over: false }
    }

    async fn next(&mut self) -> Option<Value> {
        // The lines between are the sizes of chunks.
        while let Some(line) = self.lines.next_line().await.expect("a line") {
            if line.starts_with('{') {
                return Some(serde_json::from_str(&line).expect("an event"));
            }
            self.is_over |= line == "0";
            if self.is_over {
                return None;
            }
        }
        None
    }
}

#[tokio::test]
async fn a_watcher_that_does_not_read_is_cut_off() {
    let served = Served::of(ApiServer::builder().watch_history(50), ListenOptions::plain()).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(served.server.service(), "default"));
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "a"}})).expect("a map");
    maps.create(&PostParams::default(), &map).await.expect("created");

    let (lazy, mut eager) = (watch(&served).await, Events::of(watch(&served).await));
    for index in 0..WRITES {
        let patch = Patch::Merge(json!({"data": {"index": index.to_string(), "text": "x".repeat(SIZE)}}));
        maps.patch("a", &PatchParams::default(), &patch).await.expect("patched");
        let event = eager.next().await.expect("an event");
        assert_eq!(event["object"]["data"]["index"], index.to_string(), "who reads is told everything");
    }

    // A real server ends the stream without a word as well.
    let (mut lazy, mut seen) = (Events::of(lazy), 0);
    while let Some(event) = lazy.next().await {
        assert_eq!(
            (&event["type"], &event["object"]["data"]["index"]),
            (&json!("MODIFIED"), &json!(seen.to_string()))
        );
        seen += 1;
    }
    assert!(lazy.is_over, "the answer has ended");
    assert!(seen > 0 && seen < WRITES, "{seen} events");
    served.serves_others().await;
}
