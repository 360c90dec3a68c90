//! `kubewright top`: what an operator is doing, live.
//!
//! The operator tells it at its diagnostics address (`--debug-bind-address`). `dev` and `run` give their operators one.

use std::{net::TcpListener, time::Duration};

use console::Term;
use kube::{Client, Config};
use kubewright_runtime::diagnostics::Report;

use crate::{
    command::{OutputFormat, TopOptions},
    error::Error,
    shutdown::Shutdown,
    terminal,
};

/// Where `top` looks unless told otherwise.
pub(crate) const DEFAULT_ADDRESS: &str = "127.0.0.1:8082";

/// The variable from which an operator takes its diagnostics address.
pub(crate) const ADDRESS_VARIABLE: &str = "DEBUG_BIND_ADDRESS";

/// An operator that does not answer within this time is shown as one that does not.
const PATIENCE: Duration = Duration::from_secs(5);

/// A diagnostics address for an operator that is about to start: the default one, or another where that is taken. `None` if
/// the user has chosen one by the environment, or no port is to be had.
pub(crate) fn address_for_operator() -> Option<String> {
    if std::env::var_os(ADDRESS_VARIABLE).is_some() {
        return None;
    }
    let listener = TcpListener::bind(DEFAULT_ADDRESS).or_else(|_| TcpListener::bind("127.0.0.1:0")).ok()?;
    Some(listener.local_addr().ok()?.to_string())
}

/// The command that shows the operator at `address`.
pub(crate) fn command(address: &str) -> String {
    if address == DEFAULT_ADDRESS { "kubewright top".to_owned() } else { format!("kubewright top {address}") }
}

/// Shows the operator until `shutdown`; once, if asked to or if nobody watches.
pub(crate) async fn run(options: TopOptions, shutdown: Shutdown) -> Result<(), Error> {
    let operator = Operator::at(&options)?;
    let screen = Term::stdout();
    if options.once || options.output == OutputFormat::Json || !screen.is_term() {
        let report = operator.report().await?;
        match options.output {
            OutputFormat::Text => terminal::print(&report.to_string()),
            OutputFormat::Json => terminal::result(serde_json::json!(report)),
        }
        return Ok(());
    }
    let live = async {
        loop {
            let page = match operator.report().await {
                Ok(report) => report.to_string(),
                // It may be about to start, as after a change under `dev`.
                Err(error) => format!("{error}\n"),
            };
            let (height, width) = screen.size();
            draw(&screen, &fit(&page, height.into(), width.into()))?;
            tokio::time::sleep(options.interval).await;
        }
    };
    let result = tokio::select! {
        biased;
        () = shutdown.requested() => Ok(()),
        result = live => result,
    };
    let _ = screen.show_cursor();
    result
}

/// Where an operator tells what it is doing.
struct Operator {
    client: Client,
    address: String,
}

// === impl Operator ===

impl Operator {
    fn at(options: &TopOptions) -> Result<Self, Error> {
        let address = &options.address;
        let failed = |reason: String| Error::Top { address: address.clone(), reason };
        let url = if address.contains("://") { address.clone() } else { format!("http://{address}") };
        let mut config =
            Config::new(url.parse().map_err(|error| failed(format!("it is no address: {error}")))?);
        config.connect_timeout = Some(PATIENCE);
        config.read_timeout = Some(PATIENCE);
        config.default_retry = false;
        // The operator's own certificate is signed by itself, if it was given none.
        config.accept_invalid_certs = options.insecure_skip_tls_verify;
        config.auth_info.token = options.token.clone().map(Into::into);
        let client = Client::try_from(config).map_err(|error| failed(error.to_string()))?;
        Ok(Self { client, address: address.clone() })
    }

    async fn report(&self) -> Result<Report, Error> {
        let failed = |reason: String| Error::Top { address: self.address.clone(), reason };
        let request = http::Request::get("/debug")
            .header(http::header::ACCEPT, "application/json")
            .body(Vec::new())
            .map_err(|error| failed(error.to_string()))?;
        let report = tokio::time::timeout(PATIENCE, self.client.request::<Report>(request)).await;
        report
            .map_err(|_| failed(format!("it does not answer within {PATIENCE:?}")))?
            .map_err(|error| failed(reason_of(&error)))
    }
}

/// The message with what is behind it, as far as that says more.
fn reason_of(error: &kube::Error) -> String {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let text = error.to_string();
        if !reason.contains(&text) {
            reason = format!("{reason}: {text}");
        }
        source = error.source();
    }
    reason
}

/// As much of a page as the screen holds.
fn fit(page: &str, height: usize, width: usize) -> Vec<String> {
    let cut = |line: &str| console::truncate_str(line, width, "…").into_owned();
    let lines = page.lines().count();
    // The last line is the cursor's.
    let room = height.saturating_sub(1).max(2);
    if lines <= room {
        return page.lines().map(cut).collect();
    }
    let mut shown: Vec<_> = page.lines().take(room - 1).map(cut).collect();
    shown.push(cut(&format!("… and {} lines more: kubewright top --once", lines - shown.len())));
    shown
}

fn draw(screen: &Term, lines: &[String]) -> Result<(), Error> {
    let draw = || {
        screen.hide_cursor()?;
        // Overwritten in place, so that nothing flickers.
        screen.move_cursor_to(0, 0)?;
        for line in lines {
            screen.clear_line()?;
            screen.write_line(line)?;
        }
        screen.clear_to_end_of_screen()
    };
    draw().map_err(Error::io("write to the terminal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_cut_to_the_screen() {
        let page = "one\ntwo is long\nthree\nfour\n";
        assert_eq!(fit(page, 9, 80), ["one", "two is long", "three", "four"]);
        assert_eq!(fit(page, 4, 6), ["one", "two i…", "… and…"]);
        assert_eq!(fit(page, 0, 80), ["one", "… and 3 lines more: kubewright top --once"]);
    }
}
