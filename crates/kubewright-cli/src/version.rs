//! `kubewright version`.

use kubewright_apiserver::Version;
use serde_json::json;

use crate::{command::OutputFormat, terminal};

/// Prints the versions.
pub(crate) fn print(format: OutputFormat) {
    let (own, kubernetes) = (env!("CARGO_PKG_VERSION"), Version::default().to_string());
    match format {
        OutputFormat::Text => {
            terminal::result(format_args!("kubewright {own}\nKubernetes {kubernetes} (embedded API server)"));
        }
        OutputFormat::Json => {
            terminal::result(json!({"kubewright": own, "kubernetes": kubernetes}));
        }
    }
}
