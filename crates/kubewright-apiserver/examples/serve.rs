//! Serves an empty cluster on a loopback port over plain HTTP, for a look with curl or kubectl:
//!
//! ```text
//! cargo run -p kubewright-apiserver --example serve -- 8001
//! kubectl --server http://127.0.0.1:8001 --token admin get namespaces
//! ```

use std::{error::Error, net::SocketAddr};

use kubewright_apiserver::{ApiServer, User, listener::ListenOptions};

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the address is for the person who started it")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let server = ApiServer::builder().token("admin", User::admin()).build();
    let options = ListenOptions::plain().at(SocketAddr::from(([127, 0, 0, 1], port)));
    let listening = server.listen(options).await?;
    println!("{}", listening.url());
    std::future::pending::<()>().await;
    Ok(())
}
