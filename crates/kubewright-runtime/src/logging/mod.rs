//! Logs, as text for people or as JSON with the keys of controller-runtime's production logger.
//!
//! The runtime logs through `tracing`, and so does an operator. A subscriber belongs to the process, so no
//! library part installs one: [`init`] does, called by [`Manager::new`](crate::manager::Manager::new), and it
//! yields to a subscriber that is there already.
//!
//! A reconciliation is a span, and each of its requests to the API server is one below it, at the level of debug. An operator
//! that sends traces to OpenTelemetry puts its own subscriber in place before it makes the manager:
//!
//! ```text
//! let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer("memcached-operator"));
//! tracing_subscriber::registry().with(tracing_subscriber::fmt::layer()).with(traces).init();
//! let manager = Manager::new(Options::parse()).await?;
//! ```

mod json;
mod zap;

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, layer::SubscriberExt, util::SubscriberInitExt};

pub(crate) use self::zap::ZapFlags;
use crate::{
    Error, Result,
    manager::{LogFormat, Options},
};

/// Sends the logs of the process to its standard error, as the options say. Does nothing if somebody did
/// before.
///
/// # Errors
///
/// If the filter of the options is none.
pub fn init(options: &Options) -> Result<()> {
    let level = options.zap.level().unwrap_or(&options.log_level);
    let filter = EnvFilter::try_new(directives(level))
        .map_err(|error| Error::setup(format!("--log-level {level:?} is no level and no filter: {error}")))?;
    let output: Box<dyn Layer<Registry> + Send + Sync> =
        match options.zap.format().unwrap_or(options.log_format) {
            LogFormat::Text => {
                let colors = std::io::stderr().is_terminal();
                fmt::layer().with_ansi(colors).with_writer(std::io::stderr).boxed()
            }
            LogFormat::Json => json::layer(std::io::stderr).boxed(),
        };
    // An error means that there is a subscriber.
    let _ = tracing_subscriber::registry().with(output.with_filter(filter)).try_init();
    Ok(())
}

/// kube logs every answer above 500 as an error, also those that it retries and those that a watch expects. Ours
/// tell what failed in the end, so these are left out unless somebody asks for kube's logs.
fn directives(level: &str) -> String {
    if level.contains("kube") {
        level.to_owned()
    } else {
        format!("{level},kube_client::client::builder=off")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubes_own_failures_are_left_out_unless_asked_for() {
        assert_eq!(directives("info"), "info,kube_client::client::builder=off");
        assert_eq!(directives("info,kube_client=debug"), "info,kube_client=debug");
    }

    #[test]
    fn a_filter_is_checked_and_a_second_call_does_no_harm() {
        let mut options = Options::default();
        options.log_level = "kube=loud".to_owned();
        assert!(init(&options).expect_err("no level").to_string().contains("--log-level"));
        options.log_level = "error,kube=warn".to_owned();
        init(&options).expect("installed");
        init(&options).expect("left alone");
    }
}
