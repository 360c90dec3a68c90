//! A project is changed whole or not at all, whatever the user presses.

use nix::sys::signal::{SigSet, Signal};

/// While this is there, the command is not ended by Ctrl-C, SIGTERM or a closed terminal. It ends right after.
pub(super) struct Uninterrupted {
    /// The signals that were let through before.
    before: Option<SigSet>,
}

// === impl Uninterrupted ===

impl Uninterrupted {
    /// Holds the signals back. The commands that change a project run in one thread, which is this one.
    pub(super) fn begin() -> Self {
        let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
        let signals: SigSet = signals.into_iter().collect();
        Self { before: signals.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK).ok() }
    }
}

impl Drop for Uninterrupted {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // What was held back arrives now.
            let _ = before.thread_set_mask();
        }
    }
}
