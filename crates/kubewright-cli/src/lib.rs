//! The `kubewright` command.
//!
//! The binary is thin, and so is this crate: each command is one module, and what a library should own lives in a
//! library. It may import every crate of the workspace but the facade and the test cluster, and none imports it.
//! Start reading at `command.rs`, the one table of commands and flags (`api_server.rs` has those that kube-apiserver has, too); `cluster.rs`, `dev/`,
//! `generate/` and `image/` are the commands.
//!
//! Exit codes: 0 for success and for an end by SIGINT or SIGTERM, 1 for a failure, 2 for arguments that make no sense.
//! `check` has 1 for a bad verdict alone, and 2 for whatever keeps it from one.

mod api_server;
mod check;
mod cluster;
mod command;
mod completion;
mod definitions;
mod dev;
mod error;
mod generate;
mod image;
mod kubeconfig;
mod local_cluster;
mod project;
mod scaffold;
mod ship;
mod shutdown;
mod terminal;
mod top;
mod version;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    command::{CheckCommand, Command},
    error::Error,
    shutdown::Shutdown,
};

/// Runs the command that the arguments of this process ask for.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = command::Arguments::parse();
    let verbose = arguments.verbose;
    let result = match arguments.command {
        Command::Cluster(options) => {
            on_runtime(verbose, async |shutdown| cluster::run(options, shutdown).await)
        }
        Command::Dev(options) => on_runtime(verbose, async |shutdown| dev::run(options, shutdown).await),
        Command::Check(CheckCommand::Crd(options)) => return check::crd(&options, verbose),
        Command::Image(command) => on_runtime(verbose, async |shutdown| image::run(command, shutdown).await),
        // It mostly is over before an async runtime and the logs would have started.
        Command::Generate(options) => generate::run(&options),
        Command::Top(options) => on_runtime(verbose, async |shutdown| top::run(options, shutdown).await),
        Command::Completion(options) => completion::run(&options),
        Command::Version(options) => {
            version::print(options.output);
            Ok(())
        }
        Command::Install(options) => ship::install(&options, verbose),
        Command::Uninstall(options) => ship::uninstall(&options, verbose),
        Command::Deploy(options) => ship::deploy(&options, verbose),
        Command::Undeploy(options) => ship::undeploy(&options, verbose),
        Command::BuildInstaller(options) => ship::build_installer(&options),
        Command::Run(options) => on_runtime(verbose, async |shutdown| ship::run(options, shutdown).await),
        Command::Init(options) => scaffold::init(&options),
        Command::Create(command) => scaffold::create(command, verbose),
        Command::Edit(options) => scaffold::edit(&options),
        Command::Delete(command) => scaffold::delete(command),
        Command::Upgrade(options) => scaffold::upgrade(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn on_runtime<T>(verbose: u8, command: impl AsyncFnOnce(Shutdown) -> Result<T, Error>) -> Result<T, Error> {
    terminal::init_logging(verbose);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Error::io("start the async runtime"))?;
    let result = runtime.block_on(async { command(Shutdown::on_signals()?).await });
    // Whatever still runs in the background must not hold up the end of the process.
    runtime.shutdown_background();
    result
}
