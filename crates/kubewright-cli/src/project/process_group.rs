//! A child process with all that it starts, ended together.

use std::{io, process::ExitStatus, time::Duration};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

/// A child in a process group of its own.
///
/// The group keeps a Ctrl-C at the terminal from reaching it, since the command decides in which order things
/// end, and lets it end the child's own children (cargo's compilers) too. Dropped while it runs, it is killed.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Child,
    /// The group's id until the child is reaped: afterwards the number may be somebody else's.
    group: Option<Pid>,
}

impl ProcessGroup {
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Ok(Self { child, group })
    }

    /// The child's standard output, once, if it was piped.
    pub(crate) fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// The child's standard error, once, if it was piped.
    pub(crate) fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits until the child ends. Cancelling this changes nothing.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.group = None;
        Ok(status)
    }

    /// Asks the group to end with SIGTERM, and kills what has not ended after `grace`.
    pub(crate) async fn stop(mut self, grace: Duration) {
        self.signal(Signal::SIGTERM);
        if tokio::time::timeout(grace, self.wait()).await.is_err() {
            self.signal(Signal::SIGKILL);
            let _ = self.wait().await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails only if the group is gone, which is what is wanted.
            let _ = killpg(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use tokio::io::AsyncReadExt;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    #[tokio::test]
    async fn a_child_that_ignores_the_request_is_killed_with_its_children() {
        // The inner shell holds the pipe open; it closes only when both are dead.
        let mut group =
            ProcessGroup::spawn(&mut shell("trap '' TERM; echo up; sh -c 'read x < /dev/zero' & wait; wait"))
                .expect("a shell");
        let mut stdout = group.stdout().expect("piped");
        let mut line = [0; 3];
        stdout.read_exact(&mut line).await.expect("the child is up");
        group.stop(Duration::from_millis(100)).await;
        let mut rest = Vec::new();
        tokio::time::timeout(Duration::from_secs(10), stdout.read_to_end(&mut rest))
            .await
            .expect("the pipe closes when all have ended")
            .expect("readable");
    }

    #[tokio::test]
    async fn a_dropped_group_is_killed() {
        let mut group = ProcessGroup::spawn(&mut shell("echo up; exec sleep 600")).expect("a shell");
        let mut stdout = group.stdout().expect("piped");
        let mut line = [0; 3];
        stdout.read_exact(&mut line).await.expect("the child is up");
        drop(group);
        let mut rest = Vec::new();
        tokio::time::timeout(Duration::from_secs(10), stdout.read_to_end(&mut rest))
            .await
            .expect("the pipe closes")
            .expect("readable");
    }
}
