//! The end of a command by SIGINT or SIGTERM.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::Error;

/// Completes when the user asks the command to end. Clones complete together.
#[derive(Clone, Debug)]
pub(crate) struct Shutdown {
    token: CancellationToken,
}

impl Shutdown {
    /// Completes on the first SIGINT or SIGTERM. A second one ends the process at once, so that a user who has
    /// lost patience is never stuck.
    pub(crate) fn on_signals() -> Result<Self, Error> {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::io("listen for SIGINT"))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(Error::io("listen for SIGTERM"))?;
        let token = CancellationToken::new();
        let requested = token.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if requested.is_cancelled() {
                    std::process::exit(1);
                }
                requested.cancel();
            }
        });
        Ok(Self { token })
    }

    /// Waits until the end is requested; returns at once if it was.
    pub(crate) async fn requested(&self) {
        self.token.cancelled().await;
    }
}
