//! A server on a loopback socket, and clients that write bytes.

use std::time::Duration;

use kubewright_apiserver::{
    ApiServer, ApiServerBuilder, User,
    listener::{ListenOptions, Listening},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// An API server that listens.
pub(crate) struct Served {
    pub(crate) server: ApiServer,
    pub(crate) listening: Listening,
}

impl Served {
    pub(crate) async fn start() -> Self {
        Self::of(ApiServer::builder(), ListenOptions::plain()).await
    }

    pub(crate) async fn of(builder: ApiServerBuilder, options: ListenOptions) -> Self {
        let server = builder.token("t", User::admin()).build();
        let listening = server.listen(options).await.expect("listens");
        Self { server, listening }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.listening.address()).await.expect("connects")
    }

    /// Sends a request on a connection of its own, and gives the status and the body of the answer.
    pub(crate) async fn ask(&self, request: &str, media: &str, body: &[u8]) -> (u16, String) {
        let mut stream = self.connect().await;
        let (mut reader, mut writer) = stream.split();
        let head = head(request, &format!("Content-Type: {media}\r\nConnection: close\r\n"), body.len());
        let mut answer = Vec::new();
        let send = async {
            // Who is refused before all is sent sees it in the answer.
            let _ = writer.write_all(head.as_bytes()).await;
            let _ = writer.write_all(body).await;
        };
        let receive = reader.read_to_end(&mut answer);
        let (_, _) = tokio::join!(send, receive);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        (code, body.to_owned())
    }

    /// Sends an object in JSON, and gives the status and the answer.
    pub(crate) async fn post(&self, path: &str, body: &[u8]) -> (u16, Value) {
        let (code, body) = self.ask(&format!("POST {path}"), "application/json", body).await;
        (code, serde_json::from_str(&body).expect("JSON"))
    }

    /// Makes sure that others can read and write.
    pub(crate) async fn serves_others(&self) {
        let object = br#"{"metadata": {"generateName": "other-"}}"#;
        let served = async {
            assert_eq!(self.ask("GET /readyz", "application/json", b"").await.0, 200);
            assert_eq!(self.post(CONFIG_MAPS, object).await.0, 201);
        };
        timeout(Duration::from_secs(60), served).await.expect("others are served");
    }
}

/// The head of a request whose body has a length.
pub(crate) fn head(request: &str, more: &str, length: usize) -> String {
    format!(
        "{request} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n{more}Content-Length: {length}\r\n\r\n"
    )
}
