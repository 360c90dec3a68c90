//! The `kubewright` command.
//!
//! The binary is thin, and so is this crate: each command is one module, and what a library should own lives in a
//! library. It may import every crate of the workspace but the facade and the test cluster, and none imports it.
//! Start reading at `command.rs`, the one table of commands and flags; `cluster.rs` and `dev/` are the commands.
//!
//! Exit codes: 0 for success and for an end by SIGINT or SIGTERM, 1 for a failure, 2 for arguments that make no sense.

mod cluster;
mod command;
mod dev;
mod error;
mod local_cluster;
mod shutdown;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::{command::Command, error::Error, shutdown::Shutdown};

/// Runs the command that the arguments of this process ask for.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = command::Arguments::parse();
    terminal::init_logging(arguments.verbose);
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Io { action: "start the async runtime".to_owned(), source })?;
    let result = runtime.block_on(async {
        let shutdown = Shutdown::on_signals()?;
        match command {
            Command::Cluster(options) => cluster::run(options, shutdown).await,
            Command::Dev(options) => dev::run(options, shutdown).await,
        }
    });
    // Whatever still runs in the background must not hold up the end of the process.
    runtime.shutdown_background();
    result
}
