//! Many streams on one HTTP/2 connection.

use std::future::poll_fn;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::served::{CONFIG_MAPS, Served};

async fn connect(served: &Served) -> SendRequest<Empty<Bytes>> {
    let stream = TokioIo::new(served.connect().await);
    let (sender, connection) =
        Builder::new(TokioExecutor::new()).handshake(stream).await.expect("speaks HTTP/2");
    tokio::spawn(connection);
    sender
}

fn get(path: &str) -> Request<Empty<Bytes>> {
    let request = Request::get(format!("http://a{path}")).header("authorization", "Bearer t");
    request.body(Empty::new()).expect("a request")
}

#[tokio::test]
async fn thousands_of_watches_fit_on_one_connection() {
    let served = Served::start().await;
    let mut sender = connect(&served).await;
    let mut watches = Vec::new();
    for _ in 0..4_000 {
        let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={}", served.server.revision());
        let answer = sender.send_request(get(&path)).await.expect("an answer");
        assert_eq!(answer.status(), 200);
        watches.push(answer.into_body());
    }
    served.serves_others().await;
    for watch in &mut watches {
        let piece = watch.frame().await.expect("an event").expect("a frame").into_data().expect("data");
        assert!(piece.starts_with(br#"{"type":"ADDED""#));
    }
}

#[tokio::test]
async fn what_goes_beyond_waits_on_its_own_connection() {
    let served = Served::start().await;
    let sender = connect(&served).await;
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={}", served.server.revision());
    let open = (0..5_000).map(|_| tokio::spawn(sender.clone().send_request(get(&path))));
    let open: Vec<_> = open.collect();
    served.serves_others().await;
    open.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn requests_that_are_reset_at_once_disturb_nobody() {
    let served = Served::start().await;
    let mut resets = 0;
    // A connection that resets too many is closed; its client comes again.
    for _ in 0..20 {
        let mut sender = connect(&served).await;
        for _ in 0..1_000 {
            if poll_fn(|context| sender.poll_ready(context)).await.is_err() {
                break;
            }
            let mut request = Box::pin(sender.send_request(get(CONFIG_MAPS)));
            let _ = futures::poll!(request.as_mut());
            drop(request);
            resets += 1;
            tokio::task::yield_now().await;
        }
    }
    assert!(resets > 100, "{resets} requests were reset");
    served.serves_others().await;
}
