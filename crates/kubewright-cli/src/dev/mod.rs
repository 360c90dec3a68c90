//! `kubewright dev`: the cluster and the operator, rebuilt and swapped on save.
//!
//! [`crds`] installs what the operator defines, [`operator`] holds its process, [`sources`] tells when a file was saved,
//! [`webhooks`] lets the cluster call it, [`samples`] is `--once`. The loop in this file puts them together.

mod crds;
mod operator;
mod samples;
mod sources;
mod webhooks;

use std::path::{Path, PathBuf};

use self::{operator::Operator, sources::Sources, webhooks::Webhooks};
use crate::{
    command::DevOptions,
    error::Error,
    local_cluster::LocalCluster,
    project::{self, BuildOptions, Project},
    shutdown::Shutdown,
    terminal, top,
};

/// Runs until `shutdown` (or, with `--once`, until the samples are reconciled), then ends all that it started.
pub(crate) async fn run(options: DevOptions, shutdown: Shutdown) -> Result<(), Error> {
    let project = Project::find(&options.path, options.bin.as_deref()).await?;
    let (mut cluster, kubeconfig) = match options.kubeconfig {
        Some(path) => (None, path),
        None => {
            let folder = project.target_directory.join("kubewright");
            std::fs::create_dir_all(&folder)
                .map_err(Error::io(format!("create the folder {}", folder.display())))?;
            let kubeconfig = folder.join(format!("{}.kubeconfig", project.package));
            let cluster = LocalCluster::start(options.secure_port, options.serving, Some(kubeconfig)).await?;
            terminal::status("Started", format_args!("a cluster at {}", cluster.url()));
            let kubeconfig = cluster.kubeconfig().to_owned();
            (Some(cluster), kubeconfig)
        }
    };

    // A cluster elsewhere does not reach this machine.
    let webhooks = cluster.is_some().then(|| Webhooks::new(&project)).transpose()?;
    let mut session = Session {
        project,
        webhooks,
        kubeconfig,
        release: options.release,
        diagnostics: top::address_for_operator(),
        operator_arguments: options.operator_arguments,
    };
    let result = {
        let work =
            async { if options.once { session.once(options.timeout).await } else { session.follow().await } };
        let failed = async {
            match &mut cluster {
                Some(cluster) => cluster.failed().await,
                None => std::future::pending().await,
            }
        };
        // Dropping `work` ends the processes that it holds.
        tokio::select! {
            biased;
            () = shutdown.requested() => Ok(()),
            error = failed => Err(error),
            result = work => result,
        }
    };
    if let Some(cluster) = cluster {
        cluster.stop().await;
    }
    result
}

/// One project on one cluster.
struct Session {
    project: Project,
    webhooks: Option<Webhooks>,
    kubeconfig: PathBuf,
    release: bool,
    /// The same for each build, so that `top` goes on over a swap.
    diagnostics: Option<String>,
    operator_arguments: Vec<String>,
}

impl Session {
    /// Follows the sources for ever.
    async fn follow(&mut self) -> Result<(), Error> {
        let mut sources = Sources::follow(&self.project).await?;
        let mut operator = None;
        match self.build_and_start(&mut operator).await {
            Ok(()) => self.say_what_to_try(),
            Err(error) => terminal::error(&error),
        }
        loop {
            tokio::select! {
                biased;
                changed = sources.changed() => {
                    let changed = changed?;
                    terminal::status("Changed", changed.display());
                    if let Err(error) = self.build_and_start(&mut operator).await {
                        terminal::error(&error);
                        if operator.is_some() {
                            terminal::warning("the old operator keeps running");
                        }
                    }
                }
                status = ended(&mut operator) => {
                    terminal::warning(format_args!("the operator ended with {status}; it starts again on the next change"));
                    operator = None;
                }
            }
        }
    }

    /// Builds and runs the operator, applies the samples and waits until they are reconciled.
    async fn once(&mut self, timeout: std::time::Duration) -> Result<(), Error> {
        let samples = samples::read(&self.project)?;
        let mut operator = None;
        self.build_and_start(&mut operator).await?;
        let client = self.client().await?;
        let reconciled = samples::apply_and_wait(&client, &samples, timeout);
        let result = tokio::select! {
            biased;
            result = reconciled => result,
            status = ended(&mut operator) => Err(Error::OperatorEnded { status }),
        };
        if let Some(operator) = operator {
            operator.stop().await;
        }
        result
    }

    /// Builds the operator, installs its CRDs, and puts it in the place of `running`, which goes on if the build
    /// fails. The old operator has ended before the new one starts: two would fight over the same objects.
    async fn build_and_start(&mut self, running: &mut Option<Operator>) -> Result<(), Error> {
        let binary =
            project::build(&self.project, BuildOptions { release: self.release, ..Default::default() })
                .await?;
        let environment = match &self.webhooks {
            Some(webhooks) => webhooks.environment(),
            None => project::without_webhooks(),
        };
        let definitions = crds::print(&binary, &environment).await?;
        let client = self.client().await?;
        crds::install(&client, definitions).await?;
        let swapped = match running.take() {
            Some(old) => {
                old.stop().await;
                true
            }
            None => false,
        };
        let diagnostics = self.diagnostics.as_deref();
        let mut environment = environment;
        environment.extend(diagnostics.map(|address| (top::ADDRESS_VARIABLE, address.to_owned())));
        *running = Some(Operator::start(&binary, &self.kubeconfig, &self.operator_arguments, &environment)?);
        if let Some(webhooks) = &mut self.webhooks {
            webhooks.register(&client, &self.project).await?;
        }
        terminal::status(if swapped { "Swapped" } else { "Running" }, &self.project.package);
        Ok(())
    }

    async fn client(&self) -> Result<kube::Client, Error> {
        client(&self.kubeconfig).await
    }

    fn say_what_to_try(&self) {
        if let Some(address) = &self.diagnostics {
            terminal::note(format_args!("`{}` shows what the operator is doing", top::command(address)));
        }
        let kubectl = format!("kubectl --kubeconfig {}", to_type(&self.kubeconfig).display());
        let command = match samples::first_file(&self.project) {
            Some(sample) => format!("{kubectl} apply -f {}", to_type(&sample).display()),
            None => format!("{kubectl} get all --all-namespaces"),
        };
        terminal::result(format_args!("try: {command}"));
    }
}

/// The path as one would type it here: relative, if it is below the current folder.
fn to_type(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

/// Completes when the operator's process ends by itself.
async fn ended(operator: &mut Option<Operator>) -> std::process::ExitStatus {
    match operator {
        Some(operator) => operator.ended().await,
        None => std::future::pending().await,
    }
}

async fn client(kubeconfig: &Path) -> Result<kube::Client, Error> {
    let failed = |reason: String| Error::ReadKubeconfig { path: kubeconfig.to_owned(), reason };
    let file = kube::config::Kubeconfig::read_from(kubeconfig).map_err(|error| failed(error.to_string()))?;
    let config = kube::Config::from_custom_kubeconfig(file, &kube::config::KubeConfigOptions::default())
        .await
        .map_err(|error| failed(error.to_string()))?;
    kube::Client::try_from(config).map_err(|error| failed(error.to_string()))
}
