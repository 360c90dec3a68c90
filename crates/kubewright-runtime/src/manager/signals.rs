use tokio_util::sync::CancellationToken;

use crate::Result;

/// A token that is cancelled by the first SIGINT or SIGTERM. A second one ends the process with code 1, for
/// the user who does not want to wait.
///
/// Signals belong to the process, so this is for `main` alone: [`Manager::start`](super::Manager::start) uses
/// it, `start_until` does not.
pub(super) fn until_signalled() -> Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut signals = Signals::new()?;
    let token = stop.clone();
    tokio::spawn(async move {
        let signal = signals.next().await;
        tracing::info!(signal, "stopping; once more to end at once");
        token.cancel();
        signals.next().await;
        std::process::exit(1);
    });
    Ok(stop)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a way to be told there is nothing to wait for.
            std::future::pending::<()>().await;
        }
        "ctrl-c"
    }
}
