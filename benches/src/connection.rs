//! A client with one HTTP/2 connection, and requests whose answers are read without being decoded: what is measured is
//! the server.

use std::sync::Arc;

use futures::StreamExt;
use http::{Request, header};
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::{
    Client, Config,
    client::{Body, ConfigExt},
};
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower::{ServiceBuilder, service_fn};

use crate::Result;

/// Windows as Go's client has them, so that the client holds up no server.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// A client with a connection of its own.
pub(crate) async fn connect(config: &Config) -> Result<Client> {
    let host = config.cluster_url.host().ok_or("the kubeconfig's server has no host")?.to_owned();
    let port = config.cluster_url.port_u16().unwrap_or(443);
    let mut tls = config.rustls_client_config()?;
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    stream.set_nodelay(true)?;
    let stream = TlsConnector::from(Arc::new(tls)).connect(ServerName::try_from(host)?, stream).await?;
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .handshake(TokioIo::new(stream))
        .await?;
    // It ends with the last sender.
    tokio::spawn(connection);
    let send = service_fn(move |request: Request<Body>| sender.clone().send_request(request));
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .map_err(tower::BoxError::from)
        .service(send);
    Ok(Client::new(service, "default"))
}

/// Sends a request and gives the number of bytes of the answer.
pub(crate) async fn bytes(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Result<usize> {
    let mut answer = send(client, method, path, body).await?;
    let mut bytes = 0;
    while let Some(frame) = answer.frame().await {
        bytes += frame?.data_ref().map_or(0, hyper::body::Bytes::len);
    }
    Ok(bytes)
}

/// Sends a request and gives the answer as JSON.
pub(crate) async fn json(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
    let answer = send(client, method, path, body).await?;
    Ok(serde_json::from_slice(&answer.collect().await?.to_bytes())?)
}

/// Reads the lines of a watch until there were as many.
pub(crate) async fn lines(client: &Client, path: &str, count: usize, opened: impl FnOnce()) -> Result<()> {
    let mut pieces = send(client, "GET", path, None).await?.into_data_stream();
    opened();
    let mut seen = 0;
    while seen < count {
        let piece = pieces.next().await.ok_or("the watch has ended")??;
        seen += piece.iter().filter(|byte| **byte == b'\n').count();
    }
    Ok(())
}

async fn send(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Result<Body> {
    let media = match method {
        "PATCH" if path.contains("fieldManager=") => "application/apply-patch+yaml",
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, media);
    let body = body.map(Value::to_string).unwrap_or_default();
    let answer = client.send(request.body(Body::from(body.into_bytes()))?).await?;
    if !answer.status().is_success() {
        let status = answer.status();
        let text = answer.into_body().collect().await?.to_bytes();
        return Err(format!("{method} {path}: {status}: {}", String::from_utf8_lossy(&text)).into());
    }
    Ok(answer.into_body())
}
