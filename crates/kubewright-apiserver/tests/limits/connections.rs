//! Connections that are silent, idle or never done with the head of a request.

use std::{io::Write, time::Duration};

use kubewright_apiserver::{ApiServer, listener::ListenOptions};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::Instant,
};

use crate::served::{Served, head};

#[tokio::test]
async fn a_head_that_never_ends_is_refused() {
    let served = Served::start().await;
    let mut stream = served.connect().await;
    let (mut reader, mut writer) = stream.split();
    let send = async {
        let _ = writer.write_all(b"GET /readyz HTTP/1.1\r\nHost: a\r\nX-Endless: ").await;
        while writer.write_all(&[b'a'; 4096]).await.is_ok() {}
    };
    let receive = async {
        let mut status = [0; 12];
        reader.read_exact(&mut status).await.expect("an answer");
        status
    };
    let (_, status) = tokio::join!(send, receive);
    assert_eq!(&status, b"HTTP/1.1 431");
    served.serves_others().await;
}

#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_is_cut() {
    let served = Served::start().await;
    let started = Instant::now();
    let mut stream = served.connect().await;
    let (mut reader, mut writer) = stream.split();
    let send = async {
        writer.write_all(b"GET /readyz HTTP/1.1\r\nHost: a\r\nX-Slow: ").await.expect("sends");
        loop {
            // Whatever comes in time, the whole takes too long.
            tokio::time::sleep(Duration::from_secs(1)).await;
            let _ = writer.write_all(b"a").await;
        }
    };
    let mut rest = Vec::new();
    tokio::select! {
        () = send => {}
        _ = reader.read_to_end(&mut rest) => {}
    }
    assert_eq!((started.elapsed().as_secs(), rest.len()), (32, 0));
    served.serves_others().await;
}

#[tokio::test]
async fn thousands_of_idle_connections_disturb_nobody() {
    // Both ends are in this process, beside those of other tests.
    let (wanted, others) = (10_000, 2_000);
    let (_, allowed) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, allowed.min(2 * wanted + others), allowed)
        .expect("it is not above the hard limit");
    let connections = wanted.min(allowed.saturating_sub(others) / 2);
    if connections < 1_000 {
        let skipped =
            format!("skipped: only {allowed} files may be open, and {} are needed\n", 2_000 + others);
        std::io::stderr().write_all(skipped.as_bytes()).expect("prints");
        return;
    }
    let mut options = ListenOptions::plain();
    options.header_read_timeout = Duration::from_secs(600);
    let served = Served::of(ApiServer::builder(), options).await;
    let request = head("GET /readyz", "", 0);
    let mut idle = Vec::new();
    for index in 0..connections {
        let mut stream = served.connect().await;
        // Some are silent from the start, and some have been served before.
        if index % 2 == 0 {
            stream.write_all(request.as_bytes()).await.expect("sends");
            let mut status = [0; 15];
            stream.read_exact(&mut status).await.expect("an answer");
            assert_eq!(&status, b"HTTP/1.1 200 OK");
        }
        idle.push(stream);
    }
    served.serves_others().await;
    // They are still there.
    let last = idle.last_mut().expect("a connection");
    last.write_all(request.as_bytes()).await.expect("sends");
    last.read_exact(&mut [0; 15]).await.expect("an answer");
}

/// The kernel says of a socket which timer it runs.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn silent_connections_are_asked_whether_they_are_there() {
    let served = Served::start().await;
    let mut stream = served.connect().await;
    stream.write_all(head("GET /readyz", "", 0).as_bytes()).await.expect("sends");
    stream.read_exact(&mut [0; 15]).await.expect("an answer");
    let (ours, theirs) = (served.listening.address().port(), stream.local_addr().expect("bound").port());
    let sockets = std::fs::read_to_string("/proc/net/tcp").expect("a list");
    let end = |port: u16| format!("0100007F:{port:04X}");
    let socket = sockets.lines().find(|line| line.contains(&format!("{} {}", end(ours), end(theirs))));
    let timer = socket.and_then(|line| line.split_whitespace().nth(5)).expect("the server's end");
    assert!(timer.starts_with("02:"), "no keepalive timer: {timer}");
}
